// What the network thought of hypotheses that a search has found: the attention of single heads,
// and the tokens that were most likely at each step.  The search keeps neither, so that those who
// do not ask pay nothing; for those who do, the sentence stays in its batch, is encoded once more,
// and each of its hypotheses is read like a prefix, in one step:
//
//   search     Das Haus ist alt eos                 found; its state is given back
//   encode     the source again, with its heads
//   one step   start Das Haus ist alt               a row for each token and for the end
//
// By the row law each row is what it was in the search, bit for bit.
//
// Pure bookkeeping, for one thread at a time.

#ifndef DRAGOMAN_ENGINE_DECODE_REPLAY_H_
#define DRAGOMAN_ENGINE_DECODE_REPLAY_H_

#include <vector>

#include "absl/types/span.h"
#include "engine/decode/job.h"
#include "engine/model/network.h"
#include "engine/search/logits.h"

namespace dragoman {

class Replay {
 public:
  // Whether a job asks for it.
  static bool IsAskedFor(const Job& job) { return !job.heads.empty() || job.candidates > 0; }
  // What the state of a replayed hypothesis needs; no more than that of the search.
  static SentenceShape ShapeOf(const Job& job);

  // The job outlives it.  REQUIRES: there are hypotheses.
  Replay(const Job& job, std::vector<Hypothesis> hypotheses);

  // The source, whose encoding fills in the attention of the encoder's heads.
  PartialEncoding Source();
  void SetEncoded(Matrix<float> encoded) { encoded_ = std::move(encoded); }
  MatrixView<const float> encoded() const { return encoded_.view(); }

  bool done() const { return current_ == hypotheses_.size(); }
  // The number of rows of the current hypothesis, and one of them.  REQUIRES: !done().
  int rows() const;
  StepRow Row(int i, SentenceState* state);
  bool ranks() const { return job_.candidates > 0; }
  RankTask Ranking(int i) const;
  // The ranking of the next row, in order.
  void Add(absl::Span<const Candidate> candidates);
  // Goes on to the next hypothesis.
  void Next() { ++current_; }

  // The hypotheses with everything that was asked for.  REQUIRES: done().
  std::vector<Hypothesis> Take() { return std::move(hypotheses_); }

 private:
  Hypothesis& hypothesis() { return hypotheses_[current_]; }
  const Hypothesis& hypothesis() const { return hypotheses_[current_]; }

  const Job& job_;
  SearchOptions options_;                                 // the job's, without sampling
  std::vector<AttentionHead> encoder_, cross_, decoder_;  // that are asked for
  std::vector<Hypothesis> hypotheses_;
  size_t current_ = 0;
  Matrix<float> encoded_;  // [source tokens, d_model]
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_DECODE_REPLAY_H_
