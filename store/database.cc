#include "store/database.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "absl/time/clock.h"
#include "store/schema.h"

namespace dragoman {
namespace {

constexpr absl::Duration kShortestPause = absl::Milliseconds(100);  // between attempts to connect
constexpr absl::Duration kLongestPause = absl::Seconds(5);
constexpr absl::Duration kStart = absl::Minutes(2);  // for a check, and migrations
constexpr absl::Duration kFirstAttempt = absl::Seconds(5);
constexpr absl::Duration kFairAttempt = absl::Seconds(1);  // to connect
constexpr int kAttempts = 5;                               // if other transactions are in the way

// "postgresql://host/name" of "postgresql://user:secret@host/name?sslrootcert=...".
std::string WithoutSecrets(std::string url) {
  url = url.substr(0, url.find('?'));
  const size_t begin = url.find("//") + 2, at = url.rfind('@');
  if (at != url.npos && at >= begin) url.erase(begin, at + 1 - begin);
  return url;
}

// Whether a file of SQLite is whole.
absl::Status CheckFile(Connection* connection) {
  ASSIGN_OR_RETURN(const std::vector<Row> rows, connection->Run("PRAGMA quick_check(1)"));
  if (rows.size() == 1 && rows[0].text(0) == "ok") return absl::OkStatus();
  return absl::DataLossError(StoreMessage(rows.empty() ? "" : rows[0].text(0)));
}

absl::StatusOr<std::unique_ptr<Connection>> OpenFile(const std::string& path, absl::Time until) {
  return OpenSqlite(path, until, /*damaged=*/false);
}

}  // namespace

std::string Parameters(size_t first, size_t count) {
  std::string list;
  for (size_t i = 0; i < count; ++i) absl::StrAppend(&list, i == 0 ? "$" : ", $", first + i);
  return list;
}

std::string StoreMessage(std::string_view message) {
  const std::vector<std::string> lines =
      absl::StrSplit(std::string(message), absl::ByAnyChar("\t\n"), absl::SkipEmpty());
  return absl::StrCat("the store: ", absl::StrJoin(lines, " "));
}

absl::StatusOr<std::vector<Row>> Connection::Run(std::string_view sql,
                                                 absl::Span<const Value> parameters) {
  std::vector<Row> rows;
  RETURN_IF_ERROR(Each(sql, parameters, [&](Row row) { rows.push_back(std::move(row)); }));
  return rows;
}

absl::Status Connection::Do(std::string_view sql, absl::Span<const Value> parameters) {
  return Each(sql, parameters, [](Row) {});
}

absl::StatusOr<std::unique_ptr<Database>> Database::Open(const std::string& store) {
  auto database = std::unique_ptr<Database>(new Database());
  database->name_ = database->target_ = store;
  absl::string_view rest = store;
  if (store == "memory") {
    database->target_ = "";
    database->survives_ = false;
    database->most_ = 1;  // each connection would have a file of its own
    database->open_ = &OpenFile;
  } else if (absl::ConsumePrefix(&rest, "sqlite:") && !rest.empty()) {
    database->target_ = std::string(rest);
    database->open_ = &OpenFile;
  } else if (absl::StartsWith(store, "postgresql://") || absl::StartsWith(store, "postgres://")) {
    database->name_ = WithoutSecrets(store);
    database->is_postgres_ = true;
    database->open_ = &OpenPostgres;
  } else {
    return absl::InvalidArgumentError(
        absl::StrCat("the store is \"", WithoutSecrets(store),
                     "\", want memory, sqlite:PATH or a URL: postgresql://USER@HOST/DATABASE"));
  }
  const bool postgres = database->is_postgres_;
  const absl::Status opened =
      database->Transact(absl::Now() + (postgres ? kFirstAttempt : kStart), kRead,
                         [](Connection*) { return absl::OkStatus(); });
  if (opened.ok() || (postgres && absl::IsUnavailable(opened))) return database;
  if (postgres || !absl::IsDataLoss(opened)) return opened;
  return absl::DataLossError(
      absl::StrCat(database->target_, " is damaged (", opened.message(),
                   "); restore a backup, or save what can be read of it: dragoman store salvage ",
                   store, " NEW-FILE"));
}

Database::~Database() = default;

// An idle connection or, if there are few enough, a new one.
absl::StatusOr<std::unique_ptr<Connection>> Database::Take(absl::Time until, bool* is_new) {
  const absl::Time start = absl::Now();
  if (start >= until) return absl::DeadlineExceededError("the store was asked too late");
  {
    absl::MutexLock lock(&mutex_);
    const auto may_take = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
      return !idle_.empty() || taken_ < most_;
    };
    if (!mutex_.AwaitWithDeadline(absl::Condition(&may_take), until)) {
      return absl::UnavailableError("the store: all connections are in use");
    }
    if (idle_.empty() && absl::Now() < retry_) return down_;
    ++taken_;
    *is_new = idle_.empty();
    if (!idle_.empty()) {
      std::unique_ptr<Connection> connection = std::move(idle_.back());
      idle_.pop_back();
      connection->SetDeadline(until);
      return connection;
    }
  }
  absl::StatusOr<std::unique_ptr<Connection>> opened = open_(target_, until);
  absl::MutexLock lock(&mutex_);
  if (opened.ok()) {
    stats_.up = true;
    pause_ = absl::ZeroDuration();
  } else {
    --taken_;
    // One that was short, or slower than another that succeeded, says little.
    if (until - start < kFairAttempt || reached_ > start) return opened;
    stats_.up = false;
    pause_ = std::clamp(2 * pause_, kShortestPause, kLongestPause);
    retry_ = absl::Now() + pause_;
    down_ = opened.status();
  }
  return opened;
}

void Database::GiveBack(std::unique_ptr<Connection> connection) {
  absl::MutexLock lock(&mutex_);
  --taken_;
  if (connection->IsGood()) idle_.push_back(std::move(connection));
}

// Checks a database that was reached for the first time, and makes its tables.
absl::Status Database::Prepare(Connection* connection) {
  RETURN_IF_ERROR(connection->Script(is_postgres_ ? "BEGIN" : "BEGIN EXCLUSIVE"));
  absl::Status status = is_postgres_ ? absl::OkStatus() : CheckFile(connection);
  if (status.ok()) status = Migrate(connection, is_postgres_);
  if (status.ok()) status = connection->Script("COMMIT");
  if (!status.ok()) connection->Script("ROLLBACK").IgnoreError();
  absl::MutexLock lock(&mutex_);
  prepared_ = status.ok();
  return status;
}

// A connection in a new transaction.  One that was idle may have been lost meanwhile; nothing was
// done with it then, so another one takes its place.
absl::StatusOr<std::unique_ptr<Connection>> Database::Begin(absl::Time until, Access access) {
  // SQLite's writers take turns from the beginning, so that none has to begin again.
  const char* const begin =
      is_postgres_ ? access == kRead ? "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY" : "BEGIN"
      : access == kRead ? "BEGIN"
                        : "BEGIN IMMEDIATE";
  while (true) {
    bool is_new = false;
    ASSIGN_OR_RETURN(std::unique_ptr<Connection> connection, Take(until, &is_new));
    absl::Status begun;
    if (is_new && !IsPrepared()) begun = Prepare(connection.get());
    if (begun.ok()) begun = connection->Script(begin);
    if (begun.ok()) return connection;
    const bool was_lost = !is_new && !connection->IsGood();
    GiveBack(std::move(connection));
    if (!was_lost) return begun;
  }
}

absl::Status Database::Attempt(absl::Time until, Access access,
                               absl::FunctionRef<absl::Status(Connection*)> work) {
  ASSIGN_OR_RETURN(std::unique_ptr<Connection> connection, Begin(until, access));
  absl::Status status = work(connection.get());
  if (status.ok()) status = connection->Script("COMMIT");
  if (!status.ok()) {
    connection->SetDeadline(std::max(until, absl::Now() + absl::Seconds(1)));
    connection->Script("ROLLBACK").IgnoreError();
  }
  GiveBack(std::move(connection));
  return status;
}

absl::Status Database::Transact(absl::Time until, Access access,
                                absl::FunctionRef<absl::Status(Connection*)> work) {
  const absl::Time start = absl::Now();
  absl::Status status;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    status = Attempt(until, access, work);
    if (!absl::IsAborted(status)) break;
  }
  if (absl::IsAborted(status)) status = absl::UnavailableError(status.message());
  if (absl::IsUnavailable(status)) status.SetPayload(kStorePayload, absl::Cord());
  absl::MutexLock lock(&mutex_);
  ++stats_.transactions;
  const bool failed =
      absl::IsUnavailable(status) || absl::IsInternal(status) || absl::IsDataLoss(status);
  stats_.failed += failed ? 1 : 0;
  if (failed) {
    fault_ = status;
  } else if (!absl::IsDeadlineExceeded(status)) {  // which was not asked
    fault_ = absl::OkStatus();
    retry_ = absl::InfinitePast();
    reached_ = absl::Now();
  }
  stats_.seconds += absl::ToDoubleSeconds(absl::Now() - start);
  return status;
}

bool Database::IsPrepared() const {
  absl::MutexLock lock(&mutex_);
  return prepared_;
}

absl::Status Database::fault() const {
  absl::MutexLock lock(&mutex_);
  return fault_;
}

DatabaseStats Database::Stats() const {
  absl::MutexLock lock(&mutex_);
  DatabaseStats stats = stats_;
  stats.open = taken_ + static_cast<int>(idle_.size());
  return stats;
}

}  // namespace dragoman
