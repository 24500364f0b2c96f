// CSV (RFC 4180; with ";" if its first line has these and no commas) and TSV: the cells of the
// columns that are named.
//
//   id,text                     --columns text
//   1,"Hello, world"            <- Hello, world
//
// A column is a name in the first row, or a number from 1; with names, the first row is kept.

#include <algorithm>
#include <charconv>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "documents/csv_rows.h"
#include "documents/inline_text.h"
#include "documents/passage_list.h"
#include "documents/readers.h"
#include "documents/source_text.h"
#include "engine/base/patience.h"
#include "engine/base/status.h"
#include "engine/base/utf8.h"

namespace dragoman {
namespace {

constexpr size_t kMostColumns = 1000;

class CsvReader {
 public:
  CsvReader(std::string_view part, const DocumentOptions& options, char separator)
      : part_(part),
        patience_(options),
        columns_(options.columns),
        lines_(part),
        rows_(part, separator, &patience_) {}

  Passages Read() && {
    std::vector<CsvCell> row;
    for (bool first = true;; first = false) {
      ASSIGN_OR_RETURN(const bool more, rows_.Next(&row));
      if (!more) return passages_.Take();
      if (first) RETURN_IF_ERROR(FindColumns(row));
      if (first && named_) continue;
      for (const size_t column : wanted_) {
        if (column >= row.size()) break;
        Add(row[column]);
      }
    }
  }

 private:
  absl::Status FindColumns(const std::vector<CsvCell>& row) {
    if (columns_.size() > kMostColumns) {
      return InvalidArgumentError(columns_.size(), " columns are named, the most is ",
                                  kMostColumns);
    }
    std::vector<std::string> names;
    for (const CsvCell& cell : row) names.push_back(cell.text);
    for (const std::string& column : columns_) {
      size_t number = std::find(names.begin(), names.end(), column) - names.begin();
      if (number < names.size()) {
        named_ = true;
      } else {
        const char* const end = column.data() + column.size();
        const auto [stop, error] = std::from_chars(column.data(), end, number);
        if (error != std::errc() || stop != end || number == 0) return Unknown(column, names);
        --number;
      }
      wanted_.insert(number);
    }
    return wanted_.empty() ? Unknown("", names) : absl::OkStatus();
  }

  static absl::Status Unknown(const std::string& column, const std::vector<std::string>& names) {
    return DamagedLine(1, "has no column \"", column, "\"; name those to be translated, of: ",
                       std::string(BeginningOf(absl::StrJoin(names, ", "), 200)));
  }

  void Add(const CsvCell& cell) {
    if (!HasWords(cell.text)) return;
    const auto spell = [quoted = cell.quoted,
                        separator = rows_.separator()](std::string_view text) {
      const char special[] = {separator, '"', '\r', '\n'};
      if (!quoted && text.find_first_of({special, 4}) == text.npos) return std::string(text);
      return absl::StrCat("\"", absl::StrReplaceAll(std::string(text), {{"\"", "\"\""}}), "\"");
    };
    passages_.Add(PlainPassage(cell.begin, cell.end, lines_.At(cell.begin), cell.text, spell));
  }

  const std::string_view part_;
  Patience patience_;
  const std::vector<std::string>& columns_;
  LineCounter lines_;
  CsvRows rows_;
  bool named_ = false;       // a column is
  std::set<size_t> wanted_;  // columns
  PassageList passages_{&patience_};
};

}  // namespace

Passages ReadCsv(std::string_view part, const DocumentOptions& options) {
  return CsvReader(part, options, ',').Read();
}
Passages ReadTsv(std::string_view part, const DocumentOptions& options) {
  return CsvReader(part, options, '\t').Read();
}

}  // namespace dragoman
