// Zips for tests: made of given members, and taken apart again.

#ifndef DRAGOMAN_TESTS_DOCUMENTS_ZIP_OF_H_
#define DRAGOMAN_TESTS_DOCUMENTS_ZIP_OF_H_

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "documents/document.h"

namespace dragoman {

struct ZipMember {
  std::string name;
  std::string content;
  int method = 8;      // 0: stored; 8: deflate
  std::string packed;  // of those that were read: as it lies in the zip
};

std::string ReadBytes(const std::string& path);
void WriteBytes(const std::string& path, std::string_view bytes);

// A path in the directory of temporary files that no other test has.
std::string TemporaryPath(const std::string& suffix);

void WriteZip(const std::string& path, const std::vector<ZipMember>& members);
// REQUIRES: a zip is there.
std::vector<ZipMember> ReadZip(const std::string& path);
// The content of that member of a zip.
std::string ReadMember(const std::string& path, const std::string& name);

// What a translation of a text is.
using Translation = std::function<std::string(const std::string&)>;
std::string Same(const std::string& text);
// ASCII letters outside of tags and references in upper case.
std::string Upper(const std::string& text);

struct Translated {
  absl::Status status;
  std::string output;              // the path
  std::vector<std::string> texts;  // of the passages
};

// Translates the file at `input`, whose format its name says.
Translated TranslateFile(const std::string& input, const Translation& translation,
                         const DocumentOptions& options = {});

}  // namespace dragoman

#endif  // DRAGOMAN_TESTS_DOCUMENTS_ZIP_OF_H_
