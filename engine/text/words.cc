#include "engine/text/words.h"

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "engine/base/utf8.h"

namespace dragoman {
namespace {

struct Range {
  char32_t first;
  char32_t last;
};

// Scripts without spaces between words (Unicode 15, Blocks.txt).
constexpr Range kUnspaced[] = {
    {0x0E00, 0x0EFF},                                                          // Thai, Lao
    {0x1000, 0x109F},                                                          // Burmese
    {0x1780, 0x17FF},                                                          // Khmer
    {0x2E80, 0x2FDF},                                                          // CJK radicals
    {0x3005, 0x3007}, {0x3021, 0x3029},   {0x3031, 0x3035}, {0x3040, 0x30FF},  // Hiragana, Katakana
    {0x31F0, 0x31FF}, {0x3400, 0x4DBF},   {0x4E00, 0x9FFF}, {0xF900, 0xFAFF},
    {0xFF66, 0xFF9F}, {0x20000, 0x3FFFF},
};

constexpr Range kHangul[] = {
    {0x1100, 0x11FF}, {0x3130, 0x318F}, {0xA960, 0xA97F}, {0xAC00, 0xD7FF}};

// Common characters that are neither letters nor digits.
constexpr Range kMarks[] = {
    {0x21, 0x2F},     {0x3A, 0x40},     {0x5B, 0x60},       {0x7B, 0x7E},     {0xA1, 0xA9},
    {0xAB, 0xB1},     {0xB4, 0xB4},     {0xB6, 0xB8},       {0xBB, 0xBB},     {0xBF, 0xBF},
    {0xD7, 0xD7},     {0xF7, 0xF7},     {0x055A, 0x055F},   {0x0589, 0x058A}, {0x05BE, 0x05BE},
    {0x05C0, 0x05C0}, {0x05C3, 0x05C3}, {0x060C, 0x060D},   {0x061B, 0x061F}, {0x066A, 0x066D},
    {0x06D4, 0x06D4}, {0x0964, 0x0965}, {0x0E2F, 0x0E2F},   {0x0E46, 0x0E46}, {0x0E4F, 0x0E4F},
    {0x104A, 0x104F}, {0x1361, 0x1368}, {0x17D4, 0x17DA},   {0x2010, 0x205E}, {0x20A0, 0x20CF},
    {0x2100, 0x2BFF}, {0x2E00, 0x2E7F}, {0x3001, 0x3004},   {0x3008, 0x3020}, {0x302A, 0x3030},
    {0x30FB, 0x30FB}, {0xFE30, 0xFE6F}, {0xFF01, 0xFF0F},   {0xFF1A, 0xFF20}, {0xFF3B, 0xFF40},
    {0xFF5B, 0xFF65}, {0xFFE0, 0xFFEE}, {0x1F000, 0x1FAFF},
};

bool InRanges(absl::Span<const Range> ranges, char32_t c) {
  const auto after =
      std::upper_bound(ranges.begin(), ranges.end(), c,
                       [](char32_t x, const Range& range) { return x < range.first; });
  return after != ranges.begin() && c <= std::prev(after)->last;
}

enum class Kind { kSpace, kLetter, kDigit, kNoSpaces, kMark };

Kind KindOf(char32_t c) {
  if ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') return Kind::kLetter;
  if (IsWhiteSpace(c)) return Kind::kSpace;
  if (c >= '0' && c <= '9') return Kind::kDigit;
  if (InRanges(kMarks, c)) return Kind::kMark;
  return InRanges(kUnspaced, c) ? Kind::kNoSpaces : Kind::kLetter;
}

bool IsWordKind(Kind kind) { return kind == Kind::kLetter || kind == Kind::kDigit; }

struct WordCharacter {
  char32_t c;
  size_t begin, end;
  Kind kind;
};

WordCharacter CharacterAt(std::string_view text, size_t begin) {
  size_t end = begin;
  const char32_t c = NextCodePoint(text, &end);
  return {c, begin, end, KindOf(c)};
}

// Whether a mark joins the characters on both sides of it.
bool Joins(const WordCharacter& before, const WordCharacter& mark, const WordCharacter& after) {
  constexpr std::u32string_view kInWords = U"'\u2019-\u2010\u2011", kInNumbers = U".,";
  if (kInWords.find(mark.c) != kInWords.npos) {
    return IsWordKind(before.kind) && IsWordKind(after.kind);
  }
  return kInNumbers.find(mark.c) != kInNumbers.npos && before.kind == Kind::kDigit &&
         after.kind == Kind::kDigit;
}

// The words of a text; of those without spaces between them, ends_at says where they end.
template <typename EndsAt>
std::vector<TextSpan> SplitAt(std::string_view text, EndsAt ends_at) {
  std::vector<TextSpan> words;
  words.reserve(text.size() / 4);
  for (size_t end = 0; end < text.size();) {
    const WordCharacter first = CharacterAt(text, end);
    WordCharacter last = first;
    const auto goes_on_with = [&](const WordCharacter& next) {
      if (first.kind == Kind::kMark) return next.c == first.c;
      if (first.kind == Kind::kNoSpaces) return next.kind == first.kind && !ends_at(next.begin);
      return IsWordKind(next.kind) || (next.kind == Kind::kMark && next.end < text.size() &&
                                       Joins(last, next, CharacterAt(text, next.end)));
    };
    end = first.end;
    if (first.kind == Kind::kSpace) continue;
    while (end < text.size()) {
      const WordCharacter next = CharacterAt(text, end);
      if (!goes_on_with(next)) break;
      last = next;
      end = next.end;
    }
    words.push_back({first.begin, end});
  }
  return words;
}

// Units that are written with two letters or three, whatever the language.
constexpr std::string_view kUnits[] = {
    "ms", "ns", "km", "cm", "mm", "kg", "mg", "ml",  "kB",  "KB",  "MB",  "GB",  "TB",  "Hz", "px",
    "pt", "em", "dB", "kW", "mA", "Ah", "Wh", "hPa", "kHz", "MHz", "GHz", "fps", "dpi", "mph"};

bool IsUnseen(char32_t c) {
  return c == 0xAD || (c >= 0x200B && c <= 0x200F) || (c >= 0x202A && c <= 0x202E) ||
         (c >= 0x2060 && c <= 0x2069) || (c >= 0xFE00 && c <= 0xFE0F) || c == 0xFEFF;
}

// A digit of another script, or one that is raised or lowered.
bool IsOtherDigit(char32_t c) {
  return (c >= 0x660 && c < 0x66A) || (c >= 0x6F0 && c < 0x6FA) || (c >= 0x966 && c < 0x970) ||
         (c >= 0xFF10 && c < 0xFF1A) || c == 0xB2 || c == 0xB3 || c == 0xB9 ||
         (c >= 0xBC && c < 0xBF) || (c >= 0x2070 && c < 0x20A0);
}

}  // namespace

bool ContainsWord(std::string_view text) {
  size_t begin = 0, letters = 0;  // of the run of letters and digits that goes on
  bool is_code = false, after_number = false;
  const auto ends_word = [&](size_t end) {
    const std::string_view run = text.substr(begin, end - begin);
    const bool is_unit =
        after_number && std::find(std::begin(kUnits), std::end(kUnits), run) != std::end(kUnits);
    const bool is_word = letters > 1 && !is_code && !is_unit;
    if (letters > 0 || is_code) after_number = is_code && letters == 0;
    letters = 0;
    is_code = false;
    return is_word;
  };
  for (size_t at = 0; at < text.size();) {
    const size_t here = at;
    const char32_t c = NextCodePoint(text, &at);
    const Kind kind = KindOf(c);
    if (IsUnseen(c)) continue;
    if (kind == Kind::kNoSpaces || InRanges(kHangul, c)) return true;
    const bool joins = (c == '\'' || c == 0x2019) && letters > 0;
    if (!IsWordKind(kind) && !joins) {
      if (ends_word(here)) return true;
      if (kind == Kind::kMark && c != 0xB0) after_number = false;
      continue;
    }
    if (letters == 0 && !is_code) begin = here;
    if (joins) continue;
    const bool digit = kind == Kind::kDigit || IsOtherDigit(c);
    is_code = is_code || digit;
    letters += digit ? 0 : 1;
  }
  return ends_word(text.size());
}

std::vector<TextSpan> SpansOfCharacters(std::string_view text) {
  std::vector<TextSpan> characters;
  for (size_t at = 0; at < text.size();) {
    const size_t begin = at;
    NextCodePoint(text, &at);
    characters.push_back({begin, at});
  }
  return characters;
}

bool IsLetterOrDigit(char32_t c) {
  const Kind kind = KindOf(c);
  return kind != Kind::kSpace && kind != Kind::kMark;
}

bool HasLetterOrDigit(std::string_view text) {
  for (size_t i = 0; i < text.size();) {
    if (IsLetterOrDigit(NextCodePoint(text, &i))) return true;
  }
  return false;
}

bool IsWordCharacter(char32_t c) { return IsWordKind(KindOf(c)); }

bool ContinuesWord(char32_t c) { return IsWordCharacter(c) && !InRanges(kHangul, c); }

bool EndsWordAt(std::string_view text, size_t place) {
  return place == 0 || place == text.size() ||
         !IsWordCharacter(LastCodePoint(text.substr(0, place))) ||
         !ContinuesWord(NextCodePoint(text, &place));
}

bool IsWholeWord(std::string_view text, size_t begin, size_t end) {
  size_t first = begin;
  const bool begins = begin == 0 || !IsWordCharacter(LastCodePoint(text.substr(0, begin))) ||
                      !IsWordCharacter(NextCodePoint(text, &first));
  return begins && EndsWordAt(text, end);
}

std::vector<TextSpan> SplitWords(std::string_view text, absl::Span<const TextSpan> tokens) {
  return SplitAt(text, [&, t = size_t{0}](size_t place) mutable {
    while (t < tokens.size() && tokens[t].end < place) ++t;
    return t < tokens.size() && tokens[t].end == place;
  });
}

std::vector<TextSpan> SplitWords(std::string_view text) {
  return SplitAt(text, [](size_t) { return true; });
}

namespace {

// 1 if a character is an opening bracket, -1 if it is a closing one.
int SideOfBracket(char32_t c) {
  return c == '(' || c == U'（' ? 1 : c == ')' || c == U'）' ? -1 : 0;
}

}  // namespace

std::vector<TextSpan> FindBrackets(std::string_view text) {
  std::vector<TextSpan> brackets;
  int open = 0;
  for (size_t i = 0; i < text.size() && open >= 0;) {
    const size_t begin = i;
    const int side = SideOfBracket(NextCodePoint(text, &i));
    if (side != 0) brackets.push_back({begin, i});
    open += side;
  }
  if (open != 0) brackets.clear();
  return brackets;
}

bool HasSameBrackets(std::string_view source, absl::Span<const TextSpan> brackets,
                     std::string_view target) {
  const auto shape = [](std::string_view text, absl::Span<const TextSpan> of) {
    std::string signs;  // "(a)" for each pair that has something in it
    size_t end = 0;
    for (TextSpan bracket : of) {
      const bool inside = HasLetterOrDigit(text.substr(end, bracket.begin - end));
      end = bracket.end;
      const bool opens = SideOfBracket(NextCodePoint(text, &bracket.begin)) > 0;
      if (inside && !opens && signs.back() == '(') signs += 'a';
      signs += opens ? '(' : ')';
    }
    return signs;
  };
  return shape(source, brackets) == shape(target, FindBrackets(target));
}

}  // namespace dragoman
