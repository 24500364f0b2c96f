// Rows of columns: for a terminal, where each column is as wide as its longest entry, and in files,
// with tabs between them.

#ifndef DRAGOMAN_CLIENT_TEXT_TABLE_H_
#define DRAGOMAN_CLIENT_TEXT_TABLE_H_

#include <ostream>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace dragoman {

using TextRow = std::vector<std::string>;

// Two spaces stand between the columns, and no space at the end of a line.  REQUIRES: entries are
// ASCII.
void PrintTable(const std::vector<TextRow>& rows, std::ostream* out);

// The fields of each line of a file, between tabs, without white space around them.  Empty lines
// and those that begin with # are left out; a backslash at the beginning says that it is none of
// these. An error names the file.
absl::StatusOr<std::vector<TextRow>> ReadTable(const std::string& path);
// A whole file, which is UTF-8.  An error names the file.
absl::StatusOr<std::string> ReadUtf8File(const std::string& path);

}  // namespace dragoman

#endif  // DRAGOMAN_CLIENT_TEXT_TABLE_H_
