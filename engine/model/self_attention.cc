// Masked self-attention ("Attention Is All You Need", section 3.2.3).  There is no actual mask: a
// row attends to the nodes of its own path, which are the tokens before it and itself, and nothing
// else is visible.

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "engine/base/status.h"
#include "engine/math/attend.h"
#include "engine/model/head_reading.h"
#include "engine/model/history.h"
#include "engine/model/kv_cache.h"
#include "engine/model/layers.h"
#include "engine/model/relative_bias.h"

namespace dragoman {
namespace {

// Whether a row's path contains the last node of the row before it.
bool HasChains(absl::Span<const DecodeRow> rows) {
  for (size_t i = 1; i < rows.size(); ++i) {
    const absl::Span<const int32_t> path = rows[i].path;
    if (rows[i].cache == rows[i - 1].cache && path.size() > 1 &&
        path[path.size() - 2] == rows[i - 1].path.back()) {
      return true;
    }
  }
  return false;
}

// The tree of keys and values, and the path of each hypothesis.
class TreeState final : public HistoryState {
 public:
  TreeState(const KvLayout& layout, const SentenceShape& shape, KvPool* pool)
      : cache_(layout, shape.max_steps * shape.max_hypotheses, pool),
        paths_(shape.max_hypotheses),
        next_paths_(shape.max_hypotheses) {
    for (auto* several : {&paths_, &next_paths_}) {
      for (std::vector<int32_t>& path : *several) path.reserve(shape.max_steps);
    }
  }

  void Fork(absl::Span<const int> parents) override {
    for (size_t i = 0; i < parents.size(); ++i) next_paths_[i] = paths_[parents[i]];
    std::swap(paths_, next_paths_);
  }

  void Rewind(int rows) override { paths_[0].resize(rows); }

  void Extend(int hypothesis, DecodeRow* row) override {
    std::vector<int32_t>& path = paths_[hypothesis];
    path.push_back(cache_.AddRow());
    row->cache = &cache_;
    row->path = path;
    row->position = static_cast<int>(path.size()) - 1;
  }

 private:
  KeyValues cache_;
  // The nodes of each hypothesis, with room for those of the next step.
  std::vector<std::vector<int32_t>> paths_, next_paths_;
};

class SelfAttention final : public History {
 public:
  static absl::StatusOr<std::unique_ptr<const History>> Create(const Checkpoint& checkpoint,
                                                               const ModelSpec& spec,
                                                               const NetworkOptions& options) {
    const std::string prefix = "model.decoder";
    const HeadShape heads = {spec.decoder_heads, spec.decoder_head_width()};
    ASSIGN_OR_RETURN(const KvLayout layout,
                     KvLayout::Create(spec.decoder_layers, {.precision = options.keys_values,
                                                            .heads = heads.heads,
                                                            .width = heads.width()}));
    std::unique_ptr<SelfAttention> attention(new SelfAttention(heads, layout));
    for (int l = 0; l < spec.decoder_layers; ++l) {
      ASSIGN_OR_RETURN(
          SelfAttentionLayer layer,
          SelfAttentionLayer::Create(checkpoint, absl::StrCat(prefix, ".layers.", l, ".self_attn"),
                                     heads, spec, options.arithmetic));
      attention->layers_.push_back(std::move(layer));
    }
    ASSIGN_OR_RETURN(attention->bias_, RelativeBias::Create(checkpoint, prefix, spec.decoder_layers,
                                                            spec.decoder_heads,
                                                            /*both_ways=*/false, spec));
    return attention;
  }

  std::unique_ptr<HistoryState> NewState(const SentenceShape& shape, KvPool* pool) const override {
    return std::make_unique<TreeState>(layout_, shape, pool);
  }
  size_t StateBytes(const SentenceShape& shape) const override {
    return layout_.Bytes(shape.max_steps * shape.max_hypotheses);
  }
  HeadCounts heads() const override { return {static_cast<int>(layers_.size()), heads_.heads}; }
  bool takes_several_tokens() const override { return true; }

  void Apply(int l, absl::Span<const DecodeRow> rows, MatrixView<float> x,
             Workspace* ws) const override {
    const SelfAttentionLayer& layer = layers_[l];
    const int width = heads_.width();
    layer.qkv.Apply(layer.residual.Enter(x, ws), &ws->projected, &ws->gemm);
    ws->context.Resize(x.rows(), heads_.width());
    size_t longest = 0;
    for (const DecodeRow& row : rows) longest = std::max(longest, row.path.size());
    ws->ReserveAttend(heads_.heads, longest, 1);
    const auto remember = [&](int i) {
      rows[i].cache->Set(l, rows[i].path.back(), ws->projected.view().Row(i).subspan(width));
    };
    // Rows whose paths contain each other's nodes must not wait for another thread to write them.
    const bool chained = ws->team().size() > 1 && HasChains(rows);
    if (chained) {
      for (int i = 0; i < x.rows(); ++i) remember(i);
    }
    const auto attend = [&](int member, int first, int end) {
      Workspace::AttendMemory& memory = ws->attend[member];
      const auto find = [&](int i) { rows[i].cache->Find(l, rows[i].path, &memory.next); };
      find(first);
      for (int i = first; i < end; ++i) {
        if (!chained) remember(i);
        const MatrixView<const float> qkv = ws->projected.view().Rows(i, 1);
        const KeyValues& keys_values = *rows[i].cache;
        memory.rows.swap(memory.next);
        memory.next.clear();
        if (i + 1 < end) find(i + 1);
        Attend(keys_values.format(), qkv.Cols(0, width), memory.rows,
               absl::MakeSpan(memory.scratch), ws->context.view().Rows(i, 1),
               {.bias = bias_.Of(l, rows[i].position), .next = memory.next});
        if (rows[i].decoder_heads.to == nullptr) continue;
        ReadHeads({.format = keys_values.format(),
                   .q = qkv.Cols(0, width),
                   .rows = memory.rows,
                   .scratch = absl::MakeSpan(memory.scratch),
                   .bias = bias_.Of(l, rows[i].position)},
                  l, rows[i].decoder_heads);
      }
    };
    ws->team().Split(x.rows(), Workspace::kLeastQueries, attend);
    layer.out.Apply(ws->context.view(), &ws->sublayer, &ws->gemm);
    layer.residual.Leave(ws->sublayer.view(), x, ws);
  }

 private:
  SelfAttention(HeadShape heads, const KvLayout& layout) : heads_(heads), layout_(layout) {}

  const HeadShape heads_;
  const KvLayout layout_;
  std::vector<SelfAttentionLayer> layers_;
  RelativeBias bias_;
};

}  // namespace

extern const HistoryKind self_attention_history;
const HistoryKind self_attention_history = {"self_attention", SelfAttention::Create};

}  // namespace dragoman
