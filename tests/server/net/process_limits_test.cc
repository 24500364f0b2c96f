#include "server/net/process_limits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <new>
#include <thread>

namespace dragoman {
namespace {

TEST(ProcessLimits, ConnectionsAndTheRestShareTheDescriptors) {
  for (const int limit : {128, 1024, 4096, 1 << 20}) {
    const absl::StatusOr<DescriptorPlan> plan = PlanDescriptors(limit);
    ASSERT_TRUE(plan.ok()) << plan.status();
    EXPECT_GE(plan->reserve, 64);
    EXPECT_LE(plan->reserve, 512);
    EXPECT_GE(plan->connections, 64);
    EXPECT_EQ(plan->reserve + plan->connections, limit);
  }
}

TEST(ProcessLimits, TooFewDescriptorsAreNamed) {
  EXPECT_EQ(PlanDescriptors(100).status(),
            absl::FailedPreconditionError(
                "open files are limited to 100 (ulimit -n), want at least 128"));
}

TEST(ProcessLimitsDeathTest, RunningOutOfMemoryIsExplained) {
  EXPECT_EXIT(
      {
        ExplainExhaustion();
        std::thread([] { throw std::bad_alloc(); }).join();
      },
      testing::ExitedWithCode(1), "dragoman-server: out of memory; the limits are .*ulimit -v");
}

TEST(ProcessLimitsDeathTest, AnAbortIsExplainedOnlyWhileThatIsEnabled) {
  EXPECT_EXIT(
      {
        const ExplainAborts explain;
        std::abort();
      },
      testing::ExitedWithCode(1), "a library gave up");
  EXPECT_DEATH(
      {
        { const ExplainAborts explain; }
        std::abort();
      },
      "");
}

}  // namespace
}  // namespace dragoman
