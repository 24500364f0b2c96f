// The keys and values that attention reads again and again: those of the hypotheses, the cache of a
// sentence, and those of its source (SourceMemory).
//
// The cache is a tree that only grows.  A decoding step adds one node per live hypothesis, and
// nodes never move.  A hypothesis is the path of node ids from its first token to its last, so
// forking a beam copies a short list of integers.
//
// The memory comes in blocks from the worker's pool, taken as needed.  The most blocks that a
// sentence can need are reserved when it is admitted, so a step cannot fail.

#ifndef DRAGOMAN_ENGINE_MODEL_KV_CACHE_H_
#define DRAGOMAN_ENGINE_MODEL_KV_CACHE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "engine/base/not_copyable.h"
#include "engine/math/key_values.h"
#include "engine/math/matrix.h"
#include "engine/model/kv_pool.h"

namespace dragoman {

// How rows of keys | values of all layers are arranged in blocks.  A block holds some rows of some
// layers; the rows of a layer are contiguous:
//
//   | layer 0: row 0, row 1, ... row n - 1 | layer 1: row 0, ... | layer 2 ... |
//
// So attention, which reads one layer of a sentence after the other, reads memory in order.  If a
// model is too large for a block to hold several rows of all layers, its layers are divided among
// `parts` blocks.
struct KvLayout {
  // UNIMPLEMENTED if a row is longer than a block.
  static absl::StatusOr<KvLayout> Create(int layers, const KeyValueFormat& format);

  // The number of blocks for this many rows of all layers.
  int Blocks(int rows) const { return (rows + block_rows - 1) / block_rows * parts; }
  size_t Bytes(int rows) const { return Blocks(rows) * KvPool::kBlockBytes; }

  KeyValueFormat format;
  size_t row_bytes = 0;
  int parts = 0;
  int block_layers = 0;  // of a part
  int block_rows = 0;
};

// Rows of keys | values by layer, which grow by one row at a time: nodes of the tree, or tokens of
// the source.  Belongs to one thread at a time.
class KeyValues : private NotCopyable {
 public:
  // Has room for `max_rows` rows in each layer.  The pool must outlive it.
  KeyValues(const KvLayout& layout, int max_rows, KvPool* pool);
  ~KeyValues();

  // Adds a row and returns its name.  REQUIRES: there are fewer than max_rows.
  int32_t AddRow();
  // The name of the i-th row, in the order in which they were added.
  int32_t NameOf(int i) const {
    return i / layout_.block_rows << kRowBits | i % layout_.block_rows;
  }

  // Writes the row for one layer; `keys_values` is [2 width].
  void Set(int layer, int32_t row, absl::Span<const float> keys_values);

  const KeyValueFormat& format() const { return layout_.format; }
  // The addresses of rows of a layer: the named ones, or all in order.
  void Find(int layer, absl::Span<const int32_t> rows, std::vector<const std::byte*>* found) const;
  void FindAll(int layer, std::vector<const std::byte*>* found) const;

 private:
  // A row's name: its blocks, and its place in them.
  static constexpr int kRowBits = 8;

  std::byte* Place(int layer, int32_t row) const {
    return blocks_[(row >> kRowBits) * layout_.parts + layer / layout_.block_layers].data +
           (layer % layout_.block_layers * layout_.block_rows + (row & ((1 << kRowBits) - 1))) *
               layout_.row_bytes;
  }

  const KvLayout layout_;
  KvPool* const pool_;
  const int max_rows_;
  int rows_ = 0;
  std::vector<KvBlock> blocks_;  // `parts` of the first rows, `parts` of the next ones, ...
};

// The keys and values of one encoded sentence: computed once, then read by all its hypotheses.
class SourceMemory {
 public:
  SourceMemory(const KvLayout& layout, int source_tokens, KvPool* pool);

  int source_tokens() const { return source_tokens_; }
  // Writes all rows of a layer; `keys_values` is [source_tokens(), 2 width].
  void Set(int layer, MatrixView<const float> keys_values);
  const KeyValues& keys_values() const { return keys_values_; }

 private:
  const int source_tokens_;
  KeyValues keys_values_;
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_MODEL_KV_CACHE_H_
