#include "engine/decode/worker_pool.h"

#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/synchronization/blocking_counter.h"
#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "gtest/gtest.h"
#include "tests/decode/test_jobs.h"

namespace dragoman::worker_pool_test {
namespace {

std::vector<JobPtr> One(JobPtr job) {
  std::vector<JobPtr> jobs;
  jobs.push_back(std::move(job));
  return jobs;
}

TEST(WorkerPool, TranslatesTheSameWithAnyNumberOfWorkers) {
  std::vector<std::vector<std::string>> results;
  for (const int workers : {1, 2, 3}) {
    Observer observer;
    WorkerPool pool({.workers = workers}, &observer);
    std::vector<std::string> bytes(TestSentences().size());
    absl::BlockingCounter left(static_cast<int>(bytes.size()));
    for (size_t i = 0; i < bytes.size(); ++i) {
      ASSERT_TRUE(pool.Submit(One(MakeJob(TestSentences()[i], TestSearch(4, 40),
                                          [&, i](JobResult result) {
                                            EXPECT_TRUE(result.status.ok()) << result.status;
                                            bytes[i] = Bytes(result.hypotheses);
                                            left.DecrementCount();
                                          })))
                      .ok());
    }
    left.Wait();
    results.push_back(bytes);
  }
  EXPECT_EQ(results[0], results[1]);
  EXPECT_EQ(results[0], results[2]);
}

TEST(WorkerPool, RefusesAJobThatNoWorkerHasTheMemoryFor) {
  Observer observer;
  WorkerPool pool({.workers = 2, .kv_capacity_bytes = 100'000}, &observer);
  const absl::Status status = pool.Submit(
      One(MakeJob("Hello", TestSearch(8, 400), [](JobResult) { FAIL() << "must not be told"; })));
  EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
}

TEST(WorkerPool, RefusesWhileDrainingButFinishesWhatItAccepted) {
  Observer observer;
  WorkerPool pool({.workers = 1}, &observer);
  std::atomic<int> done = 0;
  for (const std::string& text : TestSentences()) {
    ASSERT_TRUE(pool.Submit(One(MakeJob(text, TestSearch(4, 40),
                                        [&](JobResult result) {
                                          EXPECT_TRUE(result.status.ok()) << result.status;
                                          ++done;
                                        })))
                    .ok());
  }
  pool.Drain();
  EXPECT_EQ(done, static_cast<int>(TestSentences().size()));
  const absl::Status status =
      pool.Submit(One(MakeJob("Hello", TestSearch(1, 5), [](JobResult) {})));
  EXPECT_TRUE(absl::IsUnavailable(status)) << status;
  EXPECT_EQ(pool.StatsOf(Priority::kInteractive).requests, 0);
  EXPECT_EQ(pool.Stats().kv_reserved_bytes, 0u);
}

TEST(WorkerPool, RefusesARequestWhenTheQueueIsFull) {
  Observer observer;
  WorkerPool pool({.workers = 1, .max_waiting_requests = 1, .max_batch_rows = 1}, &observer);
  absl::Notification running, go_on;
  // The callback of the first job keeps the only worker busy.
  ASSERT_TRUE(pool.Submit(One(MakeJob("a", TestSearch(1, 1),
                                      [&](JobResult) {
                                        running.Notify();
                                        go_on.WaitForNotification();
                                      })))
                  .ok());
  running.WaitForNotification();
  ASSERT_TRUE(pool.Submit(One(MakeJob("a", TestSearch(1, 5), [](JobResult) {}))).ok());
  EXPECT_EQ(pool.StatsOf(Priority::kInteractive).requests, 1);
  EXPECT_GT(pool.StatsOf(Priority::kInteractive).tokens, 0);
  EXPECT_GT(pool.StatsOf(Priority::kInteractive).oldest_wait, absl::ZeroDuration());
  const absl::Status status = pool.Submit(One(MakeJob("a", TestSearch(1, 5), [](JobResult) {})));
  EXPECT_TRUE(absl::IsResourceExhausted(status)) << status;
  go_on.Notify();
}

TEST(WorkerPool, AWorkerThatHangsDoesNotAnswer) {
  Observer observer;
  WorkerPool pool({.workers = 2}, &observer);
  const auto answers = [&](absl::Time now) { return pool.Call(now) == absl::ZeroDuration(); };
  pool.Call(absl::Now());
  while (!answers(absl::Now())) std::this_thread::yield();  // although there is no work
  absl::Notification running, go_on;
  ASSERT_TRUE(pool.Submit(One(MakeJob("a", TestSearch(1, 1),
                                      [&](JobResult) {
                                        running.Notify();
                                        go_on.WaitForNotification();
                                      })))
                  .ok());
  running.WaitForNotification();
  const absl::Time called = absl::Now();
  pool.Call(called);
  EXPECT_GE(pool.Call(called + absl::Seconds(40)), absl::Seconds(40));
  go_on.Notify();
  while (!answers(absl::Now())) std::this_thread::yield();
}

}  // namespace
}  // namespace dragoman::worker_pool_test
