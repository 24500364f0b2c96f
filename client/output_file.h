// A file of lines that a later run can continue, however the last one ended: whole lines stay, and
// an unfinished last line, which a killed run may leave, is removed.

#ifndef DRAGOMAN_CLIENT_OUTPUT_FILE_H_
#define DRAGOMAN_CLIENT_OUTPUT_FILE_H_

#include <cstdint>
#include <fstream>
#include <memory>
#include <string>

#include "absl/status/statusor.h"

namespace dragoman {

struct OutputFile {
  std::unique_ptr<std::ofstream> stream;  // appends
  int64_t lines = 0;                      // that it already contains
};

// Opens the file to continue it, or creates it.  An error names the file.
absl::StatusOr<OutputFile> ResumeOutputFile(const std::string& path);

}  // namespace dragoman

#endif  // DRAGOMAN_CLIENT_OUTPUT_FILE_H_
