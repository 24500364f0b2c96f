// How a single head spreads its attention, for those who ask.  A sublayer mixes its heads at once
// and keeps no weights, so this computes them a second time, by the same code from the same
// numbers.

#ifndef DRAGOMAN_ENGINE_MODEL_HEAD_READING_H_
#define DRAGOMAN_ENGINE_MODEL_HEAD_READING_H_

#include <cstddef>
#include <vector>

#include "absl/types/span.h"
#include "engine/math/attend.h"
#include "engine/model/attention_head.h"

namespace dragoman {

// What a sublayer passes to Attend (attend.h).
struct HeadReading {
  const KeyValueFormat& format;
  MatrixView<const float> q;
  absl::Span<const std::byte* const> rows;
  absl::Span<float> scratch;
  const float* bias = nullptr;
};

// Writes the softmax of one head for query i to `to` + i * stride: [positions].
inline void ReadHead(const HeadReading& reading, int head, float* to, size_t stride) {
  std::vector<float> weights(reading.format.heads, 0.0f);
  weights[head] = 1.0f;
  std::vector<float*> places(reading.q.rows());
  for (size_t i = 0; i < places.size(); ++i) places[i] = to + i * stride;
  Matrix<float> unused(reading.q.rows(), reading.q.cols());
  Attend(reading.format, reading.q, reading.rows, reading.scratch, unused.view(),
         {.bias = reading.bias, .attention = places, .head_weights = weights});
}

// Writes what is wanted of a layer for a single query.
inline void ReadHeads(const HeadReading& reading, int layer, const HeadRequest& wanted) {
  for (size_t h = 0; h < wanted.heads.size(); ++h) {
    if (wanted.heads[h].layer != layer) continue;
    ReadHead(reading, wanted.heads[h].head, wanted.to + h * wanted.stride, 0);
  }
}

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_MODEL_HEAD_READING_H_
