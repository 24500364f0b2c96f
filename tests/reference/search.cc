#include "tests/reference/search.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace dragoman::reference {
namespace {

constexpr float kVeryLow = -1.0e9f;

// An entry of the arrays `running` (open hypotheses) and `finished` (the best that have ended).
struct Entry {
  std::vector<int32_t> tokens;
  float score = kVeryLow;  // running: the sum of log-probabilities; finished: over length^penalty
  bool is_finished = false;
};

// torch.topk over the scores: the indices of the k largest; ties go to the lower index.
std::vector<size_t> TopK(const std::vector<float>& scores, size_t k) {
  std::vector<size_t> order(scores.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return scores[a] > scores[b]; });
  order.resize(std::min(k, order.size()));
  return order;
}

float LengthPenalty(size_t length, float penalty) {
  return static_cast<float>(std::pow(static_cast<double>(length), static_cast<double>(penalty)));
}

// The best 2 * beam_size continuations of all running hypotheses; is_finished if they have ended.
std::vector<Entry> TopContinuations(const WholeSearch& options, const std::vector<Entry>& running,
                                    const NextLogProbs& next_log_probs) {
  std::vector<float> accumulated;
  size_t vocabulary = 0;
  for (const Entry& entry : running) {
    const std::vector<float> log_probs = next_log_probs(entry.tokens);
    vocabulary = log_probs.size();
    for (float log_prob : log_probs) accumulated.push_back(entry.score + log_prob);
  }
  std::vector<Entry> top;
  for (size_t index : TopK(accumulated, 2 * static_cast<size_t>(options.beam_size))) {
    Entry entry = running[index / vocabulary];
    entry.tokens.push_back(static_cast<int32_t>(index % vocabulary));
    entry.score = accumulated[index];
    entry.is_finished = entry.tokens.back() == options.eos_id ||
                        static_cast<int>(entry.tokens.size()) >= options.max_length;
    top.push_back(entry);
  }
  return top;
}

// The next running hypotheses: the best beam_size, where those that have ended count as very low.
std::vector<Entry> NextRunning(const WholeSearch& options, const std::vector<Entry>& top) {
  std::vector<float> scores;
  for (const Entry& entry : top) scores.push_back(entry.score + (entry.is_finished ? kVeryLow : 0));
  std::vector<Entry> running;
  for (size_t index : TopK(scores, options.beam_size)) {
    running.push_back({top[index].tokens, scores[index], false});
  }
  return running;
}

// The best beam_size of those finished earlier and those that end among the first beam_size now.
std::vector<Entry> UpdateFinished(const WholeSearch& options, const std::vector<Entry>& finished,
                                  const std::vector<Entry>& top) {
  std::vector<Entry> merged = finished;
  for (size_t rank = 0; rank < top.size(); ++rank) {
    Entry entry = top[rank];
    entry.score /= LengthPenalty(entry.tokens.size(), options.length_penalty);
    entry.is_finished = entry.is_finished && static_cast<int>(rank) < options.beam_size;
    if (!entry.is_finished) entry.score += kVeryLow;
    merged.push_back(entry);
  }
  std::vector<float> scores;
  for (const Entry& entry : merged) scores.push_back(entry.score);
  std::vector<Entry> best;
  for (size_t index : TopK(scores, options.beam_size)) best.push_back(merged[index]);
  return best;
}

// Whether the best running hypothesis could still beat a finished one or fill an empty place.
bool ImprovementIsPossible(const WholeSearch& options, const std::vector<Entry>& running,
                           const std::vector<Entry>& finished) {
  const bool at_max_length =
      options.early_stopping == EarlyStopping::kNever && options.length_penalty > 0.0f;
  const size_t length = at_max_length ? options.max_length : running[0].tokens.size();
  const float best_running = running[0].score / LengthPenalty(length, options.length_penalty);
  float worst = finished[0].score;
  for (const Entry& entry : finished) worst = std::min(worst, entry.score);
  return std::any_of(finished.begin(), finished.end(), [&](const Entry& entry) {
    return best_running > (entry.is_finished ? worst : kVeryLow);
  });
}

bool All(const std::vector<Entry>& entries) {
  return std::all_of(entries.begin(), entries.end(), [](const Entry& e) { return e.is_finished; });
}

}  // namespace

std::vector<Found> BeamSearch(const WholeSearch& options, const NextLogProbs& next_log_probs) {
  std::vector<Entry> running(options.beam_size);
  running[0].score = 0.0f;
  std::vector<Entry> finished(options.beam_size);
  while (true) {
    const std::vector<Entry> top = TopContinuations(options, running, next_log_probs);
    running = NextRunning(options, top);
    finished = UpdateFinished(options, finished, top);
    const bool full = options.early_stopping == EarlyStopping::kFull && All(finished);
    if (All(top) || full || !ImprovementIsPossible(options, running, finished)) break;
  }
  std::vector<Found> found;
  for (const Entry& entry : finished) {
    const bool placeholder = !entry.is_finished || entry.score < 0.1f * kVeryLow;
    if (!placeholder) found.push_back({entry.tokens, entry.score});
  }
  return found;
}

Found GreedySearch(const WholeSearch& options, const NextLogProbs& next_log_probs) {
  Found found;
  float sum = 0.0f;
  while (static_cast<int>(found.tokens.size()) < options.max_length) {
    const std::vector<float> log_probs = next_log_probs(found.tokens);
    const auto best = std::max_element(log_probs.begin(), log_probs.end());
    found.tokens.push_back(static_cast<int32_t>(best - log_probs.begin()));
    sum += *best;
    if (found.tokens.back() == options.eos_id) break;
  }
  found.score = sum / LengthPenalty(found.tokens.size(), options.length_penalty);
  return found;
}

}  // namespace dragoman::reference
