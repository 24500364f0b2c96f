// Makes a whole test program run as on a CPU with fewer instructions. dragoman_capped_tests
// (CMakeLists.txt) sets
//
//   ONEDNN_MAX_CPU_ISA=AVX2      the best instruction set that oneDNN may use
//   DRAGOMAN_TEST_KERNELS=avx2   the best one for our kernels, by its name in Highway
//   DRAGOMAN_TEST_MATMUL=onednn  the library that multiplies
//
// If this machine does not have them, all tests are skipped with a message.  The code is compiled
// into each test and not into a library, because nothing refers to it.

#ifndef DRAGOMAN_TESTS_MATH_CAPPED_MACHINE_H_
#define DRAGOMAN_TESTS_MATH_CAPPED_MACHINE_H_

#include "engine/math/precision.h"

namespace dragoman {

// DRAGOMAN_TEST_MATMUL, or kAuto.
Matmul TestMatmul();

}  // namespace dragoman

#endif  // DRAGOMAN_TESTS_MATH_CAPPED_MACHINE_H_
