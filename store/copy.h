// Backups of a store: a file of SQLite with all rows, whichever database they come from, and back.
// So a store also moves from SQLite to PostgreSQL.

#ifndef DRAGOMAN_STORE_COPY_H_
#define DRAGOMAN_STORE_COPY_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "store/database.h"

namespace dragoman {

// Rows by the names of the tables.
using RowCounts = std::vector<std::pair<std::string, int64_t>>;

// Copies all rows, as they are at one time, into a store without any.  FAILED_PRECONDITION if it
// has some.
absl::StatusOr<RowCounts> CopyStore(Database* from, Database* to);

// Copies what can be read of a damaged file of SQLite.  The rows that cannot be, and those that
// belong to them, are missing; `faults` says what could not be read.
absl::StatusOr<RowCounts> SalvageStore(const std::string& path, Database* to,
                                       std::vector<std::string>* faults);

// Reads all rows.  DATA_LOSS if some cannot be read or do not belong to others.
absl::StatusOr<RowCounts> CheckStore(Database* store);

}  // namespace dragoman

#endif  // DRAGOMAN_STORE_COPY_H_
