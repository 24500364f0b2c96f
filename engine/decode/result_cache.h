// Remembers translations, and lets equal jobs that are under way at the same time share one result.
//
//   a hit       the result is remembered: the job ends at once
//   a follower  an equal job of somebody else is under way: both end with its result
//   a miss      the job goes to the workers, and its result is remembered
//
// Correct because the result of a job depends on its key alone (job_key.h) and never on the
// traffic. The least recently used results leave when there are too many bytes of them.
//
// A follower stays its own master.  It may be cancelled, and has its own deadline; if the job that
// it follows ends badly (its client left, its deadline passed), a follower takes its place in the
// line.  It only follows jobs that are at least as urgent as itself: a short request does not wait
// for a document that has the same sentence.
//
// Hits and followers do no work: they are charged to no quota, do not wait in the line and are
// never refused.
//
// Thread-safe.  Jobs end on the thread that submitted them (hits), on a worker's, or on that of the
// cache; never under a lock.

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
  int max_following_tokens = 65536;  // source tokens of the followers of all jobs; more are misses
  Clock clock = absl::Now;
  bool own_thread = true;  // that calls DropUnwanted; without it whoever tests does
};

class ResultCache {
 public:
  // Takes all jobs of a request, or none and says why; then on_done is not called.
  using Submitter = std::function<absl::Status(std::vector<JobPtr>)>;

  ResultCache(const CacheOptions& options, Submitter submit);
  // REQUIRES: every job has ended.
  ~ResultCache();

  // As the Submitter, whose errors it returns.  The costs of the jobs are known.
  absl::Status Submit(std::vector<JobPtr> jobs);

  // Ends the followers whose request was cancelled or is too late.  The cache's own thread does so
  // every few milliseconds; tests may as well.
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
    bool confirmed = false;  // the rest of its request was taken, too
    bool dropped = false;    // it was not
    std::optional<absl::StatusOr<std::vector<Hypothesis>>> result;  // that came before that
  };
  using FollowerPtr = std::shared_ptr<Follower>;
  // A job under way, by which others may be served.
  struct Flight {
    int urgency = 0;
    std::vector<FollowerPtr> followers;
  };
  using FlightPtr = std::shared_ptr<Flight>;
  // What became of the jobs of one request.
  struct Sorted {
    std::vector<std::pair<JobPtr, std::vector<Hypothesis>>> hits;
    std::vector<FollowerPtr> followers;
    std::vector<JobPtr> misses;
    std::vector<std::pair<std::string, FlightPtr>> flights;  // of the misses
  };

  Sorted Sort(std::vector<JobPtr> jobs);
  void Take(JobPtr job, std::string key, int urgency, Sorted* sorted)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Lead(JobPtr job, std::string key, int urgency, Sorted* sorted)
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
  std::list<Entry> entries_ ABSL_GUARDED_BY(mutex_);  // the one used last is the first
  std::unordered_map<std::string_view, std::list<Entry>::iterator> index_ ABSL_GUARDED_BY(mutex_);
  std::unordered_map<std::string, FlightPtr> flights_ ABSL_GUARDED_BY(mutex_);
  int following_tokens_ ABSL_GUARDED_BY(mutex_) = 0;
  int followers_ ABSL_GUARDED_BY(mutex_) = 0;
  CacheStats stats_ ABSL_GUARDED_BY(mutex_);
  bool closing_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread watcher_;
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_DECODE_RESULT_CACHE_H_
