#include "engine/model/machine_report.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "engine/base/machine.h"
#include "engine/math/gemm.h"
#include "engine/math/int8_crossover.h"
#include "engine/math/kernel_shapes.h"
#include "engine/math/kernels.h"
#include "engine/math/onednn_matmul.h"

namespace dragoman {
namespace {

// Our kernels, as in "native avx512_vnni, tiles of 6 x 64".
std::string DescribeNative(Precision precision) {
  const std::string shape = DescribeShape(Resolve(precision));
  return absl::StrCat("native ", GemmIsa({precision, Matmul::kNative}), shape.empty() ? "" : ", ",
                      shape);
}

std::string ReportLine(const char* name, const std::string& value) {
  return absl::StrFormat("%-12s %s\n", name, value);
}

}  // namespace

MachineReport ReportMachine() {
  return {.cpu = CpuModel(),
          .cores = AvailableCores(),
          .memory_bytes = AvailableMemory(),
          .huge_pages = HugePages(),
          .kernels = HighwayIsa(),
          .onednn = absl::StrCat(OneDnnVersion(), " ", OneDnnIsa())};
}

std::string DescribeProducts(Arithmetic arithmetic) {
  const absl::Status possible = CanMultiply(arithmetic);
  if (!possible.ok()) return absl::StrCat("none: ", std::string(possible.message()));
  const std::string who = GemmMatmul(arithmetic);
  if (who == "native") return DescribeNative(arithmetic.precision);
  if (who == "onednn") return absl::StrCat(who, " ", GemmIsa(arithmetic));
  return absl::StrCat(DescribeNative(arithmetic.precision), "; onednn ", OneDnnIsa(), " from ",
                      OneDnnInt8Crossover(), " rows on");
}

std::string DescribeMachine(Matmul matmul) {
  const MachineReport machine = ReportMachine();
  const double gib = static_cast<double>(machine.memory_bytes) / (1 << 30);
  std::string text = ReportLine("cpu", machine.cpu);
  text += ReportLine("cores", absl::StrCat(machine.cores, " granted"));
  text += ReportLine("memory", absl::StrFormat("%.1f GiB granted", gib));
  text += ReportLine("huge pages", machine.huge_pages);
  text += ReportLine("kernels", machine.kernels);
  text += ReportLine("onednn", machine.onednn);
  for (const Precision precision : {Precision::kFloat32, Precision::kBFloat16, Precision::kInt8}) {
    text += ReportLine(NameOf(precision), DescribeProducts({precision, matmul}));
  }
  return text;
}

}  // namespace dragoman
