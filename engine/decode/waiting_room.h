// How many wait, and how many may: the bound on everything that has been accepted and does not run
// yet, over all workers.
//
// Thread-safe.

#ifndef DRAGOMAN_ENGINE_DECODE_WAITING_ROOM_H_
#define DRAGOMAN_ENGINE_DECODE_WAITING_ROOM_H_

#include <map>
#include <set>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "engine/decode/job.h"

namespace dragoman {

class WaitingRoom {
 public:
  WaitingRoom(int max_requests, int max_tokens)
      : max_requests_(max_requests), max_tokens_(max_tokens) {}

  // Lets in all the jobs of one request, which wait since `now`, or none: RESOURCE_EXHAUSTED if
  // there are max_requests already, or if their source tokens and those that wait are more than
  // max_tokens (an empty room takes any one request).
  absl::Status Enter(const std::vector<JobPtr>& jobs, absl::Time now);

  // A job that entered begins to run, or is dropped.
  void Leave(const Job& job);

  int requests() const;  // that have a job here
  int tokens() const;    // source tokens of the jobs here
  // Since when the job that is here the longest has waited; InfiniteFuture if there is none.
  absl::Time oldest() const;

 private:
  const int max_requests_;
  const int max_tokens_;
  mutable absl::Mutex mutex_;
  std::map<const RequestState*, int> jobs_ ABSL_GUARDED_BY(mutex_);  // of each request; never 0
  std::multiset<absl::Time> since_ ABSL_GUARDED_BY(mutex_);          // one for each job
  int tokens_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_DECODE_WAITING_ROOM_H_
