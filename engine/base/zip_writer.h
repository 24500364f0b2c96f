// Writes a zip file: new members, and members of another zip as they lie there, still compressed.
//
//   ASSIGN_OR_RETURN(const auto zip, ZipWriter::Create("out.docx"));
//   for (const ZipArchive::Entry& entry : archive.entries()) RETURN_IF_ERROR(zip->Copy(entry));
//   RETURN_IF_ERROR(zip->Finish());
//
// The file is complete after Finish() alone.  It is written to the path itself, which may be that
// of an open descriptor (/proc/self/fd/N); so it must not be that of a file which is being read.

#ifndef DRAGOMAN_ENGINE_BASE_ZIP_WRITER_H_
#define DRAGOMAN_ENGINE_BASE_ZIP_WRITER_H_

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/base/not_copyable.h"
#include "engine/base/zip_archive.h"

namespace dragoman {

class ZipWriter : private NotCopyable {
 public:
  // Replaces what is at the path.  FAILED_PRECONDITION if it cannot be written there.
  static absl::StatusOr<std::unique_ptr<ZipWriter>> Create(const std::string& path);

  ~ZipWriter();

  // The entry with its name, date and attributes, byte for byte as it is packed.
  absl::Status Copy(const ZipArchive::Entry& entry);
  // The entry with another content, which is packed by the same method.
  absl::Status Replace(const ZipArchive::Entry& entry, std::string_view content);
  // Completes the file.
  absl::Status Finish();

 private:
  ZipWriter(std::string path, void* zip) : path_(std::move(path)), zip_(zip) {}

  absl::Status Add(const ZipArchive::Entry& entry, std::string_view content, bool packed);
  absl::Status CannotWrite() const;

  const std::string path_;
  void* zip_;  // of minizip; null after Finish()
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_BASE_ZIP_WRITER_H_
