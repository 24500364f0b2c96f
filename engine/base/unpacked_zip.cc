#include "engine/base/unpacked_zip.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <system_error>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_split.h"
#include "absl/synchronization/mutex.h"
#include "engine/base/file_version.h"
#include "engine/base/mapped_file.h"
#include "engine/base/status.h"
#include "engine/base/zip_archive.h"

namespace dragoman {
namespace {

namespace fs = std::filesystem;

// Whether a path cannot lead out of the directory that it is appended to.
bool IsSafe(const std::string& name) {
  if (name.find('\0') != name.npos || name.find('\\') != name.npos) return false;
  std::vector<std::string> parts = absl::StrSplit(name, '/');
  if (parts.back().empty()) parts.pop_back();  // a folder
  for (const std::string& part : parts) {
    if (part.empty() || part == "." || part == "..") return false;
  }
  return !parts.empty();
}

absl::Status CheckRoom(const ZipArchive& archive, const std::string& directory) {
  uint64_t wanted = 0;
  for (const ZipArchive::Entry& entry : archive.entries()) {
    if (__builtin_add_overflow(wanted, entry.size, &wanted)) {
      return absl::InvalidArgumentError("claims more bytes than there are");
    }
  }
  std::error_code error;
  const fs::space_info space = fs::space(directory, error);
  if (error || space.available >= wanted) return absl::OkStatus();
  return FailedPreconditionError("wants ", wanted, " bytes, but ", directory, " has ",
                                 space.available, "; set TMPDIR, or unpack it yourself");
}

absl::Status Unpack(const ZipArchive& archive, const std::string& root) {
  RETURN_IF_ERROR(CheckRoom(archive, root));
  for (const ZipArchive::Entry& entry : archive.entries()) {
    if (!IsSafe(entry.name)) {
      return InvalidArgumentError("names \"", entry.name, "\", want a path within the archive");
    }
    const fs::path path = fs::path(root) / entry.name;
    const bool folder = entry.name.ends_with('/');
    std::error_code error;
    fs::create_directories(folder ? path : path.parent_path(), error);
    if (error) {
      return FailedPreconditionError(entry.name, ": ", error.message());
    }
    if (!folder) RETURN_IF_ERROR(archive.Extract(entry, path.string()));
  }
  return absl::OkStatus();
}

// What is unpacked now, by path.  Thread-safe.
class HeldZips {
 public:
  std::shared_ptr<const UnpackedZip> Find(const std::string& path, const FileVersion& version) {
    absl::MutexLock lock(&mutex_);
    const auto held = held_.find(path);
    if (held == held_.end() || !(held->second.version == version)) return nullptr;
    return held->second.zip.lock();
  }
  void Add(const std::string& path, const FileVersion& version,
           const std::shared_ptr<const UnpackedZip>& zip) {
    absl::MutexLock lock(&mutex_);
    held_[path] = {version, zip};
  }

 private:
  struct Held {
    FileVersion version;
    std::weak_ptr<const UnpackedZip> zip;
  };
  absl::Mutex mutex_;
  std::map<std::string, Held> held_ ABSL_GUARDED_BY(mutex_);
};

HeldZips& Held() {
  static auto& zips = *new HeldZips();
  return zips;
}

}  // namespace

bool UnpackedZip::IsZip(const std::string& path) {
  std::error_code error;
  if (!fs::is_regular_file(path, error)) return false;
  const absl::StatusOr<std::shared_ptr<const MappedFile>> file = MappedFile::Open(path);
  return file.ok() && ZipArchive::IsZip((*file)->bytes());
}

absl::StatusOr<std::shared_ptr<const UnpackedZip>> UnpackedZip::Open(const std::string& path) {
  const FileVersion version = VersionOf(path);
  if (auto held = Held().Find(path, version); held != nullptr) return held;
  ASSIGN_OR_RETURN(const std::shared_ptr<const MappedFile> file, MappedFile::Open(path));
  const auto in_file = [&path](const absl::Status& status) { return Annotate(status, path, ": "); };
  const absl::StatusOr<ZipArchive> archive = ZipArchive::Open(file->bytes());
  if (!archive.ok()) return in_file(archive.status());
  std::error_code error;
  std::string root = (fs::temp_directory_path(error) / "dragoman-XXXXXX").string();
  if (error || mkdtemp(root.data()) == nullptr) {
    return in_file(FailedPreconditionError(
        "it cannot be unpacked: ", error ? error.message() : std::strerror(errno),
        "; set TMPDIR, or unpack it yourself and give the directory"));
  }
  const std::shared_ptr<const UnpackedZip> unpacked(new UnpackedZip(root));
  if (absl::Status status = Unpack(*archive, root); !status.ok()) return in_file(status);
  Held().Add(path, version, unpacked);
  return unpacked;
}

UnpackedZip::~UnpackedZip() {
  std::error_code error;
  fs::remove_all(root_, error);
}

std::string UnpackedZip::directory() const {
  std::error_code error;
  std::vector<fs::directory_entry> entries;
  for (fs::directory_iterator it(root_, error), end; !error && it != end; it.increment(error)) {
    entries.push_back(*it);
  }
  const bool folder = entries.size() == 1 && entries.front().is_directory(error);
  return folder ? entries.front().path().string() : root_;
}

}  // namespace dragoman
