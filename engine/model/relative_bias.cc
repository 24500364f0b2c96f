#include "engine/model/relative_bias.h"

#include <algorithm>
#include <cmath>

#include "engine/base/elementary.h"
#include "engine/math/attend.h"

namespace dragoman {

int RelativeBucket(int distance, bool both_ways, int buckets, int max_distance) {
  int first = 0;
  if (both_ways) {
    buckets /= 2;
    if (distance > 0) first = buckets;
    distance = std::abs(distance);
  } else {
    distance = std::max(-distance, 0);
  }
  const int exact = buckets / 2;
  if (distance < exact) return first + distance;
  // In float32, as in training: rounding decides where a bucket begins.
  const float ratio =
      static_cast<float>(LogOf(static_cast<float>(distance) / static_cast<float>(exact))) /
      static_cast<float>(LogOf(static_cast<double>(max_distance) / exact));
  const int larger = exact + static_cast<int>(ratio * static_cast<float>(buckets - exact));
  return first + std::min(larger, buckets - 1);
}

absl::StatusOr<RelativeBias> RelativeBias::Create(const Checkpoint& checkpoint,
                                                  const std::string& prefix, int heads,
                                                  bool both_ways, const ModelSpec& spec) {
  const Positions& positions = spec.positions;
  ASSIGN_OR_RETURN(
      const Matrix<float> table,
      checkpoint.ReadMatrix(prefix + ".relative_attention_bias.weight", positions.buckets, heads));
  RelativeBias bias;
  bias.zero_ = spec.max_positions - 1;
  const int distances = both_ways ? 2 * spec.max_positions - 1 : spec.max_positions;
  const int width = static_cast<int>(BiasWidth(heads));
  bias.rows_.Resize(distances, width);
  for (int r = 0; r < distances; ++r) {
    const int bucket =
        RelativeBucket(r - bias.zero_, both_ways, positions.buckets, positions.max_distance);
    for (int e = 0; e < width; ++e) bias.rows_.Row(r)[e] = table.Row(bucket)[e % heads];
  }
  return bias;
}

}  // namespace dragoman
