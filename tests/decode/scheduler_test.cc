#include "engine/decode/scheduler.h"

#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "tests/decode/test_jobs.h"

namespace dragoman {
namespace {

constexpr size_t kPlenty = size_t{1} << 30;

// A job that is told nothing; `tokens` source tokens, `rows` hypotheses.
JobPtr Plain(int tokens, int rows, std::shared_ptr<RequestState> request = nullptr) {
  JobPtr job = MakeJob(
      "a", TestSearch(rows, 10), [](JobResult) {}, std::move(request));
  job->source.assign(tokens, job->source.back());
  return job;
}

std::vector<int> TokensOf(const std::vector<JobPtr>& jobs) {
  std::vector<int> tokens;
  for (const JobPtr& job : jobs) tokens.push_back(static_cast<int>(job->source.size()));
  return tokens;
}

TEST(Scheduler, FirstComeFirstServed) {
  Scheduler scheduler({.max_rows = 100, .kv_capacity_bytes = kPlenty, .max_encode_tokens = 100});
  for (const int tokens : {5, 3, 9, 1}) scheduler.Enqueue(Plain(tokens, 1));
  EXPECT_EQ(TokensOf(scheduler.Admit({})), (std::vector<int>{5, 3, 9, 1}));
  EXPECT_TRUE(scheduler.empty());
}

TEST(Scheduler, BigJobHoldsTheLine) {
  Scheduler scheduler({.max_rows = 10, .kv_capacity_bytes = kPlenty, .max_encode_tokens = 100});
  scheduler.Enqueue(Plain(1, 8));
  scheduler.Enqueue(Plain(2, 1));
  EXPECT_TRUE(scheduler.Admit({.rows = 4}).empty());  // the small one must not overtake
  EXPECT_EQ(TokensOf(scheduler.Admit({.rows = 2})), (std::vector<int>{1}));
  EXPECT_EQ(TokensOf(scheduler.Admit({.rows = 9})), (std::vector<int>{2}));
}

TEST(Scheduler, StopsAtTheRowLimit) {
  Scheduler scheduler({.max_rows = 10, .kv_capacity_bytes = kPlenty, .max_encode_tokens = 100});
  for (int i = 0; i < 4; ++i) scheduler.Enqueue(Plain(1, 4));
  EXPECT_EQ(scheduler.Admit({}).size(), 2u);
  EXPECT_EQ(scheduler.Admit({.rows = 8}).size(), 0u);
  EXPECT_EQ(scheduler.Admit({.rows = 4}).size(), 1u);
}

TEST(Scheduler, StopsWhenKeyValueMemoryIsReserved) {
  const size_t each = Plain(4, 2)->KvBytes();
  Scheduler scheduler({.max_rows = 100, .kv_capacity_bytes = 3 * each, .max_encode_tokens = 100});
  for (int i = 0; i < 4; ++i) scheduler.Enqueue(Plain(4, 2));
  EXPECT_EQ(scheduler.Admit({.rows = 2, .kv_bytes = each}).size(), 2u);
  EXPECT_EQ(scheduler.Admit({.rows = 6, .kv_bytes = 3 * each}).size(), 0u);
  EXPECT_EQ(scheduler.Admit({.rows = 4, .kv_bytes = 2 * each}).size(), 1u);
}

TEST(Scheduler, BoundsTheEncodingBetweenTwoStepsButTakesALongSentenceAlone) {
  Scheduler scheduler({.max_rows = 100, .kv_capacity_bytes = kPlenty, .max_encode_tokens = 10});
  for (const int tokens : {30, 6, 4, 1}) scheduler.Enqueue(Plain(tokens, 1));
  EXPECT_EQ(TokensOf(scheduler.Admit({.rows = 1})), (std::vector<int>{30}));
  EXPECT_EQ(TokensOf(scheduler.Admit({.rows = 2})), (std::vector<int>{6, 4}));
  EXPECT_EQ(TokensOf(scheduler.Admit({.rows = 4})), (std::vector<int>{1}));
}

TEST(Scheduler, AnIdleWorkerTakesAJobWiderThanTheRowLimit) {
  Scheduler scheduler({.max_rows = 2, .kv_capacity_bytes = kPlenty, .max_encode_tokens = 10});
  scheduler.Enqueue(Plain(1, 5));
  scheduler.Enqueue(Plain(2, 1));
  EXPECT_EQ(TokensOf(scheduler.Admit({})), (std::vector<int>{1}));
  EXPECT_EQ(TokensOf(scheduler.Admit({})), (std::vector<int>{2}));
}

TEST(Scheduler, TakesOutTheCancelledAndTheLate) {
  const absl::Time now = absl::UnixEpoch() + absl::Seconds(100);
  Scheduler scheduler({.max_rows = 100, .kv_capacity_bytes = kPlenty, .max_encode_tokens = 100});
  auto cancelled = std::make_shared<RequestState>(absl::InfiniteFuture());
  scheduler.Enqueue(Plain(1, 1, cancelled));
  scheduler.Enqueue(Plain(2, 1));
  scheduler.Enqueue(Plain(3, 1, std::make_shared<RequestState>(now)));
  scheduler.Enqueue(Plain(4, 1, std::make_shared<RequestState>(now + absl::Nanoseconds(1))));
  EXPECT_TRUE(scheduler.TakeUnwanted(now - absl::Seconds(1)).empty());
  cancelled->Cancel();
  const auto unwanted = scheduler.TakeUnwanted(now);
  ASSERT_EQ(unwanted.size(), 2u);
  EXPECT_EQ(unwanted[0].first->source.size(), 1u);
  EXPECT_TRUE(absl::IsCancelled(unwanted[0].second));
  EXPECT_EQ(unwanted[1].first->source.size(), 3u);
  EXPECT_TRUE(absl::IsDeadlineExceeded(unwanted[1].second));
  EXPECT_EQ(TokensOf(scheduler.Admit({})), (std::vector<int>{2, 4}));
}

}  // namespace
}  // namespace dragoman
