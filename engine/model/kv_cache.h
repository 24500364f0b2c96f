// The keys and values that attention reads again and again: of the hypotheses (KvCache) and of the
// source (SourceMemory).
//
// The cache of a sentence is a tree that only grows.  A decoding step adds one node for each live
// hypothesis, and nodes never move; a hypothesis is the path of node ids from its first token to
// its last, so to fork a beam is to copy a short list of integers.
//
// All the memory that a sentence can need is allocated when it joins a batch, so a step cannot
// fail.

#ifndef DRAGOMAN_ENGINE_MODEL_KV_CACHE_H_
#define DRAGOMAN_ENGINE_MODEL_KV_CACHE_H_

#include <cstddef>
#include <cstdint>

#include "absl/types/span.h"
#include "engine/math/matrix.h"
#include "engine/model/workspace.h"

namespace dragoman {

// Of one row in all layers.
struct KeyValuesShape {
  int layers = 0;
  int heads = 0;
  int width = 0;  // of the keys, and of the values: heads x head width
  bool bfloat16 = false;
};

// Keys | values in the number format that the shape says, by row and layer.
class KeyValues {
 public:
  // `rows` rows in each of the layers.
  KeyValues(const KeyValuesShape& shape, int rows);

  static size_t BytesFor(const KeyValuesShape& shape, int rows);

  // Writes rows [first, first + keys_values.rows()) of a layer; `keys_values` is [., 2 width].
  void Set(int layer, int first, MatrixView<const float> keys_values);

  // Attention of the rows of `q` [., width] over rows of a layer, into `out` (kernels.h), by a
  // member of the workspace's team.  REQUIRES: scratch was reserved for it.
  void Attend(int layer, MatrixView<const float> q, absl::Span<const int32_t> rows,
              MatrixView<float> out, int member, Workspace* ws, const float* bias = nullptr) const;

 private:
  const KeyValuesShape shape_;
  const int rows_;
  // One of them has [layers x rows, 2 width], the other nothing.
  Matrix<float> float32_;
  Matrix<uint16_t> halves_;
};

// Of all hypotheses of one sentence.  Belongs to one thread at a time.
class KvCache {
 public:
  // Room for max_steps steps of beam_size hypotheses.
  KvCache(const KeyValuesShape& shape, int max_steps, int beam_size);

  // The memory of such a cache.
  static size_t BytesFor(const KeyValuesShape& shape, int max_steps, int beam_size);

  // The id of a new node, its row in `keys_values`.
  // REQUIRES: there have been fewer than max_steps x beam_size.
  int32_t AddNode();

  KeyValues& keys_values() { return keys_values_; }

 private:
  const int max_nodes_;
  int nodes_ = 0;
  KeyValues keys_values_;
};

// Of one encoded sentence: computed once, then read by all its hypotheses.
class SourceMemory {
 public:
  SourceMemory(const KeyValuesShape& shape, int source_tokens);

  static size_t BytesFor(const KeyValuesShape& shape, int source_tokens);

  int source_tokens() const { return source_tokens_; }
  KeyValues& keys_values() { return keys_values_; }
  const KeyValues& keys_values() const { return keys_values_; }

 private:
  const int source_tokens_;
  KeyValues keys_values_;
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_MODEL_KV_CACHE_H_
