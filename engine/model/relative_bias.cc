#include "engine/model/relative_bias.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "engine/base/elementary.h"
#include "engine/base/status.h"
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

std::vector<std::string> RelativeBiasTensors(const ModelSpec& spec, const std::string& stack,
                                             int layers) {
  constexpr char kName[] = ".relative_attention_bias.weight";
  if (spec.positions.kind != Positions::kRelative) return {};
  if (!spec.positions.per_layer) return {stack + kName};
  std::vector<std::string> names;
  for (int l = 0; l < layers; ++l) names.push_back(absl::StrCat(stack, ".layers.", l, kName));
  return names;
}

absl::StatusOr<RelativeBias> RelativeBias::Create(const Checkpoint& checkpoint,
                                                  const std::string& stack, int layers, int heads,
                                                  bool both_ways, const ModelSpec& spec) {
  const Positions& positions = spec.positions;
  RelativeBias bias;
  bias.zero_ = spec.max_positions - 1;
  const int distances = both_ways ? 2 * spec.max_positions - 1 : spec.max_positions;
  const int width = static_cast<int>(BiasWidth(heads));
  for (const std::string& name : RelativeBiasTensors(spec, stack, layers)) {
    ASSIGN_OR_RETURN(const Matrix<float> of_buckets,
                     checkpoint.ReadMatrix(name, positions.buckets, heads));
    Matrix<float>& rows = bias.tables_.emplace_back();
    rows.Resize(distances, width);
    for (int r = 0; r < distances; ++r) {
      const int bucket =
          RelativeBucket(r - bias.zero_, both_ways, positions.buckets, positions.max_distance);
      for (int e = 0; e < width; ++e) rows.Row(r)[e] = of_buckets.Row(bucket)[e % heads];
    }
  }
  return bias;
}

}  // namespace dragoman
