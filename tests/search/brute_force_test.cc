// Beam search over random tables of conditional log-probabilities.  Where the beam is wide enough
// to be exact, it is compared with an enumeration of all translations; where it is not, with the
// literal transcription of Hugging Face's search.

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <vector>

#include "engine/search/beam.h"
#include "engine/search/logits.h"
#include "gtest/gtest.h"
#include "tests/reference/search.h"
#include "tests/search/random_language.h"
#include "tests/search/rank_row.h"

namespace dragoman {
namespace {

using reference::Found;

// The log-probabilities after `tokens` that RankContinuations returns; -inf for the others.
std::vector<float> LogProbs(const RandomLanguage& language, const WholeSearch& options,
                            const std::vector<int32_t>& tokens) {
  std::vector<float> logits = language.Logits(tokens);
  const int vocabulary = static_cast<int>(logits.size());
  std::vector<Candidate> candidates;
  RankContinuations(options, tokens, 0, vocabulary, absl::MakeSpan(logits), &candidates);
  std::vector<float> log_probs(vocabulary, -std::numeric_limits<float>::infinity());
  for (const Candidate& candidate : candidates) log_probs[candidate.token] = candidate.log_prob;
  return log_probs;
}

std::vector<Hypothesis> Search(const RandomLanguage& language, const WholeSearch& options) {
  Beam beam(TaskOf(options));
  while (!beam.done()) {
    std::vector<Candidate> candidates;
    for (size_t i = 0; i < beam.live().size(); ++i) {
      std::vector<float> logits = language.Logits(beam.live()[i].tokens);
      RankContinuations(options, beam.live()[i].tokens, static_cast<int>(i),
                        beam.candidates_per_row(), absl::MakeSpan(logits), &candidates);
    }
    // Their order must not matter.
    std::reverse(candidates.begin(), candidates.end());
    beam.Advance(candidates);
  }
  return beam.Best(options.num_hypotheses);
}

std::vector<int32_t> GeneratedTokens(const Hypothesis& hypothesis, int32_t eos_id) {
  std::vector<int32_t> tokens = hypothesis.tokens;
  if (hypothesis.token_log_probs.size() > tokens.size()) tokens.push_back(eos_id);
  return tokens;
}

void ExpectFound(const std::vector<Hypothesis>& have, const std::vector<Found>& want,
                 const WholeSearch& options) {
  const size_t count = std::min(want.size(), static_cast<size_t>(options.num_hypotheses));
  ASSERT_EQ(have.size(), count);
  for (size_t i = 0; i < count; ++i) {
    EXPECT_EQ(GeneratedTokens(have[i], options.eos_id), want[i].tokens) << "hypothesis " << i;
    EXPECT_FLOAT_EQ(have[i].score, want[i].score) << "hypothesis " << i;
    float sum = 0.0f;
    for (float log_prob : have[i].token_log_probs) sum += log_prob;
    EXPECT_FLOAT_EQ(have[i].log_prob, sum);
  }
}

WholeSearch Options(int beam_size, int max_length) {
  WholeSearch options;
  options.beam_size = options.num_hypotheses = beam_size;
  options.max_length = max_length;
  options.eos_id = 0;
  options.decoder_start_id = 1;
  return options;
}

// All translations of at most max_length tokens, by a walk over the whole tree.
void Enumerate(const RandomLanguage& language, const WholeSearch& options,
               const std::vector<int32_t>& tokens, float log_prob, std::vector<Found>* all) {
  const std::vector<float> log_probs = LogProbs(language, options, tokens);
  for (size_t token = 0; token < log_probs.size(); ++token) {
    std::vector<int32_t> longer = tokens;
    longer.push_back(static_cast<int32_t>(token));
    const float sum = log_prob + log_probs[token];
    if (std::isinf(sum)) continue;
    const bool ends = longer.back() == options.eos_id;
    if (!ends && static_cast<int>(longer.size()) < options.max_length) {
      Enumerate(language, options, longer, sum, all);
      continue;
    }
    const float length = static_cast<float>(longer.size());
    all->push_back({longer, sum / std::pow(length, options.length_penalty)});
  }
}

TEST(BruteForce, AWideBeamFindsTheBestOfAllTranslations) {
  constexpr int kVocabulary = 3;
  constexpr int kMaxLength = 4;
  // More than the 3 * 2^3 candidates of the last step and the 31 translations: nothing is pruned.
  constexpr int kBeamSize = 32;
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const RandomLanguage language(seed, kVocabulary);
    for (const float length_penalty : {-0.5f, 0.0f, 1.0f, 2.0f}) {
      WholeSearch options = Options(kBeamSize, kMaxLength);
      options.length_penalty = length_penalty;
      if (seed % 2 == 0) options.forced_eos_id = options.eos_id;
      options.min_length = static_cast<int>(seed % 3);
      std::vector<Found> all;
      Enumerate(language, options, {}, 0.0f, &all);
      std::map<std::vector<int32_t>, float> scores;
      for (const Found& found : all) scores[found.tokens] = found.score;
      std::sort(all.begin(), all.end(),
                [](const Found& a, const Found& b) { return a.score > b.score; });

      const std::vector<Hypothesis> have = Search(language, options);
      ASSERT_EQ(have.size(), all.size());
      for (size_t i = 0; i < have.size(); ++i) {
        EXPECT_FLOAT_EQ(have[i].score, all[i].score);
        EXPECT_FLOAT_EQ(have[i].score, scores.at(GeneratedTokens(have[i], options.eos_id)));
      }
    }
  }
}

TEST(BruteForce, EveryBeamAgreesWithTheTranscriptionOfHuggingFace) {
  constexpr int kVocabulary =
      14;  // at least 2 * beam_size + 2, so that no placeholder gets among the best
  int searches = 0;
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    const RandomLanguage language(seed, kVocabulary);
    for (const EarlyStopping early_stopping :
         {EarlyStopping::kHeuristic, EarlyStopping::kFull, EarlyStopping::kNever}) {
      for (const float length_penalty : {-0.5f, 0.0f, 0.6f, 1.0f, 2.0f}) {
        WholeSearch options =
            Options(2 + static_cast<int>(seed % 5), 3 + static_cast<int>(seed % 7));
        options.early_stopping = early_stopping;
        options.length_penalty = length_penalty;
        options.min_length = static_cast<int>(seed % 3);
        if (seed % 2 == 0) options.forced_eos_id = options.eos_id;
        if (seed % 4 == 1) options.no_repeat_ngram_size = 2;
        if (seed % 5 == 1) options.repetition_penalty = 1.3f;
        if (seed % 6 == 1) options.renormalize_logits = true;
        SCOPED_TRACE(testing::Message()
                     << "seed " << seed << " early stopping " << static_cast<int>(early_stopping)
                     << " length penalty " << length_penalty);
        const std::vector<Found> want =
            reference::BeamSearch(options, [&](const std::vector<int32_t>& tokens) {
              return LogProbs(language, options, tokens);
            });
        ExpectFound(Search(language, options), want, options);
        ++searches;
      }
    }
  }
  EXPECT_EQ(searches, 4500);
}

TEST(BruteForce, GreedyTakesTheBestTokenAtEveryStep) {
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const RandomLanguage language(seed, 5);
    WholeSearch options = Options(1, 1 + static_cast<int>(seed % 9));
    if (seed % 2 == 0) options.forced_eos_id = options.eos_id;
    const Found want = reference::GreedySearch(options, [&](const std::vector<int32_t>& tokens) {
      return LogProbs(language, options, tokens);
    });
    ExpectFound(Search(language, options), {want}, options);
  }
}

}  // namespace
}  // namespace dragoman
