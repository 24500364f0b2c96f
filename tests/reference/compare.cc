#include "tests/reference/compare.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace dragoman::reference {

float MaxDifference(const Matrix& a, const Matrix& b) {
  constexpr float kMismatch = std::numeric_limits<float>::infinity();
  if (a.size() != b.size()) return kMismatch;
  float max = 0.0f;
  for (size_t r = 0; r < a.size(); ++r) {
    if (a[r].size() != b[r].size()) return kMismatch;
    for (size_t c = 0; c < a[r].size(); ++c) {
      const float difference = std::abs(a[r][c] - b[r][c]);
      if (std::isnan(difference)) return kMismatch;
      max = std::max(max, difference);
    }
  }
  return max;
}

}  // namespace dragoman::reference
