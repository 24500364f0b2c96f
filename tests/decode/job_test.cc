#include "engine/decode/job.h"

#include "gtest/gtest.h"
#include "tests/decode/test_jobs.h"

namespace dragoman {
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
  Price({.turn_rows = 30, .length_ratio = 1.5}, job.get());
  EXPECT_EQ(job->cost.source_tokens, 8);
  EXPECT_EQ(job->cost.rows, 3);
  EXPECT_EQ(job->cost.steps, 13);  // 8 x 1.5, and the end of the sentence
  EXPECT_EQ(job->cost.work(), 8 + 3 * 13);
  EXPECT_DOUBLE_EQ(job->cost.turn_share, 0.1);
  EXPECT_DOUBLE_EQ(job->cost.encode_share, 8 / 60.0);
  EXPECT_EQ(job->cost.kv_bytes, job->model->network().StateBytes(job->Shape()));
  EXPECT_GE(job->cost.kv_bytes, sizeof(float) * 2 * 64 * 2 * (8 + 20 * 3));
}

TEST(JobCost, ExpectsNoLengthThatTheSearchDoesNotAllow) {
  const JobPtr job = MakeJob("Hello", TestSearch(1, 20), [](JobResult) {});
  job->source.assign(100, job->source.back());
  Price({}, job.get());
  EXPECT_EQ(job->cost.steps, 20);
  job->source.assign(1, job->source.back());
  job->options.min_length = 15;
  Price({}, job.get());
  EXPECT_EQ(job->cost.steps, 16);
}

}  // namespace
}  // namespace dragoman
