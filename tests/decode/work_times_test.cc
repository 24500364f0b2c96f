#include "engine/decode/work_times.h"

#include <random>

#include "gtest/gtest.h"

namespace dragoman::work_times_test {
namespace {

// What really takes how long: a slower machine than is expected, with costlier attention.
double Truth(double rows, double positions) { return 1.6e-3 + 290e-6 * rows + 2.5e-6 * positions; }

// Learns from turns of various sizes, each disturbed by up to a tenth.
void Train(PhaseTimes* times, int turns) {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> noise(0.9, 1.1);
  for (int i = 0; i < turns; ++i) {
    const double rows = 1 << (random() % 8);
    const double positions = rows * static_cast<double>(10 + random() % 400);
    times->Learn(rows, positions, absl::Seconds(noise(random) * Truth(rows, positions)));
  }
}

TEST(WorkTimes, LearnWhatStepsTake) {
  WorkTimes times;
  Train(&times.step, 3000);
  for (const double rows : {4, 32, 128}) {
    for (const double each : {20, 300}) {
      const double expected = times.step.each() + times.step.Of(rows, each * rows);
      EXPECT_NEAR(expected / Truth(rows, each * rows), 1, 0.15) << rows << " rows, " << each;
    }
  }
}

TEST(WorkTimes, FindTheirScaleWithinAFewSteps) {
  WorkTimes times;
  for (int i = 0; i < 8; ++i) times.step.Learn(32, 640, absl::Seconds(Truth(32, 640)));
  EXPECT_NEAR((times.step.each() + times.step.Of(32, 640)) / Truth(32, 640), 1, 0.1);
}

TEST(WorkTimes, ADisturbedStepIsSoonForgotten) {
  WorkTimes times;
  Train(&times.step, 1000);
  const double before = times.step.Of(32, 640);
  times.step.Learn(32, 640, absl::Hours(1));
  EXPECT_LE(times.step.Of(32, 640), 1.1 * before);
}

TEST(WorkTimes, AStepThatTookNoTimeTeachesNothing) {
  WorkTimes times;
  times.step.Learn(32, 640, absl::ZeroDuration());
  EXPECT_EQ(times.step.Of(32, 640), WorkTimes().step.Of(32, 640));
}

}  // namespace
}  // namespace dragoman::work_times_test
