// A file of lines that a later run can go on with, however the last one ended: whole lines stay,
// and a last line without an end, which a run that was killed may leave, is taken off.

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
  int64_t lines = 0;                      // that are there already
};

// Opens the file to go on with, or creates it.  An error names the file.
absl::StatusOr<OutputFile> ResumeOutputFile(const std::string& path);

}  // namespace dragoman

#endif  // DRAGOMAN_CLIENT_OUTPUT_FILE_H_
