// A zip file in memory; only this file uses minizip.  Stored entries are read in place; compressed
// ones are unpacked into a file.
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
  };

  // Whether the bytes start like a zip.
  static bool IsZip(absl::Span<const std::byte> bytes);

  // Reads the central directory.  `bytes` must outlive the archive.  INVALID_ARGUMENT if they are
  // not a zip, or if an entry lies outside of them, occurs twice, is encrypted, or is compressed by
  // more than kMaxRatio (which no model is); UNIMPLEMENTED for a compression other than deflate.
  static absl::StatusOr<ZipArchive> Open(absl::Span<const std::byte> bytes);

  const std::vector<Entry>& entries() const { return entries_; }
  const Entry* Find(const std::string& name) const;  // nullptr if there is none

  // Unpacks an entry into a new file at `path`.  INVALID_ARGUMENT if its bytes are damaged;
  // FAILED_PRECONDITION if the file cannot be written.  On an error no file remains.
  absl::Status Extract(const Entry& entry, const std::string& path) const;

  static constexpr uint64_t kMaxRatio = 200;

 private:
  explicit ZipArchive(absl::Span<const std::byte> bytes) : bytes_(bytes) {}

  absl::Span<const std::byte> bytes_;
  std::vector<Entry> entries_;
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_BASE_ZIP_ARCHIVE_H_
