#include "engine/decode/result_cache.h"

#include <atomic>
#include <functional>
#include <map>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "absl/synchronization/blocking_counter.h"
#include "engine/decode/job_key.h"
#include "engine/decode/worker_pool.h"
#include "gtest/gtest.h"
#include "tests/decode/test_jobs.h"

namespace dragoman::result_cache_test {
namespace {

constexpr char kText[] = "The cat is old.";

// Takes jobs, and ends them when the test says so.
class CacheTest : public testing::Test {
 protected:
  // The outcome of a job.
  struct Told {
    int times = 0;
    JobResult result;
  };

  std::shared_ptr<RequestState> Request(Priority priority = Priority::kInteractive,
                                        absl::Time deadline = absl::InfiniteFuture()) const {
    return std::make_shared<RequestState>(RequestTerms{.deadline = deadline, .priority = priority});
  }
  JobPtr NewJob(const std::string& text, Told* told,
                std::shared_ptr<RequestState> request = nullptr) const {
    return MakeJob(
        text, TestSearch(2, 16),
        [told](JobResult result) {
          ++told->times;
          told->result = std::move(result);
        },
        request == nullptr ? Request() : std::move(request));
  }
  absl::Status Submit(JobPtr job) {
    std::vector<JobPtr> jobs;
    jobs.push_back(std::move(job));
    return cache_.Submit(std::move(jobs));
  }
  // Ends the oldest job that the workers have.
  void End(const absl::Status& status = absl::OkStatus(), size_t tokens = 3) {
    ASSERT_FALSE(working_.empty());
    JobPtr job = std::move(working_.front());
    working_.erase(working_.begin());
    JobResult result;
    result.status = status;
    result.times.steps = 5;
    if (status.ok()) {
      result.hypotheses.resize(1);
      result.hypotheses[0].tokens.assign(tokens, 7);
    }
    job->Finish(std::move(result));
  }

  // How many jobs may follow one at the same time.
  int MostFollowers(const std::string& text) {
    Told told;
    EXPECT_TRUE(Submit(NewJob(text, &told)).ok());
    int followers = -1;
    for (; working_.size() == 1 && followers < 100; ++followers) {
      EXPECT_TRUE(Submit(NewJob(text, &told)).ok());
    }
    while (!working_.empty()) End();
    return followers;
  }

  absl::Time now_ = absl::FromUnixSeconds(1000);
  absl::Status answer_;  // of the workers to the next Submit
  std::vector<JobPtr> working_;
  ResultCache cache_{{.capacity_bytes = 4000,
                      .max_following_tokens = 100,
                      .clock = [this] { return now_; },
                      .own_thread = false},
                     [this](std::vector<JobPtr> jobs) {
                       if (!answer_.ok()) return answer_;
                       for (JobPtr& job : jobs) working_.push_back(std::move(job));
                       return absl::OkStatus();
                     }};
};

TEST_F(CacheTest, WhatWasTranslatedIsRemembered) {
  Told first, second;
  ASSERT_TRUE(Submit(NewJob(kText, &first)).ok());
  End();
  EXPECT_FALSE(first.result.reused);
  ASSERT_TRUE(Submit(NewJob(kText, &second)).ok());
  EXPECT_TRUE(working_.empty());
  ASSERT_EQ(second.times, 1);
  EXPECT_TRUE(second.result.reused);
  EXPECT_EQ(Bytes(second.result.hypotheses), Bytes(first.result.hypotheses));
  EXPECT_EQ(cache_.stats().hits, 1);
  EXPECT_EQ(cache_.stats().misses, 1);
}

TEST_F(CacheTest, WhatFailedIsNotRemembered) {
  Told first, second;
  ASSERT_TRUE(Submit(NewJob(kText, &first)).ok());
  End(absl::InternalError("broken"));
  EXPECT_EQ(first.result.status.code(), absl::StatusCode::kInternal);
  ASSERT_TRUE(Submit(NewJob(kText, &second)).ok());
  EXPECT_EQ(working_.size(), 1u);
  End();
}

TEST_F(CacheTest, EqualJobsShareOneResult) {
  Told told[3];
  for (Told& each : told) ASSERT_TRUE(Submit(NewJob(kText, &each)).ok());
  EXPECT_EQ(working_.size(), 1u);
  End();
  for (const Told& each : told) {
    EXPECT_EQ(each.times, 1);
    EXPECT_TRUE(each.result.status.ok());
  }
  EXPECT_EQ(cache_.stats().shared, 2);
}

TEST_F(CacheTest, EqualSentencesOfOneRequestAreTranslatedOnce) {
  Told told[2];
  const auto request = Request();
  std::vector<JobPtr> jobs;
  for (Told& each : told) jobs.push_back(NewJob(kText, &each, request));
  ASSERT_TRUE(cache_.Submit(std::move(jobs)).ok());
  EXPECT_EQ(working_.size(), 1u);
  End();
  for (const Told& each : told) EXPECT_EQ(each.times, 1);
}

TEST_F(CacheTest, AFollowerOutlivesTheJobThatItFollowed) {
  Told first, second, third;
  const auto request = Request();
  ASSERT_TRUE(Submit(NewJob(kText, &first, request)).ok());
  ASSERT_TRUE(Submit(NewJob(kText, &second)).ok());
  ASSERT_TRUE(Submit(NewJob(kText, &third)).ok());
  request->Cancel(now_);
  End(absl::CancelledError());
  EXPECT_TRUE(absl::IsCancelled(first.result.status));
  EXPECT_EQ(second.times + third.times, 0);
  ASSERT_EQ(working_.size(), 1u);  // one of them now leads, and the other follows it
  End();
  EXPECT_TRUE(second.result.status.ok());
  EXPECT_TRUE(third.result.status.ok());
}

TEST_F(CacheTest, AFollowerThatTakesOverMayBeRefused) {
  Told first, second;
  ASSERT_TRUE(Submit(NewJob(kText, &first)).ok());
  ASSERT_TRUE(Submit(NewJob(kText, &second)).ok());
  answer_ = absl::ResourceExhaustedError("full");
  End(absl::CancelledError());
  EXPECT_EQ(second.times, 1);
  EXPECT_TRUE(absl::IsResourceExhausted(second.result.status));
}

TEST_F(CacheTest, AFollowerIsCancelledAndLateByItself) {
  Told first, cancelled, late, patient;
  const auto request = Request();
  ASSERT_TRUE(Submit(NewJob(kText, &first)).ok());
  ASSERT_TRUE(Submit(NewJob(kText, &cancelled, request)).ok());
  ASSERT_TRUE(
      Submit(NewJob(kText, &late, Request(Priority::kInteractive, now_ + absl::Seconds(1)))).ok());
  ASSERT_TRUE(Submit(NewJob(kText, &patient)).ok());
  request->Cancel(now_);
  cache_.DropUnwanted();
  EXPECT_TRUE(absl::IsCancelled(cancelled.result.status));
  EXPECT_EQ(late.times, 0);
  now_ += absl::Seconds(2);
  cache_.DropUnwanted();
  EXPECT_TRUE(absl::IsDeadlineExceeded(late.result.status));
  End();
  EXPECT_TRUE(first.result.status.ok());
  EXPECT_TRUE(patient.result.status.ok());
  EXPECT_EQ(patient.result.times.queue, absl::Seconds(2));
  EXPECT_EQ(cancelled.times + late.times, 2);
}

TEST_F(CacheTest, NobodyFollowsAJobThatIsLessUrgent) {
  Told batch, urgent, other;
  ASSERT_TRUE(Submit(NewJob(kText, &batch, Request(Priority::kBatch))).ok());
  ASSERT_TRUE(Submit(NewJob(kText, &urgent)).ok());
  EXPECT_EQ(working_.size(), 2u);
  ASSERT_TRUE(Submit(NewJob(kText, &other, Request(Priority::kBatch))).ok());
  EXPECT_EQ(working_.size(), 2u);  // `other` follows the urgent one
  End();                           // but the result of the slow one serves it, too
  EXPECT_EQ(batch.times, 1);
  EXPECT_EQ(other.times, 1);
  EXPECT_EQ(urgent.times, 0);
  End();
  EXPECT_EQ(urgent.times, 1);
}

TEST_F(CacheTest, AStreamedSentenceDoesNotFollow) {
  Told first, watched, follower;
  ASSERT_TRUE(Submit(NewJob(kText, &first)).ok());
  JobPtr job = NewJob(kText, &watched);
  job->on_stable = [](absl::Span<const int32_t>) {};
  ASSERT_TRUE(Submit(std::move(job)).ok());
  EXPECT_EQ(working_.size(), 2u);
  ASSERT_TRUE(Submit(NewJob(kText, &follower)).ok());
  EXPECT_EQ(working_.size(), 2u);
  End();
  EXPECT_EQ(first.times, 1);
  EXPECT_EQ(follower.times, 1);
  EXPECT_EQ(watched.times, 0);
  End();
  EXPECT_EQ(watched.times, 1);
}

TEST_F(CacheTest, ARequestIsRefusedWhole) {
  Told known, follower, miss, leader;
  ASSERT_TRUE(Submit(NewJob(kText, &known)).ok());
  End();
  ASSERT_TRUE(Submit(NewJob("The dog is old.", &leader)).ok());
  answer_ = absl::ResourceExhaustedError("full");
  Told hit;
  const auto request = Request();
  std::vector<JobPtr> jobs;
  jobs.push_back(NewJob(kText, &hit, request));
  jobs.push_back(NewJob("The dog is old.", &follower, request));
  jobs.push_back(NewJob("The house is old.", &miss, request));
  EXPECT_TRUE(absl::IsResourceExhausted(cache_.Submit(std::move(jobs))));
  End();
  EXPECT_EQ(hit.times + follower.times + miss.times, 0);
  EXPECT_EQ(leader.times, 1);
}

TEST_F(CacheTest, ARefusedRequestLeavesNothingBehind) {
  Told leader, told;
  ASSERT_TRUE(Submit(NewJob(kText, &leader)).ok());
  answer_ = absl::ResourceExhaustedError("full");
  const auto request = Request();
  std::vector<JobPtr> jobs;
  jobs.push_back(NewJob(kText, &told, request));
  jobs.push_back(NewJob("The house is old.", &told, request));
  EXPECT_TRUE(absl::IsResourceExhausted(cache_.Submit(std::move(jobs))));
  EXPECT_EQ(request.use_count(), 1) << "while the job that it would have followed still runs";
  cache_.DropUnwanted();
  End();
  EXPECT_EQ(leader.times, 1);
  EXPECT_EQ(told.times, 0);
}

TEST_F(CacheTest, WhatIsKnownIsNeverRefused) {
  Told first, second;
  ASSERT_TRUE(Submit(NewJob(kText, &first)).ok());
  End();
  answer_ = absl::ResourceExhaustedError("full");
  EXPECT_TRUE(Submit(NewJob(kText, &second)).ok());
  EXPECT_TRUE(second.result.status.ok());
}

TEST_F(CacheTest, TheLeastRecentlyUsedLeaves) {
  Told told;
  for (int i = 0; i < 30; ++i) {
    ASSERT_TRUE(Submit(NewJob("The cat is " + std::to_string(i) + ".", &told)).ok());
    if (!working_.empty()) End();
    ASSERT_TRUE(Submit(NewJob("The cat is 0.", &told)).ok());  // used in every round, so it stays
    EXPECT_TRUE(working_.empty());
    EXPECT_LE(cache_.stats().bytes, 4000u);
  }
  EXPECT_GT(cache_.stats().evictions, 10);
  ASSERT_TRUE(Submit(NewJob("The cat is 1.", &told)).ok());
  EXPECT_EQ(working_.size(), 1u);
  End();
}

TEST_F(CacheTest, AResultThatIsLargerThanTheCacheIsNotKept) {
  Told told;
  ASSERT_TRUE(Submit(NewJob(kText, &told)).ok());
  End(absl::OkStatus(), 2000);
  EXPECT_EQ(cache_.stats().bytes, 0u);
  EXPECT_EQ(cache_.stats().entries, 0u);
}

TEST_F(CacheTest, TheNumberOfFollowersIsBounded) {
  const int followers = MostFollowers(kText);
  EXPECT_GT(followers, 3);
  EXPECT_LT(followers, 99);
}

TEST_F(CacheTest, ThoseOfARefusedRequestDoNotCount) {
  const int followers = MostFollowers("The cat is 1.");
  Told leader, told;
  ASSERT_TRUE(Submit(NewJob(kText, &leader)).ok());
  answer_ = absl::ResourceExhaustedError("full");
  for (int i = 0; i < 5; ++i) {
    const auto request = Request();
    std::vector<JobPtr> jobs;
    jobs.push_back(NewJob(kText, &told, request));
    jobs.push_back(NewJob("The house is old.", &told, request));
    EXPECT_TRUE(absl::IsResourceExhausted(cache_.Submit(std::move(jobs))));
  }
  End();
  answer_ = absl::OkStatus();
  EXPECT_EQ(MostFollowers("The cat is 2."), followers);
}

TEST(JobKey, DiffersWithEverythingThatAResultDependsOn) {
  const auto key = [](const std::function<void(Job*)>& change) {
    const JobPtr job = MakeJob(kText, TestSearch(2, 16), [](JobResult) {});
    change(job.get());
    return ResultKey(*job);
  };
  const std::string plain = key([](Job*) {});
  EXPECT_EQ(plain, key([](Job*) {}));
  EXPECT_EQ(plain, key([](Job* job) { job->random_key = 5; }));  // nothing is sampled
  const std::function<void(Job*)> changes[] = {
      [](Job* job) { job->options.beam_size = 3; },
      [](Job* job) { ++job->options.num_hypotheses; },
      [](Job* job) { --job->options.max_length; },
      [](Job* job) { job->options.start_id = 9; },
      [](Job* job) { job->options.repetition_guard ^= true; },
      [](Job* job) { job->options.sampling = true; },
      [](Job* job) {
        job->options.sampling = true;
        job->random_key = 5;
      },
      [](Job* job) { job->source.insert(job->source.begin(), 4); },
      [](Job* job) { job->prefix = {4}; },
      [](Job* job) { job->score_prefix = true; },
      [](Job* job) { job->attention = true; },
      [](Job* job) {
        job->phrases = {Phrase{{{4, 5}}}};
      },
      [](Job* job) {
        job->phrases = {Phrase{{{4}}}, Phrase{{{5}}}};
      },
      [](Job* job) {
        job->phrases = {Phrase{{{4}, {5}}}};
      },
      [](Job* job) {
        job->phrases = {Phrase{{{4}, {5}}, 1.0f}};
      },
      [](Job* job) {
        job->phrases = {Phrase{{{4}, {5}}, 1.0f, {0, 1}}};
      },
      [](Job* job) {
        auto rules = std::make_shared<SearchRules>(*job->rules);
        rules->banned_phrases = {"x"};
        job->rules = rules;
      },
      [](Job* job) {
        auto rules = std::make_shared<SearchRules>(*job->rules);
        rules->bad_words_ids.push_back({4});
        job->rules = rules;
      },
  };
  std::set<std::string> keys = {plain};
  for (const auto& change : changes) EXPECT_TRUE(keys.insert(key(change)).second);
}

// Real workers, many threads and few sentences: every job is answered once, with the result that it
// would have had without a cache.
TEST(WorkerPoolCache, ManyThreadsAreToldWhatTheyWouldBeWithoutACache) {
  Observer nobody;
  WorkerPoolOptions options = {.workers = 2,
                               .max_waiting_requests = 1000,
                               .max_batch_rows = 32,
                               .kv_capacity_bytes = size_t{64} << 20};
  const auto run = [&](size_t cache_bytes, int threads, std::map<std::string, std::string>* all) {
    options.cache_bytes = cache_bytes;
    WorkerPool pool(options, &nobody);
    absl::Mutex mutex;
    std::atomic<int> wrong = 0;
    std::vector<std::thread> clients;
    for (int t = 0; t < threads; ++t) {
      clients.emplace_back([&, t] {
        std::mt19937 random(t);
        for (int i = 0; i < 150; ++i) {
          const std::string text = TestSentences()[random() % TestSentences().size()];
          absl::BlockingCounter told(1);
          const auto request = std::make_shared<RequestState>(absl::InfiniteFuture());
          std::vector<JobPtr> jobs;
          jobs.push_back(MakeJob(
              text, TestSearch(2, 16),
              [&](JobResult result) {
                if (result.status.ok()) {
                  absl::MutexLock lock(&mutex);
                  const auto [known, added] = all->emplace(text, Bytes(result.hypotheses));
                  if (!added && known->second != Bytes(result.hypotheses)) ++wrong;
                } else if (!absl::IsCancelled(result.status)) {
                  ++wrong;
                }
                told.DecrementCount();
              },
              request));
          ASSERT_TRUE(pool.Submit(std::move(jobs)).ok());
          if (i % 10 == 9) request->Cancel(absl::Now());
          told.Wait();
        }
      });
    }
    for (std::thread& client : clients) client.join();
    EXPECT_EQ(wrong, 0);
    return pool.Stats().cache;
  };
  std::map<std::string, std::string> all;
  run(0, 1, &all);
  const CacheStats small = run(20'000, 4, &all);
  EXPECT_LE(small.bytes, 20'000u);
  const CacheStats large = run(size_t{1} << 20, 4, &all);
  EXPECT_GT(large.hits + large.shared, 300);
  // One for each job, and one more for each follower that had to take the lead.
  EXPECT_GE(large.hits + large.shared + large.misses, 600);
}

}  // namespace
}  // namespace dragoman::result_cache_test
