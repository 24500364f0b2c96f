#include "engine/model/transformer.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "engine/model/attention_tree.h"

namespace dragoman {
namespace {

// The first of `names` that the checkpoint has, or the first of all.  Tied tables stand once, under
// any of them.
std::string FirstOf(const std::vector<std::string>& names, const Checkpoint& checkpoint) {
  for (const std::string& name : names) {
    if (checkpoint.Has(name)) return name;
  }
  return names.front();
}

// Calls take(first token, embeddings) for a table [vocabulary, d_model], some tiles of the output
// projection at a time: a whole one in float32 is most of what loading would need.
absl::Status ReadTable(const Checkpoint& checkpoint, const std::string& name, int vocabulary,
                       int d_model, absl::FunctionRef<absl::Status(int, MatrixView<float>)> take) {
  constexpr int kTokens = 8 * OutputProjection::kTile;
  for (int first = 0; first < vocabulary; first += kTokens) {
    const int end = std::min(first + kTokens, vocabulary);
    ASSIGN_OR_RETURN(Matrix<float> embeddings,
                     checkpoint.ReadRows(name, vocabulary, d_model, first, end));
    RETURN_IF_ERROR(take(first, embeddings.view()));
  }
  return absl::OkStatus();
}

constexpr char kShared[] = "model.shared.weight";
constexpr char kSource[] = "model.encoder.embed_tokens.weight";
constexpr char kTarget[] = "model.decoder.embed_tokens.weight";
constexpr char kOutput[] = "lm_head.weight";

// The output projection while its table is read: logits = scale x E^T + bias, with the scale put
// into E.
struct OutputTable {
  static absl::StatusOr<OutputTable> Create(const Checkpoint& checkpoint, const ModelSpec& spec,
                                            const NetworkOptions& options) {
    const int vocabulary = spec.target_vocabulary;
    OutputTable table = {
        OutputProjection(vocabulary, spec.d_model, options.arithmetic, options.selective_output),
        std::vector<float>(vocabulary, 0.0f), spec.logit_scale};
    if (checkpoint.Has("final_logits_bias")) {
      ASSIGN_OR_RETURN(table.bias, checkpoint.ReadVector("final_logits_bias", vocabulary));
    }
    return table;
  }

  // The rows of the tokens first, first + 1, ...; overwrites them.
  absl::Status Append(int first, MatrixView<float> embeddings) {
    if (scale != 1.0f) {
      for (int r = 0; r < embeddings.rows(); ++r) {
        for (float& value : embeddings.Row(r)) value *= scale;
      }
    }
    return projection.Append(embeddings,
                             absl::MakeConstSpan(bias).subspan(first, embeddings.rows()));
  }

  OutputProjection projection;
  std::vector<float> bias;
  float scale = 1.0f;
};

class TransformerState final : public SentenceState {
 public:
  TransformerState(const KvLayout& layout, const SentenceShape& shape, KvPool* pool)
      : source(layout, shape.source_tokens, pool),
        cache(layout, shape.max_steps, shape.max_hypotheses, pool),
        paths(shape.max_hypotheses),
        next_paths(shape.max_hypotheses) {
    for (auto* several : {&paths, &next_paths}) {
      for (std::vector<int32_t>& path : *several) path.reserve(shape.max_steps);
    }
    if (shape.attention) {
      attention.emplace(shape.source_tokens, shape.max_steps * shape.max_hypotheses, pool);
    }
  }

  void Fork(absl::Span<const int> parents) override {
    for (size_t i = 0; i < parents.size(); ++i) next_paths[i] = paths[parents[i]];
    std::swap(paths, next_paths);
  }

  void AppendAttention(int row, std::vector<float>* rows) const override {
    attention->AppendPath(row, rows);
  }

  SourceMemory source;
  KvCache cache;
  std::optional<AttentionTree> attention;  // of every node of the cache
  // The nodes of each hypothesis, and room for those of the next step.
  std::vector<std::vector<int32_t>> paths, next_paths;
};

}  // namespace

absl::StatusOr<std::unique_ptr<const Network>> Transformer::Create(const Checkpoint& checkpoint,
                                                                   const ModelSpec& spec,
                                                                   const NetworkOptions& options) {
  const bool bfloat16 = options.arithmetic.precision != Precision::kFloat32;
  const int d_model = spec.d_model;
  const int vocabulary = spec.target_vocabulary;
  std::vector<std::string> names = {kTarget};
  if (spec.share_embeddings) names = {kShared, kSource, kTarget};
  if (spec.tied_output) names.push_back(kOutput);
  const std::string table = FirstOf(names, checkpoint);
  RETURN_IF_ERROR(checkpoint.CheckMatrix(table, vocabulary, d_model));
  ASSIGN_OR_RETURN(OutputTable output, OutputTable::Create(checkpoint, spec, options));
  const auto target = std::make_shared<EmbeddingTable>(vocabulary, d_model, bfloat16);
  RETURN_IF_ERROR(ReadTable(checkpoint, table, vocabulary, d_model,
                            [&](int first, MatrixView<float> embeddings) {
                              target->Set(first, embeddings);
                              if (!spec.tied_output) return absl::OkStatus();
                              return output.Append(first, embeddings);
                            }));
  if (!spec.tied_output) {
    RETURN_IF_ERROR(checkpoint.CheckMatrix(kOutput, vocabulary, d_model));
    RETURN_IF_ERROR(ReadTable(
        checkpoint, kOutput, vocabulary, d_model,
        [&](int first, MatrixView<float> embeddings) { return output.Append(first, embeddings); }));
  }
  std::shared_ptr<EmbeddingTable> source = target;
  if (!spec.share_embeddings) {
    RETURN_IF_ERROR(checkpoint.CheckMatrix(kSource, spec.source_vocabulary, d_model));
    source = std::make_shared<EmbeddingTable>(spec.source_vocabulary, d_model, bfloat16);
    RETURN_IF_ERROR(ReadTable(checkpoint, kSource, spec.source_vocabulary, d_model,
                              [&](int first, MatrixView<float> embeddings) {
                                source->Set(first, embeddings);
                                return absl::OkStatus();
                              }));
  }
  ASSIGN_OR_RETURN(auto encoder, Encoder::Create(checkpoint, spec, source, options.arithmetic));
  ASSIGN_OR_RETURN(auto decoder, Decoder::Create(checkpoint, spec, target,
                                                 std::move(output.projection), options.arithmetic));
  ASSIGN_OR_RETURN(const KvLayout layout,
                   KvLayout::Create(spec.decoder_layers,
                                    {.precision = options.keys_values,
                                     .heads = spec.decoder_heads,
                                     .width = spec.decoder_heads * spec.decoder_head_width()}));
  return std::unique_ptr<const Network>(
      new Transformer(layout, std::move(encoder), std::move(decoder)));
}

Transformer::Transformer(const KvLayout& layout, std::unique_ptr<const Encoder> encoder,
                         std::unique_ptr<const Decoder> decoder)
    : layout_(layout), encoder_(std::move(encoder)), decoder_(std::move(decoder)) {}

void Transformer::Encode(const TokenBatch& batch, Matrix<float>* encoded, Workspace* ws) const {
  encoder_->Run(batch, encoded, ws);
}

void Transformer::EncodeStage(PartialEncoding* encoding, Workspace* ws) const {
  encoder_->RunStage(encoding, ws);
}

std::unique_ptr<SentenceState> Transformer::NewState(const SentenceShape& shape,
                                                     KvPool* pool) const {
  return std::make_unique<TransformerState>(layout_, shape, pool);
}

size_t Transformer::StateBytes(const SentenceShape& shape) const {
  const int nodes = shape.max_steps * shape.max_hypotheses;
  const size_t attention =
      shape.attention ? AttentionTree::Bytes(shape.source_tokens, nodes) : size_t{0};
  return layout_.Bytes(shape.source_tokens) + layout_.Bytes(nodes) + attention;
}

void Transformer::Remember(MatrixView<const float> encoded, SentenceState* state,
                           Workspace* ws) const {
  decoder_->Remember(encoded, &static_cast<TransformerState*>(state)->source, ws);
}

void Transformer::Step(absl::Span<const StepRow> rows, LogitsSink sink, Workspace* ws) const {
  std::vector<DecodeRow>& decode_rows = ws->rows;
  decode_rows.clear();
  for (const StepRow& row : rows) {
    TransformerState& state = *static_cast<TransformerState*>(row.state);
    std::vector<int32_t>& path = state.paths[row.hypothesis];
    const int32_t before = path.empty() ? -1 : path.back();
    path.push_back(state.cache.AddNode());
    decode_rows.push_back(
        {row.token, &state.source, &state.cache, path, row.candidates, row.scored});
    if (state.attention.has_value()) {
      const KeyValues& nodes = state.cache.keys_values();
      decode_rows.back().attention =
          state.attention->Add(before < 0 ? before : nodes.NumberOf(before));
    }
  }
  decoder_->Step(decode_rows, sink, ws);
}

}  // namespace dragoman
