// Rows of columns for a terminal, each column as wide as its longest entry.

#ifndef DRAGOMAN_CLIENT_TEXT_TABLE_H_
#define DRAGOMAN_CLIENT_TEXT_TABLE_H_

#include <ostream>
#include <string>
#include <vector>

namespace dragoman {

using TextRow = std::vector<std::string>;

// Two spaces stand between the columns, and no space at the end of a line.  REQUIRES: entries are
// ASCII.
void PrintTable(const std::vector<TextRow>& rows, std::ostream* out);

}  // namespace dragoman

#endif  // DRAGOMAN_CLIENT_TEXT_TABLE_H_
