#include "tests/math/capped_machine.h"

#include <cstdlib>
#include <string>

#include "absl/strings/ascii.h"
#include "engine/math/int8_kernels.h"
#include "engine/math/kernels.h"
#include "engine/math/onednn_matmul.h"
#include "gtest/gtest.h"
#include "hwy/targets.h"

namespace dragoman {
namespace {

std::string Variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// Hides from our kernels every instruction set better than `name`, and extensions such as VNNI.
// Returns whether this machine has `name`.
bool CapKernels(const std::string& name) {
  const int64_t supported = hwy::SupportedTargets();
  for (int64_t targets = supported & CompiledTargets(); targets != 0; targets &= targets - 1) {
    const int64_t target = targets & -targets;
    if (absl::AsciiStrToLower(hwy::TargetName(target)) != name) continue;
    hwy::SetSupportedTargetsForTest(supported & -target);  // better targets have lower bits
    LimitInt8ExtensionForTest(Int8Extension::kNone);
    return true;
  }
  return false;
}

class CappedMachine : public testing::Environment {
 public:
  void SetUp() override {
    const std::string onednn = absl::AsciiStrToLower(Variable("ONEDNN_MAX_CPU_ISA"));
    if (!onednn.empty() && OneDnnIsa() != onednn) GTEST_SKIP() << "this CPU has no " << onednn;
    const std::string kernels = Variable("DRAGOMAN_TEST_KERNELS");
    if (!kernels.empty() && !CapKernels(kernels)) GTEST_SKIP() << "this CPU has no " << kernels;
  }
};

[[maybe_unused]] const testing::Environment* const kCappedMachine =
    testing::AddGlobalTestEnvironment(new CappedMachine());

}  // namespace

Matmul TestMatmul() {
  const std::string name = Variable("DRAGOMAN_TEST_MATMUL");
  return name.empty() ? Matmul::kAuto : *ParseMatmul(name);
}

}  // namespace dragoman
