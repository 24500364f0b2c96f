#include "engine/decode/turn_rows.h"

#include "absl/time/clock.h"
#include "gtest/gtest.h"
#include "tests/decode/test_jobs.h"

namespace dragoman {
namespace {

TEST(TurnRows, TheUsualNumberUnlessAnotherIsClearlyFaster) {
  EXPECT_EQ(ChooseTurnRows({{128, {100}}}), 128);
  EXPECT_EQ(ChooseTurnRows({{32, {102, 102}}, {64, {90, 90}}, {128, {100, 100}}}), 128);
  EXPECT_EQ(ChooseTurnRows({{32, {110, 110}}, {64, {105, 105}}, {128, {100, 100}}}), 32);
  EXPECT_EQ(ChooseTurnRows({{128, {100}}, {256, {110}}}), 256);
}

TEST(TurnRows, WinsCountAndNotHowHigh) {
  EXPECT_EQ(ChooseTurnRows({{64, {150, 100, 150, 100}}, {128, {100, 100, 100, 100}}}), 128);
  EXPECT_EQ(ChooseTurnRows({{64, {104, 70, 104, 104}}, {128, {100, 60, 100, 100}}}), 64);
  EXPECT_EQ(ChooseTurnRows({{64, {110, 90, 110, 110}}, {128, {100, 100, 100, 100}}}), 64);
}

TEST(TurnRows, MeasuresARealModel) {
  const RowSpeeds speeds = MeasureRowSpeeds(TrainedModel(), 1, absl::Now, absl::Seconds(5));
  for (const int rows : {16, 32, 64, 128, 256}) {
    ASSERT_TRUE(speeds.contains(rows));
    for (const double speed : speeds.at(rows)) EXPECT_GT(speed, 0) << rows;
  }
}

TEST(TurnRows, ALargeModelIsGivenNoMoreTimeThanTheFirstMeasurement) {
  absl::Time now = absl::UnixEpoch();
  const RowSpeeds speeds = MeasureRowSpeeds(
      TrainedModel(), 1, [&now] { return now += absl::Seconds(1); }, absl::Seconds(1));
  ASSERT_EQ(speeds.size(), 1u);
  EXPECT_EQ(speeds.at(kUsualRows).size(), 1u);
}

}  // namespace
}  // namespace dragoman
