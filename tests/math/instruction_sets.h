// Runs a test once for every instruction set that the Highway kernels were compiled for and this
// machine has, as if it had no better one.

#ifndef DRAGOMAN_TESTS_MATH_INSTRUCTION_SETS_H_
#define DRAGOMAN_TESTS_MATH_INSTRUCTION_SETS_H_

#include <cstdint>
#include <vector>

#include "absl/functional/function_ref.h"
#include "gtest/gtest.h"
#include "hwy/targets.h"

namespace dragoman {

inline void ForEachInstructionSet(absl::FunctionRef<void()> test) {
  const int64_t supported = hwy::SupportedTargets();
  for (int64_t targets = supported; targets != 0; targets &= targets - 1) {
    const int64_t target = targets & -targets;
    SCOPED_TRACE(hwy::TargetName(target));
    hwy::SetSupportedTargetsForTest(target);
    test();
    if (testing::Test::HasFatalFailure()) break;
  }
  hwy::SetSupportedTargetsForTest(0);  // back to what there is
}

}  // namespace dragoman

#endif  // DRAGOMAN_TESTS_MATH_INSTRUCTION_SETS_H_
