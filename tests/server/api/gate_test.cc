#include "server/api/gate.h"

#include <gtest/gtest.h>

#include <thread>

namespace dragoman {
namespace {

TEST(Gate, AdmitsUntilItIsShut) {
  Gate gate;
  EXPECT_TRUE(gate.Enter().ok());
  EXPECT_FALSE(gate.shut());
  gate.Shut();
  EXPECT_TRUE(gate.shut());
  EXPECT_TRUE(absl::IsUnavailable(gate.Enter()));
  gate.Leave();
  gate.Leave();
  EXPECT_EQ(gate.AwaitEmpty(absl::ZeroDuration()), 0);
}

TEST(Gate, WaitsForThoseInside) {
  Gate gate;
  ASSERT_TRUE(gate.Enter().ok());
  EXPECT_EQ(gate.AwaitEmpty(absl::Milliseconds(1)), 1);
  std::thread leaver([&] { gate.Leave(); });
  EXPECT_EQ(gate.AwaitEmpty(absl::InfiniteDuration()), 0);
  leaver.join();
}

TEST(Gate, TellsWatchersThatItIsShut) {
  Gate gate;
  int told = 0;
  gate.Watch([&] { told += 1; });
  gate.Unwatch(gate.Watch([&] { told += 10; }));
  EXPECT_EQ(told, 0);
  gate.Shut();
  gate.Shut();
  EXPECT_EQ(told, 1);
  gate.Watch([&] { told += 100; });
  EXPECT_EQ(told, 101) << "at once, if it is shut already";
}

}  // namespace
}  // namespace dragoman
