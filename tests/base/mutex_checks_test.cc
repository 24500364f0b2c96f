#include "engine/base/mutex_checks.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <utility>

#include "absl/synchronization/mutex.h"

namespace dragoman {
namespace {

#ifndef __SANITIZE_THREAD__  // TSan reports the cycle by itself

// Takes two locks in both orders, for which the checks end a program.
TEST(MutexChecks, AreOffOnceDisabled) {
  const auto lock_both_ways = [] {
    DisableMutexChecks();
    absl::Mutex a, b;
    for (const auto& [first, second] : {std::pair(&a, &b), std::pair(&b, &a)}) {
      absl::MutexLock outer(first);
      absl::MutexLock inner(second);
    }
    std::exit(0);
  };
  EXPECT_EXIT(lock_both_ways(), ::testing::ExitedWithCode(0), "");
}

#endif

}  // namespace
}  // namespace dragoman
