// A zip file, unpacked into a temporary directory for as long as this object lives.  Files that
// were opened or mapped in the meantime stay readable.
//
// Who opens the same file meanwhile gets the same object: hold one to have all that is read of a
// file unpacked once.

#ifndef DRAGOMAN_ENGINE_BASE_UNPACKED_ZIP_H_
#define DRAGOMAN_ENGINE_BASE_UNPACKED_ZIP_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "engine/base/not_copyable.h"

namespace dragoman {

class UnpackedZip : private NotCopyable {
 public:
  // Whether the file at `path` starts like a zip.
  static bool IsZip(const std::string& path);

  // Unpacks into a new directory under $TMPDIR, or /tmp.  Thread-safe.  INVALID_ARGUMENT for an
  // archive that is damaged or names a file outside of the directory; FAILED_PRECONDITION if there
  // is no room.
  static absl::StatusOr<std::shared_ptr<const UnpackedZip>> Open(const std::string& path);

  // The same, to have it unpacked once for all that follows; null if it is no zip, or a wrong one.
  static std::shared_ptr<const UnpackedZip> Hold(const std::string& path) {
    return IsZip(path) ? Open(path).value_or(nullptr) : nullptr;
  }

  ~UnpackedZip();

  // The directory, or its only subdirectory if it holds nothing else, as most archives are packed.
  std::string directory() const;

 private:
  explicit UnpackedZip(std::string root) : root_(std::move(root)) {}

  const std::string root_;
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_BASE_UNPACKED_ZIP_H_
