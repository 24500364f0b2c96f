#include "engine/decode/scheduler.h"

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/status.h"
#include "gtest/gtest.h"
#include "tests/decode/scheduler_fixture.h"

namespace dragoman {
namespace {

TEST_F(SchedulerTest, FillsATurnInTheOrderOfArrival) {
  for (const int tokens : {5, 3, 9}) MustEnter(1, Cost(tokens, 12, 10));
  EXPECT_EQ(Turn(), (Ran{{5, 1}, {3, 1}}));  // 24 of 32 rows
  EXPECT_EQ(Turn(), (Ran{{5, 1}, {3, 1}}));
  EXPECT_EQ(scheduler_->stats(Priority::kInteractive).requests, 1);
}

TEST_F(SchedulerTest, AShortRequestNeverWaitsForADocument) {
  MustEnter(1000, Cost(7, 4, 100));
  for (int i = 0; i < 50; ++i) EXPECT_EQ(Turn(), (Ran{{7, 8}}));
  MustEnter(1, Cost(5, 4, 10));
  // It gets its rows in the next turn and in every turn after that, and turns stay short.
  for (int i = 0; i < 10; ++i) EXPECT_EQ(Turn(), (Ran{{5, 1}, {7, 3}})) << i;
  EXPECT_EQ(Turn(), (Ran{{7, 4}}));  // room for another short one
  EXPECT_EQ(Turn(kNow + absl::Milliseconds(50)), (Ran{{7, 8}}));
}

TEST_F(SchedulerTest, AWideTurnDoesNotKeepShortRequestsWaiting) {
  const auto wide = [](JobCost cost) {
    cost.turn_share /= 8;  // of 256 rows
    cost.encode_share /= 8;
    return cost;
  };
  MustEnter(100, wide(Cost(9, 4, 100)));
  EXPECT_EQ(Turn(), (Ran{{9, 64}}));
  MustEnter(1, wide(Cost(3, 4, 20)));
  EXPECT_EQ(Turn(), (Ran{{3, 1}, {9, 3}}));  // half of 32 rows
}

TEST_F(SchedulerTest, DocumentsKeepAQuarterOfTheRows) {
  for (int i = 0; i < 20; ++i) MustEnter(1, Cost(5, 4, 50));
  MustEnter(100, Cost(7, 4, 100));
  for (int i = 0; i < 10; ++i) EXPECT_EQ(Turn(), (Ran{{5, 6}, {7, 2}})) << i;
}

TEST_F(SchedulerTest, AndSoDoTheirWidestSentences) {
  for (int i = 0; i < 20; ++i) MustEnter(1, Cost(5, 4, 50));
  MustEnter(100, Cost(7, 16, 100));
  std::map<int, int> sum;
  for (int i = 0; i < 20; ++i) {
    for (const auto& [tokens, count] : Turn()) sum[tokens] += count;
  }
  EXPECT_EQ(sum[7], 10);               // half of a turn's rows in every second turn
  EXPECT_EQ(sum[5], 10 * 6 + 10 * 8);  // all other rows
}

TEST_F(SchedulerTest, DocumentsShareTheRows) {
  MustEnter(100, Cost(7, 4, 20));
  for (int i = 0; i < 100; ++i) Turn();
  MustEnter(100, Cost(9, 4, 20));
  std::map<int, int> sum;
  for (int i = 0; i < 200; ++i) {
    for (const auto& [tokens, count] : Turn()) sum[tokens] += count;
  }
  // They differ by no more than kShort and the rows of a turn.
  EXPECT_NEAR(sum[7] * 4, sum[9] * 4, Flow::kShort + kTurnRows);
  EXPECT_EQ(sum[7] + sum[9], 200 * 8);
}

TEST_F(SchedulerTest, ALongSentenceGivesWayToOneThatIsFurtherBehind) {
  for (int i = 0; i < 8; ++i) MustEnter(1, Cost(7, 4, 10'000));
  for (int i = 0; i < 1000; ++i) Turn();
  MustEnter(1, Cost(9, 4, 1000));  // level with the others now
  int ran = 0;
  for (int i = 0; i < 3000; ++i) ran += Turn()[9];
  EXPECT_EQ(ran, 1000);
}

TEST_F(SchedulerTest, PrincipalsShareTheRowsWhateverTheyAskFor) {
  for (int i = 0; i < 20; ++i) MustEnter(100, Cost(7, 4, 20), {.principal = "greedy"});
  MustEnter(200, Cost(9, 4, 20), {.principal = "modest"});
  std::map<int, int> sum;
  for (int i = 0; i < 200; ++i) {
    for (const auto& [tokens, count] : Turn()) sum[tokens] += count;
  }
  EXPECT_NEAR(sum[7] * 4, sum[9] * 4, Flow::kShort);
}

TEST_F(SchedulerTest, APrincipalWithManyShortRequestsIsHeldToItsPart) {
  MustEnter(400, Cost(9, 4, 20), {.principal = "document"});
  std::map<int, int> sum;
  for (int i = 0; i < 1000; ++i) {
    for (int k = 0; k < 2; ++k) static_cast<void>(Enter(1, Cost(5, 4, 5), {.principal = "crowd"}));
    for (const auto& [tokens, count] : Turn()) sum[tokens] += count;
  }
  // A sentence is 25 rows of work in 5 turns, or 89 in 20.
  EXPECT_NEAR(sum[5] * 25 / 5, sum[9] * 89 / 20, Flow::kShort + 24 / 4 * 25 + kTurnRows);
}

TEST_F(SchedulerTest, BatchWorkFillsTheGaps) {
  MustEnter(100, Cost(3, 4, 30), {.priority = Priority::kBatch});
  EXPECT_EQ(Turn(), (Ran{{3, 8}}));
  MustEnter(6, Cost(7, 4, 300));
  EXPECT_EQ(Turn(), (Ran{{3, 2}, {7, 6}}));
  MustEnter(1, Cost(5, 4, 10));
  MustEnter(1, Cost(6, 4, 10));
  EXPECT_EQ(Turn(), (Ran{{5, 1}, {6, 1}, {7, 2}}));
}

TEST_F(SchedulerTest, SaysForWhomATurnWorks) {
  MustEnter(100, Cost(3, 4, 30), {.priority = Priority::kBatch});
  Turn();
  EXPECT_EQ(last_.work[Priority::kBatch], 8 * (3 + 4));
  EXPECT_EQ(last_.work[Priority::kInteractive], 0);
  MustEnter(6, Cost(7, 4, 300));
  Turn();
  EXPECT_EQ(last_.work[Priority::kBatch], 2 * 4);
  EXPECT_EQ(last_.work[Priority::kInteractive], 6 * (7 + 4));
}

TEST_F(SchedulerTest, BatchWorkNeverStandsStill) {
  MustEnter(1000, Cost(3, 4, 10), {.priority = Priority::kBatch});
  Ran ran;
  for (int i = 0; i < 320; ++i) {
    while (scheduler_->stats(Priority::kInteractive).requests < 10) MustEnter(1, Cost(5, 4, 10));
    for (const auto& [tokens, count] : Turn(kNow + i * absl::Milliseconds(5))) {
      ran[tokens] += count;
    }
  }
  // Four rows whenever a sixteenth of the 32 of each turn adds up to them.
  EXPECT_NEAR(ran[3], 320 * kTurnRows / 16 / 4, 60);
  EXPECT_GT(ran[5], 320 * 6);
}

TEST_F(SchedulerTest, ATurnTakesASentenceWiderThanItsRows) {
  MustEnter(1, Cost(5, 50, 2));
  MustEnter(1, Cost(6, 4, 30));
  EXPECT_EQ(Turn(), (Ran{{5, 1}}));
}

TEST_F(SchedulerTest, AWideSentenceHoldsTheLineOfItsLike) {
  MustEnter(1, Cost(5, 12, 10));
  MustEnter(1, Cost(6, 16, 10));
  MustEnter(1, Cost(7, 4, 10));
  EXPECT_EQ(Turn(), (Ran{{5, 1}, {6, 1}, {7, 1}}));  // 7 gets what is left
}

TEST_F(SchedulerTest, BoundsTheSourceTokensOfATurn) {
  for (const int tokens : {30, 6, 4, 1}) {
    JobCost cost = Cost(tokens, 1, 50 - tokens);
    cost.encode_share = tokens / 10.0;
    MustEnter(1, cost);
  }
  EXPECT_EQ(Turn(), (Ran{{30, 1}}));
  EXPECT_EQ(Turn(), (Ran{{30, 1}, {6, 1}, {4, 1}}));
  EXPECT_EQ(Turn(), (Ran{{30, 1}, {6, 1}, {4, 1}, {1, 1}}));
}

TEST_F(SchedulerTest, LeavesMemoryForTheNextRequest) {
  MustEnter(100, Cost(7, 1, 100, 100));
  EXPECT_EQ(Turn(), (Ran{{7, 5}}));  // half of the 1000 bytes stay free
  MustEnter(1, Cost(5, 1, 10, 400));
  EXPECT_EQ(Turn(), (Ran{{5, 1}, {7, 5}}));
  MustEnter(1, Cost(6, 1, 10, 200));  // does not fit, and must not be overtaken forever
  MustEnter(1, Cost(4, 1, 12, 50));
  EXPECT_EQ(Turn(), (Ran{{5, 1}, {7, 5}}));
}

TEST_F(SchedulerTest, RefusesWhatIsCancelledOrLateBeforeItStarts) {
  MustEnter(1, Cost(9, 32, 100));
  Turn();
  MustEnter(2, Cost(5, 4, 10), {.deadline = kNow + absl::Seconds(99)});
  MustEnter(1, Cost(6, 4, 10));
  MustEnter(1, Cost(7, 4, 10), {.deadline = kNow + absl::Seconds(1)});
  states_[2]->Cancel(kNow);
  EXPECT_EQ(Turn(kNow + absl::Seconds(1)), (Ran{{5, 2}}));
  ASSERT_EQ(last_.refuse.size(), 2u);
  EXPECT_EQ(last_.refuse[0].first->cost.source_tokens, 6);
  EXPECT_TRUE(absl::IsCancelled(last_.refuse[0].second));
  EXPECT_EQ(last_.refuse[1].first->cost.source_tokens, 7);
  EXPECT_TRUE(absl::IsDeadlineExceeded(last_.refuse[1].second));
}

// Texts of one call that take different routes come one after another, with the same state.
TEST_F(SchedulerTest, RequestsThatShareAStateWaitApartAndAreCancelledTogether) {
  states_.push_back(std::make_shared<RequestState>(absl::InfiniteFuture()));
  for (const int tokens : {5, 3, 9}) {
    std::vector<JobPtr> jobs;
    jobs.push_back(CostOnly(Cost(tokens, 12, 10), states_.back()));
    ASSERT_TRUE(scheduler_->Enter(&jobs, kNow).ok());
  }
  EXPECT_EQ(Turn(), (Ran{{5, 1}, {3, 1}}));
  EXPECT_EQ(scheduler_->stats(Priority::kInteractive).requests, 1);
  states_.back()->Cancel(kNow);
  Turn(kNow + absl::Seconds(1));
  EXPECT_EQ(scheduler_->stats(Priority::kInteractive).requests, 0);
  ASSERT_EQ(last_.refuse.size(), 1u);
  EXPECT_TRUE(absl::IsCancelled(last_.refuse[0].second));
}

TEST_F(SchedulerTest, EncodesALongSentenceInSeveralTurns) {
  JobCost cost = Cost(512, 4, 600);
  cost.encode_stages = 8;  // stages of 64 tokens
  MustEnter(1, cost);
  const auto state = std::make_shared<RequestState>(absl::InfiniteFuture());
  TurnPlan plan = scheduler_->PlanTurn(0, {}, kNow);
  ASSERT_EQ(plan.start.size(), 1u);
  EXPECT_EQ(plan.start[0].encode_stages, 2);  // 128 tokens
  int left = 8 - 2;
  for (; left > 0; left -= 2) {
    std::vector<Resident> residents = {{.job = plan.start[0].job.get(), .stages_left = left}};
    scheduler_->PlanTurn(0, absl::MakeSpan(residents), kNow);
    EXPECT_EQ(residents[0].encode_stages, 2);
    EXPECT_EQ(residents[0].runs, left == 2);
  }
  scheduler_->OnEnd(*plan.start[0].job, absl::OkStatus());
}

TEST_F(SchedulerTest, ALongSentenceMakesProgressHoweverManyShortOnesThereAre) {
  JobCost cost = Cost(512, 4, 600);
  cost.encode_stages = 8;
  MustEnter(1, cost);
  TurnPlan plan = scheduler_->PlanTurn(0, {}, kNow);
  ASSERT_EQ(plan.start.size(), 1u);
  for (int i = 0; i < 5; ++i) MustEnter(1, Cost(32, 4, 10));
  std::vector<Resident> residents = {{.job = plan.start[0].job.get(), .stages_left = 6}};
  TurnPlan second = scheduler_->PlanTurn(0, absl::MakeSpan(residents), kNow);
  EXPECT_EQ(second.start.size(), 4u);  // 128 tokens
  EXPECT_EQ(residents[0].encode_stages, 1);
  scheduler_->OnEnd(*plan.start[0].job, absl::OkStatus());
  for (const Starting& starting : second.start) {
    scheduler_->OnEnd(*starting.job, absl::OkStatus());
  }
}

// More short requests arrive than can ever be done, and are refused when the queue is full.
TEST_F(SchedulerTest, DocumentsEndHoweverManyShortRequestsArrive) {
  constexpr int kDocuments = 40, kSentences = 10, kRows = 4, kSteps = 10;
  for (int i = 0; i < kDocuments; ++i) MustEnter(kSentences, Cost(20, kRows, kSteps));
  constexpr int kWork = kDocuments * kSentences * kSteps;  // sentences in a turn
  constexpr int kQuarter = kTurnRows / 4 / kRows;
  int done = 0, turns = 0, short_ones = 0;
  for (; done < kWork && turns < 2 * kWork; ++turns) {
    Enter(1, Cost(7, kRows, kSteps)).IgnoreError();
    const Ran ran = Turn();
    done += ran.contains(20) ? ran.at(20) : 0;
    short_ones += ran.contains(7) ? ran.at(7) : 0;
  }
  EXPECT_EQ(done, kWork);
  EXPECT_LE(turns, kWork / kQuarter * 1.1);
  EXPECT_GE(short_ones, turns * (kTurnRows / kRows - kQuarter) * 0.9);
}

TEST_F(SchedulerTest, RefusesOnArrivalWhatCannotBeDoneInTime) {
  MustEnter(1, Cost(9, 32, 1000));
  absl::Time now = kNow;
  for (int i = 0; i < 100; ++i) Turn(now += absl::Milliseconds(10));
  // 20 steps take 200 ms.
  EXPECT_TRUE(Enter(1, Cost(5, 4, 19), {.deadline = kNow + absl::Milliseconds(210)}).ok());
  const absl::Status status =
      Enter(1, Cost(5, 4, 19), {.deadline = kNow + absl::Milliseconds(190)});
  EXPECT_TRUE(absl::IsDeadlineExceeded(status)) << status;
  EXPECT_NE(status.message().find("cannot be met"), std::string::npos) << status;
}

TEST_F(SchedulerTest, AnOldForecastRefusesNobody) {
  MustEnter(1, Cost(9, 32, 100));
  absl::Time now = kNow;
  for (int i = 0; i < 100; ++i) Turn(now += absl::Seconds(1));
  scheduler_->OnTurnEnd(0, now += absl::Seconds(1));
  const auto enter = [&](absl::Time at) {
    const RequestTerms terms = {.deadline = at + absl::Milliseconds(190)};
    states_.push_back(std::make_shared<RequestState>(terms));
    std::vector<JobPtr> jobs;
    jobs.push_back(CostOnly(Cost(5, 4, 19), states_.back()));
    return scheduler_->Enter(&jobs, at);
  };
  EXPECT_TRUE(absl::IsDeadlineExceeded(enter(now + absl::Milliseconds(900))));
  EXPECT_TRUE(enter(now + absl::Milliseconds(1100)).ok());
  // It starts, so the next forecast is right.
  EXPECT_EQ(Turn(now + absl::Milliseconds(1100)), (Ran{{5, 1}}));
}

TEST_F(SchedulerTest, IdleTimeIsNoTurn) {
  absl::Time now = kNow;
  for (int i = 0; i < 50; ++i) {
    MustEnter(1, Cost(5, 4, 1));
    Turn(now);
    scheduler_->OnTurnEnd(0, now + absl::Milliseconds(1));
    now += absl::Milliseconds(500);
  }
  EXPECT_TRUE(Enter(1, Cost(5, 4, 19), {.deadline = kNow + absl::Milliseconds(50)}).ok());
}

TEST_F(SchedulerTest, OthersTakeHalfAsMuchTimeAsTheShortRequestsBesideThem) {
  MustEnter(1, Cost(7, 4, 10'000));
  absl::Time now = kNow;
  absl::Duration all, beside;
  for (int i = 0; i < 400; ++i) {
    if (i % 10 == 0) MustEnter(1, Cost(5, 4, 10));
    const bool with_others = Turn(now).contains(7);
    const absl::Duration took = absl::Milliseconds(with_others ? 8 : 1);
    all += took;
    if (with_others) beside += took - absl::Milliseconds(1);
    now += took;
  }
  EXPECT_NEAR(absl::FDivDuration(beside, all), 1 / 3.0, 0.05);
}

TEST_F(SchedulerTest, RefusesInTheQueueWhatCannotBeDoneAnyMore) {
  for (int i = 0; i < 8; ++i) MustEnter(1, Cost(9, 4, 200));
  absl::Time now = kNow;
  for (int i = 0; i < 100; ++i) Turn(now += absl::Milliseconds(10));
  MustEnter(1, Cost(5, 16, 60), {.deadline = now + absl::Milliseconds(700)});
  int turns = 0;  // that have no room for it
  for (; last_.refuse.empty() && turns < 100; ++turns) Turn(now += absl::Milliseconds(10));
  EXPECT_NEAR(turns, 9, 1);  // 61 turns would take 610 ms
  ASSERT_EQ(last_.refuse.size(), 1u);
  EXPECT_TRUE(absl::IsDeadlineExceeded(last_.refuse[0].second));
}

TEST_F(SchedulerTest, NobodyIsRefusedBecauseOfWhatAnotherPrincipalHasWaiting) {
  MustEnter(1, Cost(9, 32, 1000));
  absl::Time now = kNow;
  for (int i = 0; i < 100; ++i) Turn(now += absl::Milliseconds(10));
  // 100 requests of 100 rows at 3,200 rows a second: 3 s.
  for (int i = 0; i < 100; ++i) MustEnter(1, Cost(20, 4, 20), {.principal = "greedy"});
  const RequestTerms terms = {.deadline = now + absl::Seconds(1), .principal = "greedy"};
  const CostRange range = {.least_tokens = 2, .least_work = 20, .most_work = 200};
  const absl::Status status = Enter(1, Cost(20, 4, 20), terms);
  EXPECT_TRUE(absl::IsDeadlineExceeded(status)) << status;
  const absl::Status ahead = scheduler_->CheckAhead(terms, range, now);
  EXPECT_TRUE(absl::IsDeadlineExceeded(ahead)) << ahead;
  MustEnter(1, Cost(20, 4, 20), {.deadline = now + absl::Seconds(1), .principal = "modest"});
}

TEST_F(SchedulerTest, LooksAgainAtWhoWaitsBeforeTheirTimeIsOver) {
  for (int i = 0; i < 8; ++i) MustEnter(1, Cost(9, 4, 200));
  absl::Time now = kNow;
  for (int i = 0; i < 100; ++i) Turn(now += absl::Milliseconds(10));
  MustEnter(1, Cost(5, 16, 60), {.deadline = now + absl::Seconds(10)});
  MustEnter(1, Cost(6, 16, 60));  // no room for either
  Turn(now);
  states_.back()->Cancel(now);
  int turns = 0;
  for (; last_.refuse.empty() && turns < 10; ++turns) Turn(now += absl::Milliseconds(10));
  EXPECT_LE(turns, 2);
  ASSERT_EQ(last_.refuse.size(), 1u);
  EXPECT_EQ(last_.refuse[0].first->cost.source_tokens, 6);
}

TEST_F(SchedulerTest, AQuotaCountsWork) {
  const RequestTerms terms = {.principal = "a", .quota = {.per_minute = 100}};
  MustEnter(1, Cost(20, 4, 20), terms);  // 100 rows
  const absl::Status status = Enter(1, Cost(1, 1, 1), terms);
  EXPECT_TRUE(absl::IsResourceExhausted(status)) << status;
  EXPECT_TRUE(RetryAfterOf(status).has_value());
  MustEnter(1, Cost(1, 1, 1), {.principal = "b", .quota = {.per_minute = 100}});
}

TEST(SchedulerWorkers, TheOneWithTheLeastToDoTakesTheNextJob) {
  Scheduler scheduler({.workers = 2, .kv_capacity_bytes = 1000});
  std::vector<JobPtr> running;
  std::vector<Resident> residents[2];
  const auto enter = [&](int count) {
    std::vector<JobPtr> jobs;
    const auto state = std::make_shared<RequestState>(absl::InfiniteFuture());
    for (int i = 0; i < count; ++i) jobs.push_back(CostOnly(Cost(5, 4, 50), state));
    ASSERT_TRUE(scheduler.Enter(&jobs, kNow).ok());
  };
  const auto turn = [&](int worker) {
    TurnPlan plan = scheduler.PlanTurn(worker, absl::MakeSpan(residents[worker]), kNow);
    for (auto& [job, stages] : plan.start) {
      residents[worker].push_back({.job = job.get()});
      running.push_back(std::move(job));
    }
    return plan.start.size();
  };
  enter(6);
  EXPECT_EQ(turn(0), 3u);  // half of the six
  EXPECT_EQ(turn(1), 3u);
  enter(1);
  EXPECT_EQ(turn(0), 1u);
  enter(1);
  EXPECT_EQ(turn(0), 0u);  // the other worker has less to do
  EXPECT_EQ(turn(1), 1u);
  for (const JobPtr& job : running) scheduler.OnEnd(*job, absl::OkStatus());
}

}  // namespace
}  // namespace dragoman
