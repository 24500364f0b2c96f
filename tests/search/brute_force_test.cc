// Beam search over random tables of conditional log-probabilities.  Where the beam is wide enough
// to be exact, it is compared with an enumeration of all translations; where it is not, with the
// literal transcription of Hugging Face's search.

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/search/beam.h"
#include "engine/search/logits.h"
#include "engine/text/piece_index.h"
#include "gtest/gtest.h"
#include "tests/reference/search.h"
#include "tests/search/random_language.h"
#include "tests/search/rank_row.h"

namespace dragoman::brute_force_test {
namespace {

using reference::Found;

constexpr int32_t kEos = 0;
constexpr int32_t kStart = 4;  // no token of the language

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

// The definitions of the rules and penalties, independent of the implementation.

// What the tokens write; the first is eos.
const std::vector<std::string> kPieces = {"", "▁a", "▁b", "c"};

bool EndsWith(const std::vector<int32_t>& tokens, const std::vector<int32_t>& end) {
  return tokens.size() >= end.size() &&
         std::equal(end.begin(), end.end(), tokens.end() - end.size());
}

// Whether the last token may follow the others.
bool IsAllowed(const WholeSearch& options, const std::vector<int32_t>& tokens) {
  const bool ends = tokens.back() == options.eos_id;
  if (ends && static_cast<int>(tokens.size()) <= options.min_length) return false;
  if (options.disable_unk && tokens.back() == options.unknown_id) return false;
  for (const auto& word : options.bad_words_ids) {
    if (EndsWith(tokens, word)) return false;
  }
  std::string text;
  for (const int32_t token : tokens) text += kPieces[token];
  // A phrase begins a word, which the first token does with or without a mark.
  if (!text.starts_with("▁")) text.insert(0, "▁");
  for (const std::string& phrase : options.banned_phrases) {
    if (text.find(phrase) != std::string::npos) return false;
  }
  const auto n = static_cast<size_t>(options.no_repeat_ngram_size);
  if (n == 0 || tokens.size() < n) return true;
  const std::vector<int32_t> last(tokens.end() - n, tokens.end());
  return std::search(tokens.begin(), tokens.end() - 1, last.begin(), last.end()) ==
         tokens.end() - 1;
}

// The log-probability of each token after `tokens`; -inf for one that is not allowed.
std::vector<double> DefinedLogProbs(const RandomLanguage& language, const WholeSearch& options,
                                    const std::vector<int32_t>& tokens) {
  const std::vector<float> logits = language.Logits(tokens);
  const bool last = static_cast<int>(tokens.size()) + 1 == options.max_length;
  const std::optional<int> forced = last && options.forced_eos_id
                                        ? options.forced_eos_id
                                        : (tokens.empty() ? options.forced_bos_id : std::nullopt);
  double all = 0.0, kept = 0.0;
  for (const float logit : logits) all += std::exp(static_cast<double>(logit));
  std::vector<double> log_probs;
  for (size_t token = 0; token < logits.size(); ++token) {
    const auto id = static_cast<int32_t>(token);
    double log_prob = logits[token] - std::log(all);
    const bool said = id == options.decoder_start_id ||
                      std::find(tokens.begin(), tokens.end(), id) != tokens.end();
    if (said) log_prob *= options.repetition_penalty;
    std::vector<int32_t> longer = tokens;
    longer.push_back(id);
    if (forced.has_value() ? id != *forced : !IsAllowed(options, longer)) log_prob = -kInfinity;
    if (forced == id) log_prob = 0.0;
    log_probs.push_back(log_prob);
    kept += std::exp(log_prob);
  }
  for (double& log_prob : log_probs) log_prob -= options.renormalize_logits ? std::log(kept) : 0.0;
  return log_probs;
}

// The scores of all translations, by their tokens.
void Define(const RandomLanguage& language, const WholeSearch& options,
            const std::vector<int32_t>& tokens, double sum,
            std::map<std::vector<int32_t>, double>* all) {
  const std::vector<double> log_probs = DefinedLogProbs(language, options, tokens);
  for (size_t token = 0; token < log_probs.size(); ++token) {
    if (std::isinf(log_probs[token])) continue;
    std::vector<int32_t> longer = tokens;
    longer.push_back(static_cast<int32_t>(token));
    const double log_prob = sum + log_probs[token];
    const auto length = static_cast<double>(longer.size());
    if (longer.back() != options.eos_id &&
        longer.size() < static_cast<size_t>(options.max_length)) {
      Define(language, options, longer, log_prob, all);
      continue;
    }
    const bool gnmt = options.length_normalization == LengthNormalization::kGnmt;
    (*all)[longer] = (log_prob - options.word_penalty * length) /
                     std::pow(gnmt ? (5 + length) / 6 : length, options.length_penalty);
  }
}

// A beam that is wide enough to find all translations gives each its score by definition.
TEST(BruteForce, EveryRuleAndPenaltyIsWhatItsDefinitionSays) {
  const std::vector<std::function<void(WholeSearch*)>> kinds = {
      [](WholeSearch* options) { options->bad_words_ids = {{2}}; },
      [](WholeSearch* options) {
        options->bad_words_ids = {{2, 3}, {3, 3, 2}};
      },
      [](WholeSearch* options) { options->disable_unk = true; },
      [](WholeSearch* options) { options->no_repeat_ngram_size = 1; },
      [](WholeSearch* options) { options->no_repeat_ngram_size = 2; },
      [](WholeSearch* options) { options->banned_phrases = {InPieces("bc")}; },
      [](WholeSearch* options) {
        options->banned_phrases = {InPieces("a b"), InPieces("b bcc")};
      },
      [](WholeSearch* options) { options->banned_phrases = {InPieces("c")}; },
      [](WholeSearch* options) { options->min_length = 2; },
      [](WholeSearch* options) { options->forced_bos_id = 3; },
      [](WholeSearch* options) { options->forced_eos_id = kEos; },
      [](WholeSearch* options) { options->repetition_penalty = 1.7f; },
      [](WholeSearch* options) { options->word_penalty = 0.4f; },
      [](WholeSearch* options) {
        options->length_normalization = LengthNormalization::kGnmt;
        options->length_penalty = 0.8f;
      },
      [](WholeSearch* options) {
        options->bad_words_ids = {{3, 2}};
        options->min_length = 1;
        options->repetition_penalty = 1.2f;
        options->renormalize_logits = true;
      },
      [](WholeSearch* options) {
        options->forced_bos_id = 2;
        options->no_repeat_ngram_size = 2;
        options->renormalize_logits = true;
        options->word_penalty = -0.2f;
      },
  };
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    const RandomLanguage language(seed, static_cast<int>(kPieces.size()));
    for (size_t kind = 0; kind < kinds.size(); ++kind) {
      SCOPED_TRACE(testing::Message() << "seed " << seed << " kind " << kind);
      // More than the 4 * 3^3 continuations of the last step and than all 148 translations.
      WholeSearch options = Options(150, 4);
      options.decoder_start_id = kStart;
      options.unknown_id = 3;
      options.pieces = std::make_shared<PieceIndex>(kPieces);
      kinds[kind](&options);
      std::map<std::vector<int32_t>, double> all;
      Define(language, options, {}, 0.0, &all);
      const std::vector<Hypothesis> found = Search(language, options);
      ASSERT_EQ(found.size(), all.size());
      for (const Hypothesis& hypothesis : found) {
        const auto defined = all.find(GeneratedTokens(hypothesis, options.eos_id));
        ASSERT_NE(defined, all.end());
        EXPECT_NEAR(hypothesis.score, defined->second, 1e-4);
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
}  // namespace dragoman::brute_force_test
