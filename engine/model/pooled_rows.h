// Rows of numbers in blocks of a worker's pool, all taken at once.

#ifndef DRAGOMAN_ENGINE_MODEL_POOLED_ROWS_H_
#define DRAGOMAN_ENGINE_MODEL_POOLED_ROWS_H_

#include <cstddef>
#include <vector>

#include "engine/base/not_copyable.h"
#include "engine/model/kv_pool.h"

namespace dragoman {

class PooledRows : private NotCopyable {
 public:
  // The longest row that fits into a block.
  static constexpr int kMaxLength = KvPool::kBlockBytes / sizeof(float);

  // The pool memory that this many rows take.
  static size_t Bytes(int length, int rows);

  // The content is unspecified.  The pool must outlive it.  REQUIRES: 1 <= length <= kMaxLength.
  PooledRows(int length, int rows, KvPool* pool);
  ~PooledRows();

  int length() const { return length_; }
  float* Row(int i) const {
    return reinterpret_cast<float*>(blocks_[i / per_block_].data) +
           static_cast<size_t>(i % per_block_) * length_;
  }

 private:
  const int length_;
  const int per_block_;
  KvPool* const pool_;
  std::vector<KvBlock> blocks_;
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_MODEL_POOLED_ROWS_H_
