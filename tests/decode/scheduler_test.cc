#include "engine/decode/scheduler.h"

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/status.h"
#include "gtest/gtest.h"
#include "tests/decode/scheduler_fixture.h"

namespace dragoman::scheduler_test {
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
  int beside = 0;
  for (int i = 0; i < 10; ++i) {
    const Ran ran = Turn();
    EXPECT_EQ(ran.at(5), 1) << i;
    beside += static_cast<int>(ran.size() > 1 ? ran.at(7) : 0);
  }
  EXPECT_NEAR(beside, 10 / 3.0, 1.5);
  EXPECT_EQ(Turn(), (Ran{{7, 8}}));  // 32 rows, while another one may come at any moment
}

TEST_F(SchedulerTest, AWideTurnDoesNotKeepShortRequestsWaiting) {
  TurnLimits turn = kTurn;
  turn.rows = 256;
  turn.encode_tokens = 2000;
  scheduler_ = std::make_unique<Scheduler>(SchedulerLimits{.turn = turn});
  MustEnter(200, Cost(9, 4, 100));
  EXPECT_EQ(Turn(), (Ran{{9, 64}}));
  MustEnter(1, Cost(3, 4, 3));
  for (int i = 0; i < 3; ++i) EXPECT_LE(Turn()[9], 2);
  EXPECT_EQ(Turn(), (Ran{{9, 8}}));  // soon after it
  EXPECT_EQ(Turn(kNow + absl::Milliseconds(50)), (Ran{{9, 64}}));
}

TEST_F(SchedulerTest, DocumentsKeepASeventhOfTheTimeHoweverWideTheirSentencesAre) {
  for (const int width : {4, 16}) {
    for (int i = 0; i < 20; ++i) MustEnter(1, Cost(5, 4, 50));
    MustEnter(100, Cost(7, width, 100));
    double rows = 0, wide = 0;
    for (int i = 0; i < 40; ++i) {
      const Ran ran = Turn();
      for (const auto& [tokens, count] : ran) rows += count * (tokens == 7 ? width : 4);
      wide += ran.contains(7) ? width * ran.at(7) : 0;
    }
    EXPECT_NEAR(wide / rows, 1 / 7.0, 0.02) << width;
    CancelAll();
    scheduler_ = std::make_unique<Scheduler>(SchedulerLimits{.turn = kTurn});
  }
}

TEST_F(SchedulerTest, DocumentsOfAPrincipalEndOneAfterAnother) {
  for (const int tokens : {7, 8, 9}) MustEnter(40, Cost(tokens, 4, 20));
  std::map<int, int> last;
  for (int i = 0; i < 400; ++i) {
    for (const auto& [tokens, count] : Turn()) last[tokens] = i;
  }
  // A document takes 100 turns.
  EXPECT_NEAR(last[7], 100, 20);
  EXPECT_NEAR(last[8], 200, 20);
  EXPECT_NEAR(last[9], 300, 20);
}

TEST_F(SchedulerTest, ALongSentenceGivesWayToASmallerRequest) {
  for (int i = 0; i < 8; ++i) MustEnter(1, Cost(7, 4, 10'000));
  for (int i = 0; i < 1000; ++i) Turn();
  MustEnter(1, Cost(9, 4, 1000));
  int ran = 0;
  for (int i = 0; i < 1000; ++i) ran += Turn()[9];
  EXPECT_EQ(ran, 1000);
}

TEST_F(SchedulerTest, PrincipalsShareTheRowsWhateverTheyAskFor) {
  for (int i = 0; i < 20; ++i) MustEnter(100, Cost(7, 4, 20), {.principal = "greedy"});
  MustEnter(200, Cost(9, 4, 20), {.principal = "modest"});
  std::map<int, int> sum;
  for (int i = 0; i < 200; ++i) {
    for (const auto& [tokens, count] : Turn()) sum[tokens] += count;
  }
  EXPECT_NEAR(sum[7] * 4, sum[9] * 4, Flow::kShortRows);
}

TEST_F(SchedulerTest, APrincipalWithManyShortRequestsIsHeldToItsPart) {
  MustEnter(400, Cost(9, 4, 20), {.principal = "document"});
  std::map<int, int> sum;
  for (int i = 0; i < 1000; ++i) {
    for (int k = 0; k < 2; ++k) static_cast<void>(Enter(1, Cost(5, 4, 5), {.principal = "crowd"}));
    for (const auto& [tokens, count] : Turn()) sum[tokens] += count;
  }
  // A sentence is 25 rows of work in 5 turns, or 89 in 20.
  EXPECT_NEAR(sum[5] * 25 / 5, sum[9] * 89 / 20, Flow::kShortRows + 24 / 4 * 25 + kTurnRows);
}

TEST_F(SchedulerTest, BatchWorkFillsTheGaps) {
  MustEnter(100, Cost(3, 4, 30), {.priority = Priority::kBatch});
  EXPECT_EQ(Turn(), (Ran{{3, 8}}));
  MustEnter(6, Cost(7, 4, 300));
  EXPECT_EQ(Turn(), (Ran{{3, 2}, {7, 6}}));
  MustEnter(1, Cost(5, 4, 10));
  MustEnter(1, Cost(6, 4, 10));
  EXPECT_EQ(Turn(), (Ran{{5, 1}, {6, 1}, {7, 1}}));  // no time for batch work
}

TEST_F(SchedulerTest, SaysForWhomATurnWorks) {
  MustEnter(100, Cost(3, 4, 30), {.priority = Priority::kBatch});
  Turn();
  EXPECT_NEAR(last_.seconds[Priority::kBatch], 8 * (3 + 4) * 100e-6, 1e-9);
  EXPECT_EQ(last_.seconds[Priority::kInteractive], 0);
  MustEnter(6, Cost(7, 4, 300));
  Turn();
  EXPECT_NEAR(last_.seconds[Priority::kBatch], 2 * 4 * 100e-6, 1e-9);
  EXPECT_NEAR(last_.seconds[Priority::kInteractive], 6 * (7 + 4) * 100e-6, 1e-9);
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
  TurnLimits turn = kTurn;
  turn.encode_tokens = 10;
  scheduler_ = std::make_unique<Scheduler>(SchedulerLimits{.turn = turn});
  for (const int tokens : {30, 6, 4, 1}) MustEnter(1, Cost(tokens, 1, 50 - tokens));
  EXPECT_EQ(Turn(), (Ran{{30, 1}}));
  EXPECT_EQ(Turn(), (Ran{{30, 1}, {6, 1}, {4, 1}}));
  EXPECT_EQ(Turn(), (Ran{{30, 1}, {6, 1}, {4, 1}, {1, 1}}));
}

TEST_F(SchedulerTest, LeavesMemoryForTheNextRequest) {
  MustEnter(100, Cost(7, 1, 100, 100));
  EXPECT_EQ(Turn(), (Ran{{7, 5}}));  // half of the 1000 bytes stay free
  MustEnter(1, Cost(5, 1, 10, 400));
  EXPECT_EQ(Turn()[5], 1);
  MustEnter(1, Cost(6, 1, 10, 200));  // does not fit, and must not be overtaken forever
  MustEnter(1, Cost(4, 1, 12, 50));
  const Ran ran = Turn();
  EXPECT_EQ(ran.at(5), 1);
  EXPECT_FALSE(ran.contains(6) || ran.contains(4));
}

TEST_F(SchedulerTest, RefusesWhatIsCancelledOrLateBeforeItStarts) {
  MustEnter(1, Cost(9, 32, 100));
  Turn();
  MustEnter(2, Cost(5, 4, 10), {.deadline = kNow + absl::Seconds(99)});
  MustEnter(1, Cost(6, 4, 10));
  MustEnter(1, Cost(7, 4, 10), {.deadline = kNow + absl::Seconds(1)});
  states_[2]->Cancel(kNow);
  EXPECT_EQ(Turn(kNow + absl::Seconds(1)), (Ran{{5, 2}, {9, 1}}));
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
  constexpr int kDocuments = 40, kSentences = 10;
  for (int i = 0; i < kDocuments; ++i) MustEnter(kSentences, Cost(20, 4, 10));
  constexpr double kWork = kDocuments * kSentences * (20 + 4 * 10) * 100e-6;
  double seconds = 0;
  int left = kDocuments * kSentences * 10;  // steps
  for (int turns = 0; left > 0 && turns < 10'000; ++turns) {
    Enter(1, Cost(7, 4, 10)).IgnoreError();
    const Ran ran = Turn();
    left -= ran.contains(20) ? ran.at(20) : 0;
    seconds += last_.seconds[Priority::kInteractive];
  }
  EXPECT_EQ(left, 0);
  EXPECT_NEAR(kWork / seconds, 1 / 7.0, 0.03);
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

TEST_F(SchedulerTest, OthersTakeASixthOfTheTimeOfTheShortRequestsBesideThem) {
  WorkTimes times{{0, 100e-6, 1e-6}, {0, 20e-6, 0}};
  JobCost cost = Cost(500, 4, 10'000);  // a row takes six times as long, or more
  cost.times = &times;
  cost.encode_stages = 50;
  MustEnter(1, cost);
  double seconds = 0, short_seconds = 0;
  for (int i = 0; i < 2000; ++i) {
    MustEnter(1, Cost(1, 4, 1));
    Turn();
    seconds += last_.seconds[Priority::kInteractive];
    short_seconds += 5 * 100e-6;
  }
  EXPECT_NEAR((seconds - short_seconds) / short_seconds, 1 / 6.0, 0.03);
}

TEST_F(SchedulerTest, RefusesInTheQueueWhatCannotBeDoneAnyMore) {
  for (int i = 0; i < 8; ++i) MustEnter(1, Cost(9, 4, 200));
  absl::Time now = kNow;
  for (int i = 0; i < 100; ++i) Turn(now += absl::Milliseconds(10));
  const absl::Time deadline = now + absl::Milliseconds(2500);
  MustEnter(1, Cost(5, 16, 60), {.deadline = deadline});  // behind another second of work
  for (int i = 0; i < 10; ++i) Turn(now += absl::Milliseconds(10));
  EXPECT_TRUE(last_.refuse.empty());
  while (last_.refuse.empty() && now < deadline) Turn(now += absl::Milliseconds(50));
  EXPECT_LT(now, deadline - absl::Seconds(1));
  ASSERT_EQ(last_.refuse.size(), 1u);
  EXPECT_TRUE(absl::IsDeadlineExceeded(last_.refuse[0].second));
}

// They wait behind sentences that have begun, too.
TEST_F(SchedulerTest, WhatIsInProgressCountsAsWorkBeforeANewcomer) {
  for (int i = 0; i < 8; ++i) MustEnter(1, Cost(9, 4, 200));
  absl::Time now = kNow;
  for (int i = 0; i < 100; ++i) Turn(now += absl::Milliseconds(10));
  EXPECT_EQ(scheduler_->stats(Priority::kInteractive).requests, 0);
  // A second of work, and 61 steps of 10 ms.
  const absl::Status status = Enter(1, Cost(5, 16, 60), {.deadline = now + absl::Seconds(1)});
  EXPECT_TRUE(absl::IsDeadlineExceeded(status)) << status;
}

TEST_F(SchedulerTest, NobodyIsRefusedBecauseOfWhatAnotherPrincipalHasWaiting) {
  MustEnter(1, Cost(9, 32, 1000));
  absl::Time now = kNow;
  for (int i = 0; i < 100; ++i) Turn(now += absl::Milliseconds(10));
  // 100 requests of 100 rows at 3,200 rows a second: 3 s.
  for (int i = 0; i < 100; ++i) MustEnter(1, Cost(20, 4, 20), {.principal = "greedy"});
  const RequestTerms terms = {.deadline = now + absl::Seconds(1), .principal = "greedy"};
  const CostRange range = Range(20, 100, 200);
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
  Scheduler scheduler({.workers = 2, .turn = kTurn});
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
}  // namespace dragoman::scheduler_test
