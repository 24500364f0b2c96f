#include "engine/decode/job.h"

#include "gtest/gtest.h"
#include "tests/decode/test_jobs.h"

namespace dragoman::job_test {
namespace {

const absl::Time kNow = absl::UnixEpoch() + absl::Seconds(100);

TEST(RequestState, IsWantedUntilItsDeadline) {
  const RequestState state(kNow);
  EXPECT_TRUE(state.Wanted(kNow - absl::Nanoseconds(1)).ok());
  EXPECT_TRUE(absl::IsDeadlineExceeded(state.Wanted(kNow)));
}

TEST(RequestState, StaysCancelledWhenItsDeadlinePasses) {
  RequestState state(kNow);
  state.Cancel(kNow - absl::Seconds(1));
  EXPECT_TRUE(absl::IsCancelled(state.Wanted(kNow - absl::Seconds(1))));
  EXPECT_TRUE(absl::IsCancelled(state.Wanted(kNow + absl::Seconds(1))));
}

TEST(RequestState, AClientThatHangsUpAtItsDeadlineWasTooLate) {
  RequestState state(kNow);
  state.Cancel(kNow - RequestState::kSlack / 2);
  EXPECT_TRUE(absl::IsDeadlineExceeded(state.Wanted(kNow - RequestState::kSlack / 2)));
}

TEST(RequestState, TheFirstCancellationCounts) {
  RequestState state(kNow);
  state.Cancel(kNow - absl::Seconds(1));
  state.Cancel(kNow + absl::Seconds(1));
  EXPECT_TRUE(absl::IsCancelled(state.Wanted(kNow + absl::Seconds(2))));
}

TEST(JobCost, CountsRowsOfWork) {
  const JobPtr job = MakeJob("Hello", TestSearch(3, 20), [](JobResult) {});
  job->source.assign(8, job->source.back());
  Price(1.5, nullptr, job.get());
  EXPECT_EQ(job->cost.source_tokens, 8);
  EXPECT_EQ(job->cost.rows, 3);
  EXPECT_EQ(job->cost.steps, 13);  // 8 x 1.5, and the end of the sentence
  EXPECT_EQ(job->cost.work(), 8 + 3 * 13);
  EXPECT_EQ(job->cost.kv_bytes, job->model->network().StateBytes(job->Shape()));
  EXPECT_GE(job->cost.kv_bytes, sizeof(float) * 2 * 64 * 2 * (8 + 20 * 3));
}

TEST(JobCost, PricesStepsByWhatTheyAttendTo) {
  WorkTimes times{{0.5, 0.1, 0.01}, {0, 0.02, 0.001}};
  const JobCost cost = {
      .source_tokens = 10, .encode_stages = 4, .rows = 3, .steps = 20, .times = &times};
  EXPECT_DOUBLE_EQ(cost.StepSeconds(0), 3 * (0.1 + 0.1));
  EXPECT_DOUBLE_EQ(cost.StepSeconds(20), 3 * (0.1 + 0.3));
  EXPECT_DOUBLE_EQ(cost.PlainRows(20), 12);
  EXPECT_DOUBLE_EQ(cost.EncodeSeconds(4), 10 * (0.02 + 0.01));
  EXPECT_DOUBLE_EQ(cost.EncodeSeconds(1), cost.EncodeSeconds(4) / 4);
  EXPECT_DOUBLE_EQ(cost.Seconds(), cost.EncodeSeconds(4) + 20 * cost.StepSeconds(10));
}

TEST(JobCost, ExpectsNoLengthThatTheSearchDoesNotAllow) {
  const JobPtr job = MakeJob("Hello", TestSearch(1, 20), [](JobResult) {});
  job->source.assign(100, job->source.back());
  Price(1.25, nullptr, job.get());
  EXPECT_EQ(job->cost.steps, 20);
  job->source.assign(1, job->source.back());
  job->options.min_length = 15;
  Price(1.25, nullptr, job.get());
  EXPECT_EQ(job->cost.steps, 16);
}

}  // namespace
}  // namespace dragoman::job_test
