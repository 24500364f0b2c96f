// Remembers translations, and lets equal jobs that run at the same time share one result.
//
//   a hit       the result is remembered: the job ends at once
//   a follower  an equal job of another request is running: both end with its result
//   a miss      the job goes to the workers, and its result is remembered
//
// This is correct because the result of a job depends only on its key (job_key.h), never on the
// traffic.  When the results take too many bytes, the least recently used ones are evicted.
//
// A follower stays independent: it may be cancelled, and it has its own deadline.  If the job that
// it follows fails (its client left, its deadline passed), a follower takes its place in the queue.
// A job only follows jobs that are at least as urgent as itself: a short request does not wait for
// a document that contains the same sentence.
//
// Principals share no results: from the time that an answer takes one could infer what others have
// asked for.
//
// Hits and followers do no work: they are charged to no quota, do not wait in the queue and are
// never refused.
//
// Thread-safe.  Jobs end on the thread that submitted them (hits), on a worker's, or on the cache's
// own; never under a lock.

#ifndef DRAGOMAN_ENGINE_DECODE_RESULT_CACHE_H_
#define DRAGOMAN_ENGINE_DECODE_RESULT_CACHE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "engine/base/clock.h"
#include "engine/decode/fair_share.h"
#include "engine/decode/job.h"

namespace dragoman {

struct CacheStats {
  int64_t hits = 0;
  int64_t misses = 0;
  int64_t shared = 0;  // followers
  int64_t evictions = 0;
  size_t entries = 0;
  size_t bytes = 0;
  size_t capacity_bytes = 0;
};

struct CacheOptions {
  size_t capacity_bytes = 0;
  int max_following_tokens = 65536;  // source tokens of all followers; more are misses
  Clock clock = absl::Now;
  bool own_thread = true;  // a thread calls DropUnwanted; if false, the test does
};

class ResultCache {
 public:
  // Takes all jobs of a request, or none and says why; in that case on_done is not called.
  using Submitter = std::function<absl::Status(std::vector<JobPtr>)>;

  ResultCache(const CacheOptions& options, Submitter submit);
  // REQUIRES: every job has ended.
  ~ResultCache();

  // Has the contract of the Submitter, whose errors it returns.  REQUIRES: the jobs have been
  // priced.
  absl::Status Submit(std::vector<JobPtr> jobs);

  // Ends the followers whose request was cancelled or is too late.  The cache's own thread calls it
  // every few milliseconds; tests may call it too.
  void DropUnwanted();

  CacheStats stats() const;

 private:
  struct Entry {
    std::string key;
    std::vector<Hypothesis> hypotheses;
    size_t bytes = 0;
  };
  // A job that waits for the result of another.
  struct Follower {
    JobPtr job;
    int tokens = 0;
    bool confirmed = false;  // the rest of its request was admitted as well
    bool dropped = false;    // it was not
    std::optional<absl::StatusOr<std::vector<Hypothesis>>> result;  // if it arrived before that
  };
  using FollowerPtr = std::shared_ptr<Follower>;
  // A running job that others may follow.
  struct Flight {
    Urgency urgency = Urgency::kShort;
    std::vector<FollowerPtr> followers;
  };
  using FlightPtr = std::shared_ptr<Flight>;
  // How the jobs of one request were classified.
  struct Sorted {
    std::vector<std::pair<JobPtr, std::vector<Hypothesis>>> hits;
    std::vector<FollowerPtr> followers;
    std::vector<JobPtr> misses;
    std::vector<std::pair<std::string, FlightPtr>> flights;  // of the misses
  };

  Sorted Sort(std::vector<JobPtr> jobs);
  void Take(JobPtr job, std::string key, Urgency urgency, Sorted* sorted)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Lead(JobPtr job, std::string key, Urgency urgency, Sorted* sorted)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Withdraw(const Sorted& sorted);
  void Confirm(const std::vector<FollowerPtr>& followers);
  void Land(const std::string& key, const FlightPtr& flight, const JobResult& result);
  std::vector<FollowerPtr> End(const std::string& key, const FlightPtr& flight,
                               const absl::StatusOr<std::vector<Hypothesis>>& result)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Conclude(JobPtr job, const absl::StatusOr<std::vector<Hypothesis>>& result);
  void Remember(const std::string& key, const std::vector<Hypothesis>& hypotheses)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Watch();

  const CacheOptions options_;
  const Submitter submit_;
  mutable absl::Mutex mutex_;
  std::list<Entry> entries_ ABSL_GUARDED_BY(mutex_);  // most recently used first
  std::unordered_map<std::string_view, std::list<Entry>::iterator> index_ ABSL_GUARDED_BY(mutex_);
  std::unordered_map<std::string, FlightPtr> flights_ ABSL_GUARDED_BY(mutex_);
  int following_tokens_ ABSL_GUARDED_BY(mutex_) = 0;
  int followers_ ABSL_GUARDED_BY(mutex_) = 0;  // in flights, with those dropped
  CacheStats stats_ ABSL_GUARDED_BY(mutex_);
  bool closing_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread watcher_;
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_DECODE_RESULT_CACHE_H_
