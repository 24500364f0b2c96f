// The edit distance with swaps of neighbours (optimal string alignment), one row of its table at a
// time.  Between "beamsize" and "beam-size" it is 1: one character is inserted.

#include "engine/base/nearest_name.h"

#include <algorithm>

#include "absl/algorithm/container.h"

namespace dragoman {
namespace {

constexpr size_t kLeastBeginning = 4;  // characters

int EditDistance(const std::string& a, const std::string& b) {
  // before[j] and last[j] are the distances of b's first j characters from a's first i - 2 and i -
  // 1.
  std::vector<int> before, last(b.size() + 1), now(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) last[j] = static_cast<int>(j);
  for (size_t i = 1; i <= a.size(); ++i) {
    now[0] = static_cast<int>(i);
    for (size_t j = 1; j <= b.size(); ++j) {
      const int replaced = last[j - 1] + (a[i - 1] != b[j - 1]);
      now[j] = std::min({last[j] + 1, now[j - 1] + 1, replaced});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        now[j] = std::min(now[j], before[j - 2] + 1);
      }
    }
    before = last;
    last = now;
  }
  return last[b.size()];
}

}  // namespace

std::string NearestName(const std::string& word, const std::vector<std::string>& names) {
  std::string nearest;
  int least = static_cast<int>(word.size()) / 3 + 1;
  for (const std::string& name : names) {
    const int distance = EditDistance(word, name);
    if (distance < least) {
      least = distance;
      nearest = name;
    }
  }
  if (!nearest.empty() || word.size() < kLeastBeginning) return nearest;
  const auto longer = absl::c_find_if(
      names, [&](const std::string& name) { return name.compare(0, word.size(), word) == 0; });
  return longer == names.end() ? "" : *longer;
}

std::string DidYouMean(const std::string& word, const std::vector<std::string>& names) {
  const std::string nearest = NearestName(word, names);
  return nearest.empty() ? "" : "; did you mean " + nearest + "?";
}

}  // namespace dragoman
