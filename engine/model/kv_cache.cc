#include "engine/model/kv_cache.h"

#include <algorithm>

#include "engine/math/kernels.h"

namespace dragoman {
namespace {

size_t ElementSize(const KeyValuesShape& shape) {
  return shape.bfloat16 ? sizeof(uint16_t) : sizeof(float);
}

}  // namespace

KeyValues::KeyValues(const KeyValuesShape& shape, int rows) : shape_(shape), rows_(rows) {
  const int all = shape.layers * rows;
  if (shape.bfloat16) {
    halves_.Resize(all, 2 * shape.width);
  } else {
    float32_.Resize(all, 2 * shape.width);
  }
}

size_t KeyValues::BytesFor(const KeyValuesShape& shape, int rows) {
  return ElementSize(shape) * 2 * shape.width * shape.layers * rows;
}

void KeyValues::Set(int layer, int first, MatrixView<const float> keys_values) {
  const int row = layer * rows_ + first;
  if (shape_.bfloat16) {
    const MatrixView<uint16_t> to = halves_.view().Rows(row, keys_values.rows());
    for (const int half : {0, shape_.width}) {
      PackBFloat16(shape_.heads, keys_values.Cols(half, shape_.width), to.Cols(half, shape_.width));
    }
    return;
  }
  for (int r = 0; r < keys_values.rows(); ++r) {
    std::copy_n(keys_values.Row(r).data(), keys_values.cols(), float32_.Row(row + r).data());
  }
}

void KeyValues::Attend(int layer, MatrixView<const float> q, absl::Span<const int32_t> rows,
                       MatrixView<float> out, int member, Workspace* ws, const float* bias) const {
  const auto attend = [&](auto keys_values) {
    const auto of_layer = keys_values.Rows(layer * rows_, rows_);
    dragoman::Attend(shape_.heads, q, of_layer.Cols(0, shape_.width),
                     of_layer.Cols(shape_.width, shape_.width), rows,
                     absl::MakeSpan(ws->attend[member]), out, bias);
  };
  if (shape_.bfloat16) {
    attend(halves_.view());
  } else {
    attend(float32_.view());
  }
}

KvCache::KvCache(const KeyValuesShape& shape, int max_steps, int beam_size)
    : max_nodes_(max_steps * beam_size), keys_values_(shape, max_nodes_) {}

size_t KvCache::BytesFor(const KeyValuesShape& shape, int max_steps, int beam_size) {
  return KeyValues::BytesFor(shape, max_steps * beam_size);
}

int32_t KvCache::AddNode() {
  DRAGOMAN_CHECK(nodes_ < max_nodes_);
  return nodes_++;
}

SourceMemory::SourceMemory(const KeyValuesShape& shape, int source_tokens)
    : source_tokens_(source_tokens), keys_values_(shape, source_tokens) {}

size_t SourceMemory::BytesFor(const KeyValuesShape& shape, int source_tokens) {
  return KeyValues::BytesFor(shape, source_tokens);
}

}  // namespace dragoman
