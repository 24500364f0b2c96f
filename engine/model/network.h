// What the decode layer needs of a network that translates: encode sentences, make the state of
// one, and extend its hypotheses by a token.  What the state is (keys and values of all tokens so
// far, or one vector for each layer) is the network's own business.
//
//   network.Encode(batch, &encoded, ws);
//   auto state = network.NewState(shape, &pool);   // of one sentence, with one empty hypothesis
//   network.Remember(encoded rows, state, ws);     // once
//   network.Step({{start, state, 0}}, sink, ws);   // scores what follows; the hypothesis has grown
//   state->Fork({0, 0, 0, 0});                     // four hypotheses go on from the first one
//   network.Step({{17, state, 0}, {4, state, 1}, ...}, sink, ws);

#ifndef DRAGOMAN_ENGINE_MODEL_NETWORK_H_
#define DRAGOMAN_ENGINE_MODEL_NETWORK_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/types/span.h"
#include "engine/math/matrix.h"
#include "engine/model/kv_pool.h"
#include "engine/model/logits_sink.h"
#include "engine/model/workspace.h"

namespace dragoman {

// Sentences of unequal length laid end to end: sentence i is tokens[starts[i] .. starts[i + 1]).
// Nothing is padded.
struct TokenBatch {
  std::vector<int32_t> tokens;
  std::vector<int> starts = {0};

  // REQUIRES: the sentence is not empty.
  void Add(absl::Span<const int32_t> sentence);
  void Clear();
  int sentences() const { return static_cast<int>(starts.size()) - 1; }
};

// A sentence on its way through the encoder, in stages.
struct PartialEncoding {
  TokenBatch source;        // this one sentence
  Matrix<float> encoded;    // what is encoded, after the last stage
  Matrix<float> projected;  // the network's own
  int next_stage = 0;
};

// The most that a sentence can become.
struct SentenceShape {
  int source_tokens = 0;
  int max_steps = 0;
  int max_hypotheses = 1;  // at any one time
  bool attention = false;  // what its tokens look at will be asked for
};

// What a network keeps of one sentence while it decodes it: the encoded source, and what every
// hypothesis has seen so far.  All of its memory is reserved when it is made, so that no step can
// fail.  Belongs to one thread at a time.
class SentenceState {
 public:
  virtual ~SentenceState() = default;

  // Hypothesis i goes on from what was hypothesis parents[i].  Does not allocate.
  // REQUIRES: each parent was in the last step, or is 0 before the first; no more parents than
  // max_hypotheses.
  virtual void Fork(absl::Span<const int> parents) = 0;

  // How the attention of a hypothesis' tokens was spread over the source, those of the oldest token
  // first: appends [its rows, source tokens].  `row` is the number of its newest row, counted from
  // 0 in the order in which steps were given the rows of this state. REQUIRES: the network attends;
  // the shape asked for attention.
  virtual void AppendAttention(int row, std::vector<float>* attention) const {}
};

// A row of a step: it extends one hypothesis by one token.
struct StepRow {
  int32_t token = 0;  // the hypothesis' newest token, or the decoder start
  SentenceState* state = nullptr;
  int hypothesis = 0;  // which one of the state's
  // The tokens that it is scored for, ascending, each once; empty: the whole vocabulary.
  absl::Span<const int32_t> candidates = {};
  // Whether anybody wants to know what follows; if not, the sink is not given it.
  bool scored = true;
};

// Immutable, so safe for concurrent use with a workspace for each thread.  Keeps the row law.
class Network {
 public:
  virtual ~Network() = default;

  // Encodes all the sentences; row i of `encoded` belongs to token i.
  // REQUIRES: every token is in the vocabulary, no sentence is longer than the model allows.
  virtual void Encode(const TokenBatch& batch, Matrix<float>* encoded, Workspace* ws) const = 0;

  // Encoding one sentence of that many tokens in parts, so that it need not keep the steps of
  // others waiting: that many calls of EncodeStage make one Encode, each about as much work as the
  // next. A network that cannot be stopped on its way has one stage.
  virtual int EncodeStages(int tokens) const { return 1; }
  virtual void EncodeStage(PartialEncoding* encoding, Workspace* ws) const {
    Encode(encoding->source, &encoding->encoded, ws);
    ++encoding->next_stage;
  }

  // A state may take so much of the pool, and no more, as StateBytes says.  The pool outlives it.
  virtual std::unique_ptr<SentenceState> NewState(const SentenceShape& shape,
                                                  KvPool* pool) const = 0;
  // The memory that such a state needs at the most.
  virtual size_t StateBytes(const SentenceShape& shape) const = 0;

  // Gives a new state its sentence: the rows of `encoded` that belong to it.
  // REQUIRES: there are shape.source_tokens of them; the state is of this network.
  virtual void Remember(MatrixView<const float> encoded, SentenceState* state,
                        Workspace* ws) const = 0;

  // Whether states can tell what tokens looked at.
  virtual bool attends() const { return false; }

  // Whether several rows of a step may extend one hypothesis: adjacent ones, each by
  // the token that follows the one before it.
  virtual bool takes_several_tokens() const { return false; }

  // One step: row i of the logits that `sink` is given scores what follows the i-th of the scored
  // rows.
  // REQUIRES: the rows of a state are adjacent; tokens and candidates are in the vocabulary.
  virtual void Step(absl::Span<const StepRow> rows, LogitsSink sink, Workspace* ws) const = 0;
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_MODEL_NETWORK_H_
