#include "client/line_reader.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "engine/base/status.h"

namespace dragoman {

absl::StatusOr<std::optional<std::string>> LineReader::Next() {
  RETURN_IF_ERROR(SkipLongLine());
  size_t searched = 0;  // bytes of the buffer known to contain no line end
  while (true) {
    if (const size_t end = buffer_.find('\n', searched); end != std::string::npos) {
      if (end <= max_bytes_) return Take(end, 1);
    } else if (at_end_ && buffer_.size() <= max_bytes_) {
      if (buffer_.empty()) return std::nullopt;
      return Take(buffer_.size(), 0);
    }
    searched = buffer_.size();
    if (searched > max_bytes_) {
      in_long_line_ = true;
      return InvalidArgumentError("line ", ++lines_, " has more than ", max_bytes_, " bytes");
    }
    RETURN_IF_ERROR(Read());
  }
}

absl::Status LineReader::Read() {
  char chunk[16384];
  const ssize_t count = read(fd_, chunk, sizeof(chunk));
  if (count < 0 && errno != EINTR) {
    return UnavailableError("cannot read line ", lines_ + 1, ": ", std::strerror(errno));
  }
  if (count > 0) buffer_.append(chunk, count);
  if (count == 0) at_end_ = true;
  return absl::OkStatus();
}

absl::Status LineReader::SkipLongLine() {
  while (in_long_line_) {
    const size_t end = buffer_.find('\n');
    const size_t size = end == std::string::npos ? buffer_.size() : end + 1;
    buffer_.erase(0, size);
    bytes_ += static_cast<int64_t>(size);
    in_long_line_ = end == std::string::npos && !at_end_;
    if (in_long_line_) RETURN_IF_ERROR(Read());
  }
  return absl::OkStatus();
}

std::string LineReader::Take(size_t size, size_t end_size) {
  std::string line = buffer_.substr(0, size);
  buffer_.erase(0, size + end_size);
  bytes_ += static_cast<int64_t>(size + end_size);
  if (end_size > 0 && !line.empty() && line.back() == '\r') line.pop_back();
  ++lines_;
  return line;
}

bool LineReader::Ready() const {
  if (at_end_ || buffer_.find('\n') != std::string::npos) return true;
  pollfd waiting = {.fd = fd_, .events = POLLIN, .revents = 0};
  return poll(&waiting, 1, /*timeout=*/0) > 0;
}

}  // namespace dragoman
