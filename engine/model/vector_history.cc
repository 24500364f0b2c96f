#include "engine/model/vector_history.h"

#include "engine/base/status.h"

namespace dragoman {
namespace {

class VectorHistoryState final : public HistoryState {
 public:
  VectorHistoryState(int length, const SentenceShape& shape, KvPool* pool)
      : vectors_(length, shape.max_hypotheses, pool) {}

  void Fork(absl::Span<const int> parents) override { vectors_.Fork(parents); }

  void Extend(int hypothesis, DecodeRow* row) override {
    const VectorStates::Step step = vectors_.Extend(hypothesis);
    row->last = step.last;
    row->next = step.next;
    row->position = step.position;
  }

 private:
  VectorStates vectors_;
};

}  // namespace

absl::Status VectorHistory::CheckLength(const ModelSpec& spec) {
  const int64_t length = int64_t{spec.decoder_layers} * spec.d_model;
  if (length <= VectorStates::kMaxLength) return absl::OkStatus();
  return UnimplementedError("the decoder keeps ", length, " numbers of a hypothesis, the most is ",
                            VectorStates::kMaxLength);
}

std::unique_ptr<HistoryState> VectorHistory::NewState(const SentenceShape& shape,
                                                      KvPool* pool) const {
  return std::make_unique<VectorHistoryState>(layers_ * width_, shape, pool);
}

}  // namespace dragoman
