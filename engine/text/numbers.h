// The numbers that digits write in a text, by what they may mean in some language.
//
//   "1.000,5"     1000.5                "1 000"       1000, or 1 and 0
//   "1.000"       1000, or 1            "12.05.2024"  12 and 5 and 2024
//   "٣"           3                     "14:30"       two numbers, 14 and 30
//
// Which digit separates thousands and which one a fraction depends on the language, and on the
// habits of the writer; so a number has all values that somebody may have meant.

#ifndef DRAGOMAN_ENGINE_TEXT_NUMBERS_H_
#define DRAGOMAN_ENGINE_TEXT_NUMBERS_H_

#include <string>
#include <string_view>
#include <vector>

#include "engine/text/languages.h"
#include "engine/text/text_span.h"

namespace dragoman {

struct Number {
  TextSpan span;
  // As digits without superfluous zeros: "1000.5", "0.25", "7".  None if the groups of digits are
  // no single number.
  std::vector<std::string> values;
  // Its groups of digits, if there are several: each is a number with one value.
  std::vector<Number> groups;

  friend bool operator==(const Number&, const Number&) = default;
};

// The value of a decimal digit of any script; negative for any other character.
int DigitOf(char32_t c);

// The numbers of `text` in order.  REQUIRES: text is valid UTF-8.
std::vector<Number> FindNumbers(std::string_view text);

// The bytes of the numbers of a text that stand alone, in order: "12", "1,000.50", "18:37",
// "22nd", not those in "B2".  REQUIRES: text is valid UTF-8.
std::vector<TextSpan> FindNumerals(std::string_view text);

// How such a number may be written in a translation; as it is, or most usually, first.
std::vector<std::string> FormsOf(const std::string& numeral, const LanguagePair& languages);

// With the sign of a currency before it, or that of percent after it: "$5", "5%".
TextSpan WithSign(std::string_view text, TextSpan numeral);

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_TEXT_NUMBERS_H_
