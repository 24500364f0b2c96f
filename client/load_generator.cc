#include "client/load_generator.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <functional>
#include <random>
#include <thread>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"

namespace dragoman {
namespace {

// Calls functions at given times, on a separate thread.  The times must be ascending.
class Timer {
 public:
  Timer() : thread_([this] { Run(); }) {}
  ~Timer() {
    {
      absl::MutexLock lock(&mutex_);
      ended_ = true;
    }
    thread_.join();
  }

  void At(absl::Time time, std::function<void()> call) {
    absl::MutexLock lock(&mutex_);
    due_.emplace_back(time, std::move(call));
  }

 private:
  // Ends without the calls that are not due yet.
  void Run() {
    while (true) {
      std::function<void()> call;
      {
        absl::MutexLock lock(&mutex_);
        mutex_.Await(absl::Condition(
            +[](Timer* timer) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
              return timer->ended_ || !timer->due_.empty();
            },
            this));
        if (ended_) return;
        if (mutex_.AwaitWithDeadline(absl::Condition(&ended_), due_.front().first)) return;
        call = std::move(due_.front().second);
        due_.pop_front();
      }
      call();
    }
  }

  absl::Mutex mutex_;
  bool ended_ ABSL_GUARDED_BY(mutex_) = false;
  std::deque<std::pair<absl::Time, std::function<void()>>> due_ ABSL_GUARDED_BY(mutex_);
  std::thread thread_;
};

class Load {
 public:
  Load(TranslationClient* client, const v1::TranslateRequest& request,
       const std::vector<std::string>& texts, const LoadOptions& options)
      : client_(client), request_(request), texts_(texts), options_(options) {}

  LoadReport Run() {
    const absl::Time start = absl::Now();
    std::mt19937_64 random(options_.seed);
    std::mt19937_64 random_kind(options_.seed + 1);
    std::exponential_distribution<double> pause(options_.rate > 0 ? options_.rate : 1.0);
    std::bernoulli_distribution document(options_.document_share);
    std::bernoulli_distribution cancel(options_.cancel_share);
    std::mt19937_64 random_priority(options_.seed + 2);
    std::bernoulli_distribution batch(options_.batch_share);
    absl::Time due = start;
    for (int64_t sent = 0; sent < options_.requests; ++sent) {
      if (options_.rate > 0) {
        due += absl::Seconds(pause(random));
        if (due - start >= options_.duration) break;
        absl::SleepFor(due - absl::Now());
      } else {
        WaitUntilFewerThan(options_.concurrency);
        due = absl::Now();
        if (due - start >= options_.duration) break;
      }
      const Kind kind = {.document = document(random_kind), .batch = batch(random_priority)};
      Send(due, kind, cancel(random_kind));
    }
    WaitUntilFewerThan(1);
    absl::MutexLock lock(&mutex_);
    report_.seconds = absl::ToDoubleSeconds(absl::Now() - start);
    absl::c_sort(report_.latencies);
    absl::c_sort(report_.document_latencies);
    absl::c_sort(report_.batch_latencies);
    return std::move(report_);
  }

 private:
  struct Kind {
    bool document = false;
    bool batch = false;
  };

  void WaitUntilFewerThan(int limit) {
    absl::MutexLock lock(&mutex_);
    auto fewer = [this, limit] {
      mutex_.AssertHeld();
      return in_flight_ < limit;
    };
    mutex_.Await(absl::Condition(&fewer));
  }

  void Send(absl::Time due, Kind kind, bool cancel) {
    v1::TranslateRequest request = request_;
    if (kind.batch) request.set_priority(v1::PRIORITY_BATCH);
    const int texts = kind.document ? options_.document_texts : options_.texts_per_request;
    for (int i = 0; i < texts; ++i) {
      request.add_contents(texts_[next_text_]);
      next_text_ = (next_text_ + 1) % texts_.size();
    }
    {
      absl::MutexLock lock(&mutex_);
      ++in_flight_;
    }
    std::function<void()> give_up = client_->TranslateAsync(
        std::move(request),
        [this, due, kind](const absl::StatusOr<v1::TranslateResponse>& response) {
          Record(response, absl::Now() - due, kind);
        });
    if (cancel) timer_.At(absl::Now() + options_.cancel_after, std::move(give_up));
  }

  void Record(const absl::StatusOr<v1::TranslateResponse>& response, absl::Duration latency,
              Kind kind) {
    absl::MutexLock lock(&mutex_);
    --in_flight_;
    ++report_.requests;
    ++report_.codes[absl::StatusCodeToString(response.status().code())];
    if (!response.ok()) return;
    if (latency <= options_.objective) ++report_.good;
    LatenciesOf(kind).push_back(absl::ToDoubleSeconds(latency));
    report_.texts += response->translations_size();
    for (const v1::Translation& translation : response->translations()) {
      report_.source_tokens += translation.source_tokens();
    }
  }

  Latencies& LatenciesOf(Kind kind) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (kind.batch) return report_.batch_latencies;
    return kind.document ? report_.document_latencies : report_.latencies;
  }

  TranslationClient* const client_;
  const v1::TranslateRequest& request_;
  const std::vector<std::string>& texts_;
  const LoadOptions& options_;
  size_t next_text_ = 0;
  Timer timer_;

  absl::Mutex mutex_;
  int in_flight_ ABSL_GUARDED_BY(mutex_) = 0;
  LoadReport report_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace

double Percentile(const Latencies& latencies, double p) {
  if (latencies.empty()) return 0.0;
  const double rank = std::ceil(p * static_cast<double>(latencies.size()));
  const size_t index = static_cast<size_t>(std::max(rank, 1.0)) - 1;
  return latencies[std::min(index, latencies.size() - 1)];
}

LoadReport RunLoad(TranslationClient* client, const v1::TranslateRequest& request,
                   const std::vector<std::string>& texts, const LoadOptions& options) {
  return Load(client, request, texts, options).Run();
}

}  // namespace dragoman
