#include "engine/decode/drafts.h"

#include <algorithm>
#include <limits>

#include "engine/search/make_search.h"

namespace dragoman {
namespace {

constexpr size_t kContext = 4;  // the most tokens by which a place is found

}  // namespace

bool Draft::IsUsed(const Job& job) {
  const SearchOptions& options = job.options;
  const bool greedy = options.beam_size == 1 && !options.sampling && !options.return_alternatives &&
                      !options.shrinking_beam && job.phrases.empty() && job.prefix.empty() &&
                      !job.score_prefix;
  return greedy && !job.draft.empty() && job.model->network().takes_several_tokens();
}

absl::Span<const int32_t> Draft::Propose(absl::Span<const int32_t> tokens) {
  proposed_ = 0;
  const absl::Span<const int32_t> draft = job_.draft;
  if (!tokens.empty()) {
    // The last token was not proposed, but may be the one that would have been.
    const bool next = follows_ && place_ < draft.size() && draft[place_] == tokens.back();
    returns_ = !next;
    if (next) {
      ++place_;
    } else if (!FindPlace(tokens)) {
      follows_ = false;
      if (job_.draft_loss == 0.0f) return {};
      // Perhaps the last token is in the place of one of the draft's.
      place_ = std::min(place_ + 1, draft.size());
    }
  }
  follows_ = true;
  // The last token of a translation is not followed by any other.
  const int room = job_.options.max_length - static_cast<int>(tokens.size()) - 1;
  const int left = static_cast<int>(draft.size() - place_);
  proposed_ = std::max(0, std::min({most_, left, room, wrong_left_}));
  return draft.subspan(place_, static_cast<size_t>(proposed_));
}

void Draft::Chosen(int tokens) {
  wrong_left_ -= proposed_ - tokens;
  place_ += static_cast<size_t>(tokens);
  follows_ = tokens == proposed_;
  if (proposed_ > 0) most_ = follows_ ? std::min(2 * most_, kMost) : kCautious;
}

// The place after the longest end of the tokens that the draft has, too; of several, the nearest to
// where the draft was left.
bool Draft::FindPlace(absl::Span<const int32_t> tokens) {
  const absl::Span<const int32_t> draft = job_.draft;
  size_t longest = 0, nearest = std::numeric_limits<size_t>::max(), found = 0;
  for (size_t end = 1; end <= draft.size(); ++end) {
    size_t same = 0;
    while (same < std::min({kContext, end, tokens.size()}) &&
           draft[end - 1 - same] == tokens[tokens.size() - 1 - same]) {
      ++same;
    }
    const size_t distance = end > place_ ? end - place_ : place_ - end;
    if (same == 0 || same < longest || (same == longest && distance >= nearest)) continue;
    longest = same;
    nearest = distance;
    found = end;
  }
  if (longest > 0) place_ = found;
  return longest > 0;
}

}  // namespace dragoman
