#include "engine/search/logits.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/search/rank_row.h"

namespace dragoman::logits_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr int32_t kEos = 0;
constexpr int32_t kStart = 5;

WholeSearch BeamOptions() {
  WholeSearch options;
  options.beam_size = 2;
  options.max_length = 10;
  options.eos_id = kEos;
  options.decoder_start_id = kStart;
  return options;
}

WholeSearch GreedyOptions() {
  WholeSearch options = BeamOptions();
  options.beam_size = 1;
  return options;
}

std::vector<Candidate> Ranked(const WholeSearch& options, const std::vector<int32_t>& tokens,
                              std::vector<float> row, int k = 100) {
  std::vector<Candidate> out;
  RankContinuations(options, tokens, 0, k, absl::MakeSpan(row), &out);
  return out;
}

std::vector<int32_t> Tokens(const std::vector<Candidate>& candidates) {
  std::vector<int32_t> tokens;
  for (const Candidate& candidate : candidates) tokens.push_back(candidate.token);
  return tokens;
}

float LogProbOf(int32_t token, const std::vector<Candidate>& candidates) {
  for (const Candidate& candidate : candidates) {
    if (candidate.token == token) return candidate.log_prob;
  }
  ADD_FAILURE() << "no candidate " << token;
  return 0.0f;
}

// log-softmax in double.
std::vector<float> LogSoftmax(const std::vector<float>& row) {
  const double max = *std::max_element(row.begin(), row.end());
  double sum = 0.0;
  for (float x : row) sum += std::exp(x - max);
  std::vector<float> result;
  for (float x : row) result.push_back(static_cast<float>(x - max - std::log(sum)));
  return result;
}

const std::vector<float> kRow = {1.0f, 3.0f, 2.0f, -1.0f, 0.5f, -2.0f};

TEST(RankContinuations, GivesTheBestByLogSoftmax) {
  const std::vector<float> expected = LogSoftmax(kRow);
  const std::vector<Candidate> ranked = Ranked(BeamOptions(), {}, kRow, 3);
  EXPECT_THAT(Tokens(ranked), ElementsAre(1, 2, 0));
  for (const Candidate& c : ranked) EXPECT_NEAR(c.log_prob, expected[c.token], 1e-6f);
}

TEST(RankContinuations, AppendsAndNamesTheParent) {
  std::vector<float> row = kRow;
  std::vector<Candidate> out = {{0, 9, -1.0f}};
  RankContinuations(BeamOptions(), {}, 3, 2, absl::MakeSpan(row), &out);
  EXPECT_THAT(Tokens(out), ElementsAre(9, 1, 2));
  EXPECT_EQ(out[1].parent, 3);
  EXPECT_EQ(out[2].parent, 3);
}

TEST(RankContinuations, TiesGoToTheLowerToken) {
  EXPECT_THAT(Tokens(Ranked(BeamOptions(), {}, {1.0f, 2.0f, 1.0f, 2.0f, 1.0f, 2.0f}, 4)),
              ElementsAre(1, 3, 5, 0));
}

TEST(RankContinuations, KMayBeLargerThanTheVocabulary) {
  EXPECT_THAT(Tokens(Ranked(BeamOptions(), {}, kRow, 100)), ElementsAre(1, 2, 0, 4, 3, 5));
}

TEST(RankContinuations, AgreesWithASortOnLongRows) {
  for (const uint32_t seed : {1u, 2u, 3u}) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937 random(seed);
    // Few distinct values, so that there are ties.
    std::uniform_int_distribution<int> value(-40, 40);
    std::vector<float> row(997);
    for (float& x : row) x = 0.25f * static_cast<float>(value(random));
    std::vector<int32_t> expected(row.size());
    for (size_t i = 0; i < expected.size(); ++i) expected[i] = static_cast<int32_t>(i);
    std::stable_sort(expected.begin(), expected.end(),
                     [&](int32_t a, int32_t b) { return row[a] > row[b]; });
    expected.resize(32);
    EXPECT_EQ(Tokens(Ranked(BeamOptions(), {}, row, 32)), expected);
  }
}

TEST(RankContinuations, MinusInfinityAndNanAreNeverChosen) {
  std::vector<float> row = kRow;
  row[1] = -kInf;
  row[2] = std::nanf("");
  EXPECT_THAT(Tokens(Ranked(BeamOptions(), {}, row)), ElementsAre(0, 4, 3, 5));
  EXPECT_THAT(Tokens(Ranked(GreedyOptions(), {}, row, 1)), ElementsAre(0));
}

TEST(RankContinuations, ARowOfNothingButMinusInfinityOrNanHasNoContinuation) {
  for (const bool renormalize : {false, true}) {
    for (const float penalty : {1.0f, 1.3f}) {
      WholeSearch options = BeamOptions();
      options.renormalize_logits = renormalize;
      options.repetition_penalty = penalty;
      EXPECT_THAT(Ranked(options, {}, std::vector<float>(6, -kInf)), IsEmpty());
      EXPECT_THAT(Ranked(options, {}, std::vector<float>(6, std::nanf(""))), IsEmpty());
      EXPECT_THAT(Ranked(options, {}, {0.0f, kInf, 0.0f, 0.0f, 0.0f, 0.0f}), IsEmpty());
    }
  }
}

TEST(RepetitionPenalty, ActsOnLogProbabilitiesInBeamSearch) {
  WholeSearch options = BeamOptions();
  options.repetition_penalty = 2.0f;
  const std::vector<float> log_probs = LogSoftmax(kRow);
  const std::vector<Candidate> ranked = Ranked(options, {1, 1, 3}, kRow);
  EXPECT_NEAR(LogProbOf(1, ranked), 2.0f * log_probs[1],
              1e-5f);  // counted once, though it occurs twice
  EXPECT_NEAR(LogProbOf(3, ranked), 2.0f * log_probs[3], 1e-5f);
  EXPECT_NEAR(LogProbOf(2, ranked), log_probs[2], 1e-5f);
}

TEST(RepetitionPenalty, CountsTheDecoderStart) {
  WholeSearch options = BeamOptions();
  options.repetition_penalty = 2.0f;
  EXPECT_NEAR(LogProbOf(kStart, Ranked(options, {}, kRow)), 2.0f * LogSoftmax(kRow)[kStart], 1e-5f);
}

TEST(RepetitionPenalty, ActsOnRawLogitsInGreedySearchWhichReportsTheUnprocessed) {
  WholeSearch options = GreedyOptions();
  options.repetition_penalty = 1.4f;
  const std::vector<float> log_probs = LogSoftmax(kRow);
  // 3 / 1.4 is still the largest, 3 / 1.6 is not.
  std::vector<Candidate> ranked = Ranked(options, {1}, kRow, 1);
  EXPECT_THAT(Tokens(ranked), ElementsAre(1));
  EXPECT_NEAR(ranked[0].log_prob, log_probs[1], 1e-5f);
  options.repetition_penalty = 1.6f;
  ranked = Ranked(options, {1}, kRow, 1);
  EXPECT_THAT(Tokens(ranked), ElementsAre(2));
  EXPECT_NEAR(ranked[0].log_prob, log_probs[2], 1e-5f);
}

TEST(NoRepeatNgram, BansWhatWouldCompleteAnNgramAgain) {
  WholeSearch options = BeamOptions();
  options.no_repeat_ngram_size = 2;
  EXPECT_THAT(Tokens(Ranked(options, {1, 2, 3, 1}, kRow)), ElementsAre(1, 0, 4, 3, 5));
  EXPECT_THAT(Tokens(Ranked(options, {1, 2, 1, 3, 1}, kRow)), ElementsAre(1, 0, 4, 5));
  options.no_repeat_ngram_size = 3;
  EXPECT_THAT(Tokens(Ranked(options, {1, 2, 3, 1, 2}, kRow)), ElementsAre(1, 2, 0, 4, 5));
  EXPECT_THAT(Tokens(Ranked(options, {1, 2, 3, 1}, kRow)), SizeIs(6));
}

TEST(NoRepeatNgram, CountsTheDecoderStart) {
  WholeSearch options = BeamOptions();
  options.no_repeat_ngram_size = 2;
  EXPECT_THAT(Tokens(Ranked(options, {1, kStart}, kRow)), ElementsAre(2, 0, 4, 3, 5));
}

TEST(NoRepeatNgram, OfOneBansEveryTokenThatIsThere) {
  WholeSearch options = BeamOptions();
  options.no_repeat_ngram_size = 1;
  EXPECT_THAT(Tokens(Ranked(options, {1, 4}, kRow)), ElementsAre(2, 0, 3));
}

TEST(NoRepeatNgram, LongerThanTheSequenceBansNothing) {
  WholeSearch options = BeamOptions();
  options.no_repeat_ngram_size = 9;
  EXPECT_THAT(Tokens(Ranked(options, {1, 1}, kRow)), SizeIs(6));
}

TEST(BadWords, OfOneTokenAreAlwaysBannedAndKeepTheirMass) {
  WholeSearch options = BeamOptions();
  options.bad_words_ids = {{1}};
  const std::vector<Candidate> ranked = Ranked(options, {}, kRow);
  EXPECT_THAT(Tokens(ranked), ElementsAre(2, 0, 4, 3, 5));
  EXPECT_NEAR(ranked[0].log_prob, LogSoftmax(kRow)[2], 1e-6f);
}

TEST(BadWords, LongerOnesBanTheirLastTokenAfterTheirPrefix) {
  WholeSearch options = BeamOptions();
  options.bad_words_ids = {{2, 4, 1}};
  EXPECT_THAT(Tokens(Ranked(options, {2, 4}, kRow, 1)), ElementsAre(2));
  EXPECT_THAT(Tokens(Ranked(options, {3, 2, 4}, kRow, 1)), ElementsAre(2));
  EXPECT_THAT(Tokens(Ranked(options, {4}, kRow, 1)), ElementsAre(1));
  EXPECT_THAT(Tokens(Ranked(options, {2, 4, 3}, kRow, 1)), ElementsAre(1));
  EXPECT_THAT(Tokens(Ranked(options, {}, kRow, 1)), ElementsAre(1));
}

TEST(BadWords, NeverMatchTheDecoderStartAlone) {
  WholeSearch options = BeamOptions();
  options.bad_words_ids = {{kStart, 1}};
  EXPECT_THAT(Tokens(Ranked(options, {}, kRow, 1)), ElementsAre(1));
  EXPECT_THAT(Tokens(Ranked(options, {2, kStart}, kRow, 1)), ElementsAre(2));
}

TEST(BadWords, OutsideOfTheVocabularyBanNothing) {
  WholeSearch options = BeamOptions();
  options.bad_words_ids = {{6}, {-1}, {1000000}};
  EXPECT_THAT(Tokens(Ranked(options, {}, kRow)), SizeIs(6));
}

TEST(MinLength, BansEosWhileFewerTokensAreGenerated) {
  WholeSearch options = BeamOptions();
  options.min_length = 2;
  EXPECT_THAT(Tokens(Ranked(options, {1}, kRow)), ElementsAre(1, 2, 4, 3, 5));
  EXPECT_THAT(Tokens(Ranked(options, {1, 1}, kRow)), ElementsAre(1, 2, 0, 4, 3, 5));
}

TEST(ForcedBos, IsTheOnlyFirstToken) {
  WholeSearch options = BeamOptions();
  options.forced_bos_id = 3;
  const std::vector<Candidate> first = Ranked(options, {}, kRow);
  ASSERT_THAT(Tokens(first), ElementsAre(3));
  EXPECT_EQ(first[0].log_prob, 0.0f);
  EXPECT_THAT(Tokens(Ranked(options, {3}, kRow)), SizeIs(6));
}

TEST(ForcedEos, IsTheOnlyTokenThatReachesMaxLength) {
  for (const bool renormalize : {false, true}) {
    WholeSearch options = BeamOptions();
    options.renormalize_logits = renormalize;
    options.max_length = 3;
    options.min_length = 2;
    options.bad_words_ids = {{kEos}};
    options.forced_eos_id = kEos;
    EXPECT_THAT(Tokens(Ranked(options, {1}, kRow)), SizeIs(5));
    const std::vector<Candidate> last = Ranked(options, {1, 2}, kRow);
    ASSERT_THAT(Tokens(last), ElementsAre(kEos));
    EXPECT_EQ(last[0].log_prob, 0.0f);
  }
}

TEST(ForcedEos, WinsOverForcedBos) {
  WholeSearch options = BeamOptions();
  options.max_length = 1;
  options.forced_bos_id = 3;
  options.forced_eos_id = kEos;
  EXPECT_THAT(Tokens(Ranked(options, {}, kRow)), ElementsAre(kEos));
}

TEST(RenormalizeLogits, GivesTheProbabilityOfBannedTokensToTheOthers) {
  for (WholeSearch options : {BeamOptions(), GreedyOptions()}) {
    options.renormalize_logits = true;
    options.bad_words_ids = {{1}};
    const std::vector<float> expected = LogSoftmax({1.0f, -100.0f, 2.0f, -1.0f, 0.5f, -2.0f});
    const std::vector<Candidate> ranked = Ranked(options, {}, kRow);
    EXPECT_THAT(Tokens(ranked), ElementsAre(2, 0, 4, 3, 5));
    for (const Candidate& c : ranked) EXPECT_NEAR(c.log_prob, expected[c.token], 1e-6f);
  }
}

TEST(RenormalizeLogits, ComesAfterTheRepetitionPenalty) {
  WholeSearch options = BeamOptions();
  options.renormalize_logits = true;
  options.repetition_penalty = 2.0f;
  std::vector<float> processed = LogSoftmax(kRow);
  processed[1] *= 2.0f;
  processed[kStart] *= 2.0f;
  processed = LogSoftmax(processed);
  for (const Candidate& c : Ranked(options, {1}, kRow)) {
    EXPECT_NEAR(c.log_prob, processed[c.token], 1e-5f);
  }
}

TEST(RowRanker, TheCandidatesDoNotDependOnTheTiles) {
  WholeSearch options = BeamOptions();
  options.repetition_penalty = 1.3f;
  options.no_repeat_ngram_size = 2;
  options.bad_words_ids = {{900}, {3, 17}};
  options.min_length = 5;
  for (const bool renormalize : {false, true}) {
    options.renormalize_logits = renormalize;
    std::mt19937 random(5);
    std::normal_distribution<float> normal(0.0f, 3.0f);
    std::vector<float> logits(1000);
    for (float& x : logits) x = normal(random);
    const std::vector<int32_t> tokens = {512, 3, 17, 999, 3};
    std::vector<Candidate> whole;
    std::vector<float> row = logits;
    RankContinuations(options, tokens, 0, 8, absl::MakeSpan(row), &whole, row.size());
    ASSERT_THAT(whole, SizeIs(8));
    for (const size_t tile : {1, 7, 64, 513, 999}) {
      std::vector<Candidate> tiled;
      row = logits;
      RankContinuations(options, tokens, 0, 8, absl::MakeSpan(row), &tiled, tile);
      ASSERT_EQ(Tokens(tiled), Tokens(whole)) << tile;
      for (size_t i = 0; i < whole.size(); ++i) {
        EXPECT_NEAR(tiled[i].log_prob, whole[i].log_prob, 1e-5f) << tile;
      }
    }
  }
}

// The best continuations among `candidates`, which are appended in several pieces.
std::vector<Candidate> RankedAmong(const std::vector<int32_t>& candidates,
                                   const WholeSearch& options, const std::vector<int32_t>& tokens,
                                   const std::vector<float>& row, int k, size_t piece) {
  RowRanker ranker;
  ranker.Start({.options = &options, .rules = &options, .tokens = tokens, .k = k});
  for (size_t begin = 0; begin < candidates.size(); begin += piece) {
    const auto some = absl::MakeConstSpan(candidates).subspan(begin, piece);
    std::vector<float> logits;
    for (const int32_t token : some) logits.push_back(row[token]);
    ranker.AddSelected(some, absl::MakeSpan(logits));
  }
  std::vector<Candidate> out;
  ranker.Finish(&out);
  return out;
}

TEST(Shortlist, IsALogSoftmaxOverTheCandidatesAlone) {
  const std::vector<Candidate> ranked = RankedAmong({0, 2, 5}, BeamOptions(), {}, kRow, 100, 100);
  EXPECT_THAT(Tokens(ranked), ElementsAre(2, 0, 5));
  const std::vector<float> expected = LogSoftmax({kRow[0], kRow[2], kRow[5]});
  EXPECT_NEAR(LogProbOf(0, ranked), expected[0], 1e-6f);
  EXPECT_NEAR(LogProbOf(2, ranked), expected[1], 1e-6f);
  EXPECT_NEAR(LogProbOf(5, ranked), expected[2], 1e-6f);
}

// With every processor: the result is as if all other logits were -inf.
TEST(Shortlist, IsTheWholeRowWithTheOtherTokensMasked) {
  for (uint32_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937 random(seed);
    const auto below = [&random](int n) {
      return std::uniform_int_distribution<>(0, n - 1)(random);
    };
    constexpr int kVocabulary = 60;
    WholeSearch options = seed % 2 == 0 ? BeamOptions() : GreedyOptions();
    options.max_length = 12;
    options.min_length = below(10);
    options.repetition_penalty = below(2) == 0 ? 1.0f : 1.4f;
    options.no_repeat_ngram_size = below(3);
    options.renormalize_logits = below(2) == 0;
    if (below(2) == 0) options.forced_eos_id = kEos;
    if (below(3) == 0) options.forced_bos_id = 7;
    options.bad_words_ids = {{below(kVocabulary)}, {below(kVocabulary), below(kVocabulary)}};
    std::vector<int32_t> tokens(below(12)), candidates;
    for (int32_t& token : tokens) token = below(kVocabulary);
    std::vector<float> row(kVocabulary), masked(kVocabulary, -kInf);
    for (int32_t token = 0; token < kVocabulary; ++token) {
      row[token] = 0.25f * static_cast<float>(below(41) - 20);
      if (below(3) > 0) continue;
      candidates.push_back(token);
      masked[token] = row[token];
    }
    const int k = 1 + below(10);
    const std::vector<Candidate> expected = Ranked(options, tokens, masked, k);
    for (const size_t piece : {1, 5, 100}) {
      const std::vector<Candidate> ranked = RankedAmong(candidates, options, tokens, row, k, piece);
      ASSERT_EQ(Tokens(ranked), Tokens(expected));
      for (size_t i = 0; i < ranked.size(); ++i) {
        EXPECT_NEAR(ranked[i].log_prob, expected[i].log_prob, 1e-5f);
      }
    }
  }
}

// The sum, in tiles of 512.
float LogSumOf(absl::Span<const float> row) {
  LogSum sum;
  for (size_t i = 0; i < row.size(); i += 512) sum.Add(row.subspan(i, 512));
  return sum.value();
}

TEST(LogSum, AgreesWithDoubleOnRowsOfManySizesAndScales) {
  for (const int size : {1, 2, 63, 64, 65, 2047, 2048, 2049, 60000}) {
    for (const float scale : {0.0f, 1.0f, 10.0f, 1000.0f}) {
      std::mt19937 random(7);
      std::normal_distribution<float> normal(0.0f, 1.0f);
      std::vector<float> row(size);
      for (float& x : row) x = scale * normal(random) + 3.0f;
      const double max = *std::max_element(row.begin(), row.end());
      double sum = 0.0;
      for (float x : row) sum += std::exp(x - max);
      const double expected = max + std::log(sum);
      EXPECT_NEAR(LogSumOf(row), expected, 1e-6 + 2e-7 * std::abs(expected))
          << size << " x " << scale;
    }
  }
}

TEST(LogSum, IsNotMovedByMinusInfinityOrNan) {
  std::vector<float> row(200, 1.0f);
  row[3] = -kInf;
  row[150] = std::nanf("");
  EXPECT_NEAR(LogSumOf(row), 1.0 + std::log(198.0), 1e-6);
  EXPECT_EQ(LogSumOf({}), -kInf);
  EXPECT_EQ(LogSumOf({-kInf, std::nanf("")}), -kInf);
  EXPECT_EQ(LogSumOf({0.0f, kInf}), kInf);
  EXPECT_EQ(LogSumOf(std::vector<float>(1000, -kInf)), -kInf);
}

}  // namespace
}  // namespace dragoman::logits_test
