// The rows of a CSV file (RFC 4180) or of one with tabs.
//
//   sep=;                  a line of Excel, which says what stands between cells
//   id;"a ""word"""        cells "id" and `a "word"`

#ifndef DRAGOMAN_DOCUMENTS_CSV_ROWS_H_
#define DRAGOMAN_DOCUMENTS_CSV_ROWS_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/base/patience.h"

namespace dragoman {

struct CsvCell {
  size_t begin = 0, end = 0;  // bytes of the part, with quotes
  std::string text;
  bool quoted = false;
};

class CsvRows {
 public:
  // `separator`: ',', for which ';' counts if the first line has these and no commas; or '\t'.
  // `part` and `patience` must outlive it.
  CsvRows(std::string_view part, char separator, Patience* patience);

  char separator() const { return separator_; }
  // Reads the next row; false at the end.  INVALID_ARGUMENT, with the line, if it is damaged; the
  // error of `patience`.
  absl::StatusOr<bool> Next(std::vector<CsvCell>* row);

 private:
  absl::Status TakeCell(CsvCell* cell);

  const std::string_view part_;
  char separator_;
  Patience* const patience_;
  size_t at_ = 0;
};

}  // namespace dragoman

#endif  // DRAGOMAN_DOCUMENTS_CSV_ROWS_H_
