// Alternatives at one point of a translation: the num_hypotheses most likely tokens after the
// prefix, and for each of them the best translation that begins with it (CTranslate2's
// return_alternatives).
//
//   prefix "Das ist"  ->  "Das ist ein Haus." "Das ist das Haus." "Das ist mein Haus."
//
// Each alternative is a beam search of its own.

#include <memory>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "engine/base/elementary.h"
#include "engine/base/status.h"
#include "engine/search/beam.h"
#include "engine/search/searches.h"

namespace dragoman {
namespace {

class Alternatives final : public ScoredSearch {
 public:
  explicit Alternatives(const SearchTask& task) : ScoredSearch(task), task_(task) {}

  int candidates_per_row() const override {
    if (!expanded_) return task_.options.num_hypotheses;
    return task_.options.beam_size == 1 ? 1 : 2 * task_.options.beam_size;
  }

  void Advance(absl::Span<const Candidate> candidates) override {
    DRAGOMAN_CHECK(!done());
    if (!expanded_) {
      Expand(candidates);
    } else {
      int first = 0;
      for (Alternative& alternative : alternatives_) {
        if (alternative.beam == nullptr || alternative.beam->done()) continue;
        Beam& beam = *alternative.beam;
        const int end = first + static_cast<int>(beam.live().size());
        alternative.first = first;
        own_.clear();
        for (Candidate candidate : candidates) {
          if (candidate.parent < first || candidate.parent >= end) continue;
          candidate.parent -= first;
          own_.push_back(candidate);
        }
        beam.Advance(own_);
        first = end;
      }
    }
    GatherLive();
  }

  // Best(n) returns the alternatives in the order of their first tokens' probabilities.
  std::vector<Hypothesis> Best(int n) const override {
    DRAGOMAN_CHECK(done());
    std::vector<Hypothesis> best;
    for (const Alternative& alternative : alternatives_) {
      if (static_cast<int>(best.size()) == n) break;
      const std::vector<Hypothesis> found =
          alternative.beam == nullptr ? alternative.ended : alternative.beam->Best(1);
      best.insert(best.end(), found.begin(), found.end());
    }
    return best;
  }

  // Until the first alternative has found a translation, it is not certain to be the best.  Until
  // then, and for n above 1, this is what all alternatives have in common, which is little.
  absl::Span<const int32_t> StablePrefix(int n) const override {
    CommonPrefix common;
    if (!expanded_) common.Add(live_[0].tokens);
    for (const Alternative& alternative : alternatives_) {
      const bool found = alternative.beam == nullptr || alternative.beam->found_any();
      common.Add(alternative.beam == nullptr ? absl::MakeConstSpan(alternative.ended[0].tokens)
                                             : alternative.beam->StablePrefix(1));
      if (n == 1 && found) break;
    }
    return common.tokens();
  }

 private:
  // A beam for each of the best tokens.
  void Expand(absl::Span<const Candidate> candidates) {
    expanded_ = true;
    std::vector<Candidate> best(candidates.begin(), candidates.end());
    absl::c_stable_sort(
        best, [](const Candidate& a, const Candidate& b) { return a.log_prob > b.log_prob; });
    const LiveHypothesis parent = std::move(live_[0]);
    for (const Candidate& candidate : best) {
      const bool likely = ExpOf(candidate.log_prob) >= task_.options.min_alternative_probability;
      if (!alternatives_.empty() && !likely) break;
      LiveHypothesis child = Grown(parent, candidate);
      child.parent = 0;
      const bool ends_in_eos = candidate.token == eos_id_;
      Alternative alternative;
      if (ends_in_eos || static_cast<int>(child.tokens.size()) == task_.options.max_length) {
        alternative.ended.push_back(scoring_.Finished(std::move(child), ends_in_eos));
      } else {
        alternative.beam = std::make_unique<Beam>(task_, child);
      }
      alternatives_.push_back(std::move(alternative));
    }
  }

  void GatherLive() {
    std::vector<LiveHypothesis> live;
    for (const Alternative& alternative : alternatives_) {
      if (alternative.beam == nullptr) continue;
      for (const LiveHypothesis& hypothesis : alternative.beam->live()) {
        live.push_back(hypothesis);
        live.back().parent += alternative.first;
      }
    }
    live_ = std::move(live);
  }

  SearchTask task_;
  bool expanded_ = false;
  struct Alternative {
    std::unique_ptr<Beam> beam;     // null if the first token ended it
    std::vector<Hypothesis> ended;  // that hypothesis, in this case
    int first = 0;  // where the beam's hypotheses were in live_ before the last Advance
  };
  std::vector<Alternative> alternatives_;
  std::vector<Candidate> own_;  // scratch
};

}  // namespace

std::unique_ptr<Search> NewAlternatives(const SearchTask& task) {
  return std::make_unique<Alternatives>(task);
}

}  // namespace dragoman
