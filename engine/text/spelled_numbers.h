// Whether a text may write a number in another way than with digits: "sechsunddreißig", "XXe
// siècle", "m²".
//
// It is enough that the beginnings of a number's words are there (number_words.h): the answer is
// for those who look for numbers that are missing, and would rather miss one than be wrong.

#ifndef DRAGOMAN_ENGINE_TEXT_SPELLED_NUMBERS_H_
#define DRAGOMAN_ENGINE_TEXT_SPELLED_NUMBERS_H_

#include <string>
#include <string_view>

#include "engine/text/number_words.h"

namespace dragoman {

// The text with small letters, of the alphabets that number_words.h has.  Keeps the places of all
// bytes.
std::string InSmallLetters(std::string_view text);

class SpelledNumbers {
 public:
  // `language` is a tag or a model's code, or "".  REQUIRES: text is valid UTF-8.
  SpelledNumbers(std::string_view text, std::string_view language);

  // Whether anything is known of the words of the language.
  bool knows_words() const { return words_ != nullptr; }

  // `value` is a whole number, in digits.
  bool MayHave(const std::string& value) const;
  // Whether it speaks of a half or a quarter.
  bool MayHavePart() const;

 private:
  bool HasWords(const std::string& value) const;
  bool HasRoman(int value) const;

  std::string text_, small_letters_;
  const NumberWords* words_ = nullptr;
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_TEXT_SPELLED_NUMBERS_H_
