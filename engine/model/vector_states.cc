#include "engine/model/vector_states.h"

#include <algorithm>
#include <utility>

namespace dragoman {

VectorStates::VectorStates(int length, int max_hypotheses, KvPool* pool)
    : max_hypotheses_(max_hypotheses),
      vectors_(length, 2 * max_hypotheses, pool),
      readers_(max_hypotheses),
      next_readers_(max_hypotheses) {
  std::fill_n(first(), length, 0.0f);
}

void VectorStates::Fork(absl::Span<const int> parents) {
  for (size_t i = 0; i < parents.size(); ++i) next_readers_[i] = readers_[parents[i]];
  std::swap(readers_, next_readers_);
}

VectorStates::Step VectorStates::Extend(int hypothesis) {
  Reader& reader = readers_[hypothesis];
  const int last = reader.vector;
  const bool from_first_set = last < max_hypotheses_;
  reader.vector = hypothesis + (from_first_set ? max_hypotheses_ : 0);
  return {vectors_.Row(last), vectors_.Row(reader.vector), reader.position++};
}

}  // namespace dragoman
