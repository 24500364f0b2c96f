#include "engine/model/decoder.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "engine/math/attend.h"
#include "engine/model/head_reading.h"

namespace dragoman {
namespace {

// Subtracts their mean from the keys of a source, which are the left half of `keys_values`. That
// lowers the score of every position by the same number, which does not change the softmax; and it
// makes int8, whose errors are proportional to the largest key of a head, more accurate.
void CenterKeys(MatrixView<float> keys_values) {
  const int width = keys_values.cols() / 2;
  std::vector<float> mean(width);
  for (int i = 0; i < keys_values.rows(); ++i) {
    for (int e = 0; e < width; ++e) mean[e] += keys_values.Row(i)[e];
  }
  for (float& m : mean) m /= static_cast<float>(keys_values.rows());
  for (int i = 0; i < keys_values.rows(); ++i) {
    for (int e = 0; e < width; ++e) keys_values.Row(i)[e] -= mean[e];
  }
}

}  // namespace

int Decoder::LayerOf(const AlignmentHeads& alignment, int layers) {
  const int layer = alignment.layer < 0 ? layers + alignment.layer : alignment.layer;
  return std::clamp(layer, 0, layers - 1);
}

std::vector<float> Decoder::WeightsOf(const AlignmentHeads& alignment, int heads) {
  if (alignment.heads.empty()) return std::vector<float>(heads, 1.0f / static_cast<float>(heads));
  std::vector<float> weights(heads, 0.0f);
  for (const int head : alignment.heads) {
    weights[head] += 1.0f / static_cast<float>(alignment.heads.size());
  }
  return weights;
}

absl::StatusOr<Decoder::Layer> Decoder::CreateLayer(const Checkpoint& checkpoint,
                                                    const std::string& name, const ModelSpec& spec,
                                                    Arithmetic arithmetic) {
  const HeadShape heads = {spec.decoder_heads, spec.decoder_head_width()};
  const std::string cross = name + ".encoder_attn";
  ASSIGN_OR_RETURN(std::vector<Weight> parts, ReadAttentionWeights(checkpoint, cross, heads, spec));
  ASSIGN_OR_RETURN(Linear cross_q, Linear::Create(parts[0], Activation::kNone, arithmetic));
  parts.erase(parts.begin());  // those of the source stay
  ASSIGN_OR_RETURN(Linear cross_kv, Linear::Create(Fuse(parts), Activation::kNone, arithmetic));
  ASSIGN_OR_RETURN(Linear cross_out, ReadOutProjection(checkpoint, cross, heads, spec, arithmetic));
  ASSIGN_OR_RETURN(Residual cross_residual, Residual::Create(checkpoint, cross, spec, arithmetic));
  ASSIGN_OR_RETURN(
      FeedForward feed_forward,
      FeedForward::Create(checkpoint, name, {spec.decoder_ffn, spec.decoder_ffn_layers}, spec,
                          arithmetic));
  return Layer{std::move(cross_q), std::move(cross_kv), std::move(cross_out),
               std::move(cross_residual), std::move(feed_forward)};
}

absl::StatusOr<std::unique_ptr<const Decoder>> Decoder::Create(
    const Checkpoint& checkpoint, const ModelSpec& spec,
    std::shared_ptr<const EmbeddingTable> embeddings,
    std::shared_ptr<const OutputProjection> output, const NetworkOptions& options) {
  const std::string prefix = "model.decoder";
  ASSIGN_OR_RETURN(Embedding embedding,
                   Embedding::Create(checkpoint, prefix, std::move(embeddings), spec));
  std::unique_ptr<Decoder> decoder(new Decoder(spec, std::move(embedding), std::move(output)));
  ASSIGN_OR_RETURN(decoder->history_, CreateHistory(checkpoint, spec, options));
  for (int l = 0; l < spec.decoder_layers; ++l) {
    ASSIGN_OR_RETURN(Layer layer, CreateLayer(checkpoint, absl::StrCat(prefix, ".layers.", l), spec,
                                              options.arithmetic));
    decoder->layers_.push_back(std::move(layer));
  }
  if (spec.final_norm) {
    ASSIGN_OR_RETURN(decoder->norm_,
                     Normalization::Create(checkpoint, prefix + ".layer_norm", spec));
  }
  return decoder;
}

void Decoder::Remember(MatrixView<const float> encoded, SourceMemory* source, Workspace* ws) const {
  for (size_t l = 0; l < layers_.size(); ++l) {
    layers_[l].cross_kv.Apply(encoded, &ws->keys_values, &ws->gemm);
    if (source->keys_values().format().precision == Precision::kInt8) {
      CenterKeys(ws->keys_values.view());
    }
    source->Set(static_cast<int>(l), ws->keys_values.view());
  }
}

void Decoder::Step(absl::Span<const DecodeRow> rows, LogitsSink sink, Workspace* ws) const {
  ws->x.Resize(static_cast<int>(rows.size()), d_model_);
  MatrixView<float> x = ws->x.view();
  for (int i = 0; i < x.rows(); ++i) {
    const int position = rows[i].position;
    if (position == 0 && zero_start_) {
      embedding_.EmbedPosition(position, x.Row(i));
    } else {
      embedding_.Embed(rows[i].token, position, x.Row(i));
    }
  }
  embedding_.Finish(x, ws);
  for (size_t l = 0; l < layers_.size(); ++l) {
    history_->Apply(static_cast<int>(l), rows, x, ws);
    if (l + 1 == layers_.size()) DropUnread(&rows, &x, ws);
    if (rows.empty()) return;
    CrossAttention(static_cast<int>(l), rows, x, ws);
    layers_[l].feed_forward.Apply(x, ws);
  }
  if (norm_.has_value()) norm_->Apply(x, x, ws);
  output_->RunScored<DecodeRow>(x, rows, sink, ws);
}

// Once the last history has taken in its rows, nothing reads those that are neither scored nor
// asked for their attention: most of a prefix.
void Decoder::DropUnread(absl::Span<const DecodeRow>* rows, MatrixView<float>* x,
                         Workspace* ws) const {
  const auto is_read = [](const DecodeRow& row) {
    return row.scored || row.attention != nullptr || row.cross_heads.to != nullptr;
  };
  if (std::all_of(rows->begin(), rows->end(), is_read)) return;
  ws->read_rows.clear();
  for (size_t i = 0; i < rows->size(); ++i) {
    if (!is_read((*rows)[i])) continue;
    const int to = static_cast<int>(ws->read_rows.size());
    if (to < static_cast<int>(i)) {
      std::copy_n(x->Row(static_cast<int>(i)).data(), d_model_, x->Row(to).data());
    }
    ws->read_rows.push_back((*rows)[i]);
  }
  *rows = ws->read_rows;
  *x = x->Rows(0, static_cast<int>(ws->read_rows.size()));
}

// The attention of some rows of a sentence, whose source is in `memory`.
void Decoder::ReportHeads(int l, absl::Span<const DecodeRow> rows, MatrixView<const float> q,
                          Workspace::AttendMemory* memory) const {
  for (size_t r = 0; r < rows.size(); ++r) {
    ReadHeads({.format = rows[r].source->keys_values().format(),
               .q = q.Rows(static_cast<int>(r), 1),
               .rows = memory->rows,
               .scratch = absl::MakeSpan(memory->scratch)},
              l, rows[r].cross_heads);
  }
}

// The hypotheses of a sentence are adjacent and share one reading of its keys and values.
void Decoder::CrossAttention(int l, absl::Span<const DecodeRow> rows, MatrixView<float> x,
                             Workspace* ws) const {
  const Layer& layer = layers_[l];
  layer.cross_q.Apply(layer.cross_residual.Enter(x, ws), &ws->projected, &ws->gemm);
  ws->context.Resize(x.rows(), heads_.width());
  int longest = 0;
  for (const DecodeRow& row : rows) longest = std::max(longest, row.source->source_tokens());
  ws->ReserveAttend(heads_.heads, longest, x.rows());
  const auto attend = [&](int member, int first, int end) {
    Workspace::AttendMemory& memory = ws->attend[member];
    const auto find = [&](int i) { rows[i].source->keys_values().FindAll(l, &memory.next); };
    find(first);
    for (int i = first, next; i < end; i = next) {
      const SourceMemory& source = *rows[i].source;
      next = i + 1;
      while (next < end && rows[next].source == &source) ++next;
      memory.rows.swap(memory.next);
      memory.next.clear();
      if (next < end) find(next);
      memory.attention.clear();
      if (l == alignment_layer_ && rows[i].attention != nullptr) {
        for (int r = i; r < next; ++r) memory.attention.push_back(rows[r].attention);
      }
      Attend(
          source.keys_values().format(), ws->projected.view().Rows(i, next - i), memory.rows,
          absl::MakeSpan(memory.scratch), ws->context.view().Rows(i, next - i),
          {.attention = memory.attention, .head_weights = alignment_weights_, .next = memory.next});
      if (rows[i].cross_heads.to != nullptr) {
        ReportHeads(l, rows.subspan(i, next - i), ws->projected.view().Rows(i, next - i), &memory);
      }
    }
  };
  ws->team().Split(x.rows(), Workspace::kLeastQueries, attend);
  layer.cross_out.Apply(ws->context.view(), &ws->sublayer, &ws->gemm);
  layer.cross_residual.Leave(ws->sublayer.view(), x, ws);
}

}  // namespace dragoman
