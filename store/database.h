// The database in which a server keeps what outlives a request: SQLite, in a file of its own, or
// PostgreSQL, which several servers share.
//
//   ASSIGN_OR_RETURN(auto database, Database::Open("sqlite:/var/lib/dragoman/store.db"));
//   RETURN_IF_ERROR(database->Transact(until, Database::kRead, [&](Connection* connection) {
//     ASSIGN_OR_RETURN(const std::vector<Row> rows,
//                      connection->Run("SELECT name FROM kept WHERE id = $1", {id}));
//     ...
//   }));
//
// Both are used through their own C libraries: what is common to them is a statement with
// parameters, and a layer over several databases would bring more code than it saves.  They
// understand the same SQL: parameters are $1, $2 and so on, types are BIGINT and TEXT, whose bytes
// are UTF-8 without zeros, and BYTEA.
//
// Nothing here waits longer than until a given time.  A database that cannot be reached is
// UNAVAILABLE at once until a new attempt is due.
//
// Thread-safe, but for a connection.

#ifndef DRAGOMAN_STORE_DATABASE_H_
#define DRAGOMAN_STORE_DATABASE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "engine/base/status.h"

namespace dragoman {

// The value of a parameter or a column.  A BYTEA is written as Bytes and read as a string.
struct Bytes {
  std::string bytes;
};
using Value = std::variant<int64_t, std::string, Bytes>;
struct Row {
  std::vector<Value> values;

  int64_t number(size_t column) const { return std::get<int64_t>(values[column]); }
  std::string& text(size_t column) { return std::get<std::string>(values[column]); }
  const std::string& text(size_t column) const { return std::get<std::string>(values[column]); }
};

// One connection, in a transaction.
class Connection {
 public:
  virtual ~Connection() = default;

  // Calls `see` for each row of the result.  UNAVAILABLE: the database cannot be reached, is full,
  // or takes too long; DATA_LOSS: it is damaged; INTERNAL: the statement is wrong.
  virtual absl::Status Each(std::string_view sql, absl::Span<const Value> parameters,
                            absl::FunctionRef<void(Row)> see) = 0;
  // Statements without parameters and results, with semicolons between them.
  virtual absl::Status Script(const std::string& sql) = 0;
  // For all statements from now on.
  virtual void SetDeadline(absl::Time until) = 0;
  // Whether it may be used again.
  virtual bool IsGood() const = 0;

  absl::StatusOr<std::vector<Row>> Run(std::string_view sql,
                                       absl::Span<const Value> parameters = {});
  // The same for a statement without a result.
  absl::Status Do(std::string_view sql, absl::Span<const Value> parameters = {});
};

// A payload of each UNAVAILABLE that a Database returns.
inline constexpr char kStorePayload[] = "dragoman.store";

// What becomes of a server's questions to its store.
struct DatabaseStats {
  int64_t transactions = 0, failed = 0;  // of these
  double seconds = 0;                    // of all of them, with the time that they waited
  int open = 0;                          // connections
  bool up = true;                        // the last attempt reached it
};

class Database {
 public:
  static constexpr int kConnections = 8;  // at most, at a time

  // "memory", "sqlite:PATH" or a URL of PostgreSQL ("postgresql://..."); its schema (schema.h) is
  // made or brought up to date.  "memory" keeps what a file without a name does: until the end of
  // the process.  A password may be in the URL or, better, in a file that the URL or PGPASSFILE
  // names.  INVALID_ARGUMENT if it is none of these, FAILED_PRECONDITION if the schema is newer
  // than this server; DATA_LOSS if the file is damaged.  A PostgreSQL that cannot be reached is
  // only a fault: it is asked again.
  static absl::StatusOr<std::unique_ptr<Database>> Open(const std::string& store);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  enum Access { kRead, kWrite };
  // Runs `work` in a transaction, which is undone if it returns an error.  It may run again, if
  // another transaction was in its way.  UNAVAILABLE also if the connection was lost at the end:
  // then it may have been done.  One that reads sees one state of everything.
  absl::Status Transact(absl::Time until, Access access,
                        absl::FunctionRef<absl::Status(Connection*)> work);

  // What `read` returns, in a transaction that reads.
  template <typename T>
  absl::StatusOr<T> Ask(absl::Time until, absl::FunctionRef<absl::StatusOr<T>(Connection*)> read) {
    absl::StatusOr<T> answer;
    RETURN_IF_ERROR(Transact(until, kRead, [&](Connection* connection) {
      answer = read(connection);
      return answer.status();
    }));
    return answer;
  }

  // Without what is secret in it.
  const std::string& name() const { return name_; }
  bool survives() const { return survives_; }  // the process
  bool is_postgres() const { return is_postgres_; }
  DatabaseStats Stats() const;
  // Why the last transaction failed, if the database was the reason.
  absl::Status fault() const;

 private:
  using Connect = absl::StatusOr<std::unique_ptr<Connection>> (*)(const std::string& target,
                                                                  absl::Time until);
  Database() = default;
  absl::Status Prepare(Connection* connection);
  bool IsPrepared() const;
  absl::StatusOr<std::unique_ptr<Connection>> Take(absl::Time until, bool* is_new);
  absl::StatusOr<std::unique_ptr<Connection>> Begin(absl::Time until, Access access);
  void GiveBack(std::unique_ptr<Connection> connection);
  absl::Status Attempt(absl::Time until, Access access,
                       absl::FunctionRef<absl::Status(Connection*)> work);

  std::string target_, name_;
  bool survives_ = true;
  int most_ = kConnections;
  bool is_postgres_ = false;
  Connect open_ = nullptr;
  mutable absl::Mutex mutex_;
  std::vector<std::unique_ptr<Connection>> idle_ ABSL_GUARDED_BY(mutex_);
  int taken_ ABSL_GUARDED_BY(mutex_) = 0;
  // After a failed attempt to connect: why, and when the next one is due.
  absl::Status down_ ABSL_GUARDED_BY(mutex_);
  absl::Time retry_ ABSL_GUARDED_BY(mutex_) = absl::InfinitePast();
  absl::Duration pause_ ABSL_GUARDED_BY(mutex_) = absl::ZeroDuration();
  absl::Time reached_ ABSL_GUARDED_BY(mutex_) = absl::InfinitePast();  // the last success
  bool prepared_ ABSL_GUARDED_BY(mutex_) = false;  // its schema is this server's
  absl::Status fault_ ABSL_GUARDED_BY(mutex_);
  DatabaseStats stats_ ABSL_GUARDED_BY(mutex_);
};

// Of the backends.  `target` is a path, "" being a file without a name; or a URL.  Of a file that
// is `damaged` as much is read as can be.
absl::StatusOr<std::unique_ptr<Connection>> OpenSqlite(const std::string& target, absl::Time until,
                                                       bool damaged);
absl::StatusOr<std::unique_ptr<Connection>> OpenPostgres(const std::string& target,
                                                         absl::Time until);

// "$1, $2, $3", from a number on.
std::string Parameters(size_t first, size_t count);

// "the store: " and the message, in one line.
std::string StoreMessage(std::string_view message);

}  // namespace dragoman

#endif  // DRAGOMAN_STORE_DATABASE_H_
