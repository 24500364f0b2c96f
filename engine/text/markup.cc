// White space at the ends of a segment is not part of it.  In between, a run of white space may be
// told in several pieces, with tags among them:
//
//   "A <b> big</b>"   collapsed: "A " and "big"; the space inside of <b> is not part of the text
//
// A mark knows its text as soon as it is told, because a segment is appended to the text when it
// is complete, and until then nothing else is.  Only the segments of attributes have to wait.

#include "engine/text/markup.h"

#include <algorithm>
#include <utility>

#include "engine/base/html_references.h"
#include "engine/base/status.h"
#include "engine/base/utf8.h"
#include "engine/text/language_tag.h"
#include "engine/text/words.h"

namespace dragoman {
namespace {

// Whether there is anything to translate.
bool HasLetters(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    const char32_t c = NextCodePoint(text, &at);
    if (IsLetterOrDigit(c) && !(c >= '0' && c <= '9')) return true;
  }
  return false;
}

bool EndsInSpace(std::string_view text) { return text.empty() || IsMarkupSpace(text.back()); }

// What must not stand in a segment as it is; "" for other characters.  `before` is what precedes
// it.
std::string_view Escaped(char c, std::string_view before, Writing writing) {
  if (writing == Writing::kPlain) return "";
  switch (c) {
    case '&':
      return "&amp;";
    case '<':
      return "&lt;";
    case '>':
      return before.ends_with("]]") ? "&gt;" : "";
    case '"':
      return writing == Writing::kDoubleQuoted || writing == Writing::kUnquoted ? "&quot;" : "";
    case '\'':
      return writing == Writing::kSingleQuoted ? "&#39;" : "";
    default:
      return "";
  }
}

// Whether XML does not allow this character in any spelling.
bool IsForbidden(char32_t c) {
  return (c < 0x20 && c != '\t' && c != '\n' && c != '\r') || c == 0xFFFE || c == 0xFFFF;
}

// The length of the longest of the `spellings` at the start of `text`, whose first character has
// `length` bytes; 0 if there is none.
size_t SpelledLength(const std::map<std::string, std::string>& spellings, std::string_view text,
                     size_t length) {
  if (spellings.empty()) return 0;
  if (length < text.size()) {  // a few references stand for two characters
    size_t both = length;
    NextCodePoint(text, &both);
    if (spellings.count(std::string(text.substr(0, both))) > 0) return both;
  }
  return spellings.count(std::string(text.substr(0, length))) > 0 ? length : 0;
}

}  // namespace

std::optional<bool> TranslatesLanguage(std::string_view language, const MarkupOptions& options) {
  const std::optional<Language> here = ParseLanguage(language);
  const std::optional<Language> wanted = ParseLanguage(options.language);
  if (!here.has_value() || !wanted.has_value()) return std::nullopt;
  return here->language == wanted->language;
}

TextSpan WithoutMarkupSpaces(std::string_view text, TextSpan span) {
  while (span.size() > 0 && IsMarkupSpace(text[span.begin])) ++span.begin;
  while (span.size() > 0 && IsMarkupSpace(text[span.end - 1])) --span.end;
  return span;
}

// Where the text told next will be in the whole text.
size_t MarkedTextBuilder::Here() const {
  const size_t before = marked_.text.empty() ? 0 : marked_.text.size() + 1;
  return before + draft_.text.size();
}

void MarkedTextBuilder::Append(TextSpan raw, std::string_view text) {
  Draft& draft = in_attribute_ ? attributes_.back() : draft_;
  const size_t begin = draft.text.size();
  draft.text += text;
  draft.to_raw.Add({begin, draft.text.size()}, raw);
}

void MarkedTextBuilder::Text(TextSpan raw) {
  const std::string_view text = std::string_view(marked_.raw).substr(raw.begin, raw.size());
  for (size_t i = 0; i < text.size();) {
    size_t end = std::min(text.find_first_of(kMarkupSpaces, i), text.size());
    if (end > i) Append({raw.begin + i, raw.begin + end}, text.substr(i, end - i));
    i = end;
    end = std::min(text.find_first_not_of(kMarkupSpaces, i), text.size());
    const TextSpan spaces = {raw.begin + i, raw.begin + end};
    AddSpaces(spaces, text.substr(i, end - i));
    i = end;
  }
}

// White space after white space does not count, unless it has the line break.
void MarkedTextBuilder::AddSpaces(TextSpan raw, std::string_view spaces) {
  const Draft& draft = in_attribute_ ? attributes_.back() : draft_;
  const bool breaks_line = !collapse_ && spaces.find('\n') != spaces.npos && !draft.text.empty();
  if (EndsInSpace(draft.text) && !breaks_line) return;
  if (!spaces.empty()) Append(raw, collapse_ ? " " : spaces);
}

void MarkedTextBuilder::Spelled(TextSpan raw, std::string_view text) {
  Draft& draft = in_attribute_ ? attributes_.back() : draft_;
  if (text.empty()) return;
  if (std::all_of(text.begin(), text.end(), IsMarkupSpace)) {
    return AddSpaces(raw, text);
  }
  const bool whole = marked_.raw[raw.end - 1] == ';';
  if (whole && !in_attribute_ && IsSymbol(text)) return Empty(raw, IsSymbolSpace(text));
  const auto is_digit = [&](size_t at) {
    return at < marked_.raw.size() && marked_.raw[at] >= '0' && marked_.raw[at] <= '9';
  };
  const bool price = raw.end < marked_.raw.size() && marked_.raw[raw.end] == '$';
  const bool range = is_digit(raw.begin - 1) && (price || is_digit(raw.end));  // 5&ndash;7
  const bool mark = whole && !in_attribute_ && IsTypographic(text) && !range;
  if (mark) AddMark(MarkKind::kOpaque, raw, false);
  Append(raw, text);
  if (mark) {
    marked_.marks.back().text.end = Here();
    return;
  }
  // A letter has no reason to be spelled so elsewhere, and a reference of HTML that lacks its
  // semicolon may mean something else before other characters.
  const bool plain = text.size() == 1 && IsLetterOrDigit(static_cast<unsigned char>(text[0]));
  if (plain || !whole) return;
  draft.segment.spellings.emplace(text, marked_.raw.substr(raw.begin, raw.size()));
}

void MarkedTextBuilder::AddMark(MarkKind kind, TextSpan raw, bool breaks_word) {
  const size_t here = Here();
  marked_.tags.push_back({raw, here, static_cast<int>(marked_.marks.size()), false});
  marked_.marks.push_back(
      {.kind = kind, .text = {here, here}, .opening = raw, .breaks_word = breaks_word});
}

void MarkedTextBuilder::Open(TextSpan tag) {
  open_.push_back(static_cast<int>(marked_.marks.size()));
  AddMark(MarkKind::kPaired, tag, false);
}

void MarkedTextBuilder::Close(TextSpan tag) {
  DRAGOMAN_CHECK(!open_.empty());
  Mark& mark = marked_.marks[open_.back()];
  mark.text.end = Here();
  mark.closing = tag;
  marked_.tags.push_back({tag, Here(), open_.back(), true});
  open_.pop_back();
}

void MarkedTextBuilder::Abandon() {
  DRAGOMAN_CHECK(!open_.empty());
  marked_.marks[open_.back()].kind = MarkKind::kEmpty;
  open_.pop_back();
}

void MarkedTextBuilder::Empty(TextSpan element, bool breaks_word) {
  AddMark(MarkKind::kEmpty, element, breaks_word);
  if (breaks_word) AddSpaces({element.end, element.end}, " ");
}

void MarkedTextBuilder::Opaque(TextSpan element, std::string_view text) {
  const size_t first = text.find_first_not_of(kMarkupSpaces);
  if (first == text.npos) return Empty(element);
  const size_t end = text.find_last_not_of(kMarkupSpaces) + 1;
  if (first > 0) AddSpaces({element.begin, element.begin}, " ");
  Mark* mark = first > 0 ? nullptr : Touching();
  if (mark == nullptr) {
    AddMark(MarkKind::kOpaque, element, false);
    mark = &marked_.marks.back();
  }
  Append(element, text.substr(first, end - first));
  mark->text.end = Here();
  mark->opening.end = element.end;
  marked_.tags.back().raw.end = element.end;
  if (end < text.size()) AddSpaces({element.end, element.end}, " ");
}

// The opaque mark that was told last, if there is nothing but signs behind it; null: there is none.
Mark* MarkedTextBuilder::Touching() {
  if (marked_.tags.size() == first_tag_) return nullptr;
  Mark& last = marked_.marks[static_cast<size_t>(marked_.tags.back().mark)];
  if (last.kind != MarkKind::kOpaque) return nullptr;
  constexpr size_t kMost = 3;  // bytes in between
  const size_t behind = Here() - last.text.end;
  if (behind > kMost) return nullptr;
  const std::string_view signs = std::string_view(draft_.text).substr(draft_.text.size() - behind);
  return signs.find_first_not_of("+-/.:=&@#_|%*\\,~>") == signs.npos ? &last : nullptr;
}

void MarkedTextBuilder::BeginAttribute(TextSpan value, Writing writing) {
  attributes_.push_back({.segment = {.raw = value, .writing = writing}});
  in_attribute_ = true;
}

void MarkedTextBuilder::EndAttribute() { in_attribute_ = false; }

void MarkedTextBuilder::Boundary(TextSpan raw) {
  FinishSegment(raw.begin);
  draft_.segment.raw.begin = raw.end;
}

// Appends a segment to the text, if it has letters; what has none is copied.
void MarkedTextBuilder::Add(Draft draft) {
  const size_t size = draft.text.find_last_not_of(kMarkupSpaces) + 1;  // 0 if there is nothing else
  if (size == 0 || !HasLetters(draft.text)) return;
  draft.to_raw.Truncate(size);
  if (!marked_.text.empty()) marked_.text += '\n';
  const size_t begin = marked_.text.size();
  marked_.text.append(draft.text, 0, size);
  draft.segment.text = {begin, marked_.text.size()};
  marked_.to_raw.Add(draft.to_raw, begin);
  marked_.segments.push_back(std::move(draft.segment));
}

// The open segment ends before byte `raw`.
void MarkedTextBuilder::FinishSegment(size_t raw) {
  draft_.segment.raw.end = raw;
  const bool told = HasLetters(draft_.text);
  const size_t next = marked_.text.empty() ? 0 : marked_.text.size() + 1;
  Add(std::move(draft_));
  draft_ = Draft();
  // Tags of what is copied are where the next segment begins.
  const size_t last = told ? marked_.text.size() : next;
  for (size_t t = first_tag_; t < marked_.tags.size(); ++t) {
    Tag& tag = marked_.tags[t];
    Mark& mark = marked_.marks[tag.mark];
    tag.text = std::min(tag.text, last);
    mark.text = {std::min(mark.text.begin, tag.text), std::min(mark.text.end, last)};
  }
  first_tag_ = marked_.tags.size();
  for (Draft& attribute : attributes_) Add(std::move(attribute));
  attributes_.clear();
}

MarkedText MarkedTextBuilder::Finish() && {
  FinishSegment(marked_.raw.size());
  while (open() > 0) Abandon();
  std::vector<int> around;
  for (const Tag& tag : marked_.tags) {
    if (tag.closes) {
      around.pop_back();
      continue;
    }
    Mark& mark = marked_.marks[tag.mark];
    mark.parent = around.empty() ? -1 : around.back();
    if (mark.kind == MarkKind::kPaired) around.push_back(tag.mark);
    if (mark.kind == MarkKind::kEmpty) mark.text.end = mark.text.begin;
  }
  return std::move(marked_);
}

void Spell(std::string_view text, TextSpan part, const Segment& segment, std::string* out,
           TextMap* map) {
  text = text.substr(0, part.end);
  for (size_t i = part.begin; i < part.end;) {
    size_t end = i;
    const char32_t c = NextCodePoint(text, &end);
    const size_t begin = out->size();
    if (const size_t length = SpelledLength(segment.spellings, text.substr(i), end - i)) {
      end = i + length;
      *out += segment.spellings.at(std::string(text.substr(i, length)));
    } else if (const std::string_view escaped = Escaped(text[i], *out, segment.writing);
               !escaped.empty()) {
      *out += escaped;
    } else if (segment.writing == Writing::kPlain || !IsForbidden(c)) {
      *out += text.substr(i, end - i);
    }
    map->Add({i, end}, {begin, out->size()});
    i = end;
  }
}

}  // namespace dragoman
