// The interface for code that wants to know what the engine does, such as the server's metrics or a
// test.  The engine calls it on its own threads and does not know who listens.

#ifndef DRAGOMAN_ENGINE_DECODE_OBSERVER_H_
#define DRAGOMAN_ENGINE_DECODE_OBSERVER_H_

#include "absl/time/time.h"
#include "engine/decode/job.h"

namespace dragoman {

// Itself ignores everything.  Implementations are thread-safe and quick: every worker calls,
// several times per step.
class Observer {
 public:
  virtual ~Observer() = default;

  // A worker ran the encoder over `sentences` new sentences of `tokens` source tokens in all.
  virtual void OnEncode(const Model& model, int sentences, int tokens, absl::Duration took) {}
  // A worker ran one decoder step over `rows` live hypotheses of `sentences` sentences.
  virtual void OnDecodeStep(const Model& model, int sentences, int rows, absl::Duration took) {}
  // A worker was busy for this long, including the two kinds of work above.  `interactive` is the
  // part of it that interactive requests took, as priced.
  virtual void OnBusy(int worker, absl::Duration took, absl::Duration interactive) {}
  // A job ended, successfully or not.  Called before the job's own on_done.
  virtual void OnJobDone(const Job& job, const JobResult& result) {}
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_DECODE_OBSERVER_H_
