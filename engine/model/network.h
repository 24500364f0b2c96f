// What the decode layer needs from a network that translates: encode sentences, create the state of
// one, and extend its hypotheses by a token.  What the state holds (keys and values of all tokens
// so far, or one vector per layer) is up to the network.
//
//   network.Encode(batch, &encoded, ws);
//   auto state = network.NewState(shape, &pool);   // of one sentence, with one empty hypothesis
//   network.Remember(encoded rows, state, ws);     // once
//   network.Step({{start, state, 0}}, sink, ws);   // extends it and scores its next token
//   state->Fork({0, 0, 0, 0});                     // four hypotheses continue the first one
//   network.Step({{17, state, 0}, {4, state, 1}, ...}, sink, ws);

#ifndef DRAGOMAN_ENGINE_MODEL_NETWORK_H_
#define DRAGOMAN_ENGINE_MODEL_NETWORK_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/types/span.h"
#include "engine/math/matrix.h"
#include "engine/model/attention_head.h"
#include "engine/model/kv_pool.h"
#include "engine/model/logits_sink.h"
#include "engine/model/workspace.h"

namespace dragoman {

// Sentences of different lengths, end to end: sentence i is tokens[starts[i] .. starts[i + 1]).
// Nothing is padded.
struct TokenBatch {
  std::vector<int32_t> tokens;
  std::vector<int> starts = {0};

  // REQUIRES: the sentence is not empty.
  void Add(absl::Span<const int32_t> sentence);
  void Clear();
  int sentences() const { return static_cast<int>(starts.size()) - 1; }
};

// A sentence that is being encoded in stages.
struct PartialEncoding {
  TokenBatch source;        // this one sentence
  Matrix<float> encoded;    // the result, after the last stage
  Matrix<float> projected;  // for use by the network
  int next_stage = 0;
  // Heads of the encoder whose attention is wanted, and where it goes: [heads, tokens, tokens].
  absl::Span<const AttentionHead> heads;
  float* attention = nullptr;
};

// The most that a sentence can grow to.
struct SentenceShape {
  int source_tokens = 0;
  int max_steps = 0;
  int max_hypotheses = 1;  // at any one time
  bool attention = false;  // whether the attention of its tokens will be requested
};

// What a network keeps of one sentence while decoding it: the encoded source, and the past of every
// hypothesis.  All of its memory is reserved when it is created, so that no step can fail.  Belongs
// to one thread at a time.
class SentenceState {
 public:
  virtual ~SentenceState() = default;

  // Hypothesis i continues what was hypothesis parents[i].  Does not allocate.  REQUIRES: each
  // parent was in the last step, or is 0 before the first; no more parents than max_hypotheses.
  virtual void Fork(absl::Span<const int> parents) = 0;

  // The only hypothesis forgets all but its first rows, of which it has no fewer; `row` is the
  // number of the newest of them, as below.  REQUIRES: the network takes_several_tokens; rows > 0.
  virtual void Rewind(int rows, int row) {}

  // The attention of a hypothesis' tokens to the source, oldest token first: appends [its rows,
  // source tokens].  `row` is the number of its newest row, counting this state's rows from 0 in
  // the order in which steps were given them.  REQUIRES: the network attends; the shape requested
  // attention.
  virtual void AppendAttention(int row, std::vector<float>* attention) const {}

  // The attention of that row alone, [source tokens].  Valid as long as the state.
  // REQUIRES: as above.
  virtual absl::Span<const float> AttentionOf(int row) const { return {}; }
};

// Immutable, so safe for concurrent use with a workspace for each thread.  Keeps the row law.
class Network {
 public:
  virtual ~Network() = default;

  // Encodes all the sentences.  Row i of `encoded` belongs to token i.  REQUIRES: every token is in
  // the vocabulary; no sentence is longer than the model allows.
  virtual void Encode(const TokenBatch& batch, Matrix<float>* encoded, Workspace* ws) const = 0;

  // The number of EncodeStage calls that make up one Encode of a sentence of this many tokens, each
  // about the same amount of work, so that encoding need not delay the steps of other sentences.  A
  // network that cannot stop midway has one stage.
  virtual int EncodeStages(int tokens) const { return 1; }
  virtual void EncodeStage(PartialEncoding* encoding, Workspace* ws) const {
    Encode(encoding->source, &encoding->encoded, ws);
    ++encoding->next_stage;
  }

  // A state takes no more of the pool than StateBytes says.  The pool must outlive it.
  virtual std::unique_ptr<SentenceState> NewState(const SentenceShape& shape,
                                                  KvPool* pool) const = 0;
  // The most memory that such a state needs.
  virtual size_t StateBytes(const SentenceShape& shape) const = 0;

  // Gives a new state its encoded sentence.  REQUIRES: `encoded` has shape.source_tokens rows; the
  // state belongs to this network.
  virtual void Remember(MatrixView<const float> encoded, SentenceState* state,
                        Workspace* ws) const = 0;

  // Whether states can report attention.
  virtual bool attends() const { return false; }

  // The heads whose attention EncodeStage and Step can report; none of what is no Transformer.
  virtual HeadCounts HeadsOf(AttentionKind kind) const { return {}; }

  // Whether several rows of a step may extend one hypothesis: they are adjacent, and each token
  // follows the one before it.
  virtual bool takes_several_tokens() const { return false; }

  // One step.  Row i of the logits that `sink` gets scores the tokens that may follow the i-th of
  // the scored rows.  REQUIRES: the rows of a state are adjacent; tokens and shortlists are in the
  // vocabulary.
  virtual void Step(absl::Span<const StepRow> rows, LogitsSink sink, Workspace* ws) const = 0;
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_MODEL_NETWORK_H_
