#include "documents/inline_text.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "documents/icu_message.h"
#include "documents/passage_tags.h"
#include "documents/source_text.h"
#include "engine/base/html_references.h"
#include "engine/base/patience.h"
#include "engine/base/utf8.h"
#include "engine/base/xml_events.h"

namespace dragoman {
namespace {

// The white space around a text.
struct Ends {
  std::string before, after;
};

Ends TakeEnds(std::string* text) {
  const std::string_view core = StripWhiteSpace(*text);
  if (core.empty()) return {std::exchange(*text, ""), ""};
  const size_t begin = static_cast<size_t>(core.data() - text->data());
  Ends ends = {text->substr(0, begin), text->substr(begin + core.size())};
  *text = std::string(core);
  return ends;
}

bool IsAlnumCharacter(std::string_view character) {
  return HasWords(character) ||
         (character.size() == 1 && absl::ascii_isdigit(static_cast<unsigned char>(character[0])));
}
bool BeginsWithLetter(std::string_view text) {
  size_t end = 0;
  if (!text.empty()) NextCodePoint(text, &end);
  return IsAlnumCharacter(text.substr(0, end));
}
bool EndsInLetter(std::string_view text) {
  size_t begin = text.size();
  while (begin > 0 && (text[--begin] & 0xC0) == 0x80) continue;
  return IsAlnumCharacter(text.substr(begin));
}

// Puts a tight element around what follows `begin`, in front of a word or not.  Its markers are
// none for CommonMark (6.2) if they part a letter from punctuation, nor is "_" within a word.
void WriteTight(size_t begin, std::string open, std::string close, bool word_after,
                std::string* out) {
  std::string content = out->substr(begin);
  out->resize(begin);
  const Ends ends = TakeEnds(&content);
  *out += ends.before;
  if (!content.empty()) {
    const bool before = EndsInLetter(*out), after = word_after && ends.after.empty();
    for (std::string* marker : {&open, &close}) {
      if (before || after) std::replace(marker->begin(), marker->end(), '_', '*');
    }
    if (before && !BeginsWithLetter(content)) *out += ' ';
    absl::StrAppend(out, open, content, close);
    if (after && !EndsInLetter(content)) *out += ' ';
  }
  *out += ends.after;
}

// The text of a branch without the white space around it, and without tags of HTML that end in
// front of its words, or begin behind them, what stands beside it: "<b>{n, plural, ...}</b> dogs".
std::string_view WithoutOuterTags(std::string_view text) {
  while (true) {
    text = StripWhiteSpace(text);
    const size_t close = text.starts_with("&lt;/") ? text.find("&gt;") : text.npos;
    const size_t open = text.ends_with("&gt;") ? text.rfind("&lt;") : text.npos;
    const bool opens = open != text.npos && !text.substr(open).starts_with("&lt;/");
    if (close != text.npos && close + 4 < text.size()) {
      text.remove_prefix(close + 4);
    } else if (opens && open > 0 && text.substr(open).find(' ') == text.npos) {
      text.remove_suffix(text.size() - open);
    } else {
      return text;
    }
  }
}

}  // namespace

void InlineText::Text(std::string_view characters) {
  plain_ += characters;
  xml_ += EscapeXml(characters);
  has_words_ = has_words_ || HasWords(characters);
}

bool InlineText::AddElement(Element element) {
  // In a growing list, and what stands in the text for it.
  constexpr size_t kBytesOfTags = 128;
  const size_t bytes = element.open.size() + element.close.size();
  if (!patience_->Takes(2 * sizeof(Element) + kBytesOfTags + bytes)) return false;
  elements_.push_back(std::move(element));
  return true;
}

void InlineText::Open(std::string open, std::string close, bool tight) {
  if (!AddElement({std::move(open), std::move(close), tight})) return;
  open_.push_back(elements_.size() - 1);
  absl::StrAppend(&xml_, "<x", elements_.size(), ">");
}

void InlineText::Close() {
  if (open_.empty()) return;  // AddElement
  absl::StrAppend(&xml_, "</x", open_.back() + 1, ">");
  open_.pop_back();
}

void InlineText::Empty(std::string raw) {
  if (!AddElement({std::move(raw), ""})) return;
  absl::StrAppend(&xml_, "<x", elements_.size(), "/>");
}

void InlineText::Symbol(std::string raw, std::string_view characters) {
  const bool spaced =
      IsSymbolSpace(characters) && !xml_.empty() && xml_.back() != ' ' && xml_.back() != '\n';
  if (spaced) xml_ += ' ';
  if (!AddElement({.open = std::move(raw), .spaced = spaced})) return;
  absl::StrAppend(&xml_, "<x", elements_.size(), "/>");
}

// The line ends around its tag are not those of the file.
void InlineText::Break(std::string raw) {
  if (!AddElement({.open = std::move(raw), .breaks = true})) return;
  absl::StrAppend(&xml_, "\n<x", elements_.size(), "/>\n");
}

void InlineText::Opaque(std::string raw, std::string_view characters) {
  if (!AddElement({std::move(raw), ""})) return;
  absl::StrAppend(&xml_, "<x", elements_.size(), " translate=\"no\">", EscapeXml(characters), "</x",
                  elements_.size(), ">");
}

bool InlineText::CutBranches() {
  const size_t before = elements_.size();
  std::string cut;
  size_t at = 0;
  const auto keep = [&](size_t end) {
    AddElement({.open = XmlText(std::string_view(xml_).substr(at, end - at)),
                .spelled = true,
                .between = true});
    absl::StrAppend(&cut, cut.empty() ? "" : "\n", "<x", elements_.size(), "/>");
  };
  // Elements are whole in a branch, and none is outside.
  bool whole = true, choice = false;
  const std::vector<IcuText> branches = FindIcuTexts(xml_, patience_);
  for (const IcuText& branch : branches) {
    const std::string_view text =
        std::string_view(xml_).substr(branch.begin, branch.end - branch.begin);
    choice = choice || branch.choice;
    int depth = 0;
    for (const PassageTag& tag : FindPassageTags(text)) {
      depth += tag.closes ? -1 : tag.empty ? 0 : 1;
      if (depth < 0) break;
    }
    const bool words = text.find('<') != text.npos || HasWords(XmlText(text));
    if (!words) continue;  // It stands between the others.
    const std::string_view core = WithoutOuterTags(text);
    const auto begin = static_cast<size_t>(core.data() - xml_.data());
    whole = whole && depth == 0 && xml_.substr(at, begin - at).find('<') == xml_.npos;
    if (!whole) break;
    keep(begin);
    cut += '\n';
    for (const IcuPiece& piece :
         ReadIcuText(xml_, {begin, begin + core.size(), branch.number, branch.choice})) {
      const bool kept = piece.kept && piece.text.find('<') == piece.text.npos;
      if (!kept) cut += piece.text;
      if (!kept || !AddElement({.open = XmlText(piece.text), .spelled = true})) continue;
      absl::StrAppend(&cut, "<x", elements_.size(), " translate=\"no\">", piece.text, "</x",
                      elements_.size(), ">");
    }
    at = begin + core.size();
  }
  if (branches.empty() || !whole || xml_.find('<', at) != xml_.npos) {
    elements_.resize(before);
    return false;
  }
  keep(xml_.size());
  // One of another kind means the same however often the texts of a choice are read.
  apostrophe_ = choice ? "’" : xml_.find("''") != xml_.npos ? "''" : "'";
  xml_ = std::move(cut);
  return true;
}

std::string InlineText::JoinBranches(const std::vector<Element>& elements, std::string_view xml) {
  std::string out;
  for (size_t i = 0; i < elements.size(); ++i) {
    if (!elements[i].between) continue;
    const bool first = out.empty(), last = i + 1 == elements.size();
    const std::string tag = absl::StrCat(first ? "" : "\n", "<x", i + 1, "/>", last ? "" : "\n");
    const size_t at = xml.find(tag);
    if (at == xml.npos || (first && at != 0) || (last && at + tag.size() != xml.size())) return "";
    absl::StrAppend(&out, std::string(xml.substr(0, at)), "<x", i + 1, "/>");
    xml.remove_prefix(at + tag.size());
  }
  return out;
}

std::string InlineText::Write(const std::vector<Element>& elements, std::string_view xml,
                              const std::string& apostrophe, const Spelling& spell) {
  std::string out;
  const auto opening = [&](const Element& element) {
    return element.spelled ? spell(element.open) : element.open;
  };
  std::vector<std::pair<size_t, size_t>> open;  // elements, and where their content begins
  bool after_break = false;
  const Element none;
  const std::vector<PassageTag> tags = FindPassageTags(xml);
  size_t done = 0;
  for (size_t t = 0; t <= tags.size(); ++t) {
    const PassageTag tag = t < tags.size() ? tags[t] : PassageTag{xml.size(), xml.size()};
    const bool known = tag.name.starts_with('x') && tag.element < elements.size();
    const Element& element = known ? elements[tag.element] : none;
    std::string_view text = xml.substr(done, tag.begin - done);
    done = tag.end;
    if (after_break && text.starts_with('\n')) text.remove_prefix(1);
    if (element.spaced && text.ends_with(' ')) text.remove_suffix(1);
    after_break = element.breaks;
    if (after_break && text.ends_with('\n')) text.remove_suffix(1);
    if (!text.empty()) {
      std::string words = XmlText(text);
      if (!apostrophe.empty()) words = SpellApostrophes(words, apostrophe, "{}#|");
      const bool beside = apostrophe == "'" && out.ends_with('\'') && words.starts_with('\'');
      if (beside) words.replace(0, 1, "’");
      out += spell(words);
    }
    if (!known) continue;
    if (tag.closes) {
      if (open.empty() || open.back().first != tag.element) continue;
      const size_t begin = open.back().second;
      open.pop_back();
      if (element.tight) {
        WriteTight(begin, element.open, element.close, BeginsWithLetter(xml.substr(tag.end)), &out);
      } else {
        out += element.close;
      }
    } else if (tag.empty) {
      out += opening(element);
    } else if (tag.copied) {
      if (apostrophe == "'" && element.open.starts_with('\'') && out.ends_with('\'')) {
        out.replace(out.size() - 1, 1, spell("’"));  // else they would be one
      }
      out += opening(element);
      while (++t < tags.size() && (!tags[t].closes || tags[t].element != tag.element)) continue;
      done = t < tags.size() ? tags[t].end : xml.size();
    } else {
      if (element.open == "[" && out.ends_with('!')) out.back() = '\\', out += '!';  // no image
      if (!element.tight) out += element.open;
      open.emplace_back(tag.element, out.size());
    }
  }
  for (; !open.empty(); open.pop_back()) {  // a translation that lacks an end tag
    const Element& element = elements[open.back().first];
    if (element.tight) WriteTight(open.back().second, element.open, element.close, false, &out);
    if (!element.tight) out += element.close;
  }
  return out;
}

Passage InlineText::ToPassage(size_t begin, size_t end, int line, Spelling spell) && {
  if (elements_.empty()) return PlainPassage(begin, end, line, plain_, std::move(spell));
  const Ends ends = TakeEnds(&xml_);
  auto write = [elements = std::move(elements_), spell = std::move(spell), ends,
                apostrophe = apostrophe_,
                source = apostrophe_.empty() ? "" : xml_](std::string_view translation) {
    std::string xml(translation);
    if (!apostrophe.empty()) {
      xml = JoinBranches(elements, translation);
      if (xml.empty()) xml = JoinBranches(elements, source);
      xml = absl::StrReplaceAll(xml, {{kIcuNumber.data(), "#"}});
    }
    return Write(elements, absl::StrCat(ends.before, xml, ends.after), apostrophe, spell);
  };
  return {begin, end, line, std::move(xml_), PassageMarkup::kXml, std::move(write)};
}

Passage PlainPassage(size_t begin, size_t end, int line, std::string_view characters,
                     Spelling spell) {
  std::string text(characters);
  const Ends ends = TakeEnds(&text);
  auto write = [spell = std::move(spell), ends](std::string_view translation) {
    return spell(absl::StrCat(ends.before, std::string(translation), ends.after));
  };
  return {begin, end, line, std::move(text), PassageMarkup::kNone, std::move(write)};
}

Passage Replacement(size_t begin, size_t end, int line, std::string replacement) {
  return {
      .begin = begin,
      .end = end,
      .line = line,
      .write = [replacement = std::move(replacement)](std::string_view) { return replacement; }};
}

}  // namespace dragoman
