// A file's bytes, mapped read-only into memory.  Servers on one machine that map the same
// checkpoint share its pages.
//
// To replace a file that is in use, rename another one over it.  If a mapped file is truncated in
// place, reading the missing part would end the process with SIGBUS. Here the missing bytes read as
// zeros, and `whole` reports the loss.

#ifndef DRAGOMAN_ENGINE_BASE_MAPPED_FILE_H_
#define DRAGOMAN_ENGINE_BASE_MAPPED_FILE_H_

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "engine/base/not_copyable.h"

namespace dragoman {

// Owns the mapping; the bytes live as long as the object.  Immutable, so safe for concurrent use.
class MappedFile : private NotCopyable {
 public:
  // Maps a regular file.  NOT_FOUND if there is none at `path`; FAILED_PRECONDITION if it is not a
  // regular file or cannot be read.  An empty file is valid and has no bytes.
  static absl::StatusOr<std::shared_ptr<const MappedFile>> Open(const std::string& path);

  ~MappedFile();

  absl::Span<const std::byte> bytes() const { return bytes_; }
  std::string_view text() const {
    return {reinterpret_cast<const char*>(bytes_.data()), bytes_.size()};
  }

  // FAILED_PRECONDITION if bytes were read that the file had lost by then.
  absl::Status whole() const;

  bool Holds(absl::Span<const std::byte> part) const {
    return part.data() >= bytes_.data() &&
           part.data() + part.size() <= bytes_.data() + bytes_.size();
  }

  // Lets the pages that lie wholly within `part` of bytes() leave this process's memory.  They can
  // still be read: the kernel maps them again.
  void Forget(absl::Span<const std::byte> part) const;

 private:
  MappedFile(std::string path, absl::Span<const std::byte> bytes);

  const std::string path_;
  const absl::Span<const std::byte> bytes_;
  int guard_ = -1;  // index of its guard (mapped_file.cc); negative: none
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_BASE_MAPPED_FILE_H_
