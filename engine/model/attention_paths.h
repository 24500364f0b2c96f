// The attention of a sentence's hypotheses to its source, if it was requested: the tree of
// attention_tree.h, and the node at which each hypothesis is.

#ifndef DRAGOMAN_ENGINE_MODEL_ATTENTION_PATHS_H_
#define DRAGOMAN_ENGINE_MODEL_ATTENTION_PATHS_H_

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "engine/model/attention_tree.h"
#include "engine/model/network.h"

namespace dragoman {

// Belongs to one thread at a time.
class AttentionPaths {
 public:
  static size_t Bytes(const SentenceShape& shape) {
    return shape.attention ? AttentionTree::Bytes(shape.source_tokens, Nodes(shape)) : 0;
  }

  // The pool outlives it.
  AttentionPaths(const SentenceShape& shape, KvPool* pool) {
    if (!shape.attention) return;
    tree_.emplace(shape.source_tokens, Nodes(shape), pool);
    newest_.assign(shape.max_hypotheses, -1);
    next_newest_ = newest_;
  }

  // As SentenceState::Fork.
  void Fork(absl::Span<const int> parents) {
    if (!tree_.has_value()) return;
    for (size_t i = 0; i < parents.size(); ++i) next_newest_[i] = newest_[parents[i]];
    std::swap(newest_, next_newest_);
  }

  // As SentenceState::Rewind.
  void Rewind(int row) {
    if (tree_.has_value()) newest_[0] = row;
  }

  // A hypothesis grows by a row.  Returns where to write its attention, [source tokens], or null if
  // it is not wanted.
  float* Extend(int hypothesis) {
    if (!tree_.has_value()) return nullptr;
    float* const row = tree_->Add(newest_[hypothesis]);
    newest_[hypothesis] = rows_++;
    return row;
  }

  // As SentenceState::AppendAttention and AttentionOf.
  void Append(int row, std::vector<float>* rows) const { tree_->AppendPath(row, rows); }
  absl::Span<const float> At(int row) const { return tree_->At(row); }

 private:
  static int Nodes(const SentenceShape& shape) { return shape.max_steps * shape.max_hypotheses; }

  std::optional<AttentionTree> tree_;
  int rows_ = 0;                           // in the tree
  std::vector<int> newest_, next_newest_;  // the last row of each hypothesis
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_MODEL_ATTENTION_PATHS_H_
