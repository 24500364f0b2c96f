// How the layers of a decoder read the earlier tokens of a hypothesis: the first sublayer of each
// layer.  In "Attention Is All You Need" it is self-attention, which keeps keys and values of every
// token; others keep a vector (vector_states.h).  The implementations are named in
// ModelSpec::history and listed in CMakeLists.txt; the decoder knows none of them.

#ifndef DRAGOMAN_ENGINE_MODEL_HISTORY_H_
#define DRAGOMAN_ENGINE_MODEL_HISTORY_H_

#include <cstddef>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "engine/formats/checkpoint.h"
#include "engine/math/matrix.h"
#include "engine/model/kv_pool.h"
#include "engine/model/network.h"
#include "engine/model/workspace.h"
#include "engine/spec/config.h"

namespace dragoman {

// What the layers need of the earlier tokens of one sentence's hypotheses.  Belongs to one thread
// at a time.
class HistoryState {
 public:
  virtual ~HistoryState() = default;

  // As SentenceState::Fork.
  virtual void Fork(absl::Span<const int> parents) = 0;

  // As SentenceState::Rewind.
  virtual void Rewind(int rows) {}

  // Extends a hypothesis by a token: sets the row's position and what the layers read there.
  virtual void Extend(int hypothesis, DecodeRow* row) = 0;
};

// The sublayers of all layers.  Immutable, so safe for concurrent use with a workspace for each
// thread.
class History {
 public:
  virtual ~History() = default;

  // A state takes no more of the pool than StateBytes says.  The pool must outlive it.
  virtual std::unique_ptr<HistoryState> NewState(const SentenceShape& shape,
                                                 KvPool* pool) const = 0;
  virtual size_t StateBytes(const SentenceShape& shape) const = 0;

  // The heads whose attention Apply can report.
  virtual HeadCounts heads() const { return {}; }

  // As Network::takes_several_tokens.
  virtual bool takes_several_tokens() const { return false; }

  // The sublayer of layer l with its residual connection, for rows that have been extended.  `x` is
  // [rows, d_model].
  virtual void Apply(int l, absl::Span<const DecodeRow> rows, MatrixView<float> x,
                     Workspace* ws) const = 0;
};

struct HistoryKind {
  const char* name;
  absl::StatusOr<std::unique_ptr<const History>> (*create)(const Checkpoint& checkpoint,
                                                           const ModelSpec& spec,
                                                           const NetworkOptions& options);
};

// Creates the history that the specification names.  NOT_FOUND or INVALID_ARGUMENT name a tensor.
// REQUIRES: it exists.
absl::StatusOr<std::unique_ptr<const History>> CreateHistory(const Checkpoint& checkpoint,
                                                             const ModelSpec& spec,
                                                             const NetworkOptions& options);

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_MODEL_HISTORY_H_
