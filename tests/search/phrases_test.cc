// How much of the given phrases a hypothesis has said.

#include "engine/search/phrases.h"

#include <algorithm>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/text/word_joins.h"
#include "gtest/gtest.h"

namespace dragoman::phrases_test {
namespace {

// A vocabulary in pieces.
const std::vector<std::string> kPieces = {"", "▁a", "▁b", "n", "s", "."};

// Extends a hypothesis token by token, and tells how much of the phrases it contains.
class PhrasesTest : public testing::Test {
 protected:
  PhraseProgress Say(const Phrases& phrases, std::vector<int32_t> tokens) {
    for (const int32_t token : tokens) {
      progress_ = phrases.After(tokens_, progress_, token);
      tokens_.push_back(token);
    }
    return progress_;
  }

  PhraseProgress progress_;
  std::vector<int32_t> tokens_;
};

TEST_F(PhrasesTest, ProgressFallsBackToTheLongestBeginning) {
  const Phrases phrases({Phrase{{{1, 2, 1, 3}}}, Phrase{{{2, 4}}}}, nullptr);
  EXPECT_EQ(Say(phrases, {1, 2, 1}), (PhraseProgress{0, 3, 3}));
  // 1 2 1 2: the end "1 2" begins the first phrase, too
  EXPECT_EQ(Say(phrases, {2}), (PhraseProgress{0, 2, 2}));
  // and "2 4" is the second
  EXPECT_EQ(Say(phrases, {4}), (PhraseProgress{0, 2, 2}));
  EXPECT_EQ(phrases.Said(tokens_, progress_), 0b10u);
  EXPECT_EQ(Say(phrases, {1, 2, 1, 3}), (PhraseProgress{2, 4, 4}));
  EXPECT_EQ(phrases.Said(tokens_, progress_), 0b11u);
  EXPECT_EQ(Say(phrases, {5}), (PhraseProgress{3, 0, 0}));
}

TEST_F(PhrasesTest, AWordThatGoesOnTakesItsPhraseBack) {
  const Phrases phrases({Phrase{{{1, 3}}}, Phrase{{{1}}}}, std::make_shared<WordJoins>(kPieces));
  EXPECT_EQ(Say(phrases, {1}), (PhraseProgress{0, 1, 1}));
  EXPECT_EQ(phrases.Said(tokens_, progress_), 0b10u);
  EXPECT_EQ(Say(phrases, {3}), (PhraseProgress{0, 2, 2}));  // "an" instead of "a"
  EXPECT_EQ(Say(phrases, {4}), (PhraseProgress{0, 0, 0}));  // "ans"
  EXPECT_EQ(phrases.Said(tokens_, progress_), 0u);
  EXPECT_EQ(Say(phrases, {1, 3, 5}), (PhraseProgress{1, 0, 0}));  // "an."
  EXPECT_EQ(Say(phrases, {1, 3}), (PhraseProgress{1, 0, 0}));     // "an", which does not say "a"
  EXPECT_EQ(Say(phrases, {1, 2}), (PhraseProgress{3, 0, 0}));
}

TEST_F(PhrasesTest, AnyFormSaysAPhraseAndNoneCountsMoreThanAnother) {
  const Phrases phrases({Phrase{{{1, 2, 3}, {1, 4}, {5, 6}}}, Phrase{{{4}}}}, nullptr);
  EXPECT_EQ(phrases.tokens(), 3);
  EXPECT_EQ(Say(phrases, {1, 2, 3}), (PhraseProgress{0, 3, 2}));
  EXPECT_EQ(phrases.TokensSaid(progress_), 2);
  EXPECT_EQ(phrases.Said(tokens_, progress_), 0b01u);
  EXPECT_EQ(Say(phrases, {1}), (PhraseProgress{0b01, 0, 0}));  // not once more in another form
  EXPECT_EQ(phrases.TokensSaid(progress_), 2);
  EXPECT_EQ(Say(phrases, {4}), (PhraseProgress{0b01, 1, 1}));
  EXPECT_EQ(phrases.Said(tokens_, progress_), 0b11u);
  std::vector<int32_t> next;
  phrases.Next({}, {}, &next);
  EXPECT_EQ(next, (std::vector<int32_t>{1, 4, 5}));
}

// All forms, one after another.
class NaivePhrases {
 public:
  NaivePhrases(const std::vector<Phrase>& phrases, const WordJoins* joins) : joins_(joins) {
    for (size_t p = 0; p < phrases.size(); ++p) {
      for (const std::vector<int32_t>& form : phrases[p].forms) forms_.push_back({form, p});
      lengths_.push_back(static_cast<int>(phrases[p].least()));
    }
  }

  bool Joins(int32_t before, int32_t token) const {
    return joins_ != nullptr && joins_->Joins(before, token);
  }
  bool EndsIn(absl::Span<const int32_t> tokens, const std::vector<int32_t>& form,
              size_t count) const {
    if (form.size() < count || tokens.size() < count) return false;
    const size_t begin = tokens.size() - count;
    return std::equal(tokens.begin() + begin, tokens.end(), form.begin()) &&
           (count == 0 || begin == 0 || !Joins(tokens[begin - 1], tokens[begin]));
  }
  uint64_t Said(absl::Span<const int32_t> tokens, const PhraseProgress& progress) const {
    const auto path = static_cast<size_t>(progress.path);
    for (const auto& [form, phrase] : forms_) {
      const bool is_new = (progress.said >> phrase & 1) == 0;
      if (path > 0 && form.size() == path && is_new && EndsIn(tokens, form, path)) {
        return progress.said | uint64_t{1} << phrase;
      }
    }
    return progress.said;
  }
  PhraseProgress After(absl::Span<const int32_t> tokens, const PhraseProgress& progress,
                       int32_t token) const {
    const bool joins = !tokens.empty() && Joins(tokens.back(), token);
    const uint64_t said = joins ? progress.said : Said(tokens, progress);
    for (int path = said != progress.said ? 0 : progress.path; path >= 0; --path) {
      const auto count = static_cast<size_t>(path);
      for (const auto& [form, phrase] : forms_) {
        if ((said >> phrase & 1) != 0 || form.size() <= count || form[count] != token) continue;
        if ((path == 0 && joins) || !EndsIn(tokens, form, count)) continue;
        return {said, path + 1, std::min(path + 1, lengths_[phrase])};
      }
    }
    return {said, 0, 0};
  }
  uint64_t Begun(const PhraseProgress& progress, int32_t token) const {
    uint64_t begun = 0;
    for (const auto& [form, phrase] : forms_) {
      if (form.front() == token) begun |= uint64_t{1} << phrase;
    }
    return begun & ~progress.said;
  }
  std::vector<int32_t> Next(absl::Span<const int32_t> tokens,
                            const PhraseProgress& progress) const {
    std::set<int32_t> next;
    for (const auto& [form, phrase] : forms_) {
      if ((progress.said >> phrase & 1) != 0) continue;
      for (size_t path = 0; path <= static_cast<size_t>(progress.path); ++path) {
        if (form.size() > path && EndsIn(tokens, form, path)) next.insert(form[path]);
      }
    }
    return {next.begin(), next.end()};
  }

 private:
  std::vector<std::pair<std::vector<int32_t>, size_t>> forms_;
  std::vector<int> lengths_;
  const WordJoins* const joins_;
};

TEST(Phrases, TheTreeSaysWhatAllFormsSay) {
  std::mt19937 random(5);
  const auto joins = std::make_shared<WordJoins>(kPieces);
  for (int round = 0; round < 500; ++round) {
    std::vector<Phrase> wanted(1 + random() % 5);
    for (Phrase& phrase : wanted) {
      for (size_t f = 1 + random() % 4; f > 0; --f) {
        std::vector<int32_t> form(1 + random() % 4);
        for (int32_t& token : form) token = static_cast<int32_t>(1 + random() % 4);
        phrase.forms.push_back(form);
      }
    }
    const bool whole_words = round % 2 == 0;
    const Phrases phrases(wanted, whole_words ? joins : nullptr);
    const NaivePhrases naive(wanted, whole_words ? joins.get() : nullptr);
    std::vector<int32_t> tokens, next;
    PhraseProgress progress;
    for (int step = 0; step < 30; ++step) {
      phrases.Next(tokens, progress, &next);
      EXPECT_EQ(next, naive.Next(tokens, progress));
      EXPECT_EQ(phrases.Said(tokens, progress), naive.Said(tokens, progress));
      const auto token = static_cast<int32_t>(1 + random() % 5);
      EXPECT_EQ(phrases.Begun(progress, token), naive.Begun(progress, token));
      const PhraseProgress after = phrases.After(tokens, progress, token);
      EXPECT_EQ(after, naive.After(tokens, progress, token));
      progress = after;
      tokens.push_back(token);
    }
  }
}

// Were all forms gone through for each token that may come next, this would take minutes.
TEST(Phrases, AStepIsCheapHoweverManyFormsThereAre) {
  constexpr int32_t kMany = 200'000;
  Phrase phrase;
  for (int32_t i = 1; i <= kMany; ++i) phrase.forms.push_back({0, i, i});
  const Phrases phrases({phrase}, nullptr);
  const PhraseProgress begun = phrases.After({}, {}, 0);
  EXPECT_EQ(begun, (PhraseProgress{0, 1, 1}));
  const std::vector<int32_t> tokens = {0};
  for (int32_t i = 1; i <= kMany; ++i) {
    EXPECT_EQ(phrases.After(tokens, begun, i), (PhraseProgress{0, 2, 2}));
  }
  EXPECT_EQ(phrases.After(tokens, begun, kMany + 1), PhraseProgress());
}

}  // namespace
}  // namespace dragoman::phrases_test
