#include "engine/model/packed_place.h"

#include <fcntl.h>
#include <sys/stat.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <system_error>
#include <vector>

#include "absl/strings/str_cat.h"

namespace dragoman {
namespace {

namespace fs = std::filesystem;

// How weights are quantized, interleaved and stored.  To be raised with every change of that.
constexpr int kLayout = 1;

constexpr time_t kDay = 24 * 60 * 60;  // in seconds

constexpr char kEnding[] = ".packed";
constexpr char kBeside[] = ".dragoman";
constexpr int kDeepest = 2;  // directories in that of a model that are looked into

std::string DigestOf(const std::string& text) {
  return absl::StrCat(absl::Hex(XXH3_64bits(text.data(), text.size()), absl::kZeroPad16));
}

// What tells a file from another one in its place; "" if it is no file.
std::string IdentityOf(const std::string& path) {
  struct stat file = {};
  if (stat(path.c_str(), &file) != 0 || !S_ISREG(file.st_mode)) return "";
  return absl::StrCat(path, " ", file.st_dev, " ", file.st_ino, " ", file.st_size, " ",
                      file.st_mtim.tv_sec, ".", file.st_mtim.tv_nsec, " ", file.st_ctim.tv_sec, ".",
                      file.st_ctim.tv_nsec, "\n");
}

// The file at `path`, or those of a directory, sorted.
std::vector<std::string> FilesIn(const fs::path& path) {
  std::vector<std::string> files = {path};
  std::error_code error;
  fs::recursive_directory_iterator at(path, fs::directory_options::follow_directory_symlink, error);
  for (; !error && at != fs::end(at); at.increment(error)) {
    if (at.depth() == kDeepest || at->path().filename() == kBeside) at.disable_recursion_pending();
    files.push_back(at->path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

PackedPlace PackedPlaceOf(const std::string& cache, const PackedOrigin& origin) {
  std::error_code error;
  const fs::path canonical = fs::weakly_canonical(origin.directory, error);
  const std::string& shortlist = origin.shortlist.file;
  std::vector<std::string> paths = FilesIn(canonical);
  paths.push_back(shortlist);
  if (!origin.lora.empty()) {
    const std::vector<std::string> adapter = FilesIn(origin.lora);
    paths.insert(paths.end(), adapter.begin(), adapter.end());
  }
  std::string key =
      absl::StrCat(kLayout, " ", origin.arithmetic, " ", origin.shortlist.first.value_or(-1), ",",
                   origin.shortlist.best.value_or(-1), "\n");
  for (const std::string& path : paths) key += IdentityOf(path);
  const fs::path to = cache == kBesideModel ? canonical / kBeside : fs::path(cache);
  const std::string name = DigestOf(absl::StrCat(canonical.string(), "\n", origin.lora, "\n",
                                                 shortlist, "\n", origin.arithmetic));
  return {(to / (name + kEnding)).string(), DigestOf(key)};
}

absl::StatusOr<std::unique_ptr<PackedFileWriter>> WritePacked(const PackedPlace& place) {
  std::error_code error;  // if the directory cannot be created, the file cannot be, either
  fs::create_directories(fs::path(place.path).parent_path(), error);
  return PackedFileWriter::Create(place.path, place.key);
}

void KeepPacked(const std::string& path) {
  struct stat file = {};
  if (stat(path.c_str(), &file) != 0 || time(nullptr) - file.st_mtim.tv_sec < kDay) return;
  utimensat(AT_FDCWD, path.c_str(), nullptr, 0);
}

void RemoveStale(const std::string& path) {
  constexpr time_t kUnfinished = kDay / 24, kUnused = 30 * kDay;
  struct stat own = {};
  if (stat(path.c_str(), &own) != 0) return;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(fs::path(path).parent_path(), error)) {
    const std::string name = entry.path().filename();
    const size_t ending = name.find(kEnding);
    struct stat file = {};
    if (ending == name.npos || lstat(entry.path().c_str(), &file) != 0 || !S_ISREG(file.st_mode)) {
      continue;
    }
    const bool finished = ending + sizeof(kEnding) - 1 == name.size();
    const time_t age = own.st_mtim.tv_sec - file.st_mtim.tv_sec;
    if (age > (finished ? kUnused : kUnfinished)) fs::remove(entry.path(), error);
  }
}

}  // namespace dragoman
