// Draws translations at random instead of searching: num_hypotheses of them, independently, token
// by token, from the distribution of the model (row_sampler.h).
//
// A draw depends on the seed, the sentence, the step and the hypothesis' index, and on nothing
// else: no generator is shared, so other traffic does not matter.

#include <algorithm>
#include <functional>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "engine/base/status.h"
#include "engine/search/scoring.h"
#include "engine/search/searches.h"

namespace dragoman {
namespace {

class Sampler final : public ScoredSearch {
 public:
  explicit Sampler(const SearchTask& task) : ScoredSearch(task), options_(task.options) {}

  // As many draws from the first row as there are hypotheses, then one from each row.
  int candidates_per_row() const override { return started_ ? 1 : options_.num_hypotheses; }

  void Advance(absl::Span<const Candidate> candidates) override {
    DRAGOMAN_CHECK(!done());
    next_.clear();
    for (const Candidate& candidate : candidates) {
      const LiveHypothesis& parent = live_[candidate.parent];
      LiveHypothesis child = Grown(parent, candidate);
      child.draw = started_ ? parent.draw : static_cast<int>(next_.size() + finished_.size());
      const bool ends_in_eos = candidate.token == eos_id_;
      const bool at_limit = static_cast<int>(child.tokens.size()) == options_.max_length;
      if (ends_in_eos || at_limit) {
        const bool forced = at_limit && options_.forced_eos_id.has_value();
        finished_.push_back(scoring_.Finished(std::move(child), ends_in_eos, forced));
      } else if (const int kept = scoring_.TokensBeforeRunaway(child.tokens); kept > 0) {
        finished_.push_back(scoring_.Cut(std::move(child), kept));
      } else {
        next_.push_back(std::move(child));
      }
    }
    std::swap(live_, next_);
    started_ = true;
  }

  // By score, best first; of equal ones, the first one drawn.
  std::vector<Hypothesis> Best(int n) const override {
    DRAGOMAN_CHECK(done());
    return BestOf(finished_, n);
  }

  // All of a single sample; what several have in common.
  absl::Span<const int32_t> StablePrefix(int n) const override {
    // The score needed to be among the best n; none while fewer have ended.
    std::vector<float> scores;
    for (const Hypothesis& hypothesis : finished_) scores.push_back(hypothesis.score);
    const size_t wanted = static_cast<size_t>(std::max(n, 1));
    float least = -std::numeric_limits<float>::infinity();
    if (scores.size() >= wanted) {
      std::nth_element(scores.begin(), scores.begin() + (wanted - 1), scores.end(),
                       std::greater<>());
      least = scores[wanted - 1];
    }
    CommonPrefix common;
    for (const Hypothesis& hypothesis : finished_) {
      if (hypothesis.score >= least) common.Add(hypothesis.tokens);
    }
    for (const LiveHypothesis& live : live_) {
      if (scoring_.HighestScore(live) >= least) common.Add(scoring_.SafeTokens(live.tokens));
    }
    return common.tokens();
  }

 private:
  const SearchOptions options_;
  bool started_ = false;
  std::vector<LiveHypothesis> next_;
  std::vector<Hypothesis> finished_;  // in the order in which they ended
};

}  // namespace

std::unique_ptr<Search> NewSampler(const SearchTask& task) {
  return std::make_unique<Sampler>(task);
}

}  // namespace dragoman
