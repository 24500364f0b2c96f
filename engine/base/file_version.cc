#include "engine/base/file_version.h"

#include <dirent.h>
#include <sys/stat.h>

#include <cerrno>
#include <memory>

namespace dragoman {
namespace {

FileVersion VersionFrom(const struct stat& info) {
  return {.device = static_cast<int64_t>(info.st_dev),
          .inode = static_cast<int64_t>(info.st_ino),
          .size = info.st_size,
          .modified = {info.st_mtim.tv_sec, info.st_mtim.tv_nsec},
          .changed = {info.st_ctim.tv_sec, info.st_ctim.tv_nsec}};
}

}  // namespace

FileVersion VersionOf(const std::string& path) {
  struct stat info;
  return stat(path.c_str(), &info) == 0 ? VersionFrom(info) : FileVersion();
}

FileVersions VersionsIn(const std::string& path) {
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(opendir(path.c_str()), closedir);
  if (directory == nullptr) return {{"", VersionOf(path)}};
  FileVersions versions;
  while (true) {
    errno = 0;
    const dirent* const entry = readdir(directory.get());
    if (entry == nullptr && errno != 0) return {{"", VersionOf(path)}};
    if (entry == nullptr) return versions;
    const std::string file = path + "/" + entry->d_name;
    struct stat info;
    if (stat(file.c_str(), &info) != 0) {
      versions[entry->d_name];  // a dangling link; if its target appears, that is a change
    } else if (!S_ISDIR(info.st_mode)) {
      versions[entry->d_name] = VersionFrom(info);
    }
  }
}

}  // namespace dragoman
