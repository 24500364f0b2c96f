// A directory of small files that others write, and this process only reads.

#ifndef DRAGOMAN_SERVER_STORE_FILE_DIRECTORY_H_
#define DRAGOMAN_SERVER_STORE_FILE_DIRECTORY_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/base/file_version.h"

namespace dragoman {

// Whether a name cannot lead out of a directory, or hide in it.
bool IsPlainName(std::string_view name);

// INVALID_ARGUMENT if it is no directory.
absl::Status CheckDirectory(const std::string& directory);

// Its files by name.  UNAVAILABLE if it cannot be read, which does not mean that it is empty.
absl::StatusOr<FileVersions> FilesIn(const std::string& directory);

// UNAVAILABLE if it cannot be read; FAILED_PRECONDITION if it is no regular file, lies elsewhere or
// is too large.
absl::StatusOr<std::string> ReadFileIn(const std::string& directory, const std::string& name);

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_STORE_FILE_DIRECTORY_H_
