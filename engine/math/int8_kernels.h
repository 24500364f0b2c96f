// The inner loops of the int8 product (int8_gemm.h): sums of 8-bit products, and their conversion
// into results.

#ifndef DRAGOMAN_ENGINE_MATH_INT8_KERNELS_H_
#define DRAGOMAN_ENGINE_MATH_INT8_KERNELS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "engine/math/panels.h"

namespace dragoman {

constexpr int kInt8Panel = 64;       // outputs computed together
constexpr int kInt8Quad = 4;         // adjacent inputs, summed by one instruction
constexpr int kInt8TallestTile = 6;  // rows
constexpr int kInt8LinesPerQuad = kInt8Panel * kInt8Quad / kCacheLine;

// One tile of the product: all that its kernels need.
struct Int8Task {
  const uint8_t* x;       // [rows, inputs]
  int x_stride;           // from one row to the next
  const float* x_scales;  // [rows]
  const float* x_lows;    // [rows]
  const int8_t* weights;  // [inputs / kInt8Quad, kInt8Panel, kInt8Quad]
  int inputs;             // a multiple of kInt8Quad
  const float* scales;    // [kInt8Panel]
  const float* sums;      // [kInt8Panel]
  const float* bias;      // [kInt8Panel]
  const int32_t* totals;  // [kInt8Panel]: the sums of the weights themselves
  bool relu;
  const PanelTile& tile;
};

// The sums of one row.
struct Int8Sums {
  const int32_t* sums;  // [count], with room to read a whole vector at the end
  int count;
  float x_scale, x_low;
  const float *scales, *weight_sums, *bias;  // as many
  bool relu;
  float* y;
};

// Multiplies a tile by the fastest kernel that this CPU has.
using Int8Kernel = void (*)(const Int8Task&);
Int8Kernel BestInt8Kernel();

// Turns sums into results by the same operations as the kernels, so that it gives the same bytes.
void FinishInt8Sums(const Int8Sums& sums);

// Instructions for 8-bit products beyond those of Highway's targets.  With all of them, the sums
// are the same integers.
enum class Int8Extension {
  kNone,
  kVnni,       // of AVX-512
  kArmDot,     // ARMv8.2: SDOT
  kArmMatrix,  // ARMv8.6: USMMLA
};

// What 8-bit products use: the best that the CPU has, unless a test hides it or has restricted
// Highway to less than AVX-512.
Int8Extension Int8ExtensionInUse();
// Those that could be in use, from kNone to the best.
std::vector<Int8Extension> Int8Extensions();
// For tests: to compute as on a CPU that has nothing better than this, such as Skylake, with
// AVX-512 but without VNNI.  REQUIRES: it is among Int8Extensions.
void LimitInt8ExtensionForTest(Int8Extension best);
// For tests: to use the best one again.
void UnlimitInt8ExtensionForTest();

// The instruction set of the kernels, such as "avx512_vnni".
std::string Int8Isa();

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_MATH_INT8_KERNELS_H_
