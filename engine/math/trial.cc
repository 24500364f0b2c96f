#include "engine/math/trial.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "absl/time/time.h"
#include "engine/base/clock.h"

namespace dragoman {

double SecondsOf(absl::FunctionRef<void()> work) {
  const absl::Time start = ThreadCpuTime();
  work();
  return absl::ToDoubleSeconds(ThreadCpuTime() - start);
}

int Fastest(int variants, int turns, double margin, absl::FunctionRef<void(int)> run) {
  std::vector<double> seconds(variants, std::numeric_limits<double>::infinity());
  for (int turn = 0; turn < turns; ++turn) {
    for (int i = 0; i < variants; ++i) {
      seconds[i] = std::min(seconds[i], SecondsOf([&] { run(i); }));
    }
  }
  const auto fastest = std::min_element(seconds.begin(), seconds.end());
  return *fastest < margin * seconds[0] ? static_cast<int>(fastest - seconds.begin()) : 0;
}

Matrix<float> TrialNumbers(int rows, int cols) {
  Matrix<float> numbers(rows, cols);
  uint32_t state = 1;
  std::generate_n(numbers.view().data(), static_cast<size_t>(rows) * cols, [&state] {
    state = state * 1664525u + 1013904223u;
    return static_cast<float>(state >> 8) / (1 << 24) - 0.5f;
  });
  return numbers;
}

}  // namespace dragoman
