// Beam search that must say given phrases, compared with a walk over all translations.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/search/phrases.h"
#include "engine/search/search.h"
#include "engine/text/word_joins.h"
#include "gtest/gtest.h"
#include "tests/search/found.h"

namespace dragoman::constrained_beam_test {
namespace {

bool Contains(const std::vector<int32_t>& tokens, const std::vector<int32_t>& phrase) {
  return std::search(tokens.begin(), tokens.end(), phrase.begin(), phrase.end()) != tokens.end();
}

bool ContainsAll(const std::vector<int32_t>& tokens,
                 const std::vector<std::vector<int32_t>>& phrases) {
  return std::all_of(phrases.begin(), phrases.end(),
                     [&](const auto& phrase) { return Contains(tokens, phrase); });
}

// Phrases with one form each.
std::vector<Phrase> PhrasesOf(const std::vector<std::vector<int32_t>>& forms) {
  std::vector<Phrase> phrases;
  for (const std::vector<int32_t>& form : forms) phrases.push_back({{form}});
  return phrases;
}

// Finds the likeliest continuation of `tokens` that is `wanted`, by a walk over the whole tree.
void FindBest(const RandomLanguage& language,
              const std::function<bool(const std::vector<int32_t>&)>& wanted,
              const std::vector<int32_t>& tokens, double log_prob, int max_length,
              std::pair<double, std::vector<int32_t>>* best) {
  const std::vector<double> p = Softmax(language.Logits(tokens));
  for (size_t token = 0; token < p.size(); ++token) {
    const double sum = log_prob + std::log(p[token]);
    if (sum <= best->first) continue;
    std::vector<int32_t> longer = tokens;
    if (token != kEos) longer.push_back(static_cast<int32_t>(token));
    if (token != kEos && static_cast<int>(longer.size()) < max_length) {
      FindBest(language, wanted, longer, sum, max_length, best);
    } else if (wanted(longer)) {
      *best = {sum, longer};
    }
  }
}

TEST(ConstrainedBeam, SaysEveryPhraseAndMostlyInTheBestPlace) {
  int best = 0, all = 0;
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    const RandomLanguage language(seed, 5);
    SearchTask task = TaskOf(Options(8, 7));
    task.options.num_hypotheses = 1;
    task.options.length_penalty = 0.0f;
    std::vector<std::vector<int32_t>> phrases = {{2, 3}};
    if (seed % 2 == 0) phrases.push_back({4});
    task.phrases = PhrasesOf(phrases);
    const std::vector<Hypothesis> found = Found(language, task);
    ASSERT_EQ(found.size(), 1u);
    for (const auto& phrase : phrases) {
      EXPECT_TRUE(Contains(found[0].tokens, phrase)) << ::testing::PrintToString(found[0].tokens);
    }
    std::pair<double, std::vector<int32_t>> want = {-1e9, {}};
    const auto contains = [&](const auto& tokens) { return ContainsAll(tokens, phrases); };
    FindBest(language, contains, {}, 0.0, 7, &want);
    EXPECT_LE(found[0].log_prob, want.first + 1e-4);
    best += found[0].tokens == want.second ? 1 : 0;
    ++all;
  }
  EXPECT_GE(best, all * 3 / 4) << "of " << all;
}

// A long and unlikely phrase: hypotheses that have just begun it must not displace one that is in
// the middle of it.
TEST(ConstrainedBeam, SaysALongAndUnlikelyPhrase) {
  const ConstantLanguage language({7.0f, 6.0f, -6.0f, -7.0f, -5.0f, -8.0f});
  for (const int beam_size : {1, 2, 4}) {
    for (const int most_rows : {1, 3, 100}) {
      SearchTask task = TaskOf(Options(beam_size, 30));
      task.options.num_hypotheses = 1;
      const std::vector<int32_t> phrase = {2, 3, 4, 5, 3};
      task.phrases = PhrasesOf({phrase});
      task.most_rows = most_rows;
      EXPECT_EQ(MaxLive(task), std::max(beam_size, std::min(most_rows, 6)));
      const std::vector<Hypothesis> found = Found(language, task);
      ASSERT_EQ(found.size(), 1u);
      EXPECT_TRUE(Contains(found[0].tokens, phrase))
          << beam_size << ": " << ::testing::PrintToString(found[0].tokens);
      EXPECT_EQ(found[0].finish_reason, FinishReason::kEos);
    }
  }
}

// Of the forms, the one that gives the likeliest translation, which is compared with a walk over
// all translations.
TEST(ConstrainedBeam, SaysAPhraseInItsLikeliestForm) {
  int best = 0, all = 0;
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    const RandomLanguage language(seed, 6);
    SearchTask task = TaskOf(Options(8, 7));
    task.options.num_hypotheses = 1;
    task.options.length_penalty = 0.0f;
    task.phrases = {Phrase{{{2, 3}, {4}, {5, 2, 1}}}};
    if (seed % 2 == 0) task.phrases.push_back({{{4}, {1, 1}}});
    const std::vector<Hypothesis> found = Found(language, task);
    ASSERT_EQ(found.size(), 1u);
    const auto says = [&](const std::vector<int32_t>& tokens) {
      const Phrases phrases(task.phrases, nullptr);
      return phrases.Said(tokens) == (uint64_t{1} << phrases.size()) - 1;
    };
    EXPECT_TRUE(says(found[0].tokens)) << ::testing::PrintToString(found[0].tokens);
    std::pair<double, std::vector<int32_t>> want = {-1e9, {}};
    FindBest(language, says, {}, 0.0, 7, &want);
    EXPECT_LE(found[0].log_prob, want.first + 1e-4);
    best += found[0].tokens == want.second ? 1 : 0;
    ++all;
  }
  EXPECT_GE(best, all * 3 / 4) << "of " << all;
}

// What a translation is worth if each phrase that it lacks costs max_loss.
TEST(ConstrainedBeam, LeavesOutWhatCostsMoreThanItMay) {
  int said = 0, missed = 0, best = 0;
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    for (const float max_loss : {0.0f, 0.5f, 2.0f, 8.0f, 100.0f}) {
      SCOPED_TRACE(testing::Message() << "seed " << seed << " max_loss " << max_loss);
      const RandomLanguage language(seed, 5);
      SearchTask task = TaskOf(Options(8, 7));
      task.options.num_hypotheses = 1;
      task.options.length_penalty = 0.0f;
      const std::vector<int32_t> needed = {4}, may_be_missed = {2, 3};
      task.phrases = {{{may_be_missed}, max_loss}, {{needed}}};
      const std::vector<Hypothesis> found = Found(language, task);
      ASSERT_EQ(found.size(), 1u);
      EXPECT_TRUE(Contains(found[0].tokens, needed));
      std::pair<double, std::vector<int32_t>> with = {-1e9, {}}, without = with;
      const auto says_all = [&](const auto& tokens) {
        return ContainsAll(tokens, {needed, may_be_missed});
      };
      const auto says_one = [&](const auto& tokens) { return Contains(tokens, needed); };
      FindBest(language, says_all, {}, 0.0, 7, &with);
      FindBest(language, says_one, {}, 0.0, 7, &without);
      const bool has = Contains(found[0].tokens, may_be_missed);
      ++(has ? said : missed);
      const auto& want = with.first >= without.first - max_loss ? with.second : without.second;
      best += found[0].tokens == want ? 1 : 0;
      EXPECT_TRUE(has || max_loss < 100.0f);
    }
  }
  EXPECT_GE(best, 300 * 3 / 4);
  EXPECT_GE(said, 60);
  EXPECT_GE(missed, 30);
}

// A vocabulary in pieces, in which each text is cut in one way only.
const std::vector<std::string> kPieces = {"", "▁a", "▁b", "n", "s", "."};

std::string Words(absl::Span<const int32_t> tokens) {
  std::string text;
  for (const int32_t token : tokens) {
    const std::string& piece = kPieces[token];
    if (piece == ".") {
      text += " . ";
    } else {
      text += piece.starts_with("▁") ? " " + piece.substr(std::string("▁").size()) : piece;
    }
  }
  return text + " ";
}

// Whether the text has each phrase as whole words, as often as it is listed.
bool SaysWords(const std::vector<std::vector<int32_t>>& phrases, absl::Span<const int32_t> tokens) {
  const std::string text = Words(tokens);
  for (const std::vector<int32_t>& phrase : phrases) {
    const std::string words = Words(phrase);
    std::ptrdiff_t times = 0;
    for (size_t i = text.find(words); i != std::string::npos; i = text.find(words, i + 1)) ++times;
    if (times < std::count(phrases.begin(), phrases.end(), phrase)) return false;
  }
  return true;
}

TEST(ConstrainedBeam, APhraseIsNotSaidIfItsLastWordGoesOn) {
  const std::vector<std::vector<std::vector<int32_t>>> glossaries = {
      {{1}}, {{1, 3}}, {{1}, {2}}, {{2, 4}, {2, 4}}, {{2}, {1, 3, 2}}};
  int best = 0, all = 0;
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    for (const auto& phrases : glossaries) {
      for (const std::vector<int32_t>& prefix :
           {std::vector<int32_t>{}, {2}, {1}, {1, 3}, {5, 2, 4}}) {
        SCOPED_TRACE(testing::Message() << "seed " << seed << ::testing::PrintToString(phrases)
                                        << " prefix " << ::testing::PrintToString(prefix));
        const RandomLanguage language(seed, static_cast<int>(kPieces.size()));
        WholeSearch search = Options(8, static_cast<int>(prefix.size()) + 5);
        search.num_hypotheses = 1;
        search.length_penalty = 0.0f;
        search.word_joins = std::make_shared<WordJoins>(kPieces);
        SearchTask task = TaskOf(search);
        task.phrases = PhrasesOf(phrases);
        task.prefix = prefix;
        const std::vector<Hypothesis> found = Found(language, task);
        ASSERT_EQ(found.size(), 1u);
        EXPECT_TRUE(SaysWords(phrases, found[0].tokens)) << Words(found[0].tokens);
        std::pair<double, std::vector<int32_t>> want = {-1e9, {}};
        const auto says = [&](const auto& tokens) { return SaysWords(phrases, tokens); };
        FindBest(language, says, prefix, 0.0, task.options.max_length, &want);
        EXPECT_LE(found[0].log_prob, want.first + 1e-4);
        best += found[0].tokens == want.second ? 1 : 0;
        ++all;
      }
    }
  }
  EXPECT_GE(best, all * 3 / 4) << "of " << all;
}

// A model that generates the last token first continues a word towards its beginning.
TEST(ConstrainedBeam, APhraseIsNotSaidIfItsWordHasBegunBefore) {
  const ConstantLanguage language({0.0f, 1.0f, 1.0f, 5.0f, 1.0f, 0.0f});
  for (const bool reversed : {false, true}) {
    WholeSearch search = Options(4, 8);
    search.word_joins = std::make_shared<WordJoins>(kPieces, reversed);
    SearchTask task = TaskOf(search);
    task.phrases = PhrasesOf({{1}});
    const std::vector<int32_t> tokens = Found(language, task)[0].tokens;
    const auto a = std::find_if(tokens.begin(), tokens.end(), [&](const int32_t& token) {
      const bool last = &token == &tokens.back(), first = &token == &tokens.front();
      const int32_t neighbour = reversed ? (first ? 0 : *(&token - 1)) : (last ? 0 : *(&token + 1));
      return token == 1 && neighbour != 3 && neighbour != 4;
    });
    EXPECT_NE(a, tokens.end()) << ::testing::PrintToString(tokens);
  }
}

}  // namespace
}  // namespace dragoman::constrained_beam_test
