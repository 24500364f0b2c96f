// How far a long translation has come, for whoever watches a terminal:
//
//   1,250 lines (12.5 %), 310 lines/s, 0:00:28 left
//
// The line is drawn over itself, a few times a second at the most.

#ifndef DRAGOMAN_CLIENT_PROGRESS_H_
#define DRAGOMAN_CLIENT_PROGRESS_H_

#include <cstdint>
#include <ostream>
#include <string>

#include "absl/time/time.h"

namespace dragoman {

class Progress {
 public:
  // `total_bytes` of input to come, or 0 if that is not known.  Starts at `now`.
  Progress(std::ostream* out, int64_t total_bytes, absl::Time now);

  // Lines, and their bytes, that are done since the start.
  void Update(int64_t lines, int64_t bytes, absl::Time now);

  // Wipes the line, so that something else can be printed.
  void Clear();

 private:
  std::ostream* const out_;
  const int64_t total_bytes_;
  const absl::Time start_;
  absl::Time drawn_at_ = absl::InfinitePast();
  size_t drawn_ = 0;  // characters on the terminal
};

// The line above.
std::string ProgressLine(int64_t lines, int64_t bytes, int64_t total_bytes, absl::Duration elapsed);

}  // namespace dragoman

#endif  // DRAGOMAN_CLIENT_PROGRESS_H_
