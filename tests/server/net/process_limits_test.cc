#include "server/net/process_limits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <new>
#include <string>
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

TEST(ProcessLimits, HeadroomIsThere) {
  EXPECT_EQ(CheckHeadroom(size_t{1} << 30, 8), absl::OkStatus());
}

TEST(ProcessLimitsDeathTest, TooLittleHeadroomIsNamed) {
  const auto check = [] {
    const rlimit limit = {size_t{8} << 30, size_t{8} << 30};
    setrlimit(RLIMIT_AS, &limit);
    const absl::Status status = CheckHeadroom(size_t{16} << 30, 2);
    std::fprintf(stderr, "%s\n", std::string(status.message()).c_str());
    _exit(absl::IsFailedPrecondition(status) ? 1 : 0);
  };
  EXPECT_EXIT(check(), testing::ExitedWithCode(1),
              "memory is limited to 8589934592 bytes .ulimit -v., and less than 17179869184 are");
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
