// What the server did in the last hour: the metrics of a moment every ten seconds, kept in memory
// for the page at /status, whose lines so begin before the page was opened.
//
//   History history;
//   if (history.Due(absl::Now())) history.Add(absl::Now(), metrics.Samples());
//   history.Json(absl::Now());
//   {"now": 1700000020, "times": [1700000000, 1700000010],
//    "series": [{"name": "dragoman_rejected_total", "labels": {"reason": "quota"},
//                "values": [0, 3]}]}
//
// It is a ring of moments: a column of numbers for each series that was ever other than zero.  The
// others are left out.
//
// Thread-safe.

#ifndef DRAGOMAN_SERVER_OBSERVE_HISTORY_H_
#define DRAGOMAN_SERVER_OBSERVE_HISTORY_H_

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"

namespace dragoman {

// A metric and its labels.
struct SampleKey {
  std::string name;
  std::map<std::string, std::string> labels;

  friend bool operator<(const SampleKey& a, const SampleKey& b) {
    return a.name != b.name ? a.name < b.name : a.labels < b.labels;
  }
};

// The metrics of one moment.
using MetricSamples = std::map<SampleKey, double>;

class History {
 public:
  explicit History(absl::Duration interval = absl::Seconds(10), size_t moments = 360)
      : interval_(interval), moments_(moments), times_(moments) {}

  // Whether it is time for the next moment.
  bool Due(absl::Time now) const;

  // Adds a moment in place of the oldest one.
  void Add(absl::Time now, const MetricSamples& samples);

  // All moments, oldest first.  Times are in seconds since the Unix epoch.
  std::string Json(absl::Time now) const;

 private:
  const absl::Duration interval_;
  const size_t moments_;
  mutable absl::Mutex mutex_;
  // Moment i is in place i % moments_.
  size_t added_ ABSL_GUARDED_BY(mutex_) = 0;
  absl::Time last_ ABSL_GUARDED_BY(mutex_) = absl::InfinitePast();
  std::vector<double> times_ ABSL_GUARDED_BY(mutex_);                         // [moments]
  std::map<SampleKey, std::vector<double>> columns_ ABSL_GUARDED_BY(mutex_);  // of [moments] each
};

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_OBSERVE_HISTORY_H_
