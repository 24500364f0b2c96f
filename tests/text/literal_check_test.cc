#include "engine/text/literal_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace dragoman::literal_check_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// "24", or "24 -> 42" if it was changed.
std::vector<std::string> FaultsOf(const std::string& source, const std::string& target,
                                  const std::string& language = "de") {
  std::vector<std::string> faults;
  for (const LiteralFault& fault : CheckLiterals(source, target, language)) {
    EXPECT_EQ(source.substr(fault.source.begin, fault.source.size()), fault.text);
    EXPECT_EQ(target.substr(fault.target.begin, fault.target.size()), fault.found);
    faults.push_back(fault.text + (fault.found.empty() ? "" : " -> " + fault.found));
  }
  return faults;
}

TEST(LiteralCheck, TellsWhatIsMissingOrChanged) {
  EXPECT_THAT(FaultsOf("He has 24 cats.", "Er hat 42 Katzen."), ElementsAre("24 -> 42"));
  EXPECT_THAT(FaultsOf("He has 24 cats.", "Er hat Katzen."), ElementsAre("24"));
  EXPECT_THAT(FaultsOf("Take 2.5 mg.", "Nimm 25 mg."), ElementsAre("2.5 -> 25"));
  EXPECT_THAT(FaultsOf("Take 2.5 mg.", "Nimm 5,2 mg."), ElementsAre("2.5 -> 5,2"));
  EXPECT_THAT(FaultsOf("From 1914 to 1918.", "Von 1914 bis 1981."), ElementsAre("1918 -> 1981"));
  EXPECT_THAT(FaultsOf("40 men and 40 women", "40 Männer und Frauen"), ElementsAre("40"));
  EXPECT_THAT(FaultsOf("7 men", "6 Männer und sieben Frauen"), ElementsAre("7 -> 6"));
  EXPECT_THAT(FaultsOf("3 men, 7 cats", "drei Männer, 6 Katzen"), ElementsAre("7 -> 6"));
}

TEST(LiteralCheck, NumbersMayBeWrittenAsTheLanguageDoes) {
  EXPECT_THAT(FaultsOf("1,000.5 and 12,000", "1.000,5 und 12 000"), IsEmpty());
  EXPECT_THAT(FaultsOf("1.5 million", "1.500.000"), IsEmpty());
  EXPECT_THAT(FaultsOf("1,500,000 men", "1,5 Mio. Männer"), IsEmpty());
  EXPECT_THAT(FaultsOf("50%", "50 Prozent"), IsEmpty());
  EXPECT_THAT(FaultsOf("the 2nd of 3", "٢ من ٣", "ar"), IsEmpty());
}

TEST(LiteralCheck, DatesAndTimesAreComparedByTheirNumbers) {
  EXPECT_THAT(FaultsOf("12.05.2024", "12 May 2024", "en"), IsEmpty());
  EXPECT_THAT(FaultsOf("on 5/12/2024", "am 12. Mai 2024"), IsEmpty());
  EXPECT_THAT(FaultsOf("on 5/12/2024", "am 2024-05-12"), IsEmpty());
  EXPECT_THAT(FaultsOf("on 12.05.2024", "am 12.05.2042"), ElementsAre("2024 -> 2042"));
  EXPECT_THAT(FaultsOf("at 2:30 p.m.", "um 14:30 Uhr"), IsEmpty());
  EXPECT_THAT(FaultsOf("at 2:30", "um 2.30 Uhr"), IsEmpty());
  EXPECT_THAT(FaultsOf("at 2:30", "um halb drei"), IsEmpty());
  EXPECT_THAT(FaultsOf("at 8:00", "um acht"), IsEmpty());
  EXPECT_THAT(FaultsOf("at 2:30", "um 2.40 Uhr"), ElementsAre("30 -> 40"));
  EXPECT_THAT(FaultsOf("the '90s", "die 1990er"), IsEmpty());
  EXPECT_THAT(FaultsOf("in 2024", "'24"), IsEmpty());
  EXPECT_THAT(FaultsOf("in 2024", "zwanzig24"), ElementsAre("2024 -> 24"));
}

TEST(LiteralCheck, NumbersMayBeSpelledOut) {
  EXPECT_THAT(FaultsOf("It is €5.", "Es ist €fünf."), ElementsAre("5"));
  EXPECT_THAT(FaultsOf("It is €5.", "Es sind fünf Euro."), IsEmpty());
  EXPECT_THAT(FaultsOf("100% of it", "hundert% davon"), ElementsAre("100"));
  EXPECT_THAT(FaultsOf("100% of it", "hundert Prozent davon"), IsEmpty());
  EXPECT_THAT(FaultsOf("3 cats, 12 dogs, 1 bird", "Drei Katzen, zwölf Hunde, ein Vogel"),
              IsEmpty());
  EXPECT_THAT(FaultsOf("the 2nd day", "der zweite Tag"), IsEmpty());
  EXPECT_THAT(FaultsOf("36 weeks", "sechsunddreißig Wochen"), IsEmpty());
  EXPECT_THAT(FaultsOf("$10,000", "zehntausend Dollar"), IsEmpty());
  EXPECT_THAT(FaultsOf("80 ans", "achtzig Jahre"), IsEmpty());
  EXPECT_THAT(FaultsOf("the 20th century", "le XXe siècle", "fr"), IsEmpty());
  EXPECT_THAT(FaultsOf("5 m2", "пять м²", "ru"), IsEmpty());
  EXPECT_THAT(FaultsOf("36 weeks", "einige Wochen"), ElementsAre("36"));
  EXPECT_THAT(FaultsOf("the 50th", "der Vierte"), ElementsAre("50"));
}

// Of a language without a table, small numbers may be words.
TEST(LiteralCheck, WhatIsNotKnownIsNotReported) {
  EXPECT_THAT(FaultsOf("3 cats", "kolme kissaa", "fi"), IsEmpty());
  EXPECT_THAT(FaultsOf("3 cats", "kolme kissaa", ""), IsEmpty());
  EXPECT_THAT(FaultsOf("53 cats", "kissaa", "fi"), ElementsAre("53"));
}

TEST(LiteralCheck, LiteralsMustBeThereByteForByte) {
  EXPECT_THAT(FaultsOf("See %s at https://a.org/1.", "Siehe %s auf https://a.org/1."), IsEmpty());
  EXPECT_THAT(FaultsOf("See %s at https://a.org/1.", "Siehe auf https://a.org/2."),
              ElementsAre("%s", "https://a.org/1 -> https://a.org/2"));
  EXPECT_THAT(FaultsOf("%s and %s", "%s"), ElementsAre("%s"));
  EXPECT_THAT(FaultsOf("Version v1.2.3", "Version 1.2.3"), IsEmpty());
}

}  // namespace
}  // namespace dragoman::literal_check_test
