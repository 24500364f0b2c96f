#include "server/base/kept_directory.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <random>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "engine/base/status.h"

namespace dragoman {
namespace {

constexpr std::string_view kPartial = ".partial";  // at the end of a name that was not renamed yet
constexpr size_t kPiece = 64 << 10;                // bytes that are written at once

class OpenFile {
 public:
  OpenFile(const std::string& path, int flags) : fd_(open(path.c_str(), flags, 0600)) {}
  ~OpenFile() {
    if (fd_ >= 0) close(fd_);
  }
  int fd() const { return fd_; }

 private:
  const int fd_;
};

}  // namespace

std::string NewUuid() {
  std::random_device random;
  std::string hex;
  for (int i = 0; i < 4; ++i) {
    absl::StrAppend(&hex, absl::Hex(static_cast<uint32_t>(random()), absl::kZeroPad8));
  }
  hex[12] = '4';
  hex[16] = "89ab"[static_cast<size_t>(hex[16]) % 4];
  return absl::StrCat(hex.substr(0, 8), "-", hex.substr(8, 4), "-", hex.substr(12, 4), "-",
                      hex.substr(16, 4), "-", hex.substr(20));
}

bool IsPlainName(std::string_view name) {
  return !name.empty() && name.size() <= 128 && name[0] != '.' &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_' ||
                  c == '.';
         });
}

absl::Status KeptDirectory::NotStored(const std::string& what) const {
  return absl::UnavailableError(
      absl::StrCat("cannot store the ", kept_, ": ", what, ": ", std::strerror(errno)));
}

absl::Status KeptDirectory::Open() const {
  if (mkdir(path_.c_str(), 0700) != 0 && errno != EEXIST) {
    return absl::InvalidArgumentError(absl::StrCat(path_, ": ", std::strerror(errno)));
  }
  ASSIGN_OR_RETURN(const FileVersions files, Files());
  for (const auto& [name, version] : files) {
    const std::string_view file = name;
    if (file.starts_with(".") && file.ends_with(kPartial)) unlink(PathOf(name).c_str());
  }
  return absl::OkStatus();
}

absl::StatusOr<FileVersions> KeptDirectory::Files() const {
  errno = 0;
  FileVersions files = VersionsIn(path_);
  if (!files.contains("")) return files;
  return absl::UnavailableError(absl::StrCat("cannot read ", path_, ": ", std::strerror(errno)));
}

absl::StatusOr<std::string> KeptDirectory::Read(const std::string& name) const {
  const OpenFile file(PathOf(name), O_RDONLY | O_CLOEXEC);
  std::string text, piece(kPiece, '\0');
  while (file.fd() >= 0) {
    const ssize_t size = read(file.fd(), piece.data(), piece.size());
    if (size == 0) return text;
    if (size > 0) text.append(piece, 0, static_cast<size_t>(size));
    if (size < 0 && errno != EINTR) break;
  }
  return absl::UnavailableError(absl::StrCat(name, ": ", std::strerror(errno)));
}

// Writes all of the text where the file is, and brings it to the disk.
absl::Status KeptDirectory::WriteAll(int fd, std::string_view text) const {
  while (!text.empty()) {
    Step();
    const ssize_t written = write(fd, text.data(), std::min(kPiece, text.size()));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return NotStored("write");
    text.remove_prefix(static_cast<size_t>(written));
  }
  Step();
  if (fsync(fd) != 0) return NotStored("fsync");
  return absl::OkStatus();
}

absl::Status KeptDirectory::Write(const std::string& name, std::string_view text) const {
  const std::string partial = absl::StrCat(path_, "/.", name, kPartial.data());
  {
    Step();
    const OpenFile file(partial, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC);
    if (file.fd() < 0) return NotStored(partial);
    RETURN_IF_ERROR(WriteAll(file.fd(), text));
  }
  Step();
  if (rename(partial.c_str(), PathOf(name).c_str()) != 0) return NotStored("rename");
  Step();
  return Keep();
}

absl::Status KeptDirectory::Append(const std::string& name, size_t size,
                                   std::string_view text) const {
  Step();
  const OpenFile file(PathOf(name), O_WRONLY | O_CLOEXEC);
  const off_t end = static_cast<off_t>(size);
  if (file.fd() < 0 || ftruncate(file.fd(), end) != 0 || lseek(file.fd(), end, SEEK_SET) != end) {
    return NotStored(name);
  }
  absl::Status status = WriteAll(file.fd(), text);
  // What is there of it must not come back: the caller is told that nothing was stored.
  if (!status.ok() && ftruncate(file.fd(), end) != 0) status = NotStored(name);
  return status;
}

absl::Status KeptDirectory::Remove(const std::string& name) const {
  Step();
  if (unlink(PathOf(name).c_str()) != 0 && errno != ENOENT) return NotStored("unlink");
  Step();
  return Keep();
}

// Brings the names in the directory to the disk.
absl::Status KeptDirectory::Keep() const {
  const OpenFile directory(path_, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory.fd() < 0 || fsync(directory.fd()) != 0) return NotStored(path_);
  return absl::OkStatus();
}

}  // namespace dragoman
