#include "client/output_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <vector>

#include "engine/base/status.h"

namespace dragoman {
namespace {

absl::Status Failed(const std::string& path, const std::string& why) {
  return UnavailableError(path, ": ", why);
}

// Counts the lines of the file and finds the end of the last whole one.
absl::Status CountLines(const std::string& path, int64_t* lines, uintmax_t* end) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return Failed(path, std::strerror(errno));
  std::vector<char> chunk(1 << 20);
  uintmax_t read = 0;
  while (file.read(chunk.data(), static_cast<std::streamsize>(chunk.size())) || file.gcount() > 0) {
    for (std::streamsize i = 0; i < file.gcount(); ++i) {
      if (chunk[i] != '\n') continue;
      ++*lines;
      *end = read + static_cast<uintmax_t>(i) + 1;
    }
    read += static_cast<uintmax_t>(file.gcount());
  }
  return file.bad() ? Failed(path, "cannot be read") : absl::OkStatus();
}

}  // namespace

absl::StatusOr<OutputFile> ResumeOutputFile(const std::string& path) {
  OutputFile output;
  std::error_code error;
  if (std::filesystem::exists(path, error)) {
    if (!std::filesystem::is_regular_file(path, error)) return Failed(path, "is not a file");
    uintmax_t end = 0;
    RETURN_IF_ERROR(CountLines(path, &output.lines, &end));
    std::filesystem::resize_file(path, end, error);
  }
  if (error) return Failed(path, error.message());
  output.stream = std::make_unique<std::ofstream>(path, std::ios::binary | std::ios::app);
  if (!*output.stream) return Failed(path, std::strerror(errno));
  return output;
}

}  // namespace dragoman
