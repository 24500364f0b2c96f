// The tables of the store, and how they came about: numbered migrations in plain SQL.

#ifndef DRAGOMAN_STORE_SCHEMA_H_
#define DRAGOMAN_STORE_SCHEMA_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "store/database.h"

namespace dragoman {

// A table, with its columns in the order in which rows are copied.
struct Table {
  const char* name;
  std::vector<const char*> columns;
};
// In an order in which rows may be added: those that are referred to first.
absl::Span<const Table> StoreTables();

// Makes the tables or brings them up to date, one server at a time.  FAILED_PRECONDITION if they
// are those of a newer server.
absl::Status Migrate(Connection* connection, bool postgres);

}  // namespace dragoman

#endif  // DRAGOMAN_STORE_SCHEMA_H_
