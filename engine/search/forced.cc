// Scores a given translation: the log-probability of each of its tokens and of the end of the
// sentence, all in one decoder step.

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "engine/base/status.h"
#include "engine/search/scoring.h"
#include "engine/search/searches.h"

namespace dragoman {
namespace {

class Forced final : public ScoredSearch {
 public:
  // The translation is the task's prefix.
  explicit Forced(const SearchTask& task) : ScoredSearch(task) {}

  int candidates_per_row() const override { return 0; }
  absl::Span<const int32_t> wanted(int hypothesis) const override { return {&eos_id_, 1}; }
  bool ranks_prefix() const override { return true; }

  void Advance(absl::Span<const Candidate> candidates) override {
    DRAGOMAN_CHECK(!done());
    LiveHypothesis whole = std::move(live_.front());
    live_.clear();
    if (candidates.size() != whole.tokens.size() + 1) return;
    whole.token_log_probs.clear();
    whole.token_margins.clear();
    for (const Candidate& candidate : candidates) {
      whole.token_log_probs.push_back(candidate.log_prob);
      whole.token_margins.push_back(candidate.margin);
      whole.log_prob += candidate.log_prob;
    }
    whole.tokens.push_back(eos_id_);
    whole.row = candidates.back().row;
    scored_.push_back(scoring_.Finished(std::move(whole), /*ends_in_eos=*/true));
  }

  // The translation, or nothing if the model gives one of its tokens no finite score.
  std::vector<Hypothesis> Best(int n) const override {
    DRAGOMAN_CHECK(done());
    return n > 0 ? scored_ : std::vector<Hypothesis>();
  }

 private:
  std::vector<Hypothesis> scored_;
};

}  // namespace

std::unique_ptr<Search> NewForced(const SearchTask& task) { return std::make_unique<Forced>(task); }

}  // namespace dragoman
