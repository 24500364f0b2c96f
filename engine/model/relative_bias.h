// The term that attention adds to the score of a query and a key, depending on their distance
// (Raffel et al. 2020, section 2.1): one number for each head and each bucket of distances.  Short
// distances have a bucket each; longer ones share buckets in logarithmic steps; all from
// max_distance on share the last one.
//
// With 8 buckets for queries that look both ways and a max_distance of 16:
//   key - query   ... -8  -4  -3  -2  -1   0   1   2   3   4   8 ...
//   bucket             3   2   2   2   1   0   5   6   6   6   7

#ifndef DRAGOMAN_ENGINE_MODEL_RELATIVE_BIAS_H_
#define DRAGOMAN_ENGINE_MODEL_RELATIVE_BIAS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/formats/checkpoint.h"
#include "engine/math/matrix.h"
#include "engine/spec/config.h"

namespace dragoman {

// The bucket of a distance, which is the key's position minus the query's.  A decoder only looks
// back: keys ahead of the query are in the bucket of distance 0.
int RelativeBucket(int distance, bool both_ways, int buckets, int max_distance);

// The tensors of the biases of a stack, each [buckets, heads]:
// STACK.relative_attention_bias.weight, which all layers share, or
// STACK.layers.N.relative_attention_bias.weight; none if the model's positions are not relative.
std::vector<std::string> RelativeBiasTensors(const ModelSpec& spec, const std::string& stack,
                                             int layers);

// The biases of one stack.  Immutable.
class RelativeBias {
 public:
  RelativeBias() = default;
  static absl::StatusOr<RelativeBias> Create(const Checkpoint& checkpoint, const std::string& stack,
                                             int layers, int heads, bool both_ways,
                                             const ModelSpec& spec);

  // The bias of the query at `position` and the key at position 0; null if positions are not
  // relative.  The rows after it are for the keys at 1, 2, ..., and the rows before it for later
  // queries (attend.h).  REQUIRES: 0 <= position < max_positions.
  const float* Of(int layer, int position) const {
    if (tables_.empty()) return nullptr;
    return tables_[tables_.size() == 1 ? 0 : layer].Row(zero_ - position).data();
  }

 private:
  // [distances, BiasWidth(heads)], smallest distance first: one, or one for each layer.
  std::vector<Matrix<float>> tables_;
  int zero_ = 0;  // the row of distance 0
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_MODEL_RELATIVE_BIAS_H_
