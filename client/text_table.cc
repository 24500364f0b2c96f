#include "client/text_table.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string_view>

#include "engine/base/status.h"
#include "engine/base/utf8.h"

namespace dragoman {
namespace {

TextRow SplitTabs(std::string_view line) {
  TextRow fields;
  for (size_t begin = 0; begin <= line.size();) {
    const size_t end = std::min(line.find('\t', begin), line.size());
    fields.emplace_back(StripWhiteSpace(line.substr(begin, end - begin)));
    begin = end + 1;
  }
  return fields;
}

}  // namespace

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

absl::StatusOr<std::string> ReadUtf8File(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return NotFoundError(path, ": cannot read");
  std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  if (!IsValidUtf8(text)) return InvalidArgumentError(path, ": is not valid UTF-8");
  return text;
}

absl::StatusOr<std::vector<TextRow>> ReadTable(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string text, ReadUtf8File(path));
  std::vector<TextRow> rows;
  std::string_view rest = text;
  if (rest.starts_with(kByteOrderMark)) rest.remove_prefix(kByteOrderMark.size());
  while (!rest.empty()) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (StripWhiteSpace(line).empty() || line[0] == '#') continue;
    if (line[0] == '\\') line.remove_prefix(1);
    rows.push_back(SplitTabs(line));
  }
  return rows;
}

}  // namespace dragoman
