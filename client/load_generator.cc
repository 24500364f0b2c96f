#include "client/load_generator.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"

namespace dragoman {
namespace {

class Load {
 public:
  Load(TranslationClient* client, const v1::TranslateRequest& request,
       const std::vector<std::string>& texts, const LoadOptions& options)
      : client_(client), request_(request), texts_(texts), options_(options) {}

  LoadReport Run() {
    const absl::Time start = absl::Now();
    std::mt19937_64 random(options_.seed);
    std::exponential_distribution<double> pause(options_.rate > 0 ? options_.rate : 1.0);
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
      Send(due);
    }
    WaitUntilFewerThan(1);
    absl::MutexLock lock(&mutex_);
    report_.seconds = absl::ToDoubleSeconds(absl::Now() - start);
    std::sort(report_.latencies.begin(), report_.latencies.end());
    return std::move(report_);
  }

 private:
  void WaitUntilFewerThan(int limit) {
    absl::MutexLock lock(&mutex_);
    auto fewer = [this, limit] {
      mutex_.AssertHeld();
      return in_flight_ < limit;
    };
    mutex_.Await(absl::Condition(&fewer));
  }

  void Send(absl::Time due) {
    v1::TranslateRequest request = request_;
    for (int i = 0; i < options_.texts_per_request; ++i) {
      request.add_contents(texts_[next_text_]);
      next_text_ = (next_text_ + 1) % texts_.size();
    }
    {
      absl::MutexLock lock(&mutex_);
      ++in_flight_;
    }
    client_->TranslateAsync(std::move(request),
                            [this, due](absl::StatusOr<v1::TranslateResponse> response) {
                              Record(response, absl::Now() - due);
                            });
  }

  void Record(const absl::StatusOr<v1::TranslateResponse>& response, absl::Duration latency) {
    absl::MutexLock lock(&mutex_);
    --in_flight_;
    ++report_.requests;
    ++report_.codes[absl::StatusCodeToString(response.status().code())];
    if (!response.ok()) return;
    report_.latencies.push_back(absl::ToDoubleSeconds(latency));
    report_.texts += response->translations_size();
    for (const v1::Translation& translation : response->translations()) {
      report_.source_tokens += translation.source_tokens();
    }
  }

  TranslationClient* const client_;
  const v1::TranslateRequest& request_;
  const std::vector<std::string>& texts_;
  const LoadOptions& options_;
  size_t next_text_ = 0;

  absl::Mutex mutex_;
  int in_flight_ ABSL_GUARDED_BY(mutex_) = 0;
  LoadReport report_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace

double LoadReport::Percentile(double p) const {
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
