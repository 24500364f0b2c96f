// The shapes in which our kernels multiply, as measured on this machine.
//
// CPUs differ in how many instructions they start per cycle, in how fast their second level cache
// is and in what their own prefetchers see.  So each product has a few variants of its kernel.  All
// of them add up the same terms in the same order and give the same bytes, so a measurement that
// another process disturbs can cost only time: a few percent, since no variant is bad.

#ifndef DRAGOMAN_ENGINE_MATH_KERNEL_SHAPES_H_
#define DRAGOMAN_ENGINE_MATH_KERNEL_SHAPES_H_

#include <optional>
#include <string>

#include "engine/math/float32_gemm.h"
#include "engine/math/precision.h"

namespace dragoman {

// The shapes that new products use.  The first call of each function measures, which takes some 10
// ms and, in float32, 4 MB. Thread-safe.
Float32Gemm::Tile Float32TileInUse();
bool Int8NearPrefetchInUse();

struct KernelShapes {
  Float32Gemm::Tile float32;
  bool int8_near_prefetch = true;
};
KernelShapes ShapesInUse();

// For tests: what to use instead; nullopt for what was measured.
void SetShapesForTest(std::optional<KernelShapes> shapes);

// The shape of our kernels in this precision, such as "tiles of 8 x 48" (rows x outputs); empty if
// there is only one.
std::string DescribeShape(Precision precision);

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_MATH_KERNEL_SHAPES_H_
