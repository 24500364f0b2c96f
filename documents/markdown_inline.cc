#include "documents/markdown_inline.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "documents/inline_text.h"
#include "documents/markdown_items.h"
#include "documents/markdown_spelling.h"
#include "documents/source_text.h"
#include "engine/base/patience.h"

namespace dragoman {
namespace {

using Item = MarkdownItem;

constexpr size_t kMostUnpaired = 100;  // tags that an element may have in it

// The name of an HTML tag: "b" of "<b class=x>", "/b" of "</b>".
std::string HtmlTagName(std::string_view tag) {
  tag.remove_prefix(1);
  const size_t end = std::min(tag.find_first_of(" \t\r\n>"), tag.size());
  return absl::AsciiStrToLower(std::string(tag.substr(0, end)));
}

// What ends a span that such a marker begins: "==" of "==word==", "]" of "^[note]", "[a]{.b}" and
// "[a][b]".
std::string MarkerClosing(const std::string& marker) {
  return marker == "^[" || marker == "[" ? "]" : marker.starts_with("[[") ? "]]" : marker;
}

// HTML tags and markers that enclose whole items become kOpen and kClose; the others stay empty.
void PairTags(std::vector<Item>* items) {
  std::vector<std::pair<std::string, size_t>> open;  // what ends them, "" of other spans
  for (size_t i = 0; i < items->size(); ++i) {
    Item& item = (*items)[i];
    if (item.kind == Item::kOpen) open.emplace_back("", i);
    if (item.kind == Item::kClose) {
      while (!open.empty() && !open.back().first.empty()) open.pop_back();
      if (!open.empty()) open.pop_back();
    }
    if (item.kind != Item::kHtml && item.kind != Item::kMarker) continue;
    const bool tag = item.kind == Item::kHtml;
    item.kind = Item::kEmpty;
    const bool attributes = !tag && (item.raw.starts_with("]{") || item.raw.starts_with("]["));
    const std::string name = tag ? HtmlTagName(item.raw) : attributes ? "]" : item.raw;
    item.breaks = tag && (name == "br" || name == "br/");
    // Those in between, such as <br>, have no end tag.
    size_t start = open.size();
    const size_t first = start - std::min(start, kMostUnpaired);
    while (start > first && !open[start - 1].first.empty() && open[start - 1].first != name) {
      --start;
    }
    if (start == first || open[start - 1].first.empty()) {
      if (!tag || !name.starts_with('/')) {
        open.emplace_back(tag ? "/" + name : MarkerClosing(name), i);
      }
      continue;
    }
    Item& begins = (*items)[open[start - 1].second];
    begins.kind = Item::kOpen;
    begins.kept = item.kept = false;
    begins.partner = i;
    begins.tight = !tag && begins.raw == item.raw;
    item.kind = Item::kClose;
    open.resize(start - 1);
  }
}

// Whether the content of the element is not translated.
bool IsCopied(const Item& item) {
  if (!item.raw.starts_with('<')) return false;
  return IsAmong(HtmlTagName(item.raw), " code kbd samp var script ") ||
         item.raw.find("translate=\"no\"") != std::string::npos;
}

// What stands over the words of <ruby> is not read.
bool IsAnnotation(const Item& item) {
  return item.raw.starts_with('<') && IsAmong(HtmlTagName(item.raw), " rt rp rtc ");
}

InlineText Compose(const std::vector<Item>& items, size_t begin, size_t end, Patience* patience) {
  InlineText text(patience);
  for (size_t i = begin; i < end && patience->Lasts(1); ++i) {
    const Item& item = items[i];
    const bool annotation = item.kind == Item::kOpen && IsAnnotation(item);
    if (annotation || (item.kind == Item::kOpen && IsCopied(item))) {
      std::string raw, characters;
      for (size_t j = i; j <= item.partner; ++j) {
        raw += items[j].raw.empty() ? items[j].text : items[j].raw;
        characters += items[j].text;
      }
      if (annotation) text.Empty(std::move(raw));
      if (!annotation) text.Opaque(std::move(raw), characters);
      i = item.partner;
    } else if (item.kind == Item::kText) {
      text.Text(item.text);
    } else if (item.kind == Item::kOpen) {
      text.Open(item.raw, items[item.partner].raw, item.tight);
    } else if (item.kind == Item::kClose) {
      text.Close();
    } else if (item.kind == Item::kOpaque) {
      text.Opaque(item.raw, item.text);
    } else if (item.symbol) {
      text.Symbol(item.raw, item.text);
    } else if (item.breaks) {
      text.Break(item.raw);
    } else {
      text.Empty(item.raw);
    }
  }
  return text;
}

bool IsEdge(const Item& item) {
  return item.kept || item.breaks ||
         (item.kind == Item::kText && item.text.find_first_not_of(" \t") == std::string::npos);
}

using ItemRange = std::pair<size_t, size_t>;

// The items of each passage: all of them, but for what is no text at either end, cut where they are
// too long at a line break, or else the end of a sentence, outside of spans.
std::vector<ItemRange> CutItems(const std::vector<Item>& items) {
  std::vector<ItemRange> ranges;
  size_t first = 0, best = 0, size = 0;
  int depth = 0, rank = 0;
  const auto add = [&](size_t begin, size_t end) {
    while (begin < end && IsEdge(items[begin])) ++begin;
    while (begin < end && IsEdge(items[end - 1])) --end;
    if (begin < end) ranges.emplace_back(begin, end);
  };
  for (size_t i = 0; i < items.size(); ++i) {
    const Item& item = items[i];
    size += item.text.size() + 8;
    if (size > kMostMarkdownBytes && rank > 0) {
      add(first, best);
      first = best;
      rank = 0;
      size = items[i].end - items[first].begin;
    }
    depth += item.kind == Item::kOpen ? 1 : item.kind == Item::kClose ? -1 : 0;
    const bool line = item.kind == Item::kText && item.raw.find('\n') != std::string::npos;
    const bool sentence = item.kind == Item::kText && item.text.ends_with(". ");
    const int here = item.breaks ? 2 : line || sentence ? 1 : 0;
    if (depth == 0 && here > 0 && here >= rank) best = i + 1, rank = here;
  }
  add(first, items.size());
  return ranges;
}

// Whether it is a letter, a digit or white space, which nobody spells so without a reason.
bool IsPlain(std::string_view text) {
  return text.size() == 1 && (absl::ascii_isalnum(static_cast<unsigned char>(text[0])) ||
                              absl::ascii_isspace(static_cast<unsigned char>(text[0])));
}

constexpr std::pair<std::string_view, std::string_view> kReferencesOfQuotes[] = {
    {"“", "&ldquo;"}, {"”", "&rdquo;"}, {"„", "&bdquo;"}, {"«", "&laquo;"}, {"»", "&raquo;"}};
bool IsDoubleQuote(std::string_view text) {
  return std::any_of(std::begin(kReferencesOfQuotes), std::end(kReferencesOfQuotes),
                     [&](const auto& quote) { return quote.first == text; });
}

// What the items [begin, end) spell in another way than SpellMarkdown would: references; what has a
// backslash that CommonMark does not need, but other programs do ("\{" in MDX, "\$" where there
// are equations); brackets that are none of a link.
MarkdownSpellings SpellingsOf(std::string_view source, const std::vector<Item>& items, size_t begin,
                              size_t end) {
  constexpr std::string_view kOfOthers = "$<>{}|~^@:#";
  MarkdownSpellings spellings;
  for (size_t i = begin; i < end; ++i) {
    const Item& item = items[i];
    if (item.kind != Item::kText) continue;
    if (item.raw.starts_with('&') && !IsPlain(item.text)) {
      if (IsDoubleQuote(item.text)) {  // another language has other ones
        for (const auto& [quote, reference] : kReferencesOfQuotes) {
          spellings.try_emplace(std::string(quote), reference);
        }
      }
      spellings[item.text] = item.raw;
    }
    if (!item.raw.empty()) continue;
    const std::string_view text = item.text;
    const bool escaped = source[item.begin] == '\\' && item.end - item.begin > text.size();
    if (escaped && kOfOthers.find(text[0]) != kOfOthers.npos) {
      spellings[std::string(1, text[0])] = std::string("\\") + text[0];
    }
    for (const std::string_view bracket : {"[", "]"}) {
      if (text.find(bracket, escaped ? 1 : 0) != text.npos)
        spellings[std::string(bracket)] = bracket;
    }
  }
  return spellings;
}

}  // namespace

std::vector<Passage> MarkdownPassages(std::string_view source, std::string_view mask,
                                      const std::vector<MarkdownEvent>& events,
                                      const MarkdownBlock& block, Patience* patience) {
  std::vector<Passage> passages;
  std::optional<MarkdownItems> found = FindMarkdownItems(source, mask, events);
  if (!found.has_value()) return passages;
  std::vector<Item>& items = found->items;
  PairTags(&items);
  for (const auto& [begin, end] : CutItems(items)) {
    InlineText text = Compose(items, begin, end, patience);
    if (!patience->status().ok()) return {};
    if (!text.has_words()) continue;
    const size_t first = items[begin].begin, last = items[end - 1].end;
    MarkdownSpellings spellings = SpellingsOf(source, items, begin, end);
    // The title of an admonition in quotes, which are hidden from the parser.
    const bool quoted = first > 0 && source[first - 1] == '"' && mask[first - 1] == ' ';
    const auto spell = [table = block.table, spellings = std::move(spellings),
                        quoted](std::string_view characters) {
      std::string spelled = SpellMarkdown(characters, table, spellings);
      if (quoted) std::replace(spelled.begin(), spelled.end(), '"', '\'');
      return spelled;
    };
    Passage passage = std::move(text).ToPassage(first, last, 1, spell);
    if (block.line && (begin == 0 || items[begin - 1].raw.find('\n') != std::string::npos)) {
      passage.write = [write = std::move(passage.write)](std::string_view translation) {
        return SpellMarkdownLine(write(translation));
      };
    }
    passages.push_back(std::move(passage));
  }
  return passages;
}

}  // namespace dragoman
