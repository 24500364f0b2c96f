#include "client/text_table.h"

#include <algorithm>

namespace dragoman {

void PrintTable(const std::vector<TextRow>& rows, std::ostream* out) {
  std::vector<size_t> widths;
  for (const TextRow& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  for (const TextRow& row : rows) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      line += row[i] + std::string(widths[i] + 2 - row[i].size(), ' ');
    }
    line.resize(line.find_last_not_of(' ') + 1);
    *out << line << "\n";
  }
}

}  // namespace dragoman
