#include "engine/decode/result_cache.h"

#include <algorithm>
#include <utility>

#include "absl/time/time.h"
#include "engine/base/end_thread.h"
#include "engine/base/status.h"
#include "engine/decode/job_key.h"

namespace dragoman {
namespace {

// How often unwanted followers are looked for.
constexpr absl::Duration kWatchInterval = absl::Milliseconds(10);
// The memory of an entry besides its key and its hypotheses: nodes of the list and of the index,
// and the allocator's overhead.
constexpr size_t kEntryBytes = 256;

size_t BytesOf(const Hypothesis& hypothesis) {
  const size_t floats = hypothesis.token_log_probs.size() + hypothesis.token_margins.size() +
                        hypothesis.attention.size() + hypothesis.cross_heads.size() +
                        hypothesis.decoder_heads.size() + hypothesis.encoder_heads.size();
  size_t bytes =
      sizeof(hypothesis) + sizeof(int32_t) * hypothesis.tokens.size() + sizeof(float) * floats;
  for (const auto& step : hypothesis.candidates) {
    bytes += sizeof(step) + sizeof(RankedToken) * step.size();
  }
  return bytes;
}

size_t BytesOf(const std::string& key, const std::vector<Hypothesis>& hypotheses) {
  size_t bytes = kEntryBytes + key.size();
  for (const Hypothesis& hypothesis : hypotheses) bytes += BytesOf(hypothesis);
  return bytes;
}

Urgency UrgencyOf(const std::vector<JobPtr>& jobs) {
  Flow flow;
  flow.request = jobs.front()->request;
  flow.Measure(jobs);
  return flow.urgency;
}

}  // namespace

ResultCache::ResultCache(const CacheOptions& options, Submitter submit)
    : options_(options), submit_(std::move(submit)) {
  stats_.capacity_bytes = options.capacity_bytes;
  if (options.own_thread) watcher_ = std::thread([this] { Watch(); });
}

ResultCache::~ResultCache() { EndThread(&mutex_, &closing_, &watcher_); }

absl::Status ResultCache::Submit(std::vector<JobPtr> jobs) {
  Sorted sorted = Sort(std::move(jobs));
  if (!sorted.misses.empty()) {
    const absl::Status status = submit_(std::move(sorted.misses));
    if (!status.ok()) {
      Withdraw(sorted);
      return status;
    }
  }
  for (auto& [job, hypotheses] : sorted.hits) Conclude(std::move(job), std::move(hypotheses));
  Confirm(sorted.followers);
  return absl::OkStatus();
}

ResultCache::Sorted ResultCache::Sort(std::vector<JobPtr> jobs) {
  Sorted sorted;
  const Urgency urgency = UrgencyOf(jobs);
  std::vector<std::string> keys;
  for (const JobPtr& job : jobs) {
    std::string& key = keys.emplace_back(job->request->terms().principal);
    key += '\0';
    key += ResultKey(*job);
  }
  absl::MutexLock lock(&mutex_);
  for (size_t i = 0; i < jobs.size(); ++i) {
    Take(std::move(jobs[i]), std::move(keys[i]), urgency, &sorted);
  }
  return sorted;
}

void ResultCache::Take(JobPtr job, std::string key, Urgency urgency, Sorted* sorted) {
  if (const auto entry = index_.find(key); entry != index_.end()) {
    entries_.splice(entries_.begin(), entries_, entry->second);
    ++stats_.hits;
    sorted->hits.emplace_back(std::move(job), entry->second->hypotheses);
    return;
  }
  const int tokens = static_cast<int>(job->source.size());
  const auto flight = flights_.find(key);
  // A follower gets no reports of progress, so a job that wants them does not become one.
  if (flight == flights_.end() || flight->second->urgency > urgency || job->on_stable != nullptr ||
      following_tokens_ + tokens > options_.max_following_tokens) {
    return Lead(std::move(job), std::move(key), urgency, sorted);
  }
  ++stats_.shared;
  ++followers_;
  following_tokens_ += tokens;
  job->submitted = options_.clock();
  sorted->followers.push_back(std::make_shared<Follower>());
  sorted->followers.back()->job = std::move(job);
  sorted->followers.back()->tokens = tokens;
  flight->second->followers.push_back(sorted->followers.back());
}

// A job that goes to the workers, and informs those that follow it.
void ResultCache::Lead(JobPtr job, std::string key, Urgency urgency, Sorted* sorted) {
  ++stats_.misses;
  auto flight = std::make_shared<Flight>();
  flight->urgency = urgency;
  FlightPtr& current = flights_[key];
  if (current != nullptr)
    flight->followers = std::move(current->followers);  // of the less urgent one
  current = flight;
  job->on_done = [this, key, flight, done = std::move(job->on_done)](JobResult result) {
    Land(key, flight, result);
    done(std::move(result));
  };
  sorted->flights.emplace_back(std::move(key), std::move(flight));
  sorted->misses.push_back(std::move(job));
}

// A request was refused: its jobs are dropped, and others that had followed them continue without
// them.
void ResultCache::Withdraw(const Sorted& sorted) {
  std::vector<FollowerPtr> left;
  {
    absl::MutexLock lock(&mutex_);
    for (const FollowerPtr& follower : sorted.followers) {
      follower->dropped = true;
      if (!follower->result.has_value()) following_tokens_ -= follower->tokens;
    }
    for (const auto& [key, flight] : sorted.flights) {
      for (FollowerPtr& follower : End(key, flight, absl::CancelledError())) {
        left.push_back(std::move(follower));
      }
    }
  }
  for (const FollowerPtr& follower : sorted.followers) follower->job = nullptr;
  for (const FollowerPtr& follower : left)
    Conclude(std::move(follower->job), absl::CancelledError());
}

// A request was admitted: its followers may end from now on, and some could have ended already.
void ResultCache::Confirm(const std::vector<FollowerPtr>& followers) {
  std::vector<FollowerPtr> ended;
  {
    absl::MutexLock lock(&mutex_);
    for (const FollowerPtr& follower : followers) {
      follower->confirmed = true;
      if (follower->result.has_value()) ended.push_back(follower);
    }
  }
  for (const FollowerPtr& follower : ended) Conclude(std::move(follower->job), *follower->result);
}

// A job has ended.  Called before its own on_done.
void ResultCache::Land(const std::string& key, const FlightPtr& flight, const JobResult& result) {
  absl::StatusOr<std::vector<Hypothesis>> found = result.hypotheses;
  if (!result.status.ok()) found = result.status;
  std::vector<FollowerPtr> ended;
  {
    absl::MutexLock lock(&mutex_);
    if (found.ok()) Remember(key, *found);
    ended = End(key, flight, found);
  }
  for (const FollowerPtr& follower : ended) Conclude(std::move(follower->job), found);
}

// Passes a result to the followers of a flight, and returns those that can end at once.
std::vector<ResultCache::FollowerPtr> ResultCache::End(
    const std::string& key, const FlightPtr& flight,
    const absl::StatusOr<std::vector<Hypothesis>>& result) {
  FlightPtr followed = flight;
  if (const auto found = flights_.find(key); found != flights_.end()) {
    if (result.ok()) followed = found->second;  // a more urgent job has taken over its followers
    if (found->second == flight) flights_.erase(found);
  }
  std::vector<FollowerPtr> ended;
  for (FollowerPtr& follower : followed->followers) {
    --followers_;
    if (follower->dropped) continue;
    following_tokens_ -= follower->tokens;
    if (follower->confirmed) {
      ended.push_back(std::move(follower));
    } else {
      follower->result = result;
    }
  }
  followed->followers.clear();
  return ended;
}

// Ends a job that did not go to the workers.  If the job that it followed has failed, it is
// submitted itself.
void ResultCache::Conclude(JobPtr job, const absl::StatusOr<std::vector<Hypothesis>>& result) {
  JobResult own;
  own.reused = true;
  if (job->submitted != absl::Time()) own.times.queue = options_.clock() - job->submitted;
  if (result.ok()) {
    own.hypotheses = *result;
    return job->Finish(std::move(own));
  }
  own.status = job->request->Wanted(options_.clock());
  if (!own.status.ok()) return job->Finish(std::move(own));
  const std::function<void(JobResult)> done = job->on_done;
  std::vector<JobPtr> alone;
  alone.push_back(std::move(job));
  own.status = Submit(std::move(alone));
  if (!own.status.ok()) done(std::move(own));
}

void ResultCache::Remember(const std::string& key, const std::vector<Hypothesis>& hypotheses) {
  const size_t bytes = BytesOf(key, hypotheses);
  if (bytes > options_.capacity_bytes || index_.contains(key)) return;
  entries_.push_front({key, hypotheses, bytes});
  index_.emplace(entries_.front().key, entries_.begin());
  stats_.bytes += bytes;
  while (stats_.bytes > options_.capacity_bytes) {
    stats_.bytes -= entries_.back().bytes;
    index_.erase(entries_.back().key);
    entries_.pop_back();
    ++stats_.evictions;
  }
}

void ResultCache::DropUnwanted() {
  std::vector<std::pair<FollowerPtr, absl::Status>> ended;
  const absl::Time now = options_.clock();
  {
    absl::MutexLock lock(&mutex_);
    for (const auto& [key, flight] : flights_) {
      std::erase_if(flight->followers, [&](const FollowerPtr& follower) {
        if (follower->dropped) {
          --followers_;
          return true;
        }
        if (!follower->confirmed) return false;
        const absl::Status wanted = follower->job->request->Wanted(now);
        if (wanted.ok()) return false;
        --followers_;
        following_tokens_ -= follower->tokens;
        ended.emplace_back(follower, wanted);
        return true;
      });
    }
  }
  for (auto& [follower, status] : ended) {
    JobResult result;
    result.status = std::move(status);
    result.times.queue = now - follower->job->submitted;
    follower->job->Finish(std::move(result));
  }
}

void ResultCache::Watch() {
  const auto called = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return closing_ || followers_ > 0;
  };
  const auto closing = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return closing_; };
  while (true) {
    {
      absl::MutexLock lock(&mutex_, absl::Condition(&called));
      mutex_.AwaitWithTimeout(absl::Condition(&closing), kWatchInterval);
      if (closing_) return;
    }
    DropUnwanted();
  }
}

CacheStats ResultCache::stats() const {
  absl::MutexLock lock(&mutex_);
  CacheStats stats = stats_;
  stats.entries = entries_.size();
  return stats;
}

}  // namespace dragoman
