// A scheduler with one worker, for tests that submit costs and take turns.

#ifndef DRAGOMAN_TESTS_DECODE_SCHEDULER_FIXTURE_H_
#define DRAGOMAN_TESTS_DECODE_SCHEDULER_FIXTURE_H_

#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "engine/decode/scheduler.h"
#include "gtest/gtest.h"
#include "tests/decode/test_jobs.h"

namespace dragoman {

inline const absl::Time kNow = absl::UnixEpoch() + absl::Seconds(100);
// The rows and the memory of a worker in all tests.
inline constexpr int kTurnRows = 32;
inline const TurnLimits kTurn = {
    .rows = kTurnRows, .encode_tokens = 128, .kv_capacity_bytes = 1000};

// The cost of a sentence with these source tokens, hypotheses and steps.  A row and a token take
// 100 us each.
inline JobCost Cost(int tokens, int rows, int steps, size_t kv_bytes = 1) {
  return {.source_tokens = tokens, .rows = rows, .steps = steps, .kv_bytes = kv_bytes};
}

// What a request of at least and at most so many rows of work may cost.
inline CostRange Range(double least_tokens, double least, double most) {
  return {.least_tokens = least_tokens,
          .least = {least, least * 100e-6},
          .most = {most, most * 100e-6},
          .most_short = Flow::kShortRows * 100e-6};
}

// One worker whose sentences take exactly as many steps as they are expected to.
class SchedulerTest : public testing::Test {
 protected:
  explicit SchedulerTest(SchedulerLimits limits = {.turn = kTurn})
      : scheduler_(std::make_unique<Scheduler>(limits)) {}
  ~SchedulerTest() override { CancelAll(); }

  void CancelAll() {
    for (const auto& state : states_) state->Cancel(kNow);
    last_ = scheduler_->PlanTurn(0, {}, kNow + absl::Hours(1));
    while (!running_.empty()) End(0);
  }

  // Submits a request of `count` such sentences.
  absl::Status Enter(int count, const JobCost& cost, RequestTerms terms = {}) {
    states_.push_back(std::make_shared<RequestState>(std::move(terms)));
    std::vector<JobPtr> jobs;
    for (int i = 0; i < count; ++i) jobs.push_back(CostOnly(cost, states_.back()));
    return scheduler_->Enter(&jobs, kNow);
  }
  void MustEnter(int count, const JobCost& cost, RequestTerms terms = {}) {
    ASSERT_TRUE(Enter(count, cost, std::move(terms)).ok());
  }

  // Takes a turn.  Returns how many sentences of each source length started or continued in it.
  std::map<int, int> Turn(absl::Time now = kNow) {
    scheduler_->OnTurnEnd(0, now);
    std::vector<Resident> residents;
    for (const auto& [job, steps] : running_) residents.push_back({.job = job.get()});
    last_ = scheduler_->PlanTurn(0, absl::MakeSpan(residents), now);
    std::map<int, int> ran;
    for (size_t i = 0; i < residents.size(); ++i) {
      if (!residents[i].runs) continue;
      ++ran[residents[i].job->cost.source_tokens];
      --running_[i].second;
    }
    for (auto& [job, stages] : last_.start) {
      ++ran[job->cost.source_tokens];
      const int steps = job->cost.steps;
      running_.emplace_back(std::move(job), steps - 1);
    }
    for (size_t i = running_.size(); i-- > 0;) {
      if (running_[i].second == 0) End(i);
    }
    return ran;
  }

  void End(size_t i) {
    scheduler_->OnEnd(*running_[i].first, absl::OkStatus());
    running_.erase(running_.begin() + i);
  }

  using Ran = std::map<int, int>;

  std::unique_ptr<Scheduler> scheduler_;
  std::vector<std::shared_ptr<RequestState>> states_;
  std::vector<std::pair<JobPtr, int>> running_;  // and the steps that are left
  TurnPlan last_;
};

}  // namespace dragoman

#endif  // DRAGOMAN_TESTS_DECODE_SCHEDULER_FIXTURE_H_
