#include "engine/model/pooled_rows.h"

#include "engine/base/status.h"

namespace dragoman {
namespace {

int BlocksFor(int length, int rows) {
  const int per_block = PooledRows::kMaxLength / length;
  return (rows + per_block - 1) / per_block;
}

}  // namespace

size_t PooledRows::Bytes(int length, int rows) {
  return static_cast<size_t>(BlocksFor(length, rows)) * KvPool::kBlockBytes;
}

PooledRows::PooledRows(int length, int rows, KvPool* pool)
    : length_(length), per_block_(kMaxLength / length), pool_(pool) {
  DRAGOMAN_CHECK(1 <= length && length <= kMaxLength);
  const int blocks = BlocksFor(length, rows);
  blocks_.reserve(blocks);
  for (int i = 0; i < blocks; ++i) blocks_.push_back(pool->Take());
}

PooledRows::~PooledRows() {
  for (const KvBlock& block : blocks_) pool_->Give(block);
}

}  // namespace dragoman
