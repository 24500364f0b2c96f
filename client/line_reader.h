// Reads lines from a file descriptor and can tell whether the next one is available without
// waiting, which streams cannot: a user who types a line should get an answer before typing the
// next one.

#ifndef DRAGOMAN_CLIENT_LINE_READER_H_
#define DRAGOMAN_CLIENT_LINE_READER_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"

namespace dragoman {

// Longer lines are refused: the server takes messages of 1 MiB.
constexpr size_t kMaxLineBytes = 512 << 10;

class LineReader {
 public:
  // Reads lines of at most `max_bytes` from `fd`, which the caller keeps open.
  LineReader(int fd, size_t max_bytes) : fd_(fd), max_bytes_(max_bytes) {}

  // The next line without its end (LF or CR LF), or nothing after the last one.  A last line
  // without an end counts.  INVALID_ARGUMENT if a line is too long (the next call goes on after
  // it), UNAVAILABLE if reading fails; both give the number of the line.
  absl::StatusOr<std::optional<std::string>> Next();

  // False if Next() would have to wait.
  bool Ready() const;

  // The size in bytes of the lines so far, including their ends.
  int64_t bytes() const { return bytes_; }

 private:
  absl::Status Read();
  absl::Status SkipLongLine();
  std::string Take(size_t size, size_t end_size);

  const int fd_;
  const size_t max_bytes_;
  std::string buffer_;         // read beyond the last line returned
  bool at_end_ = false;        // of the file
  bool in_long_line_ = false;  // the buffer begins within a line that was too long
  int64_t lines_ = 0;          // so far, with those that were too long
  int64_t bytes_ = 0;          // of these
};

}  // namespace dragoman

#endif  // DRAGOMAN_CLIENT_LINE_READER_H_
