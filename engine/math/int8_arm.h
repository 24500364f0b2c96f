// The sums of 8-bit products by the instructions that 64-bit ARM has for them beyond NEON: the dot
// product of ARMv8.2 (SDOT: Neoverse N1, Cortex-A76, Apple M1) and the matrix product of ARMv8.6
// (USMMLA: Neoverse V1, Apple M2).  Their sums are exact, and so the same integers as everywhere.
//
// Only for 64-bit ARM; int8_kernels.h chooses.

#ifndef DRAGOMAN_ENGINE_MATH_INT8_ARM_H_
#define DRAGOMAN_ENGINE_MATH_INT8_ARM_H_

#include <cstdint>

#include "engine/math/int8_kernels.h"
#include "hwy/detect_compiler_arch.h"

namespace dragoman {

#if HWY_ARCH_ARM_A64

// The best extension that this CPU has.
Int8Extension DetectArmExtension();

// sums[r][o] for the rows of a tile and the outputs of its panel.  REQUIRES: the CPU has it.
void SumTileByDot(const Int8Task& task, int32_t (*sums)[kInt8Panel]);
void SumTileByMatrix(const Int8Task& task, int32_t (*sums)[kInt8Panel]);

// Some rows times a few outputs whose weights are contiguous (int8_rows.h).
struct ArmDots {
  static constexpr int kOutputs = 4;

  const uint8_t* x;  // [rows, inputs]
  int x_stride;      // from one row to the next
  int rows;
  int inputs;                       // a multiple of 4
  const int8_t* weights[kOutputs];  // of each: the inputs rounded up to 64, with zeros at the end
  int32_t totals[kOutputs];         // the sums of the weights
};

// sums[r][o] = x[r] weights[o].  REQUIRES: the CPU has the dot product.
void SumDots(const ArmDots& dots, int32_t (*sums)[ArmDots::kOutputs]);

#endif  // HWY_ARCH_ARM_A64

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_MATH_INT8_ARM_H_
