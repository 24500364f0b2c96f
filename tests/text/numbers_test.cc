#include "engine/text/numbers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_join.h"

namespace dragoman::numbers_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// "1.000=1|1000" for a number with two values, "12.05.2024=12+5+2024" for one of groups alone.
std::vector<std::string> NumbersIn(const std::string& text) {
  std::vector<std::string> found;
  for (const Number& number : FindNumbers(text)) {
    std::string values = absl::StrJoin(number.values, "|");
    if (number.values.empty()) {
      values = absl::StrJoin(number.groups, "+", [](std::string* out, const Number& group) {
        *out += group.values.front();
      });
    }
    found.push_back(text.substr(number.span.begin, number.span.size()) + "=" + values);
  }
  return found;
}

TEST(Numbers, HaveTheValuesThatSomeLanguageGivesThem) {
  EXPECT_THAT(NumbersIn("1,000.5 or 1.000,5"), ElementsAre("1,000.5=1000.5", "1.000,5=1000.5"));
  EXPECT_THAT(NumbersIn("1\u202F000\u202F000,5"), ElementsAre("1\u202F000\u202F000,5=1000000.5"));
  EXPECT_THAT(NumbersIn("1.000"), ElementsAre("1.000=1000|1"));
  EXPECT_THAT(NumbersIn("3.14 0,25 2.50"), ElementsAre("3.14=3.14", "0,25=0.25", "2.50=2.5"));
  EXPECT_THAT(NumbersIn("1'000 10,00,000"), ElementsAre("1'000=1000", "10,00,000=1000000"));
  EXPECT_THAT(NumbersIn("0.125 007 00"), ElementsAre("0.125=0.125", "007=7", "00=0"));
}

TEST(Numbers, GroupsOfDigitsThatAreNoNumberStandAlone) {
  EXPECT_THAT(NumbersIn("12.05.2024"), ElementsAre("12.05.2024=12+5+2024"));
  EXPECT_THAT(NumbersIn("2024-05-12"), ElementsAre("2024=2024", "05=5", "12=12"));
  EXPECT_THAT(NumbersIn("14:30, 3-5"), ElementsAre("14=14", "30=30", "3=3", "5=5"));
  EXPECT_THAT(NumbersIn("1,2,3"), ElementsAre("1,2,3=1+2+3"));
  EXPECT_THAT(NumbersIn("in 2024 500 men, 7 10"),
              ElementsAre("2024=2024", "500=500", "7=7", "10=10"));
}

TEST(Numbers, AreReadInEveryScript) {
  EXPECT_THAT(NumbersIn("٣٫٥ و ١٬٠٠٠"), ElementsAre("٣٫٥=3.5", "١٬٠٠٠=1000"));
  EXPECT_THAT(NumbersIn("१२ １０年"), ElementsAre("१२=12", "１０=10"));
  EXPECT_THAT(NumbersIn("²³ ½ 三 none"), IsEmpty());
}

TEST(Numbers, PunctuationAtTheirEndsIsNotTheirs) {
  EXPECT_THAT(NumbersIn("(5), 6. 7,"), ElementsAre("5=5", "6=6", "7=7"));
  EXPECT_THAT(FindNumbers("a 12b").front().span, (TextSpan{2, 4}));
}

TEST(Numbers, DigitsOfAllScriptsHaveTheirValue) {
  EXPECT_EQ(DigitOf('7'), 7);
  EXPECT_EQ(DigitOf(0x0669), 9);  // Arabic
  EXPECT_EQ(DigitOf(0x1042), 2);  // Burmese
  EXPECT_EQ(DigitOf(0x17E3), 3);  // Khmer
  for (const char32_t other : {U'a', U'/', U':', U'\u066A', U'\u00B2'}) {
    EXPECT_LT(DigitOf(other), 0);
  }
}

std::vector<std::string> NumeralsIn(const std::string& text) {
  std::vector<std::string> found;
  for (const TextSpan span : FindNumerals(text))
    found.push_back(text.substr(span.begin, span.size()));
  return found;
}

TEST(Numerals, AreNumbersThatStandAlone) {
  EXPECT_THAT(NumeralsIn("At 18:37 on 17/10/2029, 15 000 of 1,000.50 (5%) for $7.30."),
              ElementsAre("18:37", "17/10/2029", "15 000", "1,000.50", "5", "7.30"));
  EXPECT_THAT(NumeralsIn("The 22nd of B2, 1-24 base64, x_1, 1er, no."),
              ElementsAre("22nd", "1-24"));
}

TEST(Numerals, HaveTheFormsOfTheTargetLanguage) {
  const LanguagePair to_german = {"en", "de"}, to_english = {"de", "en"}, to_french = {"de", "fr"};
  EXPECT_THAT(FormsOf("1,000.50", to_german),
              ElementsAre("1,000.50", "1.000,50", "1 000,50", "1000.50"));
  EXPECT_THAT(FormsOf("41,5", to_english), ElementsAre("41,5", "41.5"));
  EXPECT_THAT(FormsOf("41,5", to_french), ElementsAre("41,5"));
  EXPECT_THAT(FormsOf("24", to_german), ElementsAre("24"));
  EXPECT_THAT(FormsOf("18:37", to_french), ElementsAre("18:37", "18.37", "18 h 37", "18h37"));
  EXPECT_THAT(FormsOf("22nd", to_german), ElementsAre("22.", "22", "22nd"));
  EXPECT_THAT(FormsOf("17/10/2029", to_german), ElementsAre("17/10/2029"));
}

}  // namespace
}  // namespace dragoman::numbers_test
