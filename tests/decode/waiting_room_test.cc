#include "engine/decode/waiting_room.h"

#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "tests/decode/test_jobs.h"

namespace dragoman {
namespace {

// The jobs of one request, with so many source tokens each.
std::vector<JobPtr> Request(const std::vector<int>& tokens) {
  const auto state = std::make_shared<RequestState>(absl::InfiniteFuture());
  std::vector<JobPtr> jobs;
  for (const int count : tokens) {
    jobs.push_back(MakeJob(
        "a", TestSearch(1, 5), [](JobResult) {}, state));
    jobs.back()->source.assign(count, 1);
  }
  return jobs;
}

const absl::Time kNow = absl::UnixEpoch();

TEST(WaitingRoom, ARequestWaitsUntilItsLastJobLeaves) {
  WaitingRoom room(2, 100);
  const std::vector<JobPtr> jobs = Request({3, 4});
  ASSERT_TRUE(room.Enter(jobs, kNow).ok());
  EXPECT_EQ(jobs[0]->submitted, kNow);
  EXPECT_EQ(room.requests(), 1);
  EXPECT_EQ(room.tokens(), 7);
  room.Leave(*jobs[1]);
  EXPECT_EQ(room.requests(), 1);
  EXPECT_EQ(room.tokens(), 3);
  room.Leave(*jobs[0]);
  EXPECT_EQ(room.requests(), 0);
  EXPECT_EQ(room.tokens(), 0);
}

TEST(WaitingRoom, RefusesARequestTooManyWhole) {
  WaitingRoom room(1, 100);
  const std::vector<JobPtr> first = Request({1}), second = Request({1, 1});
  ASSERT_TRUE(room.Enter(first, kNow).ok());
  EXPECT_TRUE(absl::IsResourceExhausted(room.Enter(second, kNow)));
  EXPECT_EQ(room.tokens(), 1);
  room.Leave(*first[0]);
  EXPECT_TRUE(room.Enter(second, kNow).ok());
}

TEST(WaitingRoom, RefusesTokensTooManyButAnEmptyRoomTakesAnyOneRequest) {
  WaitingRoom room(10, 10);
  const std::vector<JobPtr> big = Request({30, 30}), small = Request({1});
  ASSERT_TRUE(room.Enter(big, kNow).ok());
  EXPECT_TRUE(absl::IsResourceExhausted(room.Enter(small, kNow)));
  room.Leave(*big[0]);
  room.Leave(*big[1]);
  ASSERT_TRUE(room.Enter(small, kNow).ok());
  EXPECT_TRUE(absl::IsResourceExhausted(room.Enter(Request({10}), kNow)));
  EXPECT_TRUE(room.Enter(Request({9}), kNow).ok());
}

TEST(WaitingRoom, KnowsWhoWaitsTheLongest) {
  WaitingRoom room(10, 100);
  EXPECT_EQ(room.oldest(), absl::InfiniteFuture());
  const std::vector<JobPtr> first = Request({1}), second = Request({1});
  ASSERT_TRUE(room.Enter(first, kNow).ok());
  ASSERT_TRUE(room.Enter(second, kNow + absl::Seconds(5)).ok());
  EXPECT_EQ(room.oldest(), kNow);
  room.Leave(*first[0]);
  EXPECT_EQ(room.oldest(), kNow + absl::Seconds(5));
}

}  // namespace
}  // namespace dragoman
