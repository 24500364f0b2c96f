#include "engine/decode/turn_rows.h"

#include "absl/time/clock.h"
#include "gtest/gtest.h"
#include "tests/decode/test_jobs.h"

namespace dragoman {
namespace {

TEST(TurnRows, TheFewestThatAreAboutAsFast) {
  EXPECT_EQ(ChooseTurnRows({{8, 50}, {16, 90}, {32, 99}, {64, 100}, {128, 98}}), 32);
  EXPECT_EQ(ChooseTurnRows({{8, 101}, {16, 100}, {32, 99}}), 8);
  EXPECT_EQ(ChooseTurnRows({{8, 10}, {16, 20}, {256, 320}}), 256);
  EXPECT_EQ(ChooseTurnRows({{64, 1}}), 64);
}

TEST(TurnRows, MeasuresARealModel) {
  const RowSpeeds speeds = MeasureRowSpeeds(TrainedModel(), 1, absl::Now, absl::Seconds(5));
  EXPECT_TRUE(speeds.contains(64));
  EXPECT_TRUE(speeds.contains(32));
  for (const auto& [rows, speed] : speeds) EXPECT_GT(speed, 0) << rows;
}

TEST(TurnRows, ALargeModelIsGivenNoMoreTimeThanTheFirstMeasurement) {
  absl::Time now = absl::UnixEpoch();
  const RowSpeeds speeds = MeasureRowSpeeds(
      TrainedModel(), 1, [&now] { return now += absl::Seconds(1); }, absl::Seconds(1));
  EXPECT_EQ(speeds.size(), 1u);
  EXPECT_TRUE(speeds.contains(64));
}

}  // namespace
}  // namespace dragoman
