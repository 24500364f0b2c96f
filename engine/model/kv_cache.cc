#include "engine/model/kv_cache.h"

#include <algorithm>

#include "engine/math/kernels.h"

namespace dragoman {
namespace {

size_t ElementSize(const ModelConfig& config) {
  return config.bfloat16_keys_values ? sizeof(uint16_t) : sizeof(float);
}

}  // namespace

KeyValues::KeyValues(const ModelConfig& config, int rows)
    : bfloat16_(config.bfloat16_keys_values),
      heads_(config.decoder_heads),
      d_model_(config.d_model),
      rows_(rows) {
  const int all = config.decoder_layers * rows;
  if (bfloat16_) {
    halves_.Resize(all, 2 * d_model_);
  } else {
    float32_.Resize(all, 2 * d_model_);
  }
}

size_t KeyValues::BytesFor(const ModelConfig& config, int rows) {
  return ElementSize(config) * 2 * config.d_model * config.decoder_layers * rows;
}

void KeyValues::Set(int layer, int first, MatrixView<const float> keys_values) {
  const int row = layer * rows_ + first;
  if (bfloat16_) {
    const MatrixView<uint16_t> to = halves_.view().Rows(row, keys_values.rows());
    for (const int half : {0, d_model_}) {
      PackBFloat16(heads_, keys_values.Cols(half, d_model_), to.Cols(half, d_model_));
    }
    return;
  }
  for (int r = 0; r < keys_values.rows(); ++r) {
    std::copy_n(keys_values.Row(r).data(), keys_values.cols(), float32_.Row(row + r).data());
  }
}

void KeyValues::Attend(int layer, MatrixView<const float> q, absl::Span<const int32_t> rows,
                       MatrixView<float> out, int member, Workspace* ws) const {
  const auto attend = [&](auto keys_values) {
    const auto of_layer = keys_values.Rows(layer * rows_, rows_);
    dragoman::Attend(heads_, q, of_layer.Cols(0, d_model_), of_layer.Cols(d_model_, d_model_), rows,
                     absl::MakeSpan(ws->attend[member]), out);
  };
  if (bfloat16_) {
    attend(halves_.view());
  } else {
    attend(float32_.view());
  }
}

KvCache::KvCache(const ModelConfig& config, int max_steps, int beam_size)
    : max_nodes_(max_steps * beam_size), keys_values_(config, max_nodes_) {}

size_t KvCache::BytesFor(const ModelConfig& config, int max_steps, int beam_size) {
  return KeyValues::BytesFor(config, max_steps * beam_size);
}

int32_t KvCache::AddNode() {
  DRAGOMAN_CHECK(nodes_ < max_nodes_);
  return nodes_++;
}

SourceMemory::SourceMemory(const ModelConfig& config, int source_tokens)
    : source_tokens_(source_tokens), keys_values_(config, source_tokens) {}

size_t SourceMemory::BytesFor(const ModelConfig& config, int source_tokens) {
  return KeyValues::BytesFor(config, source_tokens);
}

}  // namespace dragoman
