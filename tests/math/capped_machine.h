// Makes a whole test program run as on a CPU with fewer instructions. dragoman_capped_tests
// (CMakeLists.txt) sets
//
//   ONEDNN_MAX_CPU_ISA=AVX2      the best instruction set that oneDNN may use
//   DRAGOMAN_TEST_KERNELS=avx2   the best one for our kernels, by its name in Highway
//   DRAGOMAN_TEST_MATMUL=onednn  who multiplies
//
// If this machine itself has no more than that, all tests are skipped, and say so.  The code is a
// source of each test and not of a library, because nothing else calls it.

#ifndef DRAGOMAN_TESTS_MATH_CAPPED_MACHINE_H_
#define DRAGOMAN_TESTS_MATH_CAPPED_MACHINE_H_

#include "engine/math/precision.h"

namespace dragoman {

// DRAGOMAN_TEST_MATMUL, or kAuto.
Matmul TestMatmul();

}  // namespace dragoman

#endif  // DRAGOMAN_TESTS_MATH_CAPPED_MACHINE_H_
