// The progress of a long translation, for a user at a terminal:
//
//   [##..................] 1,250 lines (12.5 %), 310 lines/s, 0:00:28 left
//
// The line is redrawn in place, at most a few times a second.

#ifndef DRAGOMAN_CLIENT_PROGRESS_H_
#define DRAGOMAN_CLIENT_PROGRESS_H_

#include <cstdint>
#include <ostream>
#include <string>

#include "absl/time/time.h"

namespace dragoman {

// What has been done, in this run and before it.
struct Done {
  int64_t lines = 0;
  int64_t bytes = 0;
  int64_t earlier_lines = 0;
  int64_t earlier_bytes = 0;
};

class Progress {
 public:
  // `total_bytes` is the size of the input, or 0 if unknown; `unit` is what is counted.  Starts at
  // `now`.
  Progress(std::ostream* out, int64_t total_bytes, absl::Time now, std::string unit = "lines");

  // These lines were done by an earlier run: they count as done, but not for the rate.  Starts
  // again at `now`.  REQUIRES: no Update yet.
  void Skip(int64_t lines, int64_t bytes, absl::Time now);
  // How much of this an earlier run turns out to have done, at any time.
  void SetEarlier(int64_t lines, int64_t bytes);

  // The number of lines, and their bytes, done since the start.
  void Update(int64_t lines, int64_t bytes, absl::Time now);

  // Erases the line, so that something else can be printed.
  void Clear();

 private:
  std::ostream* const out_;
  const int64_t total_bytes_;
  const std::string unit_;
  absl::Time start_;
  Done done_;
  absl::Time drawn_at_ = absl::InfinitePast();
  size_t drawn_ = 0;  // characters on the terminal
};

// The line above.  `total_bytes` is 0 if it is unknown; `elapsed` is the time of this run.
std::string ProgressLine(const Done& done, int64_t total_bytes, absl::Duration elapsed,
                         const std::string& unit = "lines");

}  // namespace dragoman

#endif  // DRAGOMAN_CLIENT_PROGRESS_H_
