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
#include "documents/inline_text.h"
#include "documents/passage_list.h"
#include "documents/patience.h"
#include "documents/readers.h"
#include "documents/source_text.h"
#include "engine/base/status.h"
#include "engine/base/utf8.h"

namespace dragoman {
namespace {

constexpr size_t kMostColumns = 1000;

struct CsvCell {
  size_t begin = 0, end = 0;
  std::string text;
  bool quoted = false;
};

class CsvReader {
 public:
  CsvReader(std::string_view part, const DocumentOptions& options, char separator)
      : part_(part),
        patience_(options),
        columns_(options.columns),
        lines_(part),
        separator_(separator) {}

  Passages Read() && {
    RETURN_IF_ERROR(CheckUtf8(part_));
    if (part_.starts_with(kByteOrderMark)) at_ = kByteOrderMark.size();
    const std::string_view line = part_.substr(0, part_.find('\n'));
    if (separator_ == ',' && line.find(',') == line.npos && line.find(';') != line.npos) {
      separator_ = ';';
    }
    for (bool first = true; at_ < part_.size(); first = false) {
      std::vector<CsvCell> row;
      const size_t begin = at_;
      RETURN_IF_ERROR(TakeRow(&row));
      if (!patience_.Lasts(at_ - begin)) return patience_.status();
      patience_.Returns(kBytesOfCell * row.size());
      if (first) RETURN_IF_ERROR(FindColumns(row));
      if (first && named_) continue;
      for (const size_t column : wanted_) {
        if (column >= row.size()) break;
        Add(row[column]);
      }
    }
    return passages_.Take();
  }

 private:
  static constexpr size_t kBytesOfCell = 4 * sizeof(CsvCell);  // in a growing row, and its name

  absl::Status TakeRow(std::vector<CsvCell>* row) {
    while (true) {
      if (!patience_.Takes(kBytesOfCell)) return patience_.status();
      row->emplace_back();
      RETURN_IF_ERROR(TakeCell(&row->back()));
      if (at_ == part_.size()) return absl::OkStatus();
      const char c = part_[at_++];
      if (c == '\r' && part_.substr(at_).starts_with('\n')) ++at_;
      if (c != separator_) return absl::OkStatus();
    }
  }

  // A cell ends at a separator, a line break or the end.
  absl::Status TakeCell(CsvCell* cell) {
    cell->begin = at_;
    if (at_ < part_.size() && part_[at_] == '"') {
      cell->quoted = true;
      for (++at_;; ++at_) {
        const size_t quote = part_.find('"', at_);
        if (quote == part_.npos) {
          return DamagedAt(part_, cell->begin, "has a cell without its closing quote");
        }
        cell->text += part_.substr(at_, quote - at_);
        at_ = quote + 1;
        if (!part_.substr(at_).starts_with('"')) break;
        cell->text += '"';
      }
    }
    const char ends[] = {separator_, '\r', '\n'};
    const size_t end = std::min(part_.find_first_of({ends, 3}, at_), part_.size());
    if (cell->quoted && end != at_) {
      return DamagedAt(part_, at_, "has more behind the closing quote of a cell");
    }
    if (!cell->quoted) cell->text = part_.substr(at_, end - at_);
    cell->end = at_ = end;
    return absl::OkStatus();
  }

  absl::Status FindColumns(const std::vector<CsvCell>& row) {
    if (columns_.size() > kMostColumns) {
      return absl::InvalidArgumentError(
          absl::StrCat(columns_.size(), " columns are named, the most is ", kMostColumns));
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
    return DamagedLine(
        1, absl::StrCat("has no column \"", column, "\"; name those to be translated, of: ",
                        std::string(BeginningOf(absl::StrJoin(names, ", "), 200))));
  }

  void Add(const CsvCell& cell) {
    if (!HasWords(cell.text)) return;
    const auto spell = [quoted = cell.quoted, separator = separator_](std::string_view text) {
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
  char separator_;
  size_t at_ = 0;
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
