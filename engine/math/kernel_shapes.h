// The shape in which our float32 kernel multiplies, as measured on this machine.
//
// CPUs differ in how many instructions they start per cycle: tiles of 8 x 48 are the fastest on
// Cascade Lake, 12 x 32 on Zen 5.  So the product has a few variants of its kernel
// (float32_gemm.h). All of them add up the same terms in the same order and give the same bytes, so
// a measurement that another process disturbs can cost only time: a few percent, since no variant
// is bad.

#ifndef DRAGOMAN_ENGINE_MATH_KERNEL_SHAPES_H_
#define DRAGOMAN_ENGINE_MATH_KERNEL_SHAPES_H_

#include <optional>
#include <string>

#include "engine/math/float32_gemm.h"
#include "engine/math/precision.h"

namespace dragoman {

// The tile that new products use.  The first call measures, which takes some 10 ms and 4 MB.
// Thread-safe.
Float32Gemm::Tile Float32TileInUse();

// For tests: what to use instead; nullopt for what was measured.
void SetFloat32TileForTest(std::optional<Float32Gemm::Tile> tile);

// The shape of our kernels in this precision, such as "tiles of 8 x 48" (rows x outputs); empty if
// there is only one.
std::string DescribeShape(Precision precision);

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_MATH_KERNEL_SHAPES_H_
