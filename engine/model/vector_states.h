// What recurrent layers keep of the hypotheses of one sentence: one vector of fixed length for
// each, where self-attention keeps keys and values of every token.
//
// A hypothesis reads the vector after its last token and writes a new one.  There are two sets of
// vectors.  All hypotheses read from one and write to the other, so a beam forks by copying
// indices: children read their parent's vector, and each writes its own.
//
//   set 0   a  b        b has two children:  hypothesis 0 reads b, writes 0 of set 1
//   set 1   .  .                             hypothesis 1 reads b, writes 1 of set 1
//
// The memory consists of blocks of the worker's pool, all taken when the sentence is admitted.

#ifndef DRAGOMAN_ENGINE_MODEL_VECTOR_STATES_H_
#define DRAGOMAN_ENGINE_MODEL_VECTOR_STATES_H_

#include <cstddef>
#include <vector>

#include "absl/types/span.h"
#include "engine/model/pooled_rows.h"

namespace dragoman {

class VectorStates {
 public:
  static constexpr int kMaxLength = PooledRows::kMaxLength;

  // The pool memory that this many hypotheses take.
  static size_t Bytes(int length, int max_hypotheses) {
    return PooledRows::Bytes(length, 2 * max_hypotheses);
  }

  // One empty hypothesis, whose vector is zero.  The pool must outlive it.  REQUIRES: 1 <= length
  // <= kMaxLength.
  VectorStates(int length, int max_hypotheses, KvPool* pool);

  // As SentenceState::Fork.
  void Fork(absl::Span<const int> parents);

  // Extends a hypothesis by a token.
  struct Step {
    const float* last;  // [length], read-only: others may read it
    float* next;        // [length], to be written
    int position;       // of the token
  };
  Step Extend(int hypothesis);

  // The vector of the empty hypothesis, [length].  REQUIRES: nothing has been extended yet.
  float* first() const { return vectors_.Row(0); }

 private:
  struct Reader {
    int vector = 0;  // the one that it reads
    int position = 0;
  };

  const int max_hypotheses_;
  const PooledRows vectors_;
  std::vector<Reader> readers_, next_readers_;  // of each hypothesis
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_MODEL_VECTOR_STATES_H_
