#include "engine/search/runaway.h"

#include <algorithm>

namespace dragoman {

int LongestRepetition(absl::Span<const int32_t> tokens) {
  size_t longest = 0;
  for (size_t unit = 1; unit <= kMaxUnit && unit < tokens.size(); ++unit) {
    size_t run = 0;
    for (size_t i = unit; i < tokens.size(); ++i) {
      run = tokens[i] == tokens[i - unit] ? run + 1 : 0;
      if (run >= unit) longest = std::max(longest, run);
    }
  }
  return static_cast<int>(longest);
}

namespace {

// How many of the last tokens equal those `unit` positions before them.
size_t RunAtEnd(absl::Span<const int32_t> tokens, size_t unit) {
  size_t run = 0;
  while (run + unit < tokens.size() &&
         tokens[tokens.size() - 1 - run] == tokens[tokens.size() - 1 - run - unit]) {
    ++run;
  }
  return run;
}

}  // namespace

int TokensBeforeRepetition(absl::Span<const int32_t> tokens, int allowance) {
  for (size_t unit = 1; unit <= kMaxUnit && unit < tokens.size(); ++unit) {
    const size_t run = RunAtEnd(tokens, unit);
    if (run > static_cast<size_t>(allowance) && run >= 3 * unit) {
      return static_cast<int>(tokens.size() - run);
    }
  }
  return 0;
}

int TokensBeforeAnyRun(absl::Span<const int32_t> tokens) {
  size_t longest = 0;
  for (size_t unit = 1; unit <= kMaxUnit && unit < tokens.size(); ++unit) {
    longest = std::max(longest, RunAtEnd(tokens, unit));
  }
  return static_cast<int>(tokens.size() - longest);
}

}  // namespace dragoman
