// Bytes that come one after another and are read as a file: in memory as long as they are few,
// otherwise in a file without a name in $TMPDIR (or /tmp), which is gone when nobody has it open.
//
//   ASSIGN_OR_RETURN(std::shared_ptr<Spool> spool, Spool::New(/*expected=*/0));
//   RETURN_IF_ERROR(spool->Append("PK..."));
//   OpenDocument(format, spool->path(), ...);
//
// Used by one thread at a time.

#ifndef DRAGOMAN_SERVER_BASE_SPOOL_H_
#define DRAGOMAN_SERVER_BASE_SPOOL_H_

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/base/not_copyable.h"
#include "server/base/shared_budget.h"

namespace dragoman {

class Spool : private NotCopyable {
 public:
  // So many bytes are kept in memory: a few, as what is there counts as if it were on disk.
  static constexpr size_t kInMemory = 64 << 10;

  // An empty one; `expected` are the bytes that others may write to its path.  What it takes is
  // taken from a share of the bytes on disk, which it keeps as long as it lives.
  static absl::StatusOr<std::shared_ptr<Spool>> New(size_t expected, Share share);
  ~Spool();

  // RESOURCE_EXHAUSTED if its share cannot become that large.
  absl::Status Append(std::string_view bytes);
  // Counts what others have written to its path; errors as Append.
  absl::Status CountAll() { return share_.Raise(size()); }

  // Where it can be opened, by this process and as long as it lives.  Append may change it.
  std::string path() const;
  bool in_memory() const { return in_memory_; }

  size_t size() const;
  // At most `most` bytes from `offset` on; fewer only at the end.
  absl::StatusOr<std::string> Read(size_t offset, size_t most) const;

 private:
  Spool(int fd, bool in_memory, Share share)
      : fd_(fd), in_memory_(in_memory), share_(std::move(share)) {}
  absl::Status MoveToDisk();

  int fd_;
  bool in_memory_;
  Share share_;
};

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_BASE_SPOOL_H_
