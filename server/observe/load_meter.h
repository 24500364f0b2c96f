// How loaded the server is, for clients that balance by load (gRPC's weighted_round_robin, Envoy):
// a report as ORCA defines it (orca_load_report.proto), renewed every second.
//
//   meter.Look(now, sample);   // on the thread that looks after the server
//   meter.report();            // in any call
//
// Balancers weigh a server by its requests a second over its utilization: by what it could do.
// Requests differ so much in size that rows of work are reported in their place; of two equally
// fast servers, the one with the many short requests would otherwise seem to be the faster one.
// Rates are smoothed over some seconds, so that a server is not avoided for one long request.
//
// Thread-safe.

#ifndef DRAGOMAN_SERVER_OBSERVE_LOAD_METER_H_
#define DRAGOMAN_SERVER_OBSERVE_LOAD_METER_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"

namespace dragoman {

// Sums since the start of the process.
struct LoadTotals {
  double busy_seconds = 0;  // of all workers
  double cpu_seconds = 0;
  int64_t rows = 0;    // of work: tokens encoded, and hypotheses that took a step
  int64_t calls = 0;   // that ended
  int64_t errors = 0;  // among them, for reasons of the server
};

// The state of one moment.
struct LoadSample {
  LoadTotals totals;
  double memory = 0;           // the share in use, 0 to 1
  absl::Duration oldest_wait;  // of the interactive requests that wait
};

class LoadMeter {
 public:
  LoadMeter(int workers, int cores) : workers_(workers), cores_(cores) {}

  void Look(absl::Time now, const LoadSample& sample);

  // A serialized xds.data.orca.v3.OrcaLoadReport; empty before the second look.  Its
  // application_utilization is the busy share of the workers and, because all overloaded servers
  // are equally busy, the seconds that the first request in the queue has waited.
  std::string report() const;

 private:
  const int workers_, cores_;
  mutable absl::Mutex mutex_;
  absl::Time looked_ ABSL_GUARDED_BY(mutex_) = absl::InfinitePast();
  LoadTotals totals_ ABSL_GUARDED_BY(mutex_);
  double busy_ ABSL_GUARDED_BY(mutex_) = 0, cpu_ ABSL_GUARDED_BY(mutex_) = 0;
  // A second.
  double rows_ ABSL_GUARDED_BY(mutex_) = 0, calls_ ABSL_GUARDED_BY(mutex_) = 0;
  double errors_ ABSL_GUARDED_BY(mutex_) = 0;
  std::string report_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_OBSERVE_LOAD_METER_H_
