// Tells one version of a file from another without reading it.

#ifndef DRAGOMAN_ENGINE_BASE_FILE_VERSION_H_
#define DRAGOMAN_ENGINE_BASE_FILE_VERSION_H_

#include <cstdint>
#include <map>
#include <string>

namespace dragoman {

// All zeros if there is no such file.
struct FileVersion {
  int64_t device = 0, inode = 0, size = 0;
  int64_t modified[2] = {}, changed[2] = {};  // seconds and nanoseconds
  bool operator==(const FileVersion&) const = default;
};

// The version of the file at a path; symbolic links are followed, so that pointing one at another
// file is a change.
FileVersion VersionOf(const std::string& path);

// A file, or the files directly in a directory, by name.  One that cannot be read, or not to its
// end, is like a file, whose name is "".
using FileVersions = std::map<std::string, FileVersion>;
FileVersions VersionsIn(const std::string& path);

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_BASE_FILE_VERSION_H_
