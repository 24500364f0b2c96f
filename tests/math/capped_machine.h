// Lets a whole test program run as on a lesser machine.  dragoman_capped_tests (CMakeLists.txt)
// sets
//
//   ONEDNN_MAX_CPU_ISA=AVX2      the best instruction set that oneDNN may use
//   DRAGOMAN_TEST_KERNELS=avx2   the best one for our kernels, by its name in Highway
//   DRAGOMAN_TEST_MATMUL=onednn  who multiplies
//
// Where this machine is no better than a lesser one itself, all tests are skipped, and say so.
// What belongs to it is a source of the test, not of a library: nobody else calls it.

#ifndef DRAGOMAN_TESTS_MATH_CAPPED_MACHINE_H_
#define DRAGOMAN_TESTS_MATH_CAPPED_MACHINE_H_

#include "engine/math/precision.h"

namespace dragoman {

// DRAGOMAN_TEST_MATMUL, or kAuto.
Matmul TestMatmul();

}  // namespace dragoman

#endif  // DRAGOMAN_TESTS_MATH_CAPPED_MACHINE_H_
