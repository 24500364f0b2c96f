// How many cores a load needs:
//
//   dragoman-server --model en-de=DIR --plan 200sentences/s,words=25,p99=500ms
//
// A worker of this machine translates made-up sentences of that length: for as long as it is busy,
// each takes so much CPU time, and alone so much time.  Both are extrapolated by what was measured
// once (docs/load.md): up to which load the 99th percentile of the latencies is how many times that
// of an idle server.

#ifndef DRAGOMAN_SERVER_CAPACITY_H_
#define DRAGOMAN_SERVER_CAPACITY_H_

#include <ostream>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/config/config.h"

namespace dragoman {

// What comes in: requests of one sentence, at random times.
struct OfferedLoad {
  double sentences_per_second = 0;
  int words = 20;                                 // of a sentence
  absl::Duration p99 = absl::InfiniteDuration();  // that is wanted
  int beam_size = 0;                              // 0: the model's own
  std::string source_language, target_language;   // "": the model's own
  std::string text;  // a file with sentences, a line each, in the place of made-up English ones
};

// "NUMBER(sentences|words)/(s|min|h)" and, behind commas, words=, p99=, beam=, from=, to= and
// text=. INVALID_ARGUMENT names the part that is none of these.
absl::StatusOr<OfferedLoad> ParseLoad(const std::string& text);

// What one worker of this machine does.
struct MeasuredWorker {
  double cpu_seconds = 0;   // a sentence, while it is busy
  absl::Duration alone;     // the longest that a sentence took while there was no other
  double model_bytes = 0;   // of the process with the model, and a busy worker
  double worker_bytes = 0;  // what each further worker adds
};

struct CapacityPlan {
  double utilization = 0;  // of the cores
  double busy_cores = 0;   // of them, on average
  int cores = 0;           // in all
  int replicas = 0;        // of this machine, that carry the load
  int cores_each = 0;
  double bytes_each = 0;
};

// FAILED_PRECONDITION if no number of cores makes a sentence fast enough.
absl::StatusOr<CapacityPlan> PlanCapacity(const OfferedLoad& load, const MeasuredWorker& worker,
                                          int machine_cores);

// The sentences to measure with: made-up ones, or those of the file.
absl::StatusOr<std::vector<std::string>> SampleSentences(const OfferedLoad& load);

// Measures the default model of the options for some seconds and prints the plan.
absl::Status PrintPlan(const ServerOptions& options, const std::string& load, std::ostream* out);

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_CAPACITY_H_
