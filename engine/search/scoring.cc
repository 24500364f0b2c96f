#include "engine/search/scoring.h"

#include <algorithm>
#include <utility>

#include "absl/algorithm/container.h"
#include "engine/base/elementary.h"
#include "engine/search/runaway.h"

namespace dragoman {

LiveHypothesis Beginning(const SearchTask& task) {
  LiveHypothesis live;
  live.tokens.reserve(task.options.max_length);
  live.token_log_probs.reserve(task.options.max_length);
  live.tokens = task.prefix;
  live.token_log_probs.assign(task.prefix.size(), 0.0f);
  return live;
}

LiveHypothesis Grown(const LiveHypothesis& parent, const Candidate& candidate) {
  LiveHypothesis child = parent;
  child.parent = candidate.parent;
  child.tokens.push_back(candidate.token);
  child.token_log_probs.push_back(candidate.log_prob);
  child.token_margins.push_back(candidate.margin);
  child.log_prob += candidate.log_prob;
  child.row = candidate.row;
  return child;
}

std::vector<Hypothesis> BestOf(std::vector<Hypothesis> hypotheses, int n) {
  absl::c_stable_sort(hypotheses,
                      [](const Hypothesis& a, const Hypothesis& b) { return a.score > b.score; });
  if (static_cast<int>(hypotheses.size()) > n) hypotheses.resize(std::max(n, 0));
  return hypotheses;
}

void CommonPrefix::Add(absl::Span<const int32_t> tokens) {
  if (!any_) {
    any_ = true;
    tokens_ = tokens;
    return;
  }
  size_t length = 0;
  const size_t most = std::min(tokens_.size(), tokens.size());
  while (length < most && tokens_[length] == tokens[length]) ++length;
  tokens_ = tokens_.first(length);
}

Scoring::Scoring(const SearchTask& task)
    : length_penalty_(task.options.length_penalty),
      word_penalty_(task.options.word_penalty),
      normalization_(task.options.length_normalization),
      prefix_length_(static_cast<int>(task.prefix.size())),
      max_length_(task.options.max_length),
      margins_(task.margins),
      coverage_penalty_(task.options.coverage_penalty),
      coverage_(task.coverage) {
  constexpr int kAllowance = 7;
  repetition_allowance_ =
      task.options.repetition_guard ? kAllowance + 2 * LongestRepetition(task.source) : -1;
  least_length_ = task.options.min_length;
}

float Scoring::Score(float log_prob, int length) const {
  const double generated = length - prefix_length_;
  // "Google's Neural Machine Translation System", Wu et al. 2016, equation 14.
  const double base =
      normalization_ == LengthNormalization::kGnmt ? (5.0 + generated) / 6.0 : generated;
  const float sum = log_prob - word_penalty_ * static_cast<float>(generated);
  return sum / static_cast<float>(PowOf(base, length_penalty_));
}

// "Google's Neural Machine Translation System", Wu et al. 2016, equation 14.
float Scoring::FinalScore(float log_prob, int length, int row) const {
  const float score = Score(log_prob, length);
  if (coverage_penalty_ == 0.0f || coverage_ == nullptr) return score;
  return score + coverage_penalty_ * coverage_(row);
}

Hypothesis Scoring::Finished(LiveHypothesis live, bool ends_in_eos, bool forced) const {
  Hypothesis hypothesis;
  hypothesis.log_prob = live.log_prob;
  hypothesis.score = FinalScore(live.log_prob, static_cast<int>(live.tokens.size()), live.row);
  hypothesis.row = live.row;
  hypothesis.finish_reason = ends_in_eos && !forced ? FinishReason::kEos : FinishReason::kMaxLength;
  hypothesis.tokens = std::move(live.tokens);
  if (ends_in_eos) hypothesis.tokens.pop_back();
  hypothesis.token_log_probs = std::move(live.token_log_probs);
  if (margins_) hypothesis.token_margins = std::move(live.token_margins);
  return hypothesis;
}

int Scoring::TokensBeforeRunaway(absl::Span<const int32_t> tokens) const {
  const int length = static_cast<int>(tokens.size());
  // Most tokens differ from the one before.
  if (repetition_allowance_ < 0 || length <= repetition_allowance_ || length < least_length_) {
    return 0;
  }
  const int kept = TokensBeforeRepetition(tokens.subspan(prefix_length_), repetition_allowance_);
  return kept == 0 ? 0 : kept + prefix_length_;
}

Hypothesis Scoring::Cut(LiveHypothesis live, int tokens) const {
  live.tokens.resize(tokens);
  live.token_log_probs.resize(tokens);
  if (margins_) live.token_margins.resize(tokens - prefix_length_);
  live.log_prob = 0.0f;
  for (const float log_prob : live.token_log_probs) live.log_prob += log_prob;
  Hypothesis hypothesis = Finished(std::move(live), /*ends_in_eos=*/false);
  hypothesis.finish_reason = FinishReason::kRepetition;
  return hypothesis;
}

absl::Span<const int32_t> Scoring::SafeTokens(absl::Span<const int32_t> tokens) const {
  if (repetition_allowance_ < 0 || tokens.size() <= static_cast<size_t>(prefix_length_)) {
    return tokens;
  }
  return tokens.first(prefix_length_ + TokensBeforeAnyRun(tokens.subspan(prefix_length_)));
}

float Scoring::HighestScore(const LiveHypothesis& live, float without, int tokens) const {
  // More tokens can only lower the probability, but the guard may cut some off.
  const int safe = static_cast<int>(SafeTokens(live.tokens).size());
  float log_prob = -without;
  for (int i = 0; i < safe; ++i) log_prob += live.token_log_probs[i];
  constexpr float kRounding =
      1e-3f;  // the log-probability of a certain token may be computed as slightly above 0
  log_prob += kRounding;
  // The divisor is monotonic in the length, so the extremes are at the ends of its range.
  const int shortest = std::max(safe - tokens, prefix_length_ + 1);
  return std::max(Score(log_prob, shortest), Score(log_prob, std::max(shortest, max_length_)));
}

}  // namespace dragoman
