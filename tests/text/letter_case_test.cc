#include "engine/text/letter_case.h"

#include "gtest/gtest.h"

namespace dragoman::letter_case_test {
namespace {

TEST(LetterCase, IsThatOfEveryScript) {
  EXPECT_EQ(InUpperCase("Straße, häuser, дом, σπίτι, ’s"), "STRAßE, HÄUSER, ДОМ, ΣΠΊΤΙ, ’S");
  EXPECT_EQ(LowerCase(U'Ä'), U'ä');
  EXPECT_EQ(LowerCase(U'Д'), U'д');
  EXPECT_EQ(LowerCase(U'家'), U'家');
  EXPECT_EQ(Capitalized("über den Wolken"), "Über den Wolken");
  EXPECT_EQ(Capitalized("«Ja»"), "«Ja»");
  EXPECT_EQ(Capitalized(""), "");
}

TEST(LetterCase, OneLetterSaysNothingOfTheOthers) {
  EXPECT_TRUE(IsInUpperCase("USB-C 3"));
  EXPECT_TRUE(IsInUpperCase("ÄÖ"));
  EXPECT_FALSE(IsInUpperCase("A"));
  EXPECT_FALSE(IsInUpperCase("USBs"));
  EXPECT_FALSE(IsInUpperCase("家"));
  EXPECT_FALSE(IsInUpperCase(""));
}

}  // namespace
}  // namespace dragoman::letter_case_test
