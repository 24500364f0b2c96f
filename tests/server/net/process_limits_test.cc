#include "server/net/process_limits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <new>
#include <string>
#include <thread>
#include <vector>

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

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // they allocate themselves

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

TEST(ProcessLimitsDeathTest, RunningOutOfMemoryUnwindsNothing) {
  const auto run_out = [] {
    ExplainExhaustion();
    const rlimit limit = {size_t{3} << 30, size_t{3} << 30};
    setrlimit(RLIMIT_AS, &limit);
    std::vector<std::unique_ptr<char[]>> all;
    try {
      while (true) all.push_back(std::make_unique_for_overwrite<char[]>(64 << 10));
    } catch (const std::bad_alloc&) {
      _exit(2);
    }
  };
  EXPECT_EXIT(run_out(), testing::ExitedWithCode(1), "dragoman-server: out of memory");
}

TEST(ProcessLimitsDeathTest, AnAllocationThatIsTooLargeThrows) {
  const auto ask = [] {
    ExplainExhaustion();
    try {
      void* volatile const much = operator new (size_t{1} << 60);  // not optimized away
      _exit(much == nullptr ? 3 : 2);
    } catch (const std::bad_alloc&) {
      _exit(1);
    }
  };
  EXPECT_EXIT(ask(), testing::ExitedWithCode(1), "");
}

#endif

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
