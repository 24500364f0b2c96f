// The keys and values of all hypotheses of one sentence in every decoder layer: a tree that only
// grows.  A decoding step adds one node for each live hypothesis, and nodes never move; a
// hypothesis is the path of node ids from its first token to its last, so to fork a beam is to copy
// a short list of integers.
//
// All the memory that a sentence can need is allocated when the cache is made, so a step cannot
// fail.

#ifndef DRAGOMAN_ENGINE_MODEL_KV_CACHE_H_
#define DRAGOMAN_ENGINE_MODEL_KV_CACHE_H_

#include <cstddef>
#include <cstdint>

#include "engine/math/matrix.h"
#include "engine/model/config.h"

namespace dragoman {

// Belongs to one thread at a time.
class KvCache {
 public:
  // Room for max_steps steps of beam_size hypotheses.
  KvCache(const ModelConfig& config, int max_steps, int beam_size);

  // The memory of such a cache.
  static size_t BytesFor(const ModelConfig& config, int max_steps, int beam_size);

  // The id of a new node.  REQUIRES: there have been fewer than max_steps x beam_size.
  int32_t AddNode();

  // Keys | values of one layer, [nodes, 2 d_model]; the row of a node is its id.
  MatrixView<float> layer(int l) { return keys_values_.view().Rows(l * max_nodes_, max_nodes_); }

 private:
  const int max_nodes_;
  int nodes_ = 0;
  Matrix<float> keys_values_;  // [layers x max_nodes, 2 d_model]
};

// The keys and values that the decoder reads of one encoded sentence in every layer: computed once,
// then shared by all its hypotheses.
class SourceMemory {
 public:
  SourceMemory(const ModelConfig& config, int source_tokens);

  static size_t BytesFor(const ModelConfig& config, int source_tokens);

  int source_tokens() const { return source_tokens_; }
  // Keys | values of one layer, [source tokens, 2 d_model].
  MatrixView<float> layer(int l) {
    return keys_values_.view().Rows(l * source_tokens_, source_tokens_);
  }
  MatrixView<const float> layer(int l) const {
    return keys_values_.view().Rows(l * source_tokens_, source_tokens_);
  }

 private:
  const int source_tokens_;
  Matrix<float> keys_values_;  // [layers x source tokens, 2 d_model]
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_MODEL_KV_CACHE_H_
