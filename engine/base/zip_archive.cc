#include "engine/base/zip_archive.h"

#include <minizip/unzip.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <set>
#include <utility>

#include "engine/base/status.h"

namespace dragoman {
namespace {

constexpr uint64_t kMaxEntries = 100'000;
constexpr size_t kMaxName = 4096;

// minizip's way to read: a stream over the bytes.
struct Stream {
  absl::Span<const std::byte> bytes;
  uint64_t position = 0;
  bool ended = false;  // a read asked for more bytes than were left
};

void* OpenStream(void* opaque, const void*, int) { return opaque; }

uLong ReadStream(void*, void* stream, void* to, uLong size) {
  auto* const from = static_cast<Stream*>(stream);
  const uint64_t left = from->bytes.size() - from->position;
  const uint64_t count = std::min<uint64_t>(size, left);
  if (count > 0) std::memcpy(to, from->bytes.data() + from->position, count);
  from->position += count;
  from->ended = count < size;
  return static_cast<uLong>(count);
}

ZPOS64_T TellStream(void*, void* stream) { return static_cast<Stream*>(stream)->position; }

long SeekStream(void*, void* stream, ZPOS64_T offset, int origin) {
  auto* const of = static_cast<Stream*>(stream);
  uint64_t base = 0;
  if (origin == ZLIB_FILEFUNC_SEEK_CUR) base = of->position;
  if (origin == ZLIB_FILEFUNC_SEEK_END) base = of->bytes.size();
  if (offset > of->bytes.size() - base) return -1;
  of->position = base + offset;
  return 0;
}

int CloseStream(void*, void*) { return 0; }
int StreamError(void*, void* stream) { return static_cast<Stream*>(stream)->ended ? 1 : 0; }

using Unzip = std::unique_ptr<void, int (*)(void*)>;

// `stream` must outlive the result, which is null if its bytes are not a zip.
Unzip OpenUnzip(Stream* stream) {
  zlib_filefunc64_def functions = {};
  functions.zopen64_file = OpenStream;
  functions.zread_file = ReadStream;
  functions.ztell64_file = TellStream;
  functions.zseek64_file = SeekStream;
  functions.zclose_file = CloseStream;
  functions.zerror_file = StreamError;
  functions.opaque = stream;
  return Unzip(unzOpen2_64(nullptr, &functions), unzClose);
}

absl::Status CheckInfo(const unz_file_info64& info, uint64_t max_ratio) {
  constexpr uLong kEncrypted = 1;
  if ((info.flag & kEncrypted) != 0) return absl::InvalidArgumentError("is encrypted");
  if (info.compression_method != 0 && info.compression_method != Z_DEFLATED) {
    return UnimplementedError("is packed by method ", info.compression_method,
                              ", want none (0) or deflate (8)");
  }
  if (info.compression_method == 0 && info.compressed_size != info.uncompressed_size) {
    return InvalidArgumentError("is stored in ", info.compressed_size, " bytes, but has ",
                                info.uncompressed_size);
  }
  if (info.uncompressed_size / max_ratio > info.compressed_size) {
    return InvalidArgumentError("claims ", info.uncompressed_size, " bytes out of ",
                                info.compressed_size);
  }
  return absl::OkStatus();
}

// The location of the current entry: that of its header, which minizip compares with the central
// directory, and that of its content.
struct Place {
  uint64_t header = 0;
  uint64_t content = 0;
};

absl::StatusOr<Place> FindPlace(void* unzip, const unz_file_info64& info, uint64_t archive_size) {
  constexpr uint64_t kHeader = 30;
  if (unzOpenCurrentFile(unzip) != UNZ_OK) {
    return absl::InvalidArgumentError("has a header that does not fit the archive's list");
  }
  Place place;
  place.content = unzGetCurrentFileZStreamPos64(unzip);
  const int extra = unzGetLocalExtrafield(unzip, nullptr, 0);
  unzCloseCurrentFile(unzip);
  const uint64_t header = kHeader + info.size_filename + static_cast<uint64_t>(std::max(extra, 0));
  if (place.content < header || place.content > archive_size ||
      info.compressed_size > archive_size - place.content) {
    return absl::InvalidArgumentError("does not lie within the archive");
  }
  place.header = place.content - header;
  return place;
}

// Where an archive's parts begin and end, to show that there is nothing before or after them.
struct Extent {
  uint64_t begin = 0;   // of the first header
  uint64_t end = 0;     // of the central directory
  uint64_t packed = 0;  // the bytes of all contents
};

absl::StatusOr<ZipArchive::Entry> ReadEntry(void* unzip, absl::Span<const std::byte> bytes,
                                            uint64_t max_ratio, Extent* extent) {
  unz_file_info64 info = {};
  std::vector<char> name(kMaxName + 1);
  if (unzGetCurrentFileInfo64(unzip, &info, name.data(), kMaxName, nullptr, 0, nullptr, 0) !=
      UNZ_OK) {
    return absl::InvalidArgumentError("the list of entries is damaged");
  }
  if (info.size_filename == 0 || info.size_filename > kMaxName) {
    return InvalidArgumentError("a name has ", info.size_filename, " bytes");
  }
  ZipArchive::Entry entry = {.name = std::string(name.data(), info.size_filename),
                             .size = info.uncompressed_size,
                             .method = static_cast<int>(info.compression_method),
                             .checksum = static_cast<uint32_t>(info.crc),
                             .flags = static_cast<uint32_t>(info.flag),
                             .version = static_cast<uint32_t>(info.version),
                             .date = static_cast<uint32_t>(info.dosDate),
                             .internal_attributes = static_cast<uint32_t>(info.internal_fa),
                             .external_attributes = static_cast<uint32_t>(info.external_fa)};
  absl::Status status = CheckInfo(info, max_ratio);
  absl::StatusOr<Place> place;
  if (status.ok()) {
    place = FindPlace(unzip, info, bytes.size());
    status = place.status();
  }
  if (!status.ok()) {
    return Annotate(status, entry.name, " ");
  }
  constexpr uint64_t kListEntry = 46;
  entry.position = unzGetOffset64(unzip);
  extent->begin = std::min(extent->begin, place->header);
  extent->end = std::max<uint64_t>(extent->end, entry.position + kListEntry + info.size_filename +
                                                    info.size_file_extra + info.size_file_comment);
  entry.packed = bytes.subspan(place->content, info.compressed_size);
  if (info.compression_method == 0) entry.stored = entry.packed;
  extent->packed += entry.packed.size();
  return entry;
}

absl::Status Damaged(const ZipArchive::Entry& entry) {
  return InvalidArgumentError(entry.name, " is damaged in the archive");
}

// Gives `to` the content of an entry, piece by piece.  The content must be as long as the central
// directory says, and have its checksum.
template <typename Function>
absl::Status Unpack(absl::Span<const std::byte> bytes, const ZipArchive::Entry& entry,
                    const Function& to) {
  Stream stream{bytes};
  const Unzip unzip = OpenUnzip(&stream);
  if (unzip == nullptr || unzSetOffset64(unzip.get(), entry.position) != UNZ_OK ||
      unzOpenCurrentFile(unzip.get()) != UNZ_OK) {
    return Damaged(entry);
  }
  std::vector<char> buffer(std::min<uint64_t>(1 << 20, entry.size + 1));
  uint64_t left = entry.size;
  while (true) {
    const int count =
        unzReadCurrentFile(unzip.get(), buffer.data(), static_cast<unsigned>(buffer.size()));
    if (count == 0) break;
    if (count < 0 || static_cast<uint64_t>(count) > left) return Damaged(entry);
    left -= static_cast<uint64_t>(count);
    RETURN_IF_ERROR(to(absl::MakeConstSpan(buffer).first(static_cast<size_t>(count))));
  }
  // Closing compares the checksum.
  const bool whole = unzCloseCurrentFile(unzip.get()) == UNZ_OK;
  return left == 0 && whole ? absl::OkStatus() : Damaged(entry);
}

}  // namespace

bool ZipArchive::IsZip(absl::Span<const std::byte> bytes) {
  return bytes.size() >= 4 && std::memcmp(bytes.data(), "PK\3\4", 4) == 0;
}

absl::StatusOr<ZipArchive> ZipArchive::Open(absl::Span<const std::byte> bytes, uint64_t max_ratio) {
  Stream stream{bytes};
  const Unzip unzip = OpenUnzip(&stream);
  if (unzip == nullptr) return absl::InvalidArgumentError("is not a zip, or is cut off");
  unz_global_info64 global = {};
  if (unzGetGlobalInfo64(unzip.get(), &global) != UNZ_OK || global.number_entry > kMaxEntries) {
    return InvalidArgumentError("has ", global.number_entry, " entries, want at most ",
                                kMaxEntries);
  }
  ZipArchive archive(bytes);
  std::set<std::string> names;
  Extent extent{.begin = bytes.size()};
  int result = global.number_entry > 0 ? unzGoToFirstFile(unzip.get()) : UNZ_END_OF_LIST_OF_FILE;
  for (; result == UNZ_OK; result = unzGoToNextFile(unzip.get())) {
    ASSIGN_OR_RETURN(Entry entry, ReadEntry(unzip.get(), bytes, max_ratio, &extent));
    if (!names.insert(entry.name).second) {
      return InvalidArgumentError(entry.name, " occurs twice in the archive");
    }
    archive.entries_.push_back(std::move(entry));
  }
  if (result != UNZ_END_OF_LIST_OF_FILE || archive.entries_.size() != global.number_entry) {
    return absl::InvalidArgumentError("the list of entries is damaged");
  }
  if (extent.packed > bytes.size()) {
    return absl::InvalidArgumentError("has entries that share their bytes");
  }
  // The record that ends an archive, alone or after the two 64-bit records.
  constexpr uint64_t kEnd = 22;
  constexpr uint64_t kEnd64 = 56 + 20 + kEnd;
  const uint64_t tail = bytes.size() - extent.end - global.size_comment;
  if (!archive.entries_.empty() && (extent.begin > 0 || (tail != kEnd && tail != kEnd64))) {
    return absl::InvalidArgumentError("has bytes that belong to no entry, or is cut off");
  }
  return archive;
}

const ZipArchive::Entry* ZipArchive::Find(const std::string& name) const {
  for (const Entry& entry : entries_) {
    if (entry.name == name) return &entry;
  }
  return nullptr;
}

absl::Status ZipArchive::Extract(const Entry& entry, const std::string& path) const {
  std::FILE* const file = std::fopen(path.c_str(), "wbx");
  if (file == nullptr) {
    return FailedPreconditionError(path, ": cannot create: ", std::strerror(errno));
  }
  const auto cannot_write = [&] {
    return FailedPreconditionError(path, ": cannot write: ", std::strerror(errno));
  };
  absl::Status status = Unpack(bytes_, entry, [&](absl::Span<const char> piece) {
    const bool written = std::fwrite(piece.data(), 1, piece.size(), file) == piece.size();
    return written ? absl::OkStatus() : cannot_write();
  });
  if (std::fclose(file) != 0 && status.ok()) status = cannot_write();
  if (!status.ok()) std::remove(path.c_str());
  return status;
}

absl::StatusOr<std::string> ZipArchive::Read(const Entry& entry) const {
  std::string content;
  content.reserve(entry.size);
  RETURN_IF_ERROR(Unpack(bytes_, entry, [&](absl::Span<const char> piece) {
    content.append(piece.data(), piece.size());
    return absl::OkStatus();
  }));
  return content;
}

absl::Status ZipArchive::Check(const Entry& entry) const {
  return Unpack(bytes_, entry, [](absl::Span<const char>) { return absl::OkStatus(); });
}

}  // namespace dragoman
