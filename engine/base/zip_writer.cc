#include "engine/base/zip_writer.h"

#include <minizip/zip.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "engine/base/status.h"

namespace dragoman {
namespace {

constexpr uint32_t kNameIsUtf8 = 0x800;
constexpr size_t kPiece = 64 << 20;  // minizip counts the bytes of a piece in 32 bits
constexpr uint64_t kMost32 = 0xffff'ffff;

}  // namespace

absl::StatusOr<std::unique_ptr<ZipWriter>> ZipWriter::Create(const std::string& path) {
  std::unique_ptr<ZipWriter> writer(new ZipWriter(path, nullptr));
  writer->zip_ = zipOpen64(path.c_str(), APPEND_STATUS_CREATE);
  if (writer->zip_ == nullptr) {
    return FailedPreconditionError(path, ": cannot create: ", std::strerror(errno));
  }
  return writer;
}

ZipWriter::~ZipWriter() {
  if (zip_ != nullptr) zipClose(zip_, nullptr);
}

absl::Status ZipWriter::Copy(const ZipArchive::Entry& entry) {
  return Add(entry, {reinterpret_cast<const char*>(entry.packed.data()), entry.packed.size()},
             true);
}

absl::Status ZipWriter::Replace(const ZipArchive::Entry& entry, std::string_view content) {
  return Add(entry, content, false);
}

absl::Status ZipWriter::Add(const ZipArchive::Entry& entry, std::string_view content, bool packed) {
  const zip_fileinfo info = {.tmz_date = {},
                             .dosDate = entry.date,
                             .internal_fa = entry.internal_attributes,
                             .external_fa = entry.external_attributes};
  const bool large = std::max<uint64_t>(content.size(), packed ? entry.size : 0) >= kMost32;
  if (zipOpenNewFileInZip4_64(zip_, entry.name.c_str(), &info, nullptr, 0, nullptr, 0, nullptr,
                              entry.method, Z_DEFAULT_COMPRESSION, packed ? 1 : 0, -MAX_WBITS,
                              DEF_MEM_LEVEL, Z_DEFAULT_STRATEGY, nullptr, 0, entry.version,
                              entry.flags & kNameIsUtf8, large ? 1 : 0) != ZIP_OK) {
    return CannotWrite();
  }
  bool written = true;
  for (size_t begin = 0; begin < content.size() && written; begin += kPiece) {
    const std::string_view piece = content.substr(begin, kPiece);
    written =
        zipWriteInFileInZip(zip_, piece.data(), static_cast<unsigned>(piece.size())) == ZIP_OK;
  }
  const int closed =
      packed ? zipCloseFileInZipRaw64(zip_, entry.size, entry.checksum) : zipCloseFileInZip(zip_);
  return written && closed == ZIP_OK ? absl::OkStatus() : CannotWrite();
}

absl::Status ZipWriter::Finish() {
  const int closed = zipClose(std::exchange(zip_, nullptr), nullptr);
  return closed == ZIP_OK ? absl::OkStatus() : CannotWrite();
}

absl::Status ZipWriter::CannotWrite() const {
  return UnavailableError("cannot write ", path_, ": ", std::strerror(errno));
}

}  // namespace dragoman
