#include "server/gate.h"

#include <gtest/gtest.h>

#include <thread>

namespace dragoman {
namespace {

TEST(Gate, LetsInUntilItIsShut) {
  Gate gate;
  EXPECT_TRUE(gate.Enter().ok());
  EXPECT_FALSE(gate.shut());
  gate.Shut();
  EXPECT_TRUE(gate.shut());
  EXPECT_TRUE(absl::IsUnavailable(gate.Enter()));
  gate.Leave();
  gate.Leave();
  EXPECT_TRUE(gate.AwaitEmpty(absl::ZeroDuration()));
}

TEST(Gate, WaitsForWhoIsInside) {
  Gate gate;
  ASSERT_TRUE(gate.Enter().ok());
  EXPECT_FALSE(gate.AwaitEmpty(absl::Milliseconds(1)));
  std::thread leaver([&] { gate.Leave(); });
  EXPECT_TRUE(gate.AwaitEmpty(absl::InfiniteDuration()));
  leaver.join();
}

}  // namespace
}  // namespace dragoman
