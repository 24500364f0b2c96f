// The rows of things that principals keep (owned.h): who sees and changes them, their versions, and
// how much there may be of them.  What a thing consists of is written and read by those who know.
//
// Every change is a transaction.  It makes the next version, and those of one thing come one after
// another, on whichever server.
//
// Thread-safe.

#ifndef DRAGOMAN_SERVER_STORE_OWNED_ROWS_H_
#define DRAGOMAN_SERVER_STORE_OWNED_ROWS_H_

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/base/shared_budget.h"
#include "server/base/errors.h"
#include "server/store/owned.h"
#include "store/database.h"

namespace dragoman {

struct OwnedKind {
  int64_t number;  // in the tables
  const char* noun;
  const char* nouns;
  const char* parts;  // "entries"
  const char* type;   // "dragoman.v1.Glossary"
  // Of one owner.
  int64_t most = 200;
  int64_t most_parts = 0;
};

// How much is kept by all, as far as was seen, and how often more was refused.  Thread-safe.
class KeptBytes {
 public:
  // Asks the store.
  absl::Status Look(absl::Time until, Database* database);
  void Refuse() { ++refusals_; }
  BudgetStats Stats(int64_t limit) const;

 private:
  std::atomic<int64_t> used_ = 0, refusals_ = 0;
};

// Of everything that is kept, of whatever kind.
struct StoreLimits {
  int64_t owner_bytes = int64_t{256} << 20;
  int64_t bytes = int64_t{4} << 30;
  KeptBytes* kept = nullptr;  // null: nobody counts
};

// FAILED_PRECONDITION.
absl::Status NotYours(const char* noun);
// ALREADY_EXISTS.
absl::Status IsThere(const char* noun);

class OwnedRows {
 public:
  // Writes the content of a thing, and sets its bytes and lists.
  using Write = absl::FunctionRef<absl::Status(Connection* connection, Owned* thing)>;

  OwnedRows(Database* database, const OwnedKind& kind, const StoreLimits& limits)
      : database_(database), kind_(kind), limits_(limits) {}

  const OwnedKind& kind() const { return kind_; }
  bool survives() const { return database_->survives(); }  // what is stored, the process

  // An id may also be the name of a thing that the principal owns, of several the oldest. NOT_FOUND
  // if it sees none of that id.  As of all functions here, UNAVAILABLE if the
  // database cannot be reached.
  absl::StatusOr<Owned> Find(const Asker& asker, const std::string& id) const;
  // Those that it sees, the oldest first.
  absl::StatusOr<std::vector<Owned>> List(const Asker& asker) const;
  // Calls `read` with the thing as it is, in one transaction.
  absl::Status Read(const Asker& asker, const std::string& id,
                    absl::FunctionRef<absl::Status(Connection*, Owned)> read) const;

  // Stores a new thing: under a new id or, if it has one, as it is.  RESOURCE_EXHAUSTED over the
  // limits; ALREADY_EXISTS if there is one of that id or, if its name is to be `unique`, its owner
  // finds another one by it.
  absl::StatusOr<Owned> Create(absl::Time until, Owned thing, bool unique, Write write) const;
  // Makes the next version.  Also the errors of Find, and FAILED_PRECONDITION if it is not the
  // principal's to change.
  absl::StatusOr<Owned> Change(const Asker& asker, const std::string& id, Write write) const;
  absl::Status Delete(const Asker& asker, const std::string& id) const;

 private:
  absl::Status NotFound(const std::string& id) const {
    return KeptNotFound(kind_.noun, kind_.type, id);
  }
  absl::StatusOr<Owned> FindIn(Connection* connection, const std::string& id,
                               const std::string& principal) const;
  absl::StatusOr<Owned> FindOwn(Connection* connection, const std::string& id,
                                const std::string& principal) const;
  absl::Status LockOwner(Connection* connection, const std::string& owner) const;
  absl::Status CheckLimits(Connection* connection, const Owned& thing) const;
  absl::Status CheckNew(Connection* connection, const Owned& thing, bool unique) const;
  absl::Status Insert(Connection* connection, Owned* thing, Write write) const;
  absl::Status Finish(Connection* connection, const Owned& thing, int64_t bytes_before) const;

  Database* const database_;
  const OwnedKind kind_;
  const StoreLimits limits_;
};

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_STORE_OWNED_ROWS_H_
