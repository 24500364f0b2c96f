#include "client/progress.h"

#include <gtest/gtest.h>

#include <sstream>

namespace dragoman {
namespace {

TEST(Progress, PrintsRateShareAndTimeLeft) {
  EXPECT_EQ(ProgressLine({1250000, 250}, 1000, absl::Seconds(2000)),
            "[#####...............] 1,250,000 lines (25.0 %), 625 lines/s, 1:40:00 left");
  EXPECT_EQ(ProgressLine({5, 1000}, 1000, absl::Seconds(1)),
            "[####################] 5 lines (100.0 %), 5.0 lines/s, 0:00:00 left");
}

TEST(Progress, CountsAnEarlierRunAsDoneButNotForTheRate) {
  EXPECT_EQ(ProgressLine({100, 100, 800, 800}, 1000, absl::Seconds(10)),
            "[##################..] 900 lines (90.0 %), 10 lines/s, 0:00:10 left");
  std::ostringstream out;
  const absl::Time start = absl::UnixEpoch();
  Progress progress(&out, 1000, start);
  progress.Skip(800, 800, start + absl::Seconds(5));
  progress.Update(100, 100, start + absl::Seconds(15));
  EXPECT_EQ(out.str(), "\r[##################..] 900 lines (90.0 %), 10 lines/s, 0:00:10 left");
}

TEST(Progress, PrintsOnlyWhatIsKnown) {
  EXPECT_EQ(ProgressLine({999, 250}, 0, absl::Seconds(10)), "999 lines, 100 lines/s");
  EXPECT_EQ(ProgressLine({}, 0, absl::ZeroDuration()), "0 lines");
  // The file has grown since the start.
  EXPECT_EQ(ProgressLine({30, 1500}, 1000, absl::Seconds(1)),
            "[####################] 30 lines (150.0 %), 30 lines/s");
  EXPECT_EQ(ProgressLine({30, 0}, 0, absl::Seconds(1), "segments"), "30 segments, 30 segments/s");
}

TEST(Progress, DrawsOverItselfAFewTimesASecond) {
  std::ostringstream out;
  const absl::Time start = absl::UnixEpoch();
  Progress progress(&out, 0, start);
  progress.Update(1000, 1, start + absl::Seconds(1));
  progress.Update(1001, 1, start + absl::Milliseconds(1100));
  progress.Update(9, 1, start + absl::Milliseconds(1300));
  EXPECT_EQ(out.str(), "\r1,000 lines, 1000 lines/s\r9 lines, 6.9 lines/s     ");
  progress.Clear();
  EXPECT_EQ(out.str().substr(out.str().size() - 2), " \r");
}

}  // namespace
}  // namespace dragoman
