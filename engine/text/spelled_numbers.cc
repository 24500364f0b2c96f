#include "engine/text/spelled_numbers.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <utility>

#include "engine/base/utf8.h"
#include "engine/text/language_tag.h"
#include "engine/text/words.h"

namespace dragoman {
namespace {

char32_t SmallLetter(char32_t c) {
  if (c < 0x80) return c >= 'A' && c <= 'Z' ? c + 0x20 : c;
  if (c >= 0xC0 && c <= 0xDE && c != 0xD7) return c + 0x20;
  if ((c >= 0x139 && c <= 0x148) || (c >= 0x179 && c <= 0x17E)) return c + c % 2;
  if (c >= 0x100 && c <= 0x177) return c | 1;
  if (c >= 0x410 && c <= 0x42F) return c + 0x20;
  return c >= 0x400 && c <= 0x40F ? c + 0x50 : c;
}

// Whether one of `stems`, with '|' between them, is in `text`; if `begins_word`, at the beginning
// of a word.
bool HasStem(std::string_view text, std::string_view stems, bool begins_word) {
  while (!stems.empty()) {
    const std::string_view stem = stems.substr(0, stems.find('|'));
    stems.remove_prefix(std::min(stems.size(), stem.size() + 1));
    for (size_t at = text.find(stem); at != text.npos; at = text.find(stem, at + 1)) {
      if (!begins_word || EndsWordAt(text, at)) return true;
    }
  }
  return false;
}

constexpr std::string_view kSmallDigits[] = {"⁰|₀", "¹|₁", "²|₂", "³|₃", "⁴|₄",
                                             "⁵|₅", "⁶|₆", "⁷|₇", "⁸|₈", "⁹|₉"};

std::string Roman(int value) {
  constexpr std::pair<int, const char*> kDigits[] = {{50, "L"}, {40, "XL"}, {10, "X"}, {9, "IX"},
                                                     {5, "V"},  {4, "IV"},  {1, "I"}};
  std::string roman;
  for (const auto& [weight, digits] : kDigits) {
    for (; value >= weight; value -= weight) roman += digits;
  }
  return roman;
}

}  // namespace

std::string InSmallLetters(std::string_view text) {
  std::string small;
  small.reserve(text.size());
  for (size_t i = 0; i < text.size();) {
    const size_t begin = i;
    const char32_t c = NextCodePoint(text, &i), letter = SmallLetter(c);
    if (c == letter) {
      small += text.substr(begin, i - begin);
    } else if (c < 0x80) {
      small += static_cast<char>(letter);
    } else {  // all of two bytes
      small += static_cast<char>(0xC0 | letter >> 6);
      small += static_cast<char>(0x80 | (letter & 0x3F));
    }
  }
  return small;
}

SpelledNumbers::SpelledNumbers(std::string_view text, std::string_view language)
    : text_(text), small_letters_(InSmallLetters(text)) {
  const auto parsed = ParseLanguage(language);
  if (!parsed.has_value()) return;
  for (const NumberWords& words : kNumberWords) {
    if (words.language == parsed->language) words_ = &words;
  }
}

bool SpelledNumbers::MayHave(const std::string& value) const {
  if (HasWords(value)) return true;
  constexpr int kLongest = 2;  // digits
  if (value.size() > kLongest) return false;
  const int number = std::atoi(value.c_str());
  return HasRoman(number) || (number < 10 && HasStem(text_, kSmallDigits[number], false));
}

// Small numbers are words, or the beginning of one.  Of greater ones, each digit has left a trace
// somewhere, except 1: "hundertzwei".
bool SpelledNumbers::HasWords(const std::string& value) const {
  if (words_ == nullptr) return false;
  const bool spaced = words_->language != "ja" && words_->language != "zh";
  const int number = value.size() > 2 ? -1 : std::atoi(value.c_str());
  if (number >= 0 && number < static_cast<int>(std::size(words_->words))) {
    return HasStem(small_letters_, words_->words[number], spaced);
  }
  bool only_ones = true;
  for (const char digit : value) {
    if (digit <= '1') continue;
    only_ones = false;
    if (!HasStem(small_letters_, words_->words[digit - '0'], false)) return false;
  }
  if (!only_ones || HasStem(small_letters_, words_->hundred, false)) return true;
  if (HasStem(small_letters_, words_->thousand, false)) return true;
  constexpr size_t kMillion = 7;  // digits
  return value.size() >= kMillion && HasStem(small_letters_, kMillions, true);
}

bool SpelledNumbers::MayHavePart() const { return HasStem(small_letters_, kParts, true); }

bool SpelledNumbers::HasRoman(int value) const {
  constexpr int kLargest = 89;
  if (value == 0 || value > kLargest) return false;
  const std::string roman = Roman(value);
  for (size_t at = text_.find(roman); at != text_.npos; at = text_.find(roman, at + 1)) {
    const size_t end = at + roman.size();
    if (!EndsWordAt(text_, at)) continue;
    for (const std::string_view ending : {"e", "er", "ème"}) {  // XXe siècle
      const bool has_ending = std::string_view(text_).substr(end).starts_with(ending);
      if (has_ending && EndsWordAt(text_, end + ending.size())) return true;
    }
    if (EndsWordAt(text_, end)) return true;
  }
  return false;
}

}  // namespace dragoman
