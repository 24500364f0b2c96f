#include "engine/glossary.h"

#include <memory>
#include <string>
#include <vector>

#include "engine/base/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/decode/test_jobs.h"

namespace dragoman {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

class GlossaryTest : public testing::Test {
 protected:
  GlossaryTest() : tokenizer_(&TrainedModel()->tokenizer()), index_(*tokenizer_) {}

  std::vector<int32_t> Target(const std::string& text) { return tokenizer_->EncodeTarget(text); }

  std::vector<std::vector<int32_t>> Phrases(const std::vector<GlossaryEntry>& entries,
                                            const std::string& sentence) {
    const auto glossary = Glossary::Create(entries, *tokenizer_, 100, SearchRules());
    EXPECT_TRUE(glossary.ok()) << glossary.status();
    return glossary.ok() ? glossary->PhrasesFor(sentence) : std::vector<std::vector<int32_t>>();
  }

  const Tokenizer* const tokenizer_;
  PieceIndex index_;
};

TEST_F(GlossaryTest, APhraseIsWantedAsOftenAsItsSourceOccurs) {
  const std::vector<GlossaryEntry> entries = {{"house", "Heim"}};
  EXPECT_THAT(Phrases(entries, "A house is a house."), ElementsAre(Target("Heim"), Target("Heim")));
  EXPECT_THAT(Phrases(entries, "A household."), IsEmpty());
  EXPECT_THAT(Phrases(entries, "The greenhouse."), IsEmpty());
  EXPECT_THAT(Phrases(entries, ""), IsEmpty());
}

TEST_F(GlossaryTest, AWordEndsWhereItsScriptSaysSo) {
  EXPECT_THAT(Phrases({{"house", "Heim"}}, "The “house”, a «house»…"), SizeIs(2));
  EXPECT_THAT(Phrases({{"house", "Heim"}}, "house’s house—house"), SizeIs(3));
  EXPECT_THAT(Phrases({{"Stra", "Heim"}}, "Eine Straße."), IsEmpty());
  EXPECT_THAT(Phrases({{"ße", "Heim"}}, "Eine Straße."), IsEmpty());
  EXPECT_THAT(Phrases({{"房子", "Heim"}}, "我的房子很大。"), SizeIs(1));
  EXPECT_THAT(Phrases({{"ネコ", "Heim"}}, "黒いネコがいる"), SizeIs(1));
  EXPECT_THAT(Phrases({{"서울", "Heim"}}, "서울에서 서울은"), SizeIs(2));
  EXPECT_THAT(Phrases({{"울", "Heim"}}, "서울에서"), IsEmpty());
}

TEST_F(GlossaryTest, TheLongestOfOverlappingEntriesCounts) {
  const std::vector<GlossaryEntry> entries = {{"house", "Heim"}, {"house boat", "Hausboot"}};
  EXPECT_THAT(Phrases(entries, "My house boat."), ElementsAre(Target("Hausboot")));
}

TEST_F(GlossaryTest, WithoutATargetTheSourceIsNotTranslated) {
  EXPECT_THAT(Phrases({{"London", ""}}, "London is big."), ElementsAre(Target("London")));
}

TEST_F(GlossaryTest, NamesAnEntryThatIsEmptyOrCannotBeWritten) {
  const auto field = [&](const GlossaryEntry& entry) {
    return FieldOf(Glossary::Create({{"a", "b"}, entry}, *tokenizer_, 8, SearchRules()).status());
  };
  EXPECT_EQ(field({"", "b"}), "options.glossary[1].source");
  EXPECT_EQ(field({"a", "  "}), "options.glossary[1].target");
  EXPECT_EQ(field({"a", "\xff"}), "options.glossary[1].target");
  EXPECT_EQ(field({"a", "天気"}), "options.glossary[1].target");
  EXPECT_EQ(field({"天気", ""}), "options.glossary[1].target");
  EXPECT_EQ(field({"a", "one two three four five six seven eight nine"}),
            "options.glossary[1].target");
}

TEST_F(GlossaryTest, NamesAnEntryThatTheRulesForbid) {
  const auto rules = [&](const WordRules& words) {
    return *AddWordRules(std::make_shared<SearchRules>(), words, *tokenizer_,
                         std::make_shared<PieceIndex>(*tokenizer_));
  };
  const auto field = [&](const WordRules& words) {
    const std::vector<GlossaryEntry> entries = {{"a", "b"}, {"house", "mein altes Haus"}};
    return FieldOf(Glossary::Create(entries, *tokenizer_, 100, *rules(words)).status());
  };
  EXPECT_EQ(field({.never_say = {"Haus"}}), "options.glossary[1].target");
  EXPECT_EQ(field({.never_say = {"altes Haus"}}), "options.glossary[1].target");
  EXPECT_EQ(field({.suppress_sequences = {"mein"}}), "options.glossary[1].target");
  EXPECT_EQ(field({.never_say = {"Katze"}}), "");
}

TEST_F(GlossaryTest, AnEntryCanApplyToSomeTextsOnly) {
  const auto glossary = Glossary::Create({{"house", "Heim", {{1, 3}}}, {"cat", "Katze"}},
                                         *tokenizer_, 100, SearchRules());
  ASSERT_TRUE(glossary.ok()) << glossary.status();
  EXPECT_THAT(glossary->PhrasesFor("The house.", 0), IsEmpty());
  EXPECT_THAT(glossary->PhrasesFor("The house.", 1), ElementsAre(Target("Heim")));
  EXPECT_THAT(glossary->PhrasesFor("The house.", 2), IsEmpty());
  EXPECT_THAT(glossary->PhrasesFor("The cat.", 2), ElementsAre(Target("Katze")));
}

TEST_F(GlossaryTest, FindsTheTokensThatCompleteAPhraseHoweverItIsCut) {
  const std::string phrase = InPieces("Haus");
  std::vector<int32_t> banned;
  index_.FindLast(phrase, {}, &banned);
  for (const int32_t token : banned) {
    const std::string piece = tokenizer_->TargetPiece(token);
    EXPECT_TRUE(piece.starts_with(phrase) || piece.starts_with("Haus")) << piece;
  }
  // After a piece that begins the phrase, every piece that completes it is banned.
  for (const std::string said : {"▁H", "▁Ha", "▁Hau"}) {
    for (const int32_t token : index_.BeginningWith(said)) {
      if (tokenizer_->TargetPiece(token) != said) continue;
      banned.clear();
      index_.FindLast(phrase, absl::MakeConstSpan(&token, 1), &banned);
      for (const int32_t next : index_.BeginningWith(phrase.substr(said.size()))) {
        EXPECT_THAT(banned, Contains(next));
      }
    }
  }
}

TEST(FirstRepetition, IsOfAPhraseWithItselfOrWithWhatIsThere) {
  EXPECT_EQ(FirstRepetition({}, {{1, 2}, {3, 3, 3}}, 2), 1u);
  EXPECT_EQ(FirstRepetition({}, {{1, 2}, {3, 3, 3}}, 3), std::nullopt);
  EXPECT_EQ(FirstRepetition({}, {{1, 2, 3}, {4, 2, 3}}, 2), 1u);
  EXPECT_EQ(FirstRepetition({}, {{1, 2, 3}, {4, 3, 2}}, 2), std::nullopt);
  EXPECT_EQ(FirstRepetition({7, 7, 7, 1}, {{1, 2}, {7, 1}}, 2), 1u);
  EXPECT_EQ(FirstRepetition({7, 7, 7}, {}, 1), std::nullopt);
}

TEST_F(GlossaryTest, AddsARequestsRulesToThoseOfTheModel) {
  auto models = std::make_shared<SearchRules>();
  models->bad_words_ids = {{7}};
  WordRules words;
  words.suppress_token_ids = {3};
  words.suppress_sequences = {"Haus"};
  words.never_say = {"Baum"};
  const auto rules = AddWordRules(models, words, *tokenizer_, nullptr);
  ASSERT_TRUE(rules.ok()) << rules.status();
  EXPECT_THAT((*rules)->bad_words_ids, ElementsAre(ElementsAre(7), ElementsAre(3), Target("Haus")));
  EXPECT_THAT((*rules)->banned_phrases, ElementsAre("▁Baum"));
  EXPECT_THAT(models->bad_words_ids, Not(Contains(ElementsAre(3))));
  words.suppress_token_ids = {-1};
  EXPECT_EQ(FieldOf(AddWordRules(models, words, *tokenizer_, nullptr).status()),
            "options.suppress_token_ids[0]");
}

}  // namespace
}  // namespace dragoman
