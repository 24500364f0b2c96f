#include "client/line_reader.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace dragoman {

absl::StatusOr<std::optional<std::string>> LineReader::Next() {
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
      return absl::InvalidArgumentError("line " + std::to_string(lines_ + 1) + " has more than " +
                                        std::to_string(max_bytes_) + " bytes");
    }
    char chunk[16384];
    const ssize_t count = read(fd_, chunk, sizeof(chunk));
    if (count < 0 && errno != EINTR) {
      return absl::UnavailableError("cannot read line " + std::to_string(lines_ + 1) + ": " +
                                    std::strerror(errno));
    }
    if (count > 0) buffer_.append(chunk, count);
    if (count == 0) at_end_ = true;
  }
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
