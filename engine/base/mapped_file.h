// A file's bytes, mapped read-only into memory.  Servers on one machine that map the same
// checkpoint share its pages.
//
// To replace a file that is in use, rename another one over it.  Where one is cut short in place,
// the kernel has no bytes to give and would end the process (SIGBUS); here they read as zeros and
// `whole` tells.

#ifndef DRAGOMAN_ENGINE_BASE_MAPPED_FILE_H_
#define DRAGOMAN_ENGINE_BASE_MAPPED_FILE_H_

#include <cstddef>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace dragoman {

// Owns the mapping; the bytes live as long as the object.  Immutable, so safe for concurrent use.
class MappedFile {
 public:
  // Maps a regular file.  NOT_FOUND if there is none at `path`; FAILED_PRECONDITION if it is not a
  // regular file or may not be read.  An empty file is valid and has no bytes.
  static absl::StatusOr<std::shared_ptr<const MappedFile>> Open(const std::string& path);

  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  absl::Span<const std::byte> bytes() const { return bytes_; }

  // FAILED_PRECONDITION if bytes were read that the file did not have any more.
  absl::Status whole() const;

  bool Holds(absl::Span<const std::byte> part) const {
    return part.data() >= bytes_.data() &&
           part.data() + part.size() <= bytes_.data() + bytes_.size();
  }

  // Lets the pages that are wholly in `part` of bytes() leave this process's memory.  They can
  // still be read: the kernel maps them again.
  void Forget(absl::Span<const std::byte> part) const;

 private:
  MappedFile(std::string path, absl::Span<const std::byte> bytes);

  const std::string path_;
  const absl::Span<const std::byte> bytes_;
  int guard_ = -1;  // the number of its guard (mapped_file.cc); negative: it has none
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_BASE_MAPPED_FILE_H_
