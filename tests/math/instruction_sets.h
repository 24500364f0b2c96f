// Selects the instruction sets that a test uses, among those of the machine.

#ifndef DRAGOMAN_TESTS_MATH_INSTRUCTION_SETS_H_
#define DRAGOMAN_TESTS_MATH_INSTRUCTION_SETS_H_

#include <cstdint>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/ascii.h"
#include "engine/math/gemm.h"
#include "engine/math/int8_kernels.h"
#include "engine/math/kernels.h"
#include "gtest/gtest.h"
#include "hwy/targets.h"

namespace dragoman {

// Runs a test once for every instruction set that the kernels were compiled for and this machine
// has, as if it had nothing better: those of Highway, each without and with the extensions for
// 8-bit products.  (oneDNN's instruction set is chosen for a whole process, by ONEDNN_MAX_CPU_ISA:
// see CMakeLists.txt.)
inline void ForEachInstructionSet(absl::FunctionRef<void()> test) {
  const int64_t supported = hwy::SupportedTargets();
  for (int64_t targets = supported & CompiledTargets(); targets != 0; targets &= targets - 1) {
    const int64_t target = targets & -targets;
    SCOPED_TRACE(hwy::TargetName(target));
    hwy::SetSupportedTargetsForTest(target);
    EXPECT_EQ(HighwayIsa(), absl::AsciiStrToLower(hwy::TargetName(target))) << "it does not run";
    for (const Int8Extension extension : Int8Extensions()) {
      LimitInt8ExtensionForTest(extension);
      SCOPED_TRACE(Int8Isa());
      test();
      UnlimitInt8ExtensionForTest();
      if (testing::Test::HasFatalFailure()) break;
    }
    if (testing::Test::HasFatalFailure()) break;
  }
  hwy::SetSupportedTargetsForTest(supported);
}

// Skips a test, with a message, if this CPU cannot multiply in its precision.  Our kernels for
// float32 and int8 run on every CPU.
#define SKIP_UNLESS_POSSIBLE(arithmetic)                                       \
  if (const absl::Status possible = CanMultiply(arithmetic); !possible.ok()) { \
    ASSERT_TRUE((arithmetic).precision == Precision::kBFloat16 ||              \
                (arithmetic).matmul == Matmul::kOneDnn)                        \
        << possible;                                                           \
    GTEST_SKIP() << possible;                                                  \
  }

}  // namespace dragoman

#endif  // DRAGOMAN_TESTS_MATH_INSTRUCTION_SETS_H_
