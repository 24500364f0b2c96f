#include "engine/decode/time_sharing.h"

#include "gtest/gtest.h"

namespace dragoman {
namespace {

constexpr absl::Duration kAlone = absl::Milliseconds(1);

// The share of turns in which others run, if such a turn takes this long.
double Part(absl::Duration with_others) {
  constexpr int kTurns = 10'000;
  TimeSharing sharing;
  int with = 0;
  for (int i = 0; i < kTurns; ++i) {
    const bool others = sharing.others_may_run();
    with += others;
    sharing.OnTurn(others ? with_others : kAlone, others);
  }
  return static_cast<double>(with) / kTurns;
}

TEST(TimeSharing, OthersTakeHalfAsMuchTimeAsTheShortOnes) {
  EXPECT_NEAR(Part(4 * kAlone), 1 / 6.0, 0.02);  // 3 ms more in one of six turns
  EXPECT_NEAR(Part(11 * kAlone), 1 / 20.0, 0.01);
}

TEST(TimeSharing, AreHardlyHeldBackIfTheyTakeLittle) { EXPECT_GT(Part(1.2 * kAlone), 0.9); }

TEST(TimeSharing, TurnsOfOthersAreKeptShortToo) {
  TimeSharing sharing;
  EXPECT_EQ(sharing.others_rows(), 1);
  sharing.OnTurn(kAlone, false);
  sharing.OnOthersTurn(6 * kAlone, 0.5);
  EXPECT_NEAR(sharing.others_rows(), 0.25, 1e-9);  // which would take 3 ms
}

TEST(TimeSharing, ADisturbedTurnIsSoonForgotten) {
  TimeSharing sharing;
  for (int i = 0; i < 10; ++i) sharing.OnTurn(kAlone, false);
  sharing.OnTurn(absl::Hours(1), true);
  int turns = 0;
  for (; !sharing.others_may_run(); ++turns) sharing.OnTurn(kAlone, false);
  EXPECT_LE(turns, 128);
}

}  // namespace
}  // namespace dragoman
