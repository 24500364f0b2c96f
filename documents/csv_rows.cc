#include "documents/csv_rows.h"

#include <algorithm>

#include "documents/source_text.h"
#include "engine/base/status.h"
#include "engine/base/utf8.h"

namespace dragoman {
namespace {

constexpr size_t kBytesOfCell = 4 * sizeof(CsvCell);  // in a growing row, and its name

}  // namespace

CsvRows::CsvRows(std::string_view part, char separator, Patience* patience)
    : part_(part), separator_(separator), patience_(patience) {
  if (part_.starts_with(kByteOrderMark)) at_ = kByteOrderMark.size();
  const size_t end = std::min(part_.find_first_of("\r\n", at_), part_.size());
  const std::string_view line = part_.substr(at_, end - at_);
  if (line.size() == 5 && line.starts_with("sep=")) {
    separator_ = line[4];
    at_ = std::min(end + (part_.substr(end).starts_with("\r\n") ? 2 : 1), part_.size());
  } else if (separator_ == ',' && line.find(',') == line.npos && line.find(';') != line.npos) {
    separator_ = ';';
  }
}

absl::StatusOr<bool> CsvRows::Next(std::vector<CsvCell>* row) {
  row->clear();
  if (at_ >= part_.size()) return false;
  const size_t begin = at_;
  while (true) {
    if (!patience_->Takes(kBytesOfCell)) return patience_->status();
    row->emplace_back();
    RETURN_IF_ERROR(TakeCell(&row->back()));
    if (at_ == part_.size()) break;
    const char c = part_[at_++];
    if (c == '\r' && part_.substr(at_).starts_with('\n')) ++at_;
    if (c != separator_) break;
  }
  if (!patience_->Lasts(at_ - begin)) return patience_->status();
  patience_->Returns(kBytesOfCell * row->size());
  return true;
}

// A cell ends at a separator, a line break or the end.
absl::Status CsvRows::TakeCell(CsvCell* cell) {
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

}  // namespace dragoman
