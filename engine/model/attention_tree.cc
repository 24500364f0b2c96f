#include "engine/model/attention_tree.h"

#include <algorithm>

#include "engine/base/status.h"

namespace dragoman {
namespace {

int BlockRows(int source_tokens) { return AttentionTree::kMaxSourceTokens / source_tokens; }

size_t Blocks(int source_tokens, int nodes) {
  const int rows = BlockRows(source_tokens);
  return static_cast<size_t>(nodes + rows - 1) / rows;
}

}  // namespace

size_t AttentionTree::Bytes(int source_tokens, int nodes) {
  return Blocks(source_tokens, nodes) * KvPool::kBlockBytes;
}

AttentionTree::AttentionTree(int source_tokens, int max_nodes, KvPool* pool)
    : source_tokens_(source_tokens),
      block_rows_(BlockRows(source_tokens)),
      max_nodes_(max_nodes),
      pool_(pool) {
  DRAGOMAN_CHECK(source_tokens > 0 && source_tokens <= kMaxSourceTokens);
  blocks_.reserve(Blocks(source_tokens, max_nodes));
  parents_.reserve(max_nodes);
}

AttentionTree::~AttentionTree() {
  for (const KvBlock& block : blocks_) pool_->Give(block);
}

float* AttentionTree::Add(int parent) {
  DRAGOMAN_CHECK(parents_.size() < max_nodes_);
  const int node = static_cast<int>(parents_.size());
  if (node % block_rows_ == 0) blocks_.push_back(pool_->Take());
  parents_.push_back(parent);
  return Row(node);
}

void AttentionTree::AppendPath(int node, std::vector<float>* rows) const {
  size_t length = 0;
  for (int n = node; n >= 0; n = parents_[n]) ++length;
  const size_t begin = rows->size();
  rows->resize(begin + length * source_tokens_);
  for (int n = node; n >= 0; n = parents_[n]) {
    --length;
    std::copy_n(Row(n), source_tokens_, rows->begin() + begin + length * source_tokens_);
  }
}

}  // namespace dragoman
