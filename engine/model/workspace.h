// What a thread needs for a forward pass: its team, and its intermediate matrices, which are kept
// from step to step, so that a step no larger than an earlier one allocates nothing.

#ifndef DRAGOMAN_ENGINE_MODEL_WORKSPACE_H_
#define DRAGOMAN_ENGINE_MODEL_WORKSPACE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/math/attend.h"
#include "engine/math/gemm.h"
#include "engine/math/matrix.h"
#include "engine/model/attention_head.h"

namespace dragoman {

class KeyValues;
class SentenceState;
class SourceMemory;

// A row of a step, which extends one hypothesis by one token.
struct StepRow {
  int32_t token = 0;  // the hypothesis' newest token, or the decoder start
  SentenceState* state = nullptr;
  int hypothesis = 0;  // its index in the state
  // The tokens to score, ascending and unique; empty: the whole vocabulary.
  absl::Span<const int32_t> shortlist = {};
  // Whether the scores of the next token are wanted.  If not, the sink does not get them.
  bool scored = true;
  HeadRequest cross_heads = {};    // to the source
  HeadRequest decoder_heads = {};  // to the tokens up to this one
};

// A row of a Transformer's step.
struct DecodeRow : StepRow {
  const SourceMemory* source = nullptr;  // of its sentence
  int position = 0;                      // of the token in its hypothesis
  // The hypothesis' past as its model keeps it (history.h): either its nodes in `cache`, oldest
  // first, of which the last is new and filled by this step (a path may include the last nodes of
  // rows before it, whose tokens then precede its own);
  KeyValues* cache = nullptr;  // of its sentence
  absl::Span<const int32_t> path = {};
  // or a vector, as it was after the previous token, and where this step writes the new one.
  const float* last = nullptr;
  float* next = nullptr;
  // [source tokens]: where to write how the token's attention is distributed over the source; null:
  // not wanted.
  float* attention = nullptr;
};

// Belongs to one thread, the leader of the team.
struct Workspace {
  // Fewer queries are not worth another thread.
  static constexpr int kLeastQueries = 4;
  // Nor are fewer rows, of a norm or of a gate.
  static constexpr int kLeastRows = 8;

  explicit Workspace(int threads = 1) : gemm(threads), attend(threads) {}

  ThreadTeam& team() { return gemm.team; }

  Matrix<float> x;          // [rows, d_model]: passes from layer to layer
  Matrix<float> projected;  // [rows, 3 d_model] q | k | v, or [rows, d_model] q
  Matrix<float> context;    // [rows, d_model]: the heads' outputs, interleaved
  Matrix<float> normed;     // [rows, d_model]: the input of a sublayer, if the model normalizes it
  Matrix<float> inner;      // [rows, ffn], or [rows, 2 ffn]
  Matrix<float> gated;      // [rows, ffn]
  Matrix<float> sublayer;   // [rows, d_model]: what a sublayer adds to x
  Matrix<float> left;       // [rows, d_model]: that output after each step
  Matrix<float> gate;       // [rows, d_model]
  Matrix<float> scored;     // [scored rows, d_model] of x, if not all are scored

  Matrix<float> keys_values;                          // [source tokens, 2 d_model] of one layer
  std::vector<Matrix<float>> logits;                  // [rows, a tile of the vocabulary] each
  std::vector<DecodeRow> rows;                        // of a step
  std::vector<DecodeRow> read_rows;                   // of them, where not all are
  std::vector<absl::Span<const int32_t>> shortlists;  // of each row
  GemmScratch gemm;

  // What attention over some positions needs.
  struct AttendMemory {
    std::vector<const std::byte*> rows;  // where the positions' keys and values are
    std::vector<const std::byte*> next;  // the same for the next call of Attend
    std::vector<float> scratch;
    std::vector<float*> attention;  // where each query's attention goes
  };
  std::vector<AttendMemory> attend;  // of each member

  // Gives every member enough scratch for the attention of this many heads and queries over this
  // many positions, because it is not known which member will take which part.
  void ReserveAttend(int heads, size_t n, int queries) {
    const size_t needed = AttendScratch(heads, n, queries);
    for (AttendMemory& memory : attend) {
      memory.rows.reserve(n);
      memory.next.reserve(n);
      if (memory.scratch.size() < needed) memory.scratch.resize(needed);
    }
  }
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_MODEL_WORKSPACE_H_
