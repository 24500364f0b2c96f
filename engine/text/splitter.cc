// One pass over the text, character by character.  At each character that may end a sentence, the
// code looks at both neighbours: the word before it (is the dot part of that word?) and what
// follows the white space (can a sentence begin with it?).  The knowledge of languages is in the
// tables.  Where they do not decide, the text is not split: that hurts a translation less than
// cutting one sentence in two.
//
//   He left the U.K. He went home.    "He" begins sentences, so the dot ends one
//   He left the U.K. Parliament.      "Parliament" might go on
//   1.) Wash. 2.) Dry.                a marker of a list belongs to what follows it
//   She said “Oh. No!” and left.      nothing ends within quotes or brackets that are soon closed
//
// One language has a rule for whole sentences: a long Arabic one is divided at its commas.

#include "engine/text/splitter.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "engine/base/utf8.h"
#include "engine/text/splitter_tables.h"
#include "engine/text/words.h"

namespace dragoman {
namespace {

template <typename Table, typename T>
bool In(const Table& table, const T& value) {
  return std::find(std::begin(table), std::end(table), value) != std::end(table);
}

bool IsLineBreak(char32_t c) {
  return (c >= 0x0A && c <= 0x0D) || c == 0x85 || c == 0x2028 || c == 0x2029;
}
bool IsDigit(char32_t c) { return c >= '0' && c <= '9'; }
bool IsTerminator(char32_t c) { return In(kTerminators, c); }
bool IsCjkTerminator(char32_t c) { return In(kCjkTerminators, c); }
bool IsCloser(char32_t c) { return In(kClosers, c); }
bool IsOpener(char32_t c) { return In(kOpeners, c); }

// A letter of an alphabet in which names are abbreviated to initials: Latin, Greek, Cyrillic.
bool IsInitial(char32_t c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= 0xC0 && c <= 0x24F) ||
         (c >= 0x370 && c <= 0x52F);
}

// A lower case letter, in alphabets that have case; no sentence begins with one.
bool IsLower(char32_t c) {
  if (c < 0x80) return c >= 'a' && c <= 'z';
  if (c < 0x100) return c >= 0xDF && c != 0xF7;
  if (c <
      0x180) {  // alternating upper and lower case; in two ranges the upper case letters are odd
    const bool upper_is_odd = (c >= 0x139 && c <= 0x148) || (c >= 0x179 && c <= 0x17E);
    return (c % 2 == 1) != upper_is_odd;
  }
  return (c >= 0x3AC && c <= 0x3CE) || (c >= 0x430 && c <= 0x45F) || (c >= 0x561 && c <= 0x587) ||
         (c >= 0x460 && c <= 0x52F && c % 2 == 1);
}

struct Character {
  char32_t c;
  size_t begin;  // its first byte
};

// The marker of an item in a list: "1.", "(b)", "• 3.)".
struct Marker {
  char32_t bullet = 0, opens = 0;  // 0: none
  bool letter = false;
  size_t closers = 0;  // the number of characters after the number
  int value = 0;       // of the number, or of the letter
  size_t end = 0;      // the character after the marker; 0: there is no marker

  bool Follows(const Marker& before) const {
    return before.end > 0 && bullet == before.bullet && opens == before.opens &&
           letter == before.letter && closers == before.closers &&
           (value == before.value + 1 || (closers > 1 && value == 1));
  }
};

class Splitter {
 public:
  explicit Splitter(std::string_view text) : text_(text) {
    for (size_t i = 0; i < text.size();) {
      const size_t begin = i;
      const char32_t c = NextCodePoint(text, &i);
      characters_.push_back({c, begin});
    }
    FindPairs();
  }

  std::vector<TextSpan> Split() {
    size_t quiet_until = 0;  // the end of the quotation or bracket around At(i)
    for (size_t i = 0; i < size();) {
      const char32_t c = At(i);
      if (EndsColumn(i) || (IsLineBreak(c) && !IsSoftBreak(i))) EndSentence(i);
      if (IsWhiteSpace(c)) {
        ++i;
        continue;
      }
      if (first_ == kNone || IsWhiteSpace(At(i - 1))) {
        const Marker marker = MarkerAt(i);
        if (marker.end > 0 && marker.Follows(marker_) && i >= quiet_until) EndSentence(i);
        if (marker.end > 0 && first_ == kNone) {
          first_ = i;
          marker_ = marker;
          i = marker.end;
          continue;
        }
      }
      if (first_ == kNone) first_ = i;
      quiet_until = std::max(quiet_until, closing_[i]);
      const size_t dot = i++;
      if (!IsEnd(dot)) continue;
      bool is_end = IsCjkTerminator(c);
      i = AfterEnd(i, &is_end);
      if (i <= quiet_until) continue;
      if (is_end || EndsAt(dot, i)) EndSentence(i);
    }
    EndSentence(size());
    return std::move(sentences_);
  }

 private:
  static constexpr size_t kNone = static_cast<size_t>(-1);

  size_t size() const { return characters_.size(); }
  char32_t At(size_t i) const { return i < size() ? characters_[i].c : 0; }
  size_t ByteAt(size_t i) const { return i < size() ? characters_[i].begin : text_.size(); }
  std::string_view Text(size_t begin, size_t end) const {
    return text_.substr(ByteAt(begin), ByteAt(end) - ByteAt(begin));
  }

  // The open sentence, if any, ends before character `end` and the white space before it.
  void EndSentence(size_t end) {
    if (first_ == kNone) return;
    while (IsWhiteSpace(At(end - 1))) --end;
    for (const size_t comma : ClauseEnds(first_, end)) {
      sentences_.push_back({ByteAt(first_), ByteAt(comma + 1)});
      for (first_ = comma + 1; IsWhiteSpace(At(first_));) ++first_;
    }
    sentences_.push_back({ByteAt(first_), ByteAt(end)});
    first_ = kNone;
  }

  // The commas that divide a long Arabic sentence into clauses: Arabic strings sentences together
  // with commas where other languages have full stops.  Short parts are items of an enumeration
  // and stay with their neighbours.
  std::vector<size_t> ClauseEnds(size_t begin, size_t end) const {
    std::vector<size_t> commas;
    std::vector<size_t> words = {0};  // before the first comma, between the commas, after the last
    size_t all = 1, quiet_until = begin;
    for (size_t i = begin; i < end; ++i) {
      if (In(kForeignArabicLetters, At(i))) return {};
      quiet_until = std::max(quiet_until, closing_[i]);
      if (!IsWhiteSpace(At(i)) || IsWhiteSpace(At(i - 1))) continue;
      ++all;
      ++words.back();
      if (At(i - 1) != kArabicComma || i <= quiet_until) continue;
      commas.push_back(i - 1);
      words.push_back(0);
    }
    ++words.back();
    if (all < kLongArabicSentence) return {};
    std::vector<size_t> ends;
    size_t before = 0;  // words since the last end
    for (size_t i = 0; i < commas.size(); ++i) {
      before += words[i];
      if (before < kShortestClause || words[i + 1] < kShortestClause) continue;
      ends.push_back(commas[i]);
      before = 0;
    }
    return ends;
  }

  // Whether a line ends at `i` because it was full: after a space, as in RFC 3676, and in the
  // middle of a sentence; or after a Japanese particle.
  bool IsSoftBreak(size_t i) const {
    if (i == 0) return false;
    if (At(i - 1) == kGenitive) return !IsLineBreak(At(i + 1));
    if (At(i - 1) != ' ' || BeginsItem(i + 1)) return false;
    return IsLower(At(i + 1)) || At(i + 1) == '(';
  }

  // Whether a tab is at `i`, behind a word or a word and a space.
  bool EndsColumn(size_t i) const {
    if (At(i) != '\t' || i == 0) return false;
    return !IsWhiteSpace(At(i - 1)) || (At(i - 1) == ' ' && i > 1 && !IsWhiteSpace(At(i - 2)));
  }

  // Whether "(iv)" or "b)" is at `i`.
  bool BeginsItem(size_t i) const {
    constexpr size_t kLongestNumber = 4;
    if (At(i) == '(') ++i;
    const size_t begin = i;
    while (i - begin < kLongestNumber && (IsLower(At(i)) || IsDigit(At(i)))) ++i;
    return i > begin && At(i) == ')';
  }

  // Whether a single quote is within a word: "don’t", "o‘zbek".
  bool IsApostrophe(size_t i) const {
    const bool quote = At(i) == U'‘' || At(i) == U'’';
    return quote && i > 0 && i + 1 < size() && IsWordCharacter(At(i - 1)) &&
           ContinuesWord(At(i + 1));
  }

  // For each character that opens a quotation or bracket which is closed soon, and in the same
  // line, where it closes.
  void FindPairs() {
    closing_.assign(size(), 0);
    std::vector<size_t> open;
    for (size_t i = 0; i < size(); ++i) {
      if (IsLineBreak(At(i))) open.clear();
      if (IsApostrophe(i)) continue;
      const bool straight = At(i) == '"';
      const bool may_close = !straight || (i > 0 && !IsWhiteSpace(At(i - 1)));
      const auto closes = [&](size_t o) {
        return std::any_of(std::begin(kPairs), std::end(kPairs), [&](const Pair& pair) {
          return At(o) == pair.opens && At(i) == pair.closes;
        });
      };
      // What was opened further inside, and is not closed, is no pair.
      const auto opening = std::find_if(open.rbegin(), open.rend(), closes);
      if (may_close && opening != open.rend()) {
        if (i - *opening <= kLongestQuote) closing_[*opening] = i;
        open.erase(std::prev(opening.base()), open.end());
      } else if (std::any_of(std::begin(kPairs), std::end(kPairs),
                             [&](const Pair& pair) { return At(i) == pair.opens; }) &&
                 open.size() < kDeepest) {
        open.push_back(i);
      }
    }
  }

  // Whether the character at `dot` may end a sentence.
  bool IsEnd(size_t dot) const {
    const char32_t c = At(dot);
    const char32_t before = dot > first_ ? At(dot - 1) : 0;
    if (c == ':') {  // Armenian, Arabic
      return (before >= 0x531 && before <= 0x587) || (before >= 0x620 && before <= 0x64A);
    }
    if (c == ';') return before >= 0x370 && before <= 0x3FF;  // a Greek question mark
    if (c == U'．') return !IsDigit(At(dot + 1)) && !(At(dot + 1) >= U'０' && At(dot + 1) <= U'９');
    return IsTerminator(c) || IsCjkTerminator(c);
  }

  // The end of the terminators, closing marks and references to footnotes ("[1]") that begin at
  // `i`.
  size_t AfterEnd(size_t i, bool* is_cjk) const {
    while (i < size()) {
      if (IsTerminator(At(i)) || IsCjkTerminator(At(i)) || IsCloser(At(i))) {
        *is_cjk = *is_cjk || IsCjkTerminator(At(i));
        ++i;
      } else if (At(i) == ' ' && (At(i + 1) == U'»' || (At(i + 1) == '.' && At(i - 1) == '.'))) {
        i += 2;  // "« Oui. »" and ". . ."
      } else if (At(i) == '[' && IsDigit(At(i + 1)) && closing_[i] > 0) {
        i = closing_[i] + 1;
      } else {
        break;
      }
    }
    const size_t footnote = AfterFootnote(i);
    return footnote > i ? footnote : i;
  }

  // The end of the number of a footnote that follows the dot before `i`: "at large.7 The"; `i` if
  // there is none.
  size_t AfterFootnote(size_t i) const {
    if (i < first_ + 2 || At(i - 1) != '.' || IsDigit(At(i - 2)) || !IsDigit(At(i))) return i;
    size_t end = i;
    while (IsDigit(At(end)) || (At(end) == ' ' && IsDigit(At(end + 1)))) ++end;
    const bool few = end - i <= kLongestFootnote;
    return few && At(end) == ' ' && !In(kBeforeNumber, Text(WordBefore(i - 1), i - 1)) ? end : i;
  }

  // The marker of a list at `i`, where a word begins.
  Marker MarkerAt(size_t i) const {
    Marker marker;
    if (In(kBullets, At(i))) {
      marker.bullet = At(i++);
      while (At(i) == ' ') ++i;
    }
    if (At(i) == '(') marker.opens = At(i++);
    const size_t number = i;
    while (i < number + 3 && IsDigit(At(i))) marker.value = 10 * marker.value + int(At(i++) - '0');
    if (i == number && At(i) >= 'a' && At(i) <= 'z') {
      marker.letter = true;
      marker.value = static_cast<int>(At(i++));
    }
    const size_t closers = i;
    if (At(i) == '.' && marker.opens == 0) ++i;
    if (At(i) == ')' || At(i) == U'）') ++i;
    marker.closers = i - closers;
    const bool bracket = i > closers && At(i - 1) != '.';
    if (i == number || i == closers) return {};
    if (!(bracket ? !IsTerminator(At(i)) : IsWhiteSpace(At(i)))) return {};
    size_t next = i;
    while (At(next) == ' ') ++next;
    if (next >= size() || IsLineBreak(At(next)) || (!bracket && IsLower(At(next)))) return {};
    if (!bracket && (IsDigit(At(next)) || In(kAfterOrdinal, Text(next, WordAfter(next)))))
      return {};
    marker.end = i;
    return marker;
  }

  // Whether the terminators and closers in [dot, end) end a sentence.
  bool EndsAt(size_t dot, size_t end) const {
    if (end == size()) return true;
    if (!IsWhiteSpace(At(end))) return false;
    size_t next = end;
    for (; next < size() && IsWhiteSpace(At(next)); ++next) {
      if (IsLineBreak(At(next)) && !IsSoftBreak(next)) return true;
    }
    if (dot > first_ && (At(dot - 1) == '[' || At(dot - 1) == '(')) return false;  // "[...]"
    constexpr size_t kSpacedEllipsis = 5;                                          // ". . ."
    if (At(dot) == '.' && At(dot + 1) == ' ' && end - dot == kSpacedEllipsis) return false;
    while (next < size() && (IsOpener(At(next)) || IsWhiteSpace(At(next)))) ++next;
    if (next == size()) return true;
    if (At(next) == '/') return false;  // between verses
    if (IsLower(At(next))) return At(next + 1) == ')' && MarkerAt(next).end > 0;
    const bool is_single_dot = At(dot) == '.' && end == dot + 1;
    return !is_single_dot || !DotIsPartOfWord(dot, next);
  }

  // The end of the word at `begin`.
  size_t WordAfter(size_t begin) const {
    while (begin < size() && !IsWhiteSpace(At(begin)) && !IsTerminator(At(begin)) &&
           At(begin) != ',') {
      ++begin;
    }
    return begin;
  }

  // The first character of the word that ends before `end`.
  size_t WordBefore(size_t end) const {
    while (end > first_ && !IsWhiteSpace(At(end - 1)) && !IsOpener(At(end - 1)) &&
           !IsCloser(At(end - 1))) {
      --end;
    }
    return end;
  }

  // The number of the words between the beginning of the open sentence and `begin`.
  size_t WordsBefore(size_t begin) const {
    size_t words = 0;
    for (size_t i = first_; i < begin; ++i)
      words += IsWhiteSpace(At(i)) && !IsWhiteSpace(At(i - 1));
    return words;
  }

  // Whether the dot belongs to the word before it (an abbreviation, an initial or an ordinal),
  // given that the next word begins at `next`.
  bool DotIsPartOfWord(size_t dot, size_t next) const {
    const size_t begin = WordBefore(dot);
    if (begin == dot) return false;
    const auto is_digit = [](const Character& character) { return IsDigit(character.c); };
    if (std::all_of(characters_.begin() + begin, characters_.begin() + dot, is_digit)) {
      return IsOrdinal(begin, dot, next);
    }
    const std::string_view word = Text(begin, dot);
    const std::string_view following = Text(next, WordAfter(next));
    if (In(kHours, word)) {  // "At 5 p.m. Mr. Lee left." and "He left at 6 p.m. Mr. Lee stayed."
      return IsDigit(At(next)) || (In(kAbbreviations, following) && WordsBefore(begin) < 3);
    }
    if (In(kBeforeCompanyForm, word) && In(kCompanyForms, following)) return true;
    size_t part = dot;  // "h" of "d.h"
    while (part > begin && At(part - 1) != '.' && At(part - 1) != '\'' && At(part - 1) != U'’')
      --part;
    if (In(kAbbreviations, word)) return true;
    if (dot - part == 1 && IsInitial(At(part))) {
      const bool may_end = (part > begin && At(part - 1) == '.') || word == "I";
      return !may_end || !In(kStarters, following);
    }
    return In(kAbbreviations, Text(part, dot)) ||
           (IsDigit(At(next)) && In(kBeforeNumber, Text(begin, dot)));
  }

  // Whether the number [begin, dot) and its dot do not end a sentence: "3. 5", "am 3. Mai",
  // "1. Introduction".
  bool IsOrdinal(size_t begin, size_t dot, size_t next) const {
    if (IsDigit(At(next))) return true;
    constexpr size_t kMostDigits = 2;
    if (dot - begin > kMostDigits) return false;
    if (begin == first_) return true;
    size_t end = begin;
    while (end > first_ && IsWhiteSpace(At(end - 1))) --end;
    if (In(kBeforeOrdinal, Text(WordBefore(end), end))) return true;
    return In(kAfterOrdinal, Text(next, WordAfter(next)));
  }

  const std::string_view text_;
  std::vector<Character> characters_;
  std::vector<size_t> closing_;  // of each character: where what it opens is closed, or 0
  Marker marker_;                // the last one at the beginning of a sentence
  size_t first_ = kNone;         // of the open sentence
  std::vector<TextSpan> sentences_;
};

}  // namespace

std::vector<TextSpan> SplitSentences(std::string_view text) { return Splitter(text).Split(); }

std::vector<TextSpan> SplitAround(std::string_view text, const std::vector<TextSpan>& sentences) {
  std::vector<TextSpan> all;
  size_t done = 0;
  const auto split_until = [&](size_t end) {
    for (const TextSpan span : SplitSentences(text.substr(done, end - done))) {
      all.push_back({span.begin + done, span.end + done});
    }
  };
  for (const TextSpan sentence : sentences) {
    split_until(sentence.begin);
    all.push_back(sentence);
    done = sentence.end;
  }
  split_until(text.size());
  return all;
}

namespace {

// Without brackets around all of it: "(See below.)", not "(One) and (two)".
TextSpan WithoutBrackets(std::string_view text, TextSpan sentence) {
  std::string_view inside = text.substr(sentence.begin, sentence.size());
  if (!inside.starts_with('(') || !inside.ends_with(')') || inside.size() <= 2) return sentence;
  inside = inside.substr(1, inside.size() - 2);
  int open = 0;
  for (const char c : inside) {
    open += c == '(' ? 1 : c == ')' ? -1 : 0;
    if (open < 0) return sentence;
  }
  return open == 0 ? TextSpan{sentence.begin + 1, sentence.end - 1} : sentence;
}

}  // namespace

TextSpan WithoutListMarker(std::string_view text, TextSpan sentence) {
  const std::string_view before = text.substr(0, sentence.begin);
  const size_t visible = before.find_last_not_of(" \t");
  const bool in_line = visible != before.npos && before[visible] != '\n' && before[visible] != '\r';
  const auto size_of_marker = [in_line](std::string_view rest) -> size_t {
    for (const std::string_view dash : {"-", "–", "—"}) {
      if (rest.starts_with(dash)) return dash.size();
    }
    if (in_line) return 0;
    for (const std::string_view bullet : {"*", "+", "·", "•", "[ ]", "[x]", "[X]"}) {
      if (rest.starts_with(bullet)) return bullet.size();
    }
    if (rest.starts_with('>')) return std::min(rest.find_first_not_of('>'), rest.size());
    constexpr size_t kMost = 6;  // signs of a heading; digits
    size_t size = std::min(rest.find_first_not_of('#'), rest.size());
    if (size > 0) return size <= kMost ? size : 0;
    const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
    const size_t first = rest.starts_with('(') ? 1 : 0;
    size = std::min(rest.find_first_not_of("0123456789", first), rest.size());
    if (size == first) size = std::min(rest.find_first_not_of("ivxIVX", first), rest.size());
    if (size == first && size < rest.size() && is_letter(rest[size])) ++size;
    return size > first && size <= kMost && rest.substr(size).starts_with(')') ? size + 1 : 0;
  };
  for (;;) {
    const std::string_view rest = text.substr(sentence.begin, sentence.size());
    const size_t size = size_of_marker(rest);
    if (size == 0 || size >= rest.size() || (rest[size] != ' ' && rest[size] != '\t')) {
      return WithoutBrackets(text, sentence);
    }
    sentence.begin += std::min(rest.find_first_not_of(" \t", size), rest.size());
  }
}

}  // namespace dragoman
