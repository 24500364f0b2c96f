#include "engine/text/normalizer.h"

#include <utf8proc.h>

#include <utility>

#include "engine/base/utf8.h"
#include "engine/text/tokenizer.h"

namespace dragoman {
namespace {

// White space as Rust has it; Python's has four control characters more.
bool IsRustSpace(char32_t c) { return IsWhiteSpace(c) && !(c >= 0x1C && c <= 0x1F); }

// The character at `*position`, which moves past it.
std::string_view CharacterAt(std::string_view text, size_t* position) {
  const size_t begin = *position;
  (void)NextCodePoint(text, position);
  return text.substr(begin, *position - begin);
}

// Moves past what a reader takes for one character (Unicode's extended grapheme cluster).
std::string_view ClusterAt(std::string_view text, size_t* position) {
  const size_t begin = *position;
  char32_t last = NextCodePoint(text, position);
  utf8proc_int32_t state = 0;
  while (*position < text.size()) {
    size_t next = *position;
    const char32_t c = NextCodePoint(text, &next);
    if (utf8proc_grapheme_break_stateful(static_cast<utf8proc_int32_t>(last),
                                         static_cast<utf8proc_int32_t>(c), &state)) {
      break;
    }
    last = c;
    *position = next;
  }
  return text.substr(begin, *position - begin);
}

// Passes on every byte of a text that a step leaves as it is.
void PassOn(const MadeText& from, TextSpan part, MadeText* to) {
  to->text.append(from.text, part.begin, part.size());
  to->origins.insert(to->origins.end(), from.origins.begin() + part.begin,
                     from.origins.begin() + part.end);
}

// The library looks a cluster of less than six bytes up as a whole, by its beginning; then each
// character of the others.
MadeText ReplaceCharacters(const MadeText& text, const CharsMap& map) {
  constexpr size_t kLongest = 6;
  MadeText made;
  for (size_t i = 0; i < text.text.size();) {
    const size_t begin = i;
    const std::string_view cluster = ClusterAt(text.text, &i);
    if (cluster.size() < kLongest) {
      if (const auto found = map.Find(cluster); found.has_value()) {
        made.Append(*found, text.Origin({begin, i}));
        continue;
      }
    }
    for (size_t j = begin; j < i;) {
      const size_t first = j;
      const auto found = map.Find(CharacterAt(text.text, &j));
      if (found.has_value()) {
        made.Append(*found, text.Origin({first, j}));
      } else {
        PassOn(text, {first, j}, &made);
      }
    }
  }
  return made;
}

MadeText ReplaceTexts(const MadeText& text, const NormalizerStep& step) {
  const size_t least = step.kind == NormalizerStep::kReplaceRuns ? 2 : 1;
  const size_t size = step.pattern.size();
  MadeText made;
  size_t kept = 0;  // up to where the text was passed on
  for (size_t i = 0; (i = text.text.find(step.pattern, i)) != std::string::npos;) {
    size_t end = i + size;
    while (least > 1 && std::string_view(text.text).substr(end).starts_with(step.pattern)) {
      end += size;
    }
    if (end - i >= least * size) {
      PassOn(text, {kept, i}, &made);
      made.Append(step.content, text.Origin({i, end}));
      kept = end;
    }
    i = end;
  }
  PassOn(text, {kept, text.text.size()}, &made);
  return made;
}

MadeText StripEnds(const MadeText& text, bool left, bool right) {
  size_t begin = 0, end = 0;
  for (size_t i = 0; i < text.text.size();) {
    const bool space = IsRustSpace(NextCodePoint(text.text, &i));
    if (!space) end = i;
    if (space && end == 0) begin = i;
  }
  if (!left) begin = 0;
  if (!right) end = text.text.size();
  MadeText made;
  if (begin < end) PassOn(text, {begin, end}, &made);
  return made;
}

}  // namespace

TextSpan MadeText::Origin(TextSpan part) const {
  if (part.size() > 0) return {origins[part.begin].begin, origins[part.end - 1].end};
  const size_t at = origins.empty()               ? 0
                    : part.begin < origins.size() ? origins[part.begin].begin
                                                  : origins.back().end;
  return {at, at};
}

MadeText Normalize(std::string_view text, const std::vector<NormalizerStep>& steps) {
  MadeText made;
  for (size_t i = 0; i < text.size();) {
    const size_t begin = i;
    const std::string_view character = CharacterAt(text, &i);
    made.Append(character, {begin, i});
  }
  for (const NormalizerStep& step : steps) {
    switch (step.kind) {
      case NormalizerStep::kCharacters:
        made = ReplaceCharacters(made, *step.characters);
        break;
      case NormalizerStep::kReplace:
      case NormalizerStep::kReplaceRuns:
        made = ReplaceTexts(made, step);
        break;
      case NormalizerStep::kStrip:
        made = StripEnds(made, step.left, step.right);
        break;
    }
  }
  return made;
}

CutText CutWords(const MadeText& text, const WordRules& rules, bool starts) {
  CutText cut;
  bool word_begins = true;  // what was cut at white space
  const auto end_word = [&] {
    const size_t size = cut.text.text.size();
    if (size > (cut.ends.empty() ? 0 : cut.ends.back())) cut.ends.push_back(size);
  };
  for (size_t i = 0; i < text.text.size();) {
    const size_t begin = i;
    const std::string_view character = CharacterAt(text.text, &i);
    size_t at = 0;
    if (rules.at_white_space && IsRustSpace(NextCodePoint(character, &at))) {
      end_word();
      word_begins = true;
      continue;
    }
    const TextSpan origin = text.Origin({begin, i});
    const bool mark = character == " " || character == kMetaSpace;
    if (mark && rules.at_marks) end_word();
    const bool prepends = rules.prepend == Prepend::kAlways ||
                          (rules.prepend == Prepend::kFirst && starts && origin.begin == 0);
    if (std::exchange(word_begins, false) && prepends && !mark) {
      cut.text.Append(kMetaSpace, {origin.begin, origin.begin});
    }
    cut.text.Append(mark ? kMetaSpace : character, origin);
  }
  end_word();
  return cut;
}

}  // namespace dragoman
