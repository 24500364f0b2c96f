// The common part of all histories that keep vectors: a state with one vector for all layers, of
// which layer l owns `width` elements from l x width on.

#ifndef DRAGOMAN_ENGINE_MODEL_VECTOR_HISTORY_H_
#define DRAGOMAN_ENGINE_MODEL_VECTOR_HISTORY_H_

#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "engine/base/status.h"
#include "engine/model/history.h"
#include "engine/model/vector_states.h"

namespace dragoman {

class VectorHistory : public History {
 public:
  // A Kind, whose layers_ are made by Kind::CreateLayer from the tensors below
  // model.decoder.layers.N.PART; .PART is Kind::kPart.
  template <typename Kind>
  static absl::StatusOr<std::unique_ptr<const History>> Create(const Checkpoint& checkpoint,
                                                               const ModelSpec& spec,
                                                               const NetworkOptions& options) {
    RETURN_IF_ERROR(CheckLength(spec));
    std::unique_ptr<Kind> history(new Kind(spec));
    for (int l = 0; l < spec.decoder_layers; ++l) {
      const std::string name = absl::StrCat("model.decoder.layers.", l, Kind::kPart);
      ASSIGN_OR_RETURN(auto layer, Kind::CreateLayer(checkpoint, name, spec, options.arithmetic));
      history->layers_.push_back(std::move(layer));
    }
    return history;
  }

  std::unique_ptr<HistoryState> NewState(const SentenceShape& shape, KvPool* pool) const final;
  size_t StateBytes(const SentenceShape& shape) const final {
    return VectorStates::Bytes(layers_ * width_, shape.max_hypotheses);
  }

 protected:
  // UNIMPLEMENTED if a vector of this length does not fit into a block.
  static absl::Status CheckLength(const ModelSpec& spec);
  // REQUIRES: CheckLength is OK.
  explicit VectorHistory(const ModelSpec& spec)
      : layers_(spec.decoder_layers), width_(spec.d_model) {}

  int width() const { return width_; }
  // A layer's part of a row's vector: before the step, and after it.
  absl::Span<const float> Last(const DecodeRow& row, int l) const {
    return {row.last + static_cast<ptrdiff_t>(l) * width_, static_cast<size_t>(width_)};
  }
  absl::Span<float> Next(const DecodeRow& row, int l) const {
    return {row.next + static_cast<ptrdiff_t>(l) * width_, static_cast<size_t>(width_)};
  }

 private:
  const int layers_;
  const int width_;
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_MODEL_VECTOR_HISTORY_H_
