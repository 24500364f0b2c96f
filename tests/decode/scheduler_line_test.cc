// The queue: its bounds, and whose request takes whose place.

#include "engine/base/status.h"
#include "gtest/gtest.h"
#include "tests/decode/scheduler_fixture.h"

namespace dragoman::scheduler_line_test {
namespace {

class LineTest : public SchedulerTest {
 protected:
  LineTest()
      : SchedulerTest({.turn = kTurn,
                       .max_waiting_requests = 8,
                       .max_waiting_tokens = 100,
                       .max_waiting_work = 1e6}) {}
};

TEST_F(LineTest, KnowsWhatWaits) {
  MustEnter(3, Cost(10, 4, 5));
  EXPECT_EQ(scheduler_->stats(Priority::kInteractive).requests, 1);
  EXPECT_EQ(scheduler_->stats(Priority::kInteractive).tokens, 30);
  EXPECT_EQ(scheduler_->stats(Priority::kInteractive).work, 90);
  EXPECT_EQ(scheduler_->stats(Priority::kInteractive).oldest, kNow);
  Turn();
  EXPECT_EQ(scheduler_->stats(Priority::kInteractive).requests, 0);
  EXPECT_EQ(scheduler_->stats(Priority::kInteractive).tokens, 0);
  EXPECT_TRUE(scheduler_->line_empty());
}

TEST_F(LineTest, RefusesTooManyRequests) {
  for (int i = 0; i < 8; ++i) MustEnter(1, Cost(1, 4, 5));
  const absl::Status status = Enter(1, Cost(1, 4, 5));
  EXPECT_TRUE(absl::IsResourceExhausted(status)) << status;
  EXPECT_EQ(scheduler_->stats(Priority::kInteractive).tokens, 8);
}

TEST_F(LineTest, LongRequestsLeaveAQuarterToShortOnes) {
  for (int i = 0; i < 6; ++i) MustEnter(1, Cost(1, 16, 500));
  EXPECT_TRUE(absl::IsResourceExhausted(Enter(1, Cost(1, 16, 500))));
  MustEnter(1, Cost(1, 4, 5));
  MustEnter(1, Cost(1, 4, 5));
  EXPECT_TRUE(absl::IsResourceExhausted(Enter(1, Cost(1, 4, 5))));
}

TEST_F(LineTest, AnEmptyQueueTakesOneRequestOfAnySize) {
  MustEnter(30, Cost(30, 16, 5000));
  EXPECT_TRUE(absl::IsResourceExhausted(Enter(1, Cost(1, 16, 500))));
  MustEnter(1, Cost(20, 4, 5));
  EXPECT_TRUE(absl::IsResourceExhausted(Enter(1, Cost(20, 4, 5))));
}

TEST_F(LineTest, APrincipalWithLessOfTheQueueTakesAPlaceOfTheOneWithMost) {
  for (int i = 0; i < 8; ++i) MustEnter(1, Cost(1 + i, 4, 5), {.principal = "greedy"});
  EXPECT_TRUE(absl::IsResourceExhausted(Enter(1, Cost(1, 4, 5), {.principal = "greedy"})));
  MustEnter(1, Cost(20, 4, 5), {.principal = "modest"});
  EXPECT_EQ(scheduler_->stats(Priority::kInteractive).requests, 8);
  Turn();
  ASSERT_EQ(last_.refuse.size(), 1u);
  EXPECT_EQ(last_.refuse[0].first->cost.source_tokens, 8);  // would have been the last
  EXPECT_TRUE(absl::IsResourceExhausted(last_.refuse[0].second));
}

TEST_F(LineTest, NobodyYieldsToARequestThatIsRefusedAllTheSame) {
  for (int i = 0; i < 5; ++i) MustEnter(1, Cost(18, 4, 5), {.principal = "greedy"});
  // Three places would not be enough for its tokens; then it would have more work in the queue.
  const RequestTerms modest = {.principal = "modest"};
  EXPECT_TRUE(absl::IsResourceExhausted(Enter(1, Cost(95, 1, 1), modest)));
  EXPECT_EQ(scheduler_->stats(Priority::kInteractive).requests, 5);
  const CostRange range = Range(95, 96, 96);
  EXPECT_TRUE(absl::IsResourceExhausted(scheduler_->CheckAhead(modest, range, kNow)));
  Turn();
  EXPECT_TRUE(last_.refuse.empty());
}

TEST_F(LineTest, ARequestThatYieldsIsNotCharged) {
  const RequestTerms greedy = {.principal = "greedy", .quota = {.per_minute = 1000}};
  for (int i = 0; i < 8; ++i) MustEnter(1, Cost(5, 4, 30), greedy);  // 125 each: all of the quota
  for (int i = 0; i < 3; ++i) MustEnter(1, Cost(1, 4, 5), {.principal = "modest"});
  EXPECT_EQ(scheduler_->stats(Priority::kInteractive).requests, 8);
  Turn();
  EXPECT_EQ(last_.refuse.size(), 3u);
  // They may come again, and cost as much as before.
  for (int i = 0; i < 3; ++i) MustEnter(1, Cost(5, 4, 30), greedy);
  const absl::Status status = Enter(1, Cost(1, 1, 1), greedy);
  EXPECT_TRUE(RetryAfterOf(status).has_value()) << status;
}

TEST_F(LineTest, ALargeRequestTakesAsManyPlacesAsItNeeds) {
  for (int i = 0; i < 5; ++i) MustEnter(1, Cost(18, 4, 5), {.principal = "greedy"});
  MustEnter(1, Cost(40, 1, 1), {.principal = "modest"});
  EXPECT_EQ(scheduler_->stats(Priority::kInteractive).requests, 4);
  EXPECT_EQ(scheduler_->stats(Priority::kInteractive).tokens, 3 * 18 + 40);
  Turn();
  EXPECT_EQ(last_.refuse.size(), 2u);
}

TEST_F(LineTest, NobodyWithMoreTakesAPlace) {
  for (int i = 0; i < 4; ++i) MustEnter(1, Cost(1, 4, 5), {.principal = "a"});
  for (int i = 0; i < 4; ++i) MustEnter(1, Cost(1, 4, 5), {.principal = "b"});
  EXPECT_TRUE(absl::IsResourceExhausted(Enter(1, Cost(1, 4, 5), {.principal = "a"})));
  EXPECT_TRUE(absl::IsResourceExhausted(Enter(1, Cost(1, 4, 30), {.principal = "c"})));
}

TEST_F(LineTest, NorDoesAnybodyWithAsMuch) {
  for (int i = 0; i < 8; ++i) MustEnter(1, Cost(1, 4, 5), {.principal = "a"});  // 168
  const RequestTerms b = {.principal = "b"};
  EXPECT_TRUE(absl::IsResourceExhausted(Enter(1, Cost(8, 4, 40), b)));
  MustEnter(1, Cost(7, 4, 40), b);
}

TEST_F(LineTest, OfPrincipalsWithAsMuchTheOneThatCameFirstYields) {
  for (int i = 0; i < 4; ++i) MustEnter(1, Cost(5, 4, 4), {.principal = "b"});
  for (int i = 0; i < 4; ++i) MustEnter(1, Cost(1, 4, 5), {.principal = "a"});
  MustEnter(1, Cost(1, 1, 1), {.principal = "modest"});
  Turn();
  ASSERT_EQ(last_.refuse.size(), 1u);
  EXPECT_EQ(last_.refuse[0].first->cost.source_tokens, 5);
}

TEST_F(LineTest, BatchWorkTakesNoRoomFromInteractiveWorkEvenIfItHasBegun) {
  const RequestTerms batch = {.priority = Priority::kBatch};
  for (int i = 0; i < 6; ++i) MustEnter(7, Cost(1, 5, 200), batch);
  for (int i = 0; i < 2; ++i) MustEnter(7, Cost(1, 5, 5), batch);
  Turn();  // begins one of them
  EXPECT_EQ(scheduler_->stats(Priority::kBatch).requests, 8);
  EXPECT_TRUE(absl::IsResourceExhausted(Enter(1, Cost(1, 1, 1), batch)));
  for (int i = 0; i < 6; ++i) MustEnter(1, Cost(10, 16, 500));
  for (int i = 0; i < 2; ++i) MustEnter(1, Cost(1, 4, 5));
  EXPECT_EQ(scheduler_->stats(Priority::kInteractive).requests, 8);
  EXPECT_EQ(scheduler_->stats(Priority::kBatch).requests, 8);
  EXPECT_TRUE(last_.refuse.empty());
  Turn();
  EXPECT_TRUE(last_.refuse.empty());  // nobody has yielded
}

TEST_F(LineTest, NorDoesInteractiveWorkFromBatchWork) {
  for (int i = 0; i < 8; ++i) MustEnter(1, Cost(1, 4, 5));
  EXPECT_TRUE(absl::IsResourceExhausted(Enter(1, Cost(1, 4, 5))));
  MustEnter(1, Cost(1, 4, 5), {.priority = Priority::kBatch});
}

TEST_F(LineTest, RefusesAheadWhatWouldBeRefusedAnyway) {
  const CostRange short_one = Range(1, 20, 300);
  const CostRange any = Range(1, 20, 3000);
  const RequestTerms terms;
  EXPECT_TRUE(scheduler_->CheckAhead(terms, short_one, kNow).ok());
  for (int i = 0; i < 8; ++i) MustEnter(1, Cost(1, 4, 5));
  const absl::Status ahead = scheduler_->CheckAhead(terms, short_one, kNow);
  EXPECT_TRUE(absl::IsResourceExhausted(ahead)) << ahead;
  EXPECT_TRUE(scheduler_->CheckAhead(terms, any, kNow).ok());  // it may turn out to be long
  EXPECT_TRUE(scheduler_->CheckAhead({.principal = "other"}, short_one, kNow).ok());
  for (int i = 0; i < 6; ++i) MustEnter(1, Cost(1, 16, 500));
  EXPECT_TRUE(absl::IsResourceExhausted(scheduler_->CheckAhead(terms, any, kNow)));
}

}  // namespace
}  // namespace dragoman::scheduler_line_test
