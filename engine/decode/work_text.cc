#include "engine/decode/work_text.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_format.h"

namespace dragoman {

// A word is about 1.3 tokens in either language: so many rows to read it, and as many for each
// hypothesis of its translation.
std::string DescribeWork(double rows) {
  constexpr int kBeam = 4;
  constexpr double kTokensPerWord = 1.3;
  const double words = std::max(1.0, rows / (kTokensPerWord * (1 + kBeam)));
  const double unit = std::pow(10.0, std::floor(std::log10(words))) / 10;  // two digits are enough
  return absl::StrFormat("%.0f rows of work (about %.0f words with a beam of %d)", rows,
                         std::max(1.0, std::round(words / unit) * unit), kBeam);
}

}  // namespace dragoman
