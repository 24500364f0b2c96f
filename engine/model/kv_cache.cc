// The tree, by an example: a beam of 2 after three steps, with the number of each node.
//
//   0 start ──── 1 the ──── 3 cat        hypotheses are paths of nodes: [0, 1, 3] and [0, 1, 4]
//       │            └───── 4 dog
//       └─────── 2 a                     has no descendants left
//
// A node is a row of keys and values in each layer; attention after "dog" reads the rows 0, 1 and
// 4.  If both hypotheses of the next step descend from 4, their paths are [0, 1, 4, 5] and [0, 1,
// 4, 6]: two short lists are copied, and no key or value moves.

#include "engine/model/kv_cache.h"

#include <algorithm>

#include "engine/base/status.h"

namespace dragoman {
namespace {

// With fewer rows per block, a layer is cut into many short pieces; with more, the last block is
// wasted.
constexpr int kFewestRows = 8;

// The number of rows that a row's name has bits for.
constexpr int kMostRows = 256;

int DivideUp(int n, int by) { return (n + by - 1) / by; }

}  // namespace

absl::StatusOr<KvLayout> KvLayout::Create(int layers, const KeyValueFormat& format) {
  KvLayout layout;
  layout.format = format;
  layout.row_bytes = format.row_bytes();
  if (layout.row_bytes > KvPool::kBlockBytes) {
    return UnimplementedError("the keys and values of a token take ", layout.row_bytes,
                              " bytes in a layer, want at most ", KvPool::kBlockBytes);
  }
  const int rows = static_cast<int>(KvPool::kBlockBytes / layout.row_bytes);  // of one layer
  layout.parts = DivideUp(layers, std::clamp(rows / kFewestRows, 1, layers));
  layout.block_layers = DivideUp(layers, layout.parts);
  layout.block_rows = std::min(rows / layout.block_layers, kMostRows);
  return layout;
}

KeyValues::KeyValues(const KvLayout& layout, int max_rows, KvPool* pool)
    : layout_(layout), pool_(pool), max_rows_(max_rows) {
  blocks_.reserve(layout_.Blocks(max_rows));
}

KeyValues::~KeyValues() {
  for (const KvBlock& block : blocks_) pool_->Give(block);
}

int32_t KeyValues::AddRow() {
  DRAGOMAN_CHECK(rows_ < max_rows_);
  const int row = rows_++;
  if (row % layout_.block_rows == 0) {
    for (int part = 0; part < layout_.parts; ++part) blocks_.push_back(pool_->Take());
  }
  return NameOf(row);
}

void KeyValues::Set(int layer, int32_t row, absl::Span<const float> keys_values) {
  PackKeyValues(layout_.format, keys_values, Place(layer, row));
}

void KeyValues::Find(int layer, absl::Span<const int32_t> rows,
                     std::vector<const std::byte*>* found) const {
  found->resize(rows.size());
  for (size_t i = 0; i < rows.size(); ++i) (*found)[i] = Place(layer, rows[i]);
}

void KeyValues::FindAll(int layer, std::vector<const std::byte*>* found) const {
  found->resize(rows_);
  for (int first = 0; first < rows_; first += layout_.block_rows) {
    const std::byte* row = Place(layer, NameOf(first));
    const int end = std::min(first + layout_.block_rows, rows_);
    for (int i = first; i < end; ++i, row += layout_.row_bytes) (*found)[i] = row;
  }
}

SourceMemory::SourceMemory(const KvLayout& layout, int source_tokens, KvPool* pool)
    : source_tokens_(source_tokens), keys_values_(layout, source_tokens, pool) {
  for (int i = 0; i < source_tokens; ++i) keys_values_.AddRow();
}

void SourceMemory::Set(int layer, MatrixView<const float> keys_values) {
  for (int i = 0; i < keys_values.rows(); ++i) {
    keys_values_.Set(layer, keys_values_.NameOf(i), keys_values.Row(i));
  }
}

}  // namespace dragoman
