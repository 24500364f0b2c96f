// The terms of a text, and what its translation has of them.

#include "engine/request/terms.h"

#include <memory>
#include <string>
#include <vector>

#include "engine/base/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dragoman::terms_test {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

TermLists Own(std::vector<GlossaryEntry> entries) {
  return {std::make_shared<const TermList>(std::move(entries))};
}

// The first form of each term.
std::vector<std::string> Wanted(const TermLists& lists, const std::string& text,
                                size_t number = 0) {
  std::vector<std::string> wanted;
  for (const FoundTerm& term : FindTerms(lists, text, number)) wanted.push_back(term.forms->at(0));
  return wanted;
}
std::vector<std::string> Wanted(const std::vector<GlossaryEntry>& entries,
                                const std::string& text) {
  return Wanted(Own(entries), text);
}

TEST(Terms, AreWantedAsOftenAsTheyOccur) {
  const std::vector<GlossaryEntry> entries = {{"house", {"Heim"}}};
  EXPECT_THAT(Wanted(entries, "A house is a house."), ElementsAre("Heim", "Heim"));
  EXPECT_THAT(Wanted(entries, "A household."), IsEmpty());
  EXPECT_THAT(Wanted(entries, "The greenhouse."), IsEmpty());
  EXPECT_THAT(Wanted(entries, ""), IsEmpty());
}

TEST(Terms, AWordEndsWhereItsScriptSaysSo) {
  EXPECT_THAT(Wanted({{"house", {"Heim"}}}, "The “house”, a «house»…"), SizeIs(2));
  EXPECT_THAT(Wanted({{"house", {"Heim"}}}, "house’s house—house"), SizeIs(3));
  EXPECT_THAT(Wanted({{"Stra", {"Heim"}}}, "Eine Straße."), IsEmpty());
  EXPECT_THAT(Wanted({{"ße", {"Heim"}}}, "Eine Straße."), IsEmpty());
  EXPECT_THAT(Wanted({{"房子", {"Heim"}}}, "我的房子很大。"), SizeIs(1));
  EXPECT_THAT(Wanted({{"ネコ", {"Heim"}}}, "黒いネコがいる"), SizeIs(1));
  EXPECT_THAT(Wanted({{"서울", {"Heim"}}}, "서울에서 서울은"), SizeIs(2));
  EXPECT_THAT(Wanted({{"울", {"Heim"}}}, "서울에서"), IsEmpty());
}

TEST(Terms, TheLongestOfThoseThatOverlapCounts) {
  const std::vector<GlossaryEntry> entries = {{"house", {"Heim"}}, {"house boat", {"Hausboot"}}};
  EXPECT_THAT(Wanted(entries, "My house boat."), ElementsAre("Hausboot"));
}

TEST(Terms, TargetsMayHaveTheEndingsOfTheirLanguage) {
  const std::vector<GlossaryEntry> entries = {
      {.source = "house", .targets = {"Haus"}, .inflect = true}};
  const auto forms = [&](LanguagePair own, std::string_view target) {
    const TermLists lists = {std::make_shared<const TermList>(entries, "", own)};
    return *FindTerms(lists, "A house.", 0, target).at(0).forms;
  };
  EXPECT_EQ(forms({}, "de").front(), "Haus");
  EXPECT_THAT(forms({}, "de"), Contains("Hauses"));
  EXPECT_THAT(forms({"", "de"}, ""), Contains("Häuser"));
  EXPECT_THAT(forms({}, ""), ElementsAre("Haus"));
  EXPECT_THAT(forms({}, "ru"), ElementsAre("Haus"));
}

TEST(Terms, OfEqualOnesThatOfTheFirstListCounts) {
  TermLists lists = Own({{"house", {"Heim"}}});
  lists.push_back(std::make_shared<const TermList>(
      std::vector<GlossaryEntry>{{"house", {"Haus"}}, {"cat", {"Katze"}}}, "animals"));
  const std::vector<FoundTerm> found = FindTerms(lists, "The cat is in the house.");
  ASSERT_THAT(found, SizeIs(2));
  EXPECT_EQ(found[0].forms->at(0), "Heim");
  EXPECT_FALSE(found[0].is_stored());
  EXPECT_EQ(found[1].glossary, "animals");
  EXPECT_EQ(found[1].span, (TextSpan{4, 7}));
  EXPECT_TRUE(found[1].is_stored());
}

TEST(Terms, WithoutATargetTheSourceIsNotTranslated) {
  EXPECT_THAT(Wanted({{"London"}}, "London is big."), ElementsAre("London"));
  EXPECT_THAT(Wanted({{"usb", {}, true}}, "USB and Usb"), ElementsAre("USB", "Usb"));
}

TEST(Terms, WithoutCaseAFormMayBeginASentenceOrShoutAsItsSourceDoes) {
  const auto forms = [](const std::string& text) {
    return *FindTerms(Own({{"ice", {"eis", "Speiseeis"}, true}}), text)[0].forms;
  };
  EXPECT_THAT(forms("My ice."), ElementsAre("eis", "Speiseeis", "Eis"));
  EXPECT_THAT(forms("ICE!"), ElementsAre("eis", "Speiseeis", "Eis", "EIS", "SPEISEEIS"));
  EXPECT_THAT(Wanted({{"ice", {"eis"}}}, "Ice"), IsEmpty());
}

TEST(Terms, AnEntryCanBeForSomeTextsOnly) {
  const TermLists lists = Own({{"house", {"Heim"}, false, {{1, 3}}}, {"cat", {"Katze"}}});
  EXPECT_THAT(Wanted(lists, "The house.", 0), IsEmpty());
  EXPECT_THAT(Wanted(lists, "The house.", 1), ElementsAre("Heim"));
  EXPECT_THAT(Wanted(lists, "The house.", 2), IsEmpty());
  EXPECT_THAT(Wanted(lists, "The cat.", 2), ElementsAre("Katze"));
}

TEST(Terms, AListIsForItsLanguagesHoweverAModelWritesThem) {
  const TermList list({}, "x", {"en", "de"});
  EXPECT_TRUE(list.IsFor({"en", "de"}));
  EXPECT_TRUE(list.IsFor({"eng_Latn", "deu_Latn"}));
  EXPECT_TRUE(list.IsFor({"en-US", "de-AT"}));
  EXPECT_TRUE(list.IsFor({"", ""}));  // a model of one pair need not name it
  EXPECT_FALSE(list.IsFor({"en", "fr"}));
  EXPECT_FALSE(list.IsFor({"de", "en"}));
  EXPECT_TRUE(TermList({}, "x").IsFor({"fr", "zh"}));
  EXPECT_FALSE(TermList({}, "x", {"", "zh"}).IsFor({"en", "de"}));
}

TEST(Terms, ASourceThatIsFoundWhereAnEarlierOneIsIsRefused) {
  const auto refusal = [](std::vector<GlossaryEntry> entries) {
    const absl::Status status = CheckSources("glossary", entries);
    return FieldOf(status) + " " + std::string(status.message());
  };
  EXPECT_TRUE(CheckSources("glossary",
                           std::vector<GlossaryEntry>{{"a", {"b"}}, {"A"}, {"a", {}, true}, {"b"}})
                  .ok());
  EXPECT_THAT(
      refusal({{"b"}, {"a"}, {"a", {"b"}}}),
      AllOf(StartsWith("glossary[2].source "), HasSubstr("entry 2 repeats the source of entry 1")));
  EXPECT_THAT(refusal({{"New York"}, {"New \u00a0York"}}), HasSubstr("repeats"));
  EXPECT_THAT(refusal({{"usb", {}, true}, {"USB", {}, true}}), HasSubstr("repeats"));
  EXPECT_TRUE(CheckSources("glossary", std::vector<GlossaryEntry>{{"a", {"b"}, false, {{0}}},
                                                                  {"a", {"c"}, false, {{1}}}})
                  .ok());
}

TEST(Terms, OfEqualSourcesTheFirstCountsThatIsForTheText) {
  const TermLists lists = Own({{"a", {"0"}, false, std::vector<size_t>{}},
                               {"a", {"1"}, false, {{1}}},
                               {"a", {"2"}, false, {{1, 2}}},
                               {"a", {"3"}, true}});
  EXPECT_THAT(Wanted(lists, "a", 0), ElementsAre("3"));
  EXPECT_THAT(Wanted(lists, "a", 1), ElementsAre("1"));
  EXPECT_THAT(Wanted(lists, "a", 2), ElementsAre("2"));
}

TEST(Terms, OccurrencesShareTheirForms) {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += "a A ";
  const TermLists lists = Own({{.source = "a", .targets = {"Haus"}, .ignore_case = true}});
  const std::vector<FoundTerm> found = FindTerms(lists, text);
  ASSERT_THAT(found, SizeIs(2000));
  for (const FoundTerm& term : found) EXPECT_EQ(term.forms, found[0].forms);
}

TEST(UnmetTerms, AreThoseWithoutAnyFormAndThoseThatAreSaidTooSeldom) {
  const std::vector<GlossaryEntry> entries = {
      {"house", {"Haus", "Häuser"}}, {"cat", {"Katze"}}, {"house boat", {"Hausboot"}}};
  const auto unmet = [&](const std::string& text, const std::string& translation) {
    std::vector<std::string> sources;
    for (const FoundTerm& term : UnmetTerms(translation, FindTerms(Own(entries), text))) {
      sources.push_back(term.source);
    }
    return sources;
  };
  EXPECT_THAT(unmet("A cat, a house.", "Die Katze, das Haus."), IsEmpty());
  EXPECT_THAT(unmet("A cat, a house.", "Die Häuser, die Kater."), ElementsAre("cat"));
  EXPECT_THAT(unmet("house house house", "Haus Häuser Hausboot"), ElementsAre("house"));
  EXPECT_THAT(unmet("A house boat.", "Ein Boot."), ElementsAre("house boat"));
  EXPECT_THAT(unmet("A cat.", ""), ElementsAre("cat"));
  EXPECT_THAT(unmet("cat cat house", "Haus Katze"), ElementsAre("cat"));
}

}  // namespace
}  // namespace dragoman::terms_test
