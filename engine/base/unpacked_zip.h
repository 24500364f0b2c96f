// A zip file, unpacked into a temporary directory for as long as this object lives.  Files that
// were opened or mapped in the meantime stay readable.

#ifndef DRAGOMAN_ENGINE_BASE_UNPACKED_ZIP_H_
#define DRAGOMAN_ENGINE_BASE_UNPACKED_ZIP_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"

namespace dragoman {

class UnpackedZip {
 public:
  // Whether the file at `path` starts like a zip.
  static bool IsZip(const std::string& path);

  // Unpacks into a new directory under $TMPDIR, or /tmp.  INVALID_ARGUMENT for an archive that is
  // damaged or names a file outside of the directory; FAILED_PRECONDITION if there is no room.
  static absl::StatusOr<std::unique_ptr<UnpackedZip>> Open(const std::string& path);

  ~UnpackedZip();
  UnpackedZip(const UnpackedZip&) = delete;
  UnpackedZip& operator=(const UnpackedZip&) = delete;

  // The directory, or its only subdirectory if it holds nothing else, as most archives are packed.
  std::string directory() const;

 private:
  explicit UnpackedZip(std::string root) : root_(std::move(root)) {}

  const std::string root_;
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_BASE_UNPACKED_ZIP_H_
