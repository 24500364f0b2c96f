// A zip file in memory.  Stored entries are read in place; compressed ones are unpacked, into a
// file or into memory, or copied as they are into another zip (zip_writer.h).  minizip does the
// work.
//
//   ASSIGN_OR_RETURN(const auto file, MappedFile::Open("pytorch_model.bin"));
//   ASSIGN_OR_RETURN(const auto zip, ZipArchive::Open(file->bytes()));
//   for (const ZipArchive::Entry& entry : zip.entries()) ...
//
// The archive is untrusted: sizes, offsets and names are checked here, and an entry is unpacked
// only to a path that the caller chooses.

#ifndef DRAGOMAN_ENGINE_BASE_ZIP_ARCHIVE_H_
#define DRAGOMAN_ENGINE_BASE_ZIP_ARCHIVE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace dragoman {

// Immutable, so safe for concurrent use.
class ZipArchive {
 public:
  struct Entry {
    std::string name;       // with "/" between folders; a folder's name ends in "/"
    uint64_t size = 0;      // of the uncompressed content
    uint64_t position = 0;  // in the archive's central directory
    // The content in place; empty if it is compressed or has no bytes.
    absl::Span<const std::byte> stored;
    // The content as it lies in the archive, compressed or not, and what the archive says of it, in
    // the format's own numbers.
    absl::Span<const std::byte> packed;
    int method = 0;         // 0: stored; 8: deflate
    uint32_t checksum = 0;  // CRC-32 of the content
    uint32_t flags = 0;
    uint32_t version = 0;  // of the program that made it, and that program's system
    uint32_t date = 0;
    uint32_t internal_attributes = 0;
    uint32_t external_attributes = 0;
  };

  // Whether the bytes start like a zip.
  static bool IsZip(absl::Span<const std::byte> bytes);

  // Reads the central directory.  `bytes` must outlive the archive.  INVALID_ARGUMENT if they are
  // not a zip, or if an entry lies outside of them, shares bytes with another one, occurs twice, is
  // encrypted, or is compressed by more than `max_ratio` (no model is by more than kMaxRatio);
  // UNIMPLEMENTED for a compression other than deflate.
  static absl::StatusOr<ZipArchive> Open(absl::Span<const std::byte> bytes,
                                         uint64_t max_ratio = kMaxRatio);

  const std::vector<Entry>& entries() const { return entries_; }
  const Entry* Find(const std::string& name) const;  // nullptr if there is none

  // Unpacks an entry into a new file at `path`.  INVALID_ARGUMENT if its bytes are damaged;
  // FAILED_PRECONDITION if the file cannot be written.  On an error no file remains.
  absl::Status Extract(const Entry& entry, const std::string& path) const;
  // The content of an entry.  INVALID_ARGUMENT if its bytes are damaged.  REQUIRES: there is room
  // for entry.size bytes.
  absl::StatusOr<std::string> Read(const Entry& entry) const;
  // INVALID_ARGUMENT if its bytes are damaged.
  absl::Status Check(const Entry& entry) const;

  static constexpr uint64_t kMaxRatio = 200;

 private:
  explicit ZipArchive(absl::Span<const std::byte> bytes) : bytes_(bytes) {}

  absl::Span<const std::byte> bytes_;
  std::vector<Entry> entries_;
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_BASE_ZIP_ARCHIVE_H_
