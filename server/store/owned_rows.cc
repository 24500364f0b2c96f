#include "server/store/owned_rows.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "engine/base/status.h"
#include "server/base/uuid.h"
#include "server/store/file_directory.h"

namespace dragoman {
namespace {

constexpr std::string_view kColumns = "id, name, owner, shared, version, created, bytes";

Owned OwnedFrom(Row row) {
  Owned thing;
  thing.id = std::move(row.text(0));
  thing.name = std::move(row.text(1));
  thing.owner = std::move(row.text(2));
  thing.shared = row.number(3) != 0;
  thing.version = row.number(4);
  thing.created = absl::FromUnixSeconds(row.number(5));
  thing.bytes = row.number(6);
  return thing;
}

// Reads the things of a condition on `kept`, and their lists.
absl::StatusOr<std::vector<Owned>> Select(Connection* connection, const std::string& where,
                                          absl::Span<const Value> parameters) {
  std::vector<Owned> things;
  std::map<std::string, size_t> places;
  RETURN_IF_ERROR(
      connection->Each(absl::StrCat("SELECT ", std::string(kColumns), " FROM kept WHERE ", where,
                                    " ORDER BY created, id"),
                       parameters, [&](Row row) {
                         places[row.text(0)] = things.size();
                         things.push_back(OwnedFrom(std::move(row)));
                       }));
  RETURN_IF_ERROR(connection->Each(
      absl::StrCat("SELECT kept_id, source_language, target_language, size FROM lists JOIN kept ON "
                   "kept.id = kept_id WHERE ",
                   where, " ORDER BY kept_id, position"),
      parameters, [&](Row row) {
        const auto place = places.find(row.text(0));
        if (place == places.end()) return;
        things[place->second].lists.push_back(
            {{std::move(row.text(1)), std::move(row.text(2))}, row.number(3)});
      }));
  return things;
}

}  // namespace

absl::Status NotYours(const char* noun) {
  return FailedPreconditionError("the ", noun, " is not yours: you can use it, not change it");
}

absl::Status IsThere(const char* noun) {
  return absl::AlreadyExistsError(absl::StrCat("there is a ", noun, " of this id or name"));
}

absl::Status KeptBytes::Look(absl::Time until, Database* database) {
  ASSIGN_OR_RETURN(
      used_, database->Ask<int64_t>(until, [](Connection* connection) -> absl::StatusOr<int64_t> {
        ASSIGN_OR_RETURN(
            const std::vector<Row> rows,
            connection->Run("SELECT CAST(COALESCE(SUM(bytes), 0) AS BIGINT) FROM owners"));
        return rows[0].number(0);
      }));
  return absl::OkStatus();
}

BudgetStats KeptBytes::Stats(int64_t limit) const {
  return {.name = "store",
          .used = static_cast<size_t>(used_),
          .limit = static_cast<size_t>(limit),
          .refusals = refusals_};
}

absl::StatusOr<Owned> OwnedRows::FindIn(Connection* connection, const std::string& id,
                                        const std::string& principal) const {
  if (!IsPlainName(id)) return NotFound(id);
  ASSIGN_OR_RETURN(std::vector<Owned> found,
                   Select(connection, "kind = $1 AND id = $2", {kind_.number, id}));
  if (found.empty()) {
    ASSIGN_OR_RETURN(found, Select(connection, "kind = $1 AND owner = $2 AND name = $3",
                                   {kind_.number, principal, id}));
  }
  if (found.empty() || !found.front().IsSeenBy(principal)) return NotFound(id);
  return std::move(found.front());
}

absl::StatusOr<Owned> OwnedRows::FindOwn(Connection* connection, const std::string& id,
                                         const std::string& principal) const {
  ASSIGN_OR_RETURN(Owned thing, FindIn(connection, id, principal));
  if (thing.IsChangedBy(principal)) return thing;
  return NotYours(kind_.noun);
}

absl::Status OwnedRows::Read(const Asker& asker, const std::string& id,
                             absl::FunctionRef<absl::Status(Connection*, Owned)> read) const {
  return database_->Transact(
      asker.until, Database::kRead, [&](Connection* connection) -> absl::Status {
        ASSIGN_OR_RETURN(Owned thing, FindIn(connection, id, asker.principal));
        return read(connection, std::move(thing));
      });
}

absl::StatusOr<Owned> OwnedRows::Find(const Asker& asker, const std::string& id) const {
  return database_->Ask<Owned>(
      asker.until, [&](Connection* connection) { return FindIn(connection, id, asker.principal); });
}

absl::StatusOr<std::vector<Owned>> OwnedRows::List(const Asker& asker) const {
  return database_->Ask<std::vector<Owned>>(asker.until, [&](Connection* connection) {
    return Select(connection, "kind = $1 AND (owner = $2 OR owner = '' OR shared = 1)",
                  {kind_.number, asker.principal});
  });
}

// Changes of one owner's things come one after another, so that they are counted rightly.
absl::Status OwnedRows::LockOwner(Connection* connection, const std::string& owner) const {
  return connection->Do(
      "INSERT INTO owners (owner, bytes) VALUES ($1, 0) "
      "ON CONFLICT (owner) DO UPDATE SET bytes = owners.bytes",
      {owner});
}

absl::Status OwnedRows::CheckLimits(Connection* connection, const Owned& thing) const {
  const auto over = [](const std::string& what, int64_t most) {
    return ResourceExhaustedError(what, ", the most is ", most);
  };
  ASSIGN_OR_RETURN(
      const std::vector<Row> counts,
      connection->Run("SELECT COUNT(DISTINCT kept.id), CAST(COALESCE(SUM(size), 0) AS BIGINT) "
                      "FROM kept LEFT JOIN lists ON kept_id = kept.id "
                      "WHERE kind = $1 AND owner = $2",
                      {kind_.number, thing.owner}));
  if (const int64_t things = counts[0].number(0); things > kind_.most) {
    return over(absl::StrCat("you have ", things - 1, " ", kind_.nouns), kind_.most);
  }
  if (const int64_t parts = counts[0].number(1); parts > kind_.most_parts) {
    return over(absl::StrCat("your ", kind_.nouns, " would have ", parts, " ", kind_.parts),
                kind_.most_parts);
  }
  ASSIGN_OR_RETURN(
      const std::vector<Row> bytes,
      connection->Run("SELECT CAST(COALESCE(SUM(bytes), 0) AS BIGINT), "
                      "CAST(COALESCE(SUM(CASE WHEN owner = $1 THEN bytes ELSE 0 END), 0) AS BIGINT)"
                      " FROM owners",
                      {thing.owner}));
  const bool too_much =
      bytes[0].number(0) > limits_.bytes || bytes[0].number(1) > limits_.owner_bytes;
  if (too_much && limits_.kept != nullptr) limits_.kept->Refuse();
  if (const int64_t own = bytes[0].number(1); own > limits_.owner_bytes) {
    return over(absl::StrCat("what you keep here would have ", own, " bytes"), limits_.owner_bytes);
  }
  if (const int64_t all = bytes[0].number(0); all > limits_.bytes) {
    return over(absl::StrCat("what is kept here would have ", all, " bytes"), limits_.bytes);
  }
  return absl::OkStatus();
}

absl::Status OwnedRows::Finish(Connection* connection, const Owned& thing,
                               int64_t bytes_before) const {
  RETURN_IF_ERROR(
      connection->Do("UPDATE kept SET name = $1, shared = $2, bytes = $3 WHERE id = $4",
                     {thing.name, int64_t{thing.shared ? 1 : 0}, thing.bytes, thing.id}));
  const int64_t more = thing.bytes - bytes_before;
  RETURN_IF_ERROR(
      connection->Do("UPDATE owners SET bytes = bytes + $1 WHERE owner = $2", {more, thing.owner}));
  return more > 0 ? CheckLimits(connection, thing) : absl::OkStatus();
}

absl::Status OwnedRows::CheckNew(Connection* connection, const Owned& thing, bool unique) const {
  ASSIGN_OR_RETURN(const std::vector<Row> rows,
                   connection->Run("SELECT 1 FROM kept WHERE id = $1", {thing.id}));
  if (!rows.empty()) return IsThere(kind_.noun);
  if (!unique) return absl::OkStatus();
  const absl::Status found = FindIn(connection, thing.name, thing.owner).status();
  if (absl::IsNotFound(found)) return absl::OkStatus();
  return found.ok() ? IsThere(kind_.noun) : found;
}

absl::Status OwnedRows::Insert(Connection* connection, Owned* thing, Write write) const {
  RETURN_IF_ERROR(connection->Do(
      "INSERT INTO kept (id, kind, owner, name, shared, version, created, bytes) "
      "VALUES ($1, $2, $3, $4, $5, $6, $7, 0)",
      {thing->id, kind_.number, thing->owner, thing->name, int64_t{thing->shared ? 1 : 0},
       thing->version, absl::ToUnixSeconds(thing->created)}));
  RETURN_IF_ERROR(write(connection, thing));
  RETURN_IF_ERROR(Finish(connection, *thing, 0));
  return CheckLimits(connection, *thing);  // of an empty one, too
}

absl::StatusOr<Owned> OwnedRows::Create(absl::Time until, Owned thing, bool unique,
                                        Write write) const {
  if (thing.id.empty()) {
    thing.version = 1;
    thing.created = absl::FromUnixSeconds(absl::ToUnixSeconds(absl::Now()));
    thing.id = NewUuid();
  }
  Owned stored;
  RETURN_IF_ERROR(
      database_->Transact(until, Database::kWrite, [&](Connection* connection) -> absl::Status {
        stored = thing;
        RETURN_IF_ERROR(LockOwner(connection, thing.owner));
        RETURN_IF_ERROR(CheckNew(connection, thing, unique));
        return Insert(connection, &stored, write);
      }));
  return stored;
}

absl::StatusOr<Owned> OwnedRows::Change(const Asker& asker, const std::string& id,
                                        Write write) const {
  Owned changed;
  RETURN_IF_ERROR(database_->Transact(
      asker.until, Database::kWrite, [&](Connection* connection) -> absl::Status {
        ASSIGN_OR_RETURN(changed, FindOwn(connection, id, asker.principal));
        RETURN_IF_ERROR(LockOwner(connection, changed.owner));
        // This locks the row, and so what is read now is the latest version.
        RETURN_IF_ERROR(
            connection->Do("UPDATE kept SET version = version + 1 WHERE id = $1", {changed.id}));
        ASSIGN_OR_RETURN(changed, FindIn(connection, changed.id, asker.principal));
        const int64_t before = changed.bytes;
        RETURN_IF_ERROR(write(connection, &changed));
        return Finish(connection, changed, before);
      }));
  return changed;
}

absl::Status OwnedRows::Delete(const Asker& asker, const std::string& id) const {
  return database_->Transact(
      asker.until, Database::kWrite, [&](Connection* connection) -> absl::Status {
        ASSIGN_OR_RETURN(const Owned thing, FindOwn(connection, id, asker.principal));
        RETURN_IF_ERROR(LockOwner(connection, thing.owner));
        ASSIGN_OR_RETURN(
            const std::vector<Row> deleted,
            connection->Run("DELETE FROM kept WHERE id = $1 RETURNING bytes", {thing.id}));
        if (deleted.empty()) return NotFound(id);
        return connection->Do("UPDATE owners SET bytes = bytes - $1 WHERE owner = $2",
                              {deleted[0].number(0), thing.owner});
      });
}

}  // namespace dragoman
