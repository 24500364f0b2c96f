// The Transformer as a network: an encoder, a decoder, and for each sentence the keys and values of
// its source and of its hypotheses.

#include <memory>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/model/attention_paths.h"
#include "engine/model/attention_tree.h"
#include "engine/model/decoder.h"
#include "engine/model/encoder.h"
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

class Transformer final : public Network {
 public:
  // Reads and packs the weights.  NOT_FOUND or INVALID_ARGUMENT name a tensor.
  static absl::StatusOr<std::unique_ptr<const Network>> Create(const Checkpoint& checkpoint,
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

  void Encode(const TokenBatch& batch, Matrix<float>* encoded, Workspace* ws) const override {
    encoder_->Run(batch, encoded, ws);
  }

  int EncodeStages(int tokens) const override { return encoder_->Stages(tokens); }

  void EncodeStage(PartialEncoding* encoding, Workspace* ws) const override {
    encoder_->RunStage(encoding, ws);
  }

  std::unique_ptr<SentenceState> NewState(const SentenceShape& shape, KvPool* pool) const override {
    return std::make_unique<TransformerState>(layout_, decoder_->history(), shape, pool);
  }

  size_t StateBytes(const SentenceShape& shape) const override {
    return layout_.Bytes(shape.source_tokens) + decoder_->history().StateBytes(shape) +
           AttentionPaths::Bytes(shape);
  }

  void Remember(MatrixView<const float> encoded, SentenceState* state,
                Workspace* ws) const override {
    decoder_->Remember(encoded, &static_cast<TransformerState*>(state)->source, ws);
  }

  bool attends() const override { return true; }
  HeadCounts HeadsOf(AttentionKind kind) const override {
    if (kind == AttentionKind::kEncoder) return encoder_->heads();
    return kind == AttentionKind::kCross ? decoder_->heads() : decoder_->history().heads();
  }
  bool takes_several_tokens() const override { return decoder_->history().takes_several_tokens(); }

  void Step(absl::Span<const StepRow> rows, LogitsSink sink, Workspace* ws) const override {
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

 private:
  Transformer(const KvLayout& layout, std::unique_ptr<const Encoder> encoder,
              std::unique_ptr<const Decoder> decoder)
      : layout_(layout), encoder_(std::move(encoder)), decoder_(std::move(decoder)) {}

  const KvLayout layout_;
  const std::unique_ptr<const Encoder> encoder_;
  const std::unique_ptr<const Decoder> decoder_;
};

}  // namespace

extern const NetworkKind transformer_network;
const NetworkKind transformer_network = {"transformer", Transformer::Create};

}  // namespace dragoman
