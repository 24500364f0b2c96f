#include "engine/request/glossary.h"

#include <memory>
#include <string>
#include <vector>

#include "engine/base/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/decode/test_jobs.h"

namespace dragoman::glossary_test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

class GlossaryTest : public testing::Test {
 protected:
  GlossaryTest() : tokenizer_(&TrainedModel()->tokenizer()), index_(*tokenizer_) {}

  std::vector<int32_t> Target(const std::string& text) { return tokenizer_->EncodeTarget(text); }

  static TermForms Forms(std::vector<std::string> forms) {
    return std::make_shared<const std::vector<std::string>>(std::move(forms));
  }

  std::string FieldOfError(const std::vector<GlossaryEntry>& entries, int max_tokens,
                           const SearchRules& rules) {
    return FieldOf(OwnTerms(entries, *tokenizer_, max_tokens, rules, &always_).status());
  }

  const Tokenizer* const tokenizer_;
  PieceIndex index_;
  StillWanted always_;
};

TEST_F(GlossaryTest, NamesAnEntryThatIsEmptyOrCannotBeWritten) {
  const auto field = [&](const GlossaryEntry& entry) {
    return FieldOfError({{"a", {"b"}}, entry}, 8, SearchRules());
  };
  EXPECT_EQ(field({"", {"b"}}), "options.glossary[1].source");
  EXPECT_EQ(field({"c", {"  "}}), "options.glossary[1].target");
  EXPECT_EQ(field({"c", {"\xff"}}), "options.glossary[1].target");
  EXPECT_EQ(field({"c", {"天気"}}), "options.glossary[1].target");
  EXPECT_EQ(field({"c", {"b", "天気"}}), "options.glossary[1].target");
  EXPECT_EQ(field({"天気"}), "options.glossary[1].target");
  EXPECT_EQ(field({"a", {"c"}}), "options.glossary[1].source");
  EXPECT_EQ(field({"c", std::vector<std::string>(kMaxTermTargets, "b")}), "");
  EXPECT_EQ(field({"c", std::vector<std::string>(kMaxTermTargets + 1, "b")}),
            "options.glossary[1].targets");
  EXPECT_EQ(field({std::string(kMaxTermBytes + 1, 'x'), {"c"}}), "options.glossary[1].source");
  EXPECT_EQ(field({"c", {"one two three four five six seven eight nine"}}),
            "options.glossary[1].target");
}

TEST_F(GlossaryTest, NamesAnEntryThatTheRulesForbid) {
  const auto rules = [&](const WordRules& words) {
    return *AddWordRules(std::make_shared<SearchRules>(), words, *tokenizer_,
                         std::make_shared<PieceIndex>(*tokenizer_), &always_);
  };
  const auto field = [&](const WordRules& words) {
    return FieldOfError({{"a", {"b"}}, {"house", {"mein altes Haus"}}}, 100, *rules(words));
  };
  EXPECT_EQ(field({.never_say = {"Haus"}}), "options.glossary[1].target");
  EXPECT_EQ(field({.never_say = {"altes Haus"}}), "options.glossary[1].target");
  EXPECT_EQ(field({.suppress_sequences = {"mein"}}), "options.glossary[1].target");
  EXPECT_EQ(field({.never_say = {"Katze"}}), "");
}

TEST_F(GlossaryTest, OneThatIsSharedIsPreparedOnceForAModel) {
  SharedGlossary shared(std::vector<GlossaryEntry>{{"house", {"Haus"}}});
  const auto model = std::make_shared<int>(), other = std::make_shared<int>();
  int prepared = 0;
  const auto prepare = [&] {
    ++prepared;
    return OwnTerms(shared.entries(), *tokenizer_, 8, SearchRules(), &always_);
  };
  const auto fail = []() -> absl::StatusOr<std::shared_ptr<const TermList>> {
    return absl::DeadlineExceededError("");
  };
  EXPECT_FALSE(shared.TermsFor(model, fail).ok());
  EXPECT_FALSE(shared.is_prepared());
  const auto terms = shared.TermsFor(model, prepare);
  ASSERT_TRUE(terms.ok()) << terms.status();
  EXPECT_TRUE(shared.is_prepared());
  EXPECT_EQ(*shared.TermsFor(model, fail), *terms);
  EXPECT_NE(*shared.TermsFor(other, prepare), *terms);
  EXPECT_EQ(prepared, 2);
}

TEST_F(GlossaryTest, APhraseHasTheFormsThatCanBeSaid) {
  const auto rules = AddWordRules(std::make_shared<SearchRules>(), {.suppress_sequences = {"alt"}},
                                  *tokenizer_, nullptr, &always_);
  ASSERT_TRUE(rules.ok()) << rules.status();
  FoundTerm term = {.source = "house", .forms = Forms({"Haus", "天気", "alt", "Heim", "Haus "})};
  Phrase phrase = PhraseOf(term, *tokenizer_, 8, **rules, &always_);
  EXPECT_THAT(phrase.forms, ElementsAre(Target("Haus"), Target("Heim")));
  EXPECT_FALSE(phrase.may_be_missed());
  term.forms = Forms({"天気"});
  EXPECT_THAT(PhraseOf(term, *tokenizer_, 8, **rules, &always_).forms, IsEmpty());
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
  const auto first = [](const std::vector<int32_t>& said,
                        const std::vector<std::vector<int32_t>>& forms, size_t size) {
    std::vector<Phrase> phrases;
    for (const std::vector<int32_t>& form : forms) phrases.push_back({{form}});
    return FirstRepetition(said, phrases, size);
  };
  EXPECT_EQ(first({}, {{1, 2}, {3, 3, 3}}, 2), 1u);
  EXPECT_EQ(first({}, {{1, 2}, {3, 3, 3}}, 3), std::nullopt);
  EXPECT_EQ(first({}, {{1, 2, 3}, {4, 2, 3}}, 2), 1u);
  EXPECT_EQ(first({}, {{1, 2, 3}, {4, 3, 2}}, 2), std::nullopt);
  EXPECT_EQ(first({7, 7, 7, 1}, {{1, 2}, {7, 1}}, 2), 1u);
  EXPECT_EQ(first({7, 7, 7}, {}, 1), std::nullopt);
}

TEST(FirstRepetition, IsAvoidedByAnotherFormAndByWhatMayBeMissed) {
  const std::vector<Phrase> phrases = {{{{1, 2}}}, {{{1, 2}, {1, 3}}}, {{{1, 2}}, 1.0f}};
  EXPECT_EQ(FirstRepetition({}, phrases, 2), std::nullopt);
  EXPECT_EQ(FirstRepetition({}, phrases, 1), 1u);
}

TEST_F(GlossaryTest, AddsARequestsRulesToThoseOfTheModel) {
  auto models = std::make_shared<SearchRules>();
  models->bad_words_ids = {{7}};
  WordRules words;
  words.suppress_token_ids = {3};
  words.suppress_sequences = {"Haus"};
  words.never_say = {"Baum"};
  const auto rules = AddWordRules(models, words, *tokenizer_, nullptr, &always_);
  ASSERT_TRUE(rules.ok()) << rules.status();
  EXPECT_THAT((*rules)->bad_words_ids,
              UnorderedElementsAre(ElementsAre(7), ElementsAre(3), Target("Haus")));
  EXPECT_THAT((*rules)->banned_phrases, ElementsAre("▁Baum"));
  EXPECT_THAT(models->bad_words_ids, Not(Contains(ElementsAre(3))));
  words.suppress_token_ids = {-1};
  EXPECT_EQ(FieldOf(AddWordRules(models, words, *tokenizer_, nullptr, &always_).status()),
            "options.suppress_token_ids[0]");
}

TEST_F(GlossaryTest, WhatIsForbiddenAgainAddsNothingToEachStep) {
  auto models = std::make_shared<SearchRules>();
  models->bad_words_ids = {{7}};
  WordRules words;
  for (int i = 0; i < 5000; ++i) {
    words.suppress_token_ids.push_back(i % 10);
    words.suppress_sequences.push_back(i % 2 == 0 ? "Haus" : "mein altes Haus");
    words.never_say.push_back("Baum");
  }
  const auto rules = AddWordRules(models, words, *tokenizer_, nullptr, &always_);
  ASSERT_TRUE(rules.ok()) << rules.status();
  EXPECT_THAT((*rules)->bad_words_ids, SizeIs(12));
  EXPECT_THAT((*rules)->banned_phrases, SizeIs(1));
}

TEST_F(GlossaryTest, TooManyForbiddenPhrasesAreRefused) {
  const auto field = [&](const WordRules& words) {
    return FieldOf(
        AddWordRules(std::make_shared<SearchRules>(), words, *tokenizer_, nullptr, &always_)
            .status());
  };
  std::vector<std::string> phrases;
  for (int i = 0; i < 1000; ++i) phrases.push_back(std::to_string(i));
  EXPECT_EQ(field({.never_say = phrases}), "");
  EXPECT_EQ(field({.suppress_sequences = phrases}), "");
  phrases.push_back("a");
  EXPECT_EQ(field({.never_say = phrases}), "options.never_say");
  EXPECT_EQ(field({.suppress_sequences = phrases}), "options.suppress_sequences");
  EXPECT_EQ(field({.never_say = {std::string(kMaxTermBytes + 1, 'x')}}), "options.never_say[0]");
}

}  // namespace
}  // namespace dragoman::glossary_test
