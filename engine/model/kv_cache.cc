#include "engine/model/kv_cache.h"

namespace dragoman {

KvCache::KvCache(const ModelConfig& config, int max_steps, int beam_size)
    : max_nodes_(max_steps * beam_size),
      keys_values_(config.decoder_layers * max_nodes_, 2 * config.d_model) {}

size_t KvCache::BytesFor(const ModelConfig& config, int max_steps, int beam_size) {
  return sizeof(float) * 2 * config.d_model * config.decoder_layers * max_steps * beam_size;
}

int32_t KvCache::AddNode() {
  DRAGOMAN_CHECK(nodes_ < max_nodes_);
  return nodes_++;
}

SourceMemory::SourceMemory(const ModelConfig& config, int source_tokens)
    : source_tokens_(source_tokens),
      keys_values_(config.decoder_layers * source_tokens, 2 * config.d_model) {}

size_t SourceMemory::BytesFor(const ModelConfig& config, int source_tokens) {
  return sizeof(float) * 2 * config.d_model * config.decoder_layers * source_tokens;
}

}  // namespace dragoman
