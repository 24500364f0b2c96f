#ifndef DRAGOMAN_TESTS_REFERENCE_COMPARE_H_
#define DRAGOMAN_TESTS_REFERENCE_COMPARE_H_

#include "tests/reference/transformer.h"

namespace dragoman::reference {

// The largest difference between elements at the same position; infinity if the shapes differ or an
// element is NaN.
float MaxDifference(const Matrix& a, const Matrix& b);

}  // namespace dragoman::reference

#endif  // DRAGOMAN_TESTS_REFERENCE_COMPARE_H_
