// The Transformer as a network: an encoder, a decoder, and for each sentence the keys and values of
// its source and of its hypotheses.

#ifndef DRAGOMAN_ENGINE_MODEL_TRANSFORMER_H_
#define DRAGOMAN_ENGINE_MODEL_TRANSFORMER_H_

#include <memory>

#include "absl/status/statusor.h"
#include "engine/model/decoder.h"
#include "engine/model/encoder.h"
#include "engine/model/network.h"

namespace dragoman {

class Transformer final : public Network {
 public:
  // Reads and packs the weights.  NOT_FOUND or INVALID_ARGUMENT name a tensor.
  static absl::StatusOr<std::unique_ptr<const Network>> Create(const Checkpoint& checkpoint,
                                                               const ModelSpec& spec,
                                                               const NetworkOptions& options);

  void Encode(const TokenBatch& batch, Matrix<float>* encoded, Workspace* ws) const override;
  int EncodeStages(int tokens) const override { return encoder_->Stages(tokens); }
  void EncodeStage(PartialEncoding* encoding, Workspace* ws) const override;
  std::unique_ptr<SentenceState> NewState(const SentenceShape& shape, KvPool* pool) const override;
  size_t StateBytes(const SentenceShape& shape) const override;
  void Remember(MatrixView<const float> encoded, SentenceState* state,
                Workspace* ws) const override;
  bool attends() const override { return true; }
  HeadCounts HeadsOf(AttentionKind kind) const override {
    if (kind == AttentionKind::kEncoder) return encoder_->heads();
    return kind == AttentionKind::kCross ? decoder_->heads() : decoder_->history().heads();
  }
  bool takes_several_tokens() const override { return decoder_->history().takes_several_tokens(); }
  void Step(absl::Span<const StepRow> rows, LogitsSink sink, Workspace* ws) const override;

 private:
  Transformer(const KvLayout& layout, std::unique_ptr<const Encoder> encoder,
              std::unique_ptr<const Decoder> decoder);

  const KvLayout layout_;
  const std::unique_ptr<const Encoder> encoder_;
  const std::unique_ptr<const Decoder> decoder_;
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_MODEL_TRANSFORMER_H_
