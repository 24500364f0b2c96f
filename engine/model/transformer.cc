#include "engine/model/transformer.h"

#include <utility>
#include <vector>

#include "engine/model/attention_paths.h"
#include "engine/model/attention_tree.h"
#include "engine/model/network_kind.h"
#include "engine/model/token_tables.h"

namespace dragoman {
namespace {

class TransformerState final : public SentenceState {
 public:
  TransformerState(const KvLayout& layout, const History& histories, const SentenceShape& shape,
                   KvPool* pool)
      : source(layout, shape.source_tokens, pool),
        history(histories.NewState(shape, pool)),
        attention(shape, pool) {}

  void Fork(absl::Span<const int> parents) override {
    history->Fork(parents);
    attention.Fork(parents);
  }

  void Rewind(int rows, int row) override {
    history->Rewind(rows);
    attention.Rewind(row);
  }

  void AppendAttention(int row, std::vector<float>* rows) const override {
    attention.Append(row, rows);
  }
  absl::Span<const float> AttentionOf(int row) const override { return attention.At(row); }

  SourceMemory source;
  const std::unique_ptr<HistoryState> history;
  AttentionPaths attention;
};

}  // namespace

absl::StatusOr<std::unique_ptr<const Network>> Transformer::Create(const Checkpoint& checkpoint,
                                                                   const ModelSpec& spec,
                                                                   const NetworkOptions& options) {
  ASSIGN_OR_RETURN(const TokenTables tables, ReadTokenTables(checkpoint, spec, options));
  ASSIGN_OR_RETURN(auto encoder,
                   Encoder::Create(checkpoint, spec, tables.source, options.arithmetic));
  ASSIGN_OR_RETURN(auto decoder,
                   Decoder::Create(checkpoint, spec, tables.target, tables.output, options));
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
  return std::make_unique<TransformerState>(layout_, decoder_->history(), shape, pool);
}

size_t Transformer::StateBytes(const SentenceShape& shape) const {
  return layout_.Bytes(shape.source_tokens) + decoder_->history().StateBytes(shape) +
         AttentionPaths::Bytes(shape);
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
    DecodeRow& decode_row = decode_rows.emplace_back(DecodeRow{row});
    decode_row.source = &state.source;
    state.history->Extend(row.hypothesis, &decode_row);
    decode_row.attention = state.attention.Extend(row.hypothesis);
  }
  decoder_->Step(decode_rows, sink, ws);
}

extern const NetworkKind transformer_network;
const NetworkKind transformer_network = {"transformer", Transformer::Create};

}  // namespace dragoman
