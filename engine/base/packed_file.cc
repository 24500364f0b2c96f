// A file is written from its beginning to its end:
//
//   blocks     each at a multiple of 64 bytes
//   directory  JSON: {"key": ..., "note": ..., "blocks": {"fc1": [offset, size], ...}}
//   trailer    the magic number, the offset of the directory, a digest of all that is before
//
// It is not flushed to the disk: after a crash its digest is wrong, and it is written again.  The
// digest tells what is damaged, not what is forged; so a file that another user can write is none.

#include "engine/base/packed_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string_view>

#include "absl/time/clock.h"
#include "engine/base/file_version.h"
#include "engine/base/huge_pages.h"
#include "engine/base/json.h"
#include "engine/base/status.h"
#include "engine/base/whole_files.h"

namespace dragoman {
namespace {

struct Trailer {
  uint64_t magic;
  uint64_t directory;  // its offset
  uint64_t digest;
};
constexpr uint64_t kMagic = 0x31'4b'43'50'4e'41'4d'52;  // "RMANPCK1"

// Whether only this user, or the system's administrator, can have written it.
bool IsOwn(const std::string& path) {
  struct stat file = {};
  return lstat(path.c_str(), &file) == 0 && S_ISREG(file.st_mode) &&
         (file.st_uid == geteuid() || file.st_uid == 0) && (file.st_mode & 022) == 0;
}

// A block [offset, size] of the content; nothing if it is not in there.
std::optional<absl::Span<const std::byte>> BlockOf(const nlohmann::json& block,
                                                   absl::Span<const std::byte> content) {
  if (!block.is_array() || block.size() != 2 || !block[0].is_number_unsigned() ||
      !block[1].is_number_unsigned()) {
    return std::nullopt;
  }
  const auto offset = block[0].get<uint64_t>(), size = block[1].get<uint64_t>();
  if (offset % PackedFile::kAlignment != 0 || offset > content.size() ||
      size > content.size() - offset) {
    return std::nullopt;
  }
  return content.subspan(offset, size);
}

WholeFiles& KnownWhole() {
  static auto& files = *new WholeFiles();
  return files;
}

}  // namespace

std::shared_ptr<const PackedFile> PackedFile::Open(const std::string& path,
                                                   const std::string& key) {
  if (!IsOwn(path)) return nullptr;
  const absl::Time now = absl::Now();
  const FileVersion version = VersionOf(path);
  const auto mapped = MappedFile::Open(path);
  // Another file may take its place at any time.
  if (!mapped.ok() || !(VersionOf(path) == version)) return nullptr;
  const absl::Span<const std::byte> bytes = (*mapped)->bytes();
  Trailer trailer;
  if (bytes.size() < sizeof(trailer)) return nullptr;
  const size_t content = bytes.size() - sizeof(trailer);
  std::memcpy(&trailer, bytes.data() + content, sizeof(trailer));
  if (trailer.magic != kMagic || trailer.directory > content) return nullptr;
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()) + trailer.directory,
                              content - trailer.directory);
  const absl::StatusOr<nlohmann::json> directory = ParseJsonObject(text, path);
  if (!directory.ok() || TextIn(*directory, "key") != key) return nullptr;
  const nlohmann::json& blocks = Member(*directory, "blocks");
  if (!blocks.is_object()) return nullptr;
  std::shared_ptr<PackedFile> file(new PackedFile());
  for (const auto& [name, value] : blocks.items()) {
    const auto block = BlockOf(value, bytes.first(trailer.directory));
    if (!block.has_value()) return nullptr;
    file->blocks_[name] = *block;
  }
  const bool known = KnownWhole().Has(path, version);
  if (!known && XXH3_64bits(bytes.data(), content) != trailer.digest) return nullptr;
  file->file_ = *mapped;
  file->note_ = TextIn(*directory, "note");
  if (!file->whole()) return nullptr;
  if (!known) KnownWhole().Remember(path, version, now);
  return file;
}

absl::Span<const std::byte> PackedFile::Find(const std::string& name) const {
  const auto block = blocks_.find(name);
  return block == blocks_.end() ? absl::Span<const std::byte>() : block->second;
}

struct PackedFileWriter::State {
  std::string path, temporary;
  int fd = -1;
  absl::Status status;
  uint64_t size = 0;
  XXH3_state_t digest;
  nlohmann::json directory;
};

PackedFileWriter::PackedFileWriter(std::unique_ptr<State> state) : state_(std::move(state)) {}

absl::StatusOr<std::unique_ptr<PackedFileWriter>> PackedFileWriter::Create(const std::string& path,
                                                                           const std::string& key) {
  auto state = std::make_unique<State>();
  state->path = path;
  state->temporary = path + ".XXXXXX";
  state->fd = mkostemp(state->temporary.data(), O_CLOEXEC);
  if (state->fd < 0) {
    return FailedPreconditionError(path, ": cannot be written: ", std::strerror(errno));
  }
  XXH3_64bits_reset(&state->digest);
  state->directory = {{"key", key}, {"blocks", nlohmann::json::object()}};
  return std::unique_ptr<PackedFileWriter>(new PackedFileWriter(std::move(state)));
}

PackedFileWriter::~PackedFileWriter() {
  if (state_->fd < 0) return;
  close(state_->fd);
  unlink(state_->temporary.c_str());
}

void PackedFileWriter::Write(absl::Span<const std::byte> bytes) {
  State& state = *state_;
  XXH3_64bits_update(&state.digest, bytes.data(), bytes.size());
  state.size += bytes.size();
  while (!bytes.empty() && state.status.ok()) {
    const ssize_t written = write(state.fd, bytes.data(), bytes.size());
    if (written >= 0) {
      bytes.remove_prefix(static_cast<size_t>(written));
    } else if (errno != EINTR) {
      state.status =
          FailedPreconditionError(state.path, ": cannot be written: ", std::strerror(errno));
    }
  }
}

void PackedFileWriter::Add(const std::string& name,
                           std::initializer_list<absl::Span<const std::byte>> parts) {
  nlohmann::json& blocks = state_->directory["blocks"];
  if (blocks.contains(name)) return;
  static constexpr std::byte kZeros[PackedFile::kAlignment] = {};
  const size_t begin = RoundUp(state_->size, PackedFile::kAlignment);
  Write(absl::MakeConstSpan(kZeros, begin - state_->size));
  for (const absl::Span<const std::byte> part : parts) Write(part);
  blocks[name] = {begin, state_->size - begin};
}

absl::Status PackedFileWriter::Finish(const std::string& note) {
  State& state = *state_;
  state.directory["note"] = note;
  Trailer trailer = {.magic = kMagic, .directory = state.size, .digest = 0};
  const std::string directory = WriteJson(state.directory);
  Write(BytesOf(absl::MakeConstSpan(directory)));
  trailer.digest = XXH3_64bits_digest(&state.digest);
  Write(BytesOf(absl::MakeConstSpan(&trailer, 1)));
  RETURN_IF_ERROR(state.status);
  close(std::exchange(state.fd, -1));
  if (rename(state.temporary.c_str(), state.path.c_str()) != 0) {
    const int error = errno;
    unlink(state.temporary.c_str());
    return FailedPreconditionError(state.path, ": cannot be written: ", std::strerror(error));
  }
  return absl::OkStatus();
}

}  // namespace dragoman
