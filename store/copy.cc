#include "store/copy.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "absl/types/span.h"
#include "engine/base/status.h"
#include "store/schema.h"

namespace dragoman {
namespace {

constexpr absl::Duration kLongest = absl::Hours(1);

// What depends on rows that are missing.
constexpr char kCountAgain[] = R"sql(
INSERT INTO lists (kept_id, position, source_language, target_language, size, content)
  SELECT id, 0, '', '', 0, '' FROM kept
  WHERE kind = 2 AND NOT EXISTS (SELECT 1 FROM lists WHERE kept_id = id);
UPDATE lists SET size = (SELECT COUNT(*) FROM segments WHERE segments.kept_id = lists.kept_id)
  WHERE kept_id IN (SELECT id FROM kept WHERE kind = 2);
UPDATE kept SET bytes =
  (SELECT COALESCE(SUM(bytes), 0) FROM segments WHERE kept_id = id) WHERE kind = 2;
UPDATE kept SET bytes =
  (SELECT COALESCE(SUM(LENGTH(CAST(content AS BLOB))), 0) FROM lists WHERE kept_id = id)
  WHERE kind = 1;
DELETE FROM owners;
INSERT INTO owners (owner, bytes) SELECT owner, SUM(bytes) FROM kept GROUP BY owner;
)sql";

std::string Columns(const Table& table) { return absl::StrJoin(table.columns, ", "); }

std::string SelectAll(const Table& table) {
  return absl::StrCat("SELECT ", Columns(table), " FROM ", table.name);
}

std::string InsertOne(const Table& table) {
  return absl::StrCat("INSERT INTO ", table.name, " (", Columns(table), ") VALUES (",
                      Parameters(1, table.columns.size()), ")");
}

absl::Status CheckEmpty(Connection* to) {
  for (const Table& table : StoreTables()) {
    ASSIGN_OR_RETURN(const std::vector<Row> rows,
                     to->Run(absl::StrCat("SELECT 1 FROM ", table.name, " LIMIT 1")));
    if (!rows.empty()) {
      return absl::FailedPreconditionError(
          absl::StrCat("the store has something in ", table.name, ", want an empty one"));
    }
  }
  return absl::OkStatus();
}

// Copies a table; returns why it ended before its end in `read`, and an error of the target.
absl::Status CopyTable(const Table& table, Connection* from, Connection* to, int64_t* rows,
                       absl::Status* read) {
  absl::Status written;
  const std::string insert = InsertOne(table);
  *read = from->Each(SelectAll(table), {}, [&](Row row) {
    if (!written.ok()) return;
    written = to->Do(insert, row.values);
    *rows += written.ok() ? 1 : 0;
  });
  return written;
}

}  // namespace

absl::StatusOr<RowCounts> CopyStore(Database* from, Database* to) {
  const absl::Time until = absl::Now() + kLongest;
  RowCounts counts;
  RETURN_IF_ERROR(from->Transact(until, Database::kRead, [&](Connection* source) {
    return to->Transact(until, Database::kWrite, [&](Connection* target) -> absl::Status {
      RETURN_IF_ERROR(CheckEmpty(target));
      counts.clear();
      for (const Table& table : StoreTables()) {
        counts.emplace_back(table.name, 0);
        absl::Status read;
        RETURN_IF_ERROR(CopyTable(table, source, target, &counts.back().second, &read));
        RETURN_IF_ERROR(read);
      }
      return absl::OkStatus();
    });
  }));
  return counts;
}

absl::StatusOr<RowCounts> SalvageStore(const std::string& path, Database* to,
                                       std::vector<std::string>* faults) {
  const absl::Time until = absl::Now() + kLongest;
  ASSIGN_OR_RETURN(const std::unique_ptr<Connection> source,
                   OpenSqlite(path, until, /*damaged=*/true));
  RowCounts counts;
  RETURN_IF_ERROR(to->Transact(until, Database::kWrite, [&](Connection* target) -> absl::Status {
    RETURN_IF_ERROR(CheckEmpty(target));
    for (const Table& table : StoreTables()) {
      const std::string insert = InsertOne(table) + " ON CONFLICT DO NOTHING";
      // A row that cannot be added belongs to one that could not be read.
      const auto take = [&](Row row) { target->Run(insert, row.values).IgnoreError(); };
      // From both ends, because a damaged page ends a reading.
      for (const char* const order : {" ORDER BY rowid", " ORDER BY rowid DESC"}) {
        const absl::Status read = source->Each(SelectAll(table) + order, {}, take);
        if (read.ok()) break;
        faults->push_back(absl::StrCat(table.name, ": ", read.message()));
      }
    }
    RETURN_IF_ERROR(target->Script(kCountAgain));
    for (const Table& table : StoreTables()) {
      ASSIGN_OR_RETURN(const std::vector<Row> rows,
                       target->Run(absl::StrCat("SELECT COUNT(*) FROM ", table.name)));
      counts.emplace_back(table.name, rows[0].number(0));
    }
    return absl::OkStatus();
  }));
  return counts;
}

absl::StatusOr<RowCounts> CheckStore(Database* store) {
  RowCounts counts;
  RETURN_IF_ERROR(store->Transact(
      absl::Now() + kLongest, Database::kRead, [&](Connection* connection) -> absl::Status {
        counts.clear();
        for (const Table& table : StoreTables()) {
          counts.emplace_back(table.name, 0);
          RETURN_IF_ERROR(
              connection->Each(SelectAll(table), {}, [&](Row) { ++counts.back().second; }));
        }
        constexpr char kLost[] =
            "SELECT COUNT(*) FROM owners WHERE bytes <> "
            "(SELECT COALESCE(SUM(bytes), 0) FROM kept WHERE kept.owner = owners.owner)";
        ASSIGN_OR_RETURN(const std::vector<Row> lost, connection->Run(kLost));
        if (lost[0].number(0) == 0) return absl::OkStatus();
        return absl::DataLossError(absl::StrCat("the bytes of ", lost[0].number(0),
                                                " owners are not those of what they "
                                                "keep"));
      }));
  return counts;
}

}  // namespace dragoman
