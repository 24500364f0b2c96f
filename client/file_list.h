// Which files a command line means, and where their translations go:
//
//   report.docx, German                    report.de.docx
//   docs, German, output directory out     out/guide/start.de.md for docs/guide/start.md

#ifndef DRAGOMAN_CLIENT_FILE_LIST_H_
#define DRAGOMAN_CLIENT_FILE_LIST_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "documents/document.h"

namespace dragoman {

struct FileToTranslate {
  std::string input;
  std::string output;
  const DocumentFormat* format = nullptr;
};

struct FileListOptions {
  std::string target_language;
  std::string format;            // of all files, by name; "": by their suffixes
  std::string output_directory;  // "": beside each file
};

// A single file and its output, if it has a format.
absl::StatusOr<FileToTranslate> ListFile(const std::string& input, const std::string& output,
                                         const FileListOptions& options);

// The files that `paths` name, and those in directories that have a format, in the order of their
// names, without hidden ones and without the translations that an earlier run has written there.
// `skipped`, unless null, gets those in directories that have only the suffix of a format: a .ts
// file that is TypeScript.  INVALID_ARGUMENT for a file without a known format, or for two with the
// same output; NOT_FOUND names a path that does not exist.
absl::StatusOr<std::vector<FileToTranslate>> ListFiles(const std::vector<std::string>& paths,
                                                       const FileListOptions& options,
                                                       std::vector<std::string>* skipped = nullptr);

}  // namespace dragoman

#endif  // DRAGOMAN_CLIENT_FILE_LIST_H_
