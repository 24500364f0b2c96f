// The attention of a sentence's target tokens to its source tokens: for each node of the tree of
// hypotheses (kv_cache.h), a row and the node's parent.
//
//   the ── cat          rows of [source tokens] numbers, numbered 0, 1, 2, ...
//     └─── dog ── .     the path of 3 is 0, 2, 3
//
// Kept only for sentences that ask for it, in blocks of the worker's pool, which are reserved when
// a sentence is admitted.

#ifndef DRAGOMAN_ENGINE_MODEL_ATTENTION_TREE_H_
#define DRAGOMAN_ENGINE_MODEL_ATTENTION_TREE_H_

#include <cstddef>
#include <vector>

#include "absl/types/span.h"
#include "engine/base/not_copyable.h"
#include "engine/model/kv_pool.h"

namespace dragoman {

// Belongs to one thread at a time.
class AttentionTree : private NotCopyable {
 public:
  // The row of a longer source does not fit into a block.
  static constexpr int kMaxSourceTokens = KvPool::kBlockBytes / sizeof(float);

  // The pool memory that this many nodes take.
  static size_t Bytes(int source_tokens, int nodes);

  // Room for `max_nodes` nodes.  The pool outlives it.
  // REQUIRES: 1 <= source_tokens <= kMaxSourceTokens.
  AttentionTree(int source_tokens, int max_nodes, KvPool* pool);
  ~AttentionTree();

  // Adds a node and returns its row [source_tokens], which the caller writes.  `parent` is -1 for a
  // root.  REQUIRES: there are fewer than max_nodes; the parent exists.
  float* Add(int parent);

  absl::Span<const float> At(int node) const {
    return {Row(node), static_cast<size_t>(source_tokens_)};
  }
  // Appends the rows from the root to `node`: [nodes on the path, source_tokens].
  void AppendPath(int node, std::vector<float>* rows) const;

 private:
  float* Row(int node) const {
    return reinterpret_cast<float*>(blocks_[node / block_rows_].data) +
           static_cast<size_t>(node % block_rows_) * source_tokens_;
  }

  const int source_tokens_;
  const int block_rows_;  // of a block
  const size_t max_nodes_;
  KvPool* const pool_;
  std::vector<KvBlock> blocks_;
  std::vector<int> parents_;  // of each node
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_MODEL_ATTENTION_TREE_H_
