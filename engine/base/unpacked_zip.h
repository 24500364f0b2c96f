// A zip, unpacked into a directory of its own for as long as this lives.  Files that were opened or
// mapped meanwhile stay readable after that.

#ifndef DRAGOMAN_ENGINE_BASE_UNPACKED_ZIP_H_
#define DRAGOMAN_ENGINE_BASE_UNPACKED_ZIP_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"

namespace dragoman {

class UnpackedZip {
 public:
  // Whether there is a file at `path` that begins as a zip does.
  static bool IsZip(const std::string& path);

  // Unpacks into a new directory under $TMPDIR, or /tmp.  INVALID_ARGUMENT for an archive that is
  // damaged or that names a file outside of the directory; FAILED_PRECONDITION if there is no room.
  static absl::StatusOr<std::unique_ptr<UnpackedZip>> Open(const std::string& path);

  ~UnpackedZip();
  UnpackedZip(const UnpackedZip&) = delete;
  UnpackedZip& operator=(const UnpackedZip&) = delete;

  // The directory, or the only one in it, which is how most archives are packed.
  std::string directory() const;

 private:
  explicit UnpackedZip(std::string root) : root_(std::move(root)) {}

  const std::string root_;
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_BASE_UNPACKED_ZIP_H_
