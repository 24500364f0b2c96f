// Describes this machine, as far as it affects speed and bytes.

#ifndef DRAGOMAN_ENGINE_MODEL_MACHINE_REPORT_H_
#define DRAGOMAN_ENGINE_MODEL_MACHINE_REPORT_H_

#include <cstddef>
#include <string>

#include "engine/model/model.h"

namespace dragoman {

struct MachineReport {
  std::string cpu;
  int cores = 0;            // that this process may use
  size_t memory_bytes = 0;  // that it may use
  std::string huge_pages;
  std::string kernels;  // the instructions of our own
  std::string onednn;   // its version and instructions
};
MachineReport ReportMachine();

// What multiplies matrices, with which instructions; if both kinds do: "native avx512_vnni, tiles
// of 6 x 64; onednn avx512_core_amx from 16 rows on".
std::string DescribeProducts(Arithmetic arithmetic);

// Several lines: the report, and for every precision what would multiply matrices, or why nothing
// can.
std::string DescribeMachine(Matmul matmul);

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_MODEL_MACHINE_REPORT_H_
