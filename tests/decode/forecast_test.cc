#include "engine/decode/forecast.h"

#include "gtest/gtest.h"

namespace dragoman::forecast_test {
namespace {

constexpr absl::Duration kTurn = absl::Milliseconds(4);

TEST(Forecast, PromisesTheImpossibleUntilItHasSeenATurn) {
  const Forecast forecast;
  EXPECT_EQ(forecast.Steps(100), absl::ZeroDuration());
  EXPECT_EQ(forecast.Work(100, 1), absl::ZeroDuration());
}

TEST(Forecast, UsesTheSpeedOfTheLastTurns) {
  Forecast forecast;
  for (int i = 0; i < 100; ++i) forecast.OnTurn(40e-4, 1, 0, kTurn);
  EXPECT_NEAR(absl::ToDoubleSeconds(forecast.Steps(50)), 0.2, 1e-6);
  EXPECT_NEAR(absl::ToDoubleSeconds(forecast.Work(0.1, 2)), 0.05, 1e-6);
  for (int i = 0; i < 200; ++i) forecast.OnTurn(40e-4, 1, 0, 3 * kTurn);
  EXPECT_NEAR(absl::ToDoubleSeconds(forecast.Steps(50)), 0.6, 1e-3);
}

TEST(Forecast, DoesNotTakeAnEmptyTurnForASlowOne) {
  Forecast forecast;
  for (int i = 0; i < 100; ++i) forecast.OnTurn(40e-4, 1, 0, kTurn);
  for (int i = 0; i < 100; ++i) forecast.OnTurn(4e-4, 0.1, 0, kTurn / 2);
  EXPECT_NEAR(absl::ToDoubleSeconds(forecast.Work(0.1, 2)), 0.05, 1e-6);
}

TEST(Forecast, IsMoreCarefulWhenRequestsCameTooLate) {
  Forecast forecast;
  forecast.OnTurn(40e-4, 1, 0, kTurn);
  const absl::Duration before = forecast.Steps(50);
  for (int i = 0; i < 5; ++i) forecast.OnDeadline(/*in_time=*/false);
  EXPECT_NEAR(absl::FDivDuration(forecast.Steps(50), before), 1.5, 1e-6);
  for (int i = 0; i < 1000; ++i) forecast.OnDeadline(/*in_time=*/true);
  EXPECT_EQ(forecast.Steps(50), before);
  for (int i = 0; i < 1000; ++i) forecast.OnDeadline(/*in_time=*/false);
  EXPECT_NEAR(absl::FDivDuration(forecast.Steps(50), before), 3, 1e-6);
}

}  // namespace
}  // namespace dragoman::forecast_test
