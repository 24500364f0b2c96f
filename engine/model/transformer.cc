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
        std::make_shared<OutputProjection>(vocabulary, spec.d_model, options.arithmetic,
                                           options.selective_output),
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
    return projection->Append(embeddings,
                              absl::MakeConstSpan(bias).subspan(first, embeddings.rows()));
  }

  std::shared_ptr<OutputProjection> projection;
  std::vector<float> bias;
  float scale = 1.0f;
};

// What has a row or a column for each token.
struct Tables {
  std::shared_ptr<const EmbeddingTable> source, target;
  std::shared_ptr<const OutputProjection> output;
};

// The embeddings in that table of the checkpoint.
absl::StatusOr<std::shared_ptr<const EmbeddingTable>> ReadEmbeddings(
    const Checkpoint& checkpoint, const std::string& name, int vocabulary, int d_model,
    const NetworkOptions& options) {
  RETURN_IF_ERROR(checkpoint.CheckMatrix(name, vocabulary, d_model));
  auto table = std::make_shared<EmbeddingTable>(vocabulary, d_model,
                                                TablePrecision(vocabulary, d_model, options));
  RETURN_IF_ERROR(ReadTable(
      checkpoint, name, vocabulary, d_model,
      [&](int first, MatrixView<float> embeddings) { return table->Set(first, embeddings); }));
  return table;
}

absl::StatusOr<Tables> ReadTables(const Checkpoint& checkpoint, const ModelSpec& spec,
                                  const NetworkOptions& options) {
  const int vocabulary = spec.target_vocabulary, d_model = spec.d_model;
  std::vector<std::string> names = {kTarget};
  if (spec.share_embeddings) names = {kShared, kSource, kTarget};
  if (spec.tied_output) names.push_back(kOutput);
  const std::string table = FirstOf(names, checkpoint);
  const std::string output_table = spec.tied_output ? table : kOutput;
  RETURN_IF_ERROR(checkpoint.CheckMatrix(table, vocabulary, d_model));
  RETURN_IF_ERROR(checkpoint.CheckMatrix(output_table, vocabulary, d_model));
  ASSIGN_OR_RETURN(OutputTable output, OutputTable::Create(checkpoint, spec, options));
  std::shared_ptr<EmbeddingTable> copy;  // of a tied table
  if (spec.tied_output && !IsLargeTable(vocabulary, d_model, options)) {
    copy = std::make_shared<EmbeddingTable>(vocabulary, d_model,
                                            TablePrecision(vocabulary, d_model, options));
  }
  const absl::Status read = ReadTable(checkpoint, output_table, vocabulary, d_model,
                                      [&](int first, MatrixView<float> embeddings) {
                                        if (copy != nullptr) {
                                          RETURN_IF_ERROR(copy->Set(first, embeddings));
                                        }
                                        return output.Append(first, embeddings);
                                      });
  RETURN_IF_ERROR(read);
  Tables tables = {.target = std::move(copy), .output = output.projection};
  if (tables.target == nullptr && spec.tied_output && tables.output->readable()) {
    tables.target = std::make_shared<EmbeddingTable>(tables.output, 1.0f / spec.logit_scale);
  } else if (tables.target == nullptr) {
    ASSIGN_OR_RETURN(tables.target,
                     ReadEmbeddings(checkpoint, table, vocabulary, d_model, options));
  }
  tables.source = tables.target;
  if (!spec.share_embeddings) {
    ASSIGN_OR_RETURN(tables.source,
                     ReadEmbeddings(checkpoint, kSource, spec.source_vocabulary, d_model, options));
  }
  return tables;
}

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
  ASSIGN_OR_RETURN(const Tables tables, ReadTables(checkpoint, spec, options));
  ASSIGN_OR_RETURN(auto encoder,
                   Encoder::Create(checkpoint, spec, tables.source, options.arithmetic));
  ASSIGN_OR_RETURN(auto decoder, Decoder::Create(checkpoint, spec, tables.target, tables.output,
                                                 options.arithmetic));
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
