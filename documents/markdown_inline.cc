#include "documents/markdown_inline.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "documents/inline_text.h"
#include "documents/markdown_items.h"
#include "documents/markdown_spelling.h"
#include "documents/patience.h"

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

// HTML tags that enclose whole items become kOpen and kClose; the others stay empty.
void PairTags(std::vector<Item>* items) {
  std::vector<std::pair<std::string, size_t>> open;  // names, "" of other spans
  for (size_t i = 0; i < items->size(); ++i) {
    Item& item = (*items)[i];
    if (item.kind == Item::kOpen) open.emplace_back("", i);
    if (item.kind == Item::kClose) {
      while (!open.empty() && !open.back().first.empty()) open.pop_back();
      if (!open.empty()) open.pop_back();
    }
    if (item.kind != Item::kHtml) continue;
    item.kind = Item::kEmpty;
    const std::string name = HtmlTagName(item.raw);
    if (!name.starts_with('/')) {
      open.emplace_back(name.empty() ? "!" : name, i);
      continue;
    }
    // Those in between, such as <br>, have no end tag.
    size_t start = open.size();
    const size_t first = start - std::min(start, kMostUnpaired);
    while (start > first && !open[start - 1].first.empty() && "/" + open[start - 1].first != name) {
      --start;
    }
    if (start == first || open[start - 1].first.empty()) continue;
    (*items)[open[start - 1].second].kind = Item::kOpen;
    (*items)[open[start - 1].second].partner = i;
    item.kind = Item::kClose;
    open.resize(start - 1);
  }
}

// Whether the content of the element is not translated.
bool IsCopied(const Item& item) {
  if (!item.raw.starts_with('<')) return false;
  const std::string name = HtmlTagName(item.raw);
  return name == "code" || name == "kbd" || name == "samp" || name == "var" || name == "script" ||
         item.raw.find("translate=\"no\"") != std::string::npos;
}

InlineText Compose(const std::vector<Item>& items, Patience* patience) {
  InlineText text(patience);
  for (size_t i = 0; i < items.size() && patience->Lasts(1); ++i) {
    const Item& item = items[i];
    const bool copied = item.kind == Item::kOpen &&
                        (IsCopied(item) || (item.raw == "[" && items[i + 1].text.starts_with('^')));
    if (copied) {
      std::string raw, characters;
      for (size_t j = i; j <= item.partner; ++j) {
        raw += items[j].raw.empty() ? items[j].text : items[j].raw;
        characters += items[j].text;
      }
      text.Opaque(std::move(raw), characters);
      i = item.partner;
    } else if (item.kind == Item::kText) {
      text.Text(item.text);
    } else if (item.kind == Item::kOpen) {
      text.Open(item.raw, items[item.partner].raw, item.tight);
    } else if (item.kind == Item::kClose) {
      text.Close();
    } else if (item.kind == Item::kOpaque) {
      text.Opaque(item.raw, item.text);
    } else {
      text.Empty(item.raw);
    }
  }
  return text;
}

}  // namespace

std::optional<Passage> MarkdownPassage(std::string_view source,
                                       const std::vector<MarkdownEvent>& events,
                                       const MarkdownBlock& block, Patience* patience) {
  std::optional<MarkdownItems> found = FindMarkdownItems(source, events);
  if (!found.has_value()) return std::nullopt;
  std::vector<Item>& items = found->items;
  PairTags(&items);
  const bool begins_with_text = !items.empty() && items[0].kind == Item::kText;
  InlineText text = Compose(items, patience);
  if (!text.has_words() || !patience->status().ok()) return std::nullopt;
  const auto spell = [table = block.table](std::string_view characters) {
    return SpellMarkdown(characters, table);
  };
  Passage passage = std::move(text).ToPassage(found->begin, found->end, 1, spell);
  if (block.line && begins_with_text) {
    passage.write = [write = std::move(passage.write)](std::string_view translation) {
      return SpellMarkdownLine(write(translation));
    };
  }
  return passage;
}

}  // namespace dragoman
