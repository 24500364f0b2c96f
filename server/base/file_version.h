// What tells one version of a file from another, without reading it.

#ifndef DRAGOMAN_SERVER_BASE_FILE_VERSION_H_
#define DRAGOMAN_SERVER_BASE_FILE_VERSION_H_

#include <cstdint>
#include <map>
#include <string>

namespace dragoman {

// All zeros: there is no such file.
struct FileVersion {
  int64_t device = 0, inode = 0, size = 0;
  int64_t modified[2] = {}, changed[2] = {};  // seconds and nanoseconds
  bool operator==(const FileVersion&) const = default;
};

// Of the file that a path leads to; symbolic links are followed, so that one which is turned to
// another file is a change.
FileVersion VersionOf(const std::string& path);

// A file, or the files of a directory by name, those of directories below it left out.
using FileVersions = std::map<std::string, FileVersion>;
FileVersions VersionsIn(const std::string& path);

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_BASE_FILE_VERSION_H_
