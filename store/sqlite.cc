#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "engine/base/status.h"
#include "store/database.h"

namespace dragoman {
namespace {

constexpr int kStepsBetweenLooks = 10'000;  // of SQLite's machine, at the clock

class SqliteConnection final : public Connection {
 public:
  ~SqliteConnection() override {
    for (const auto& [sql, statement] : statements_) sqlite3_finalize(statement);
    sqlite3_close(sqlite_);
  }

  absl::Status Open(const std::string& path, bool damaged) {
    has_file_ = !path.empty();
    if (has_file_) {  // for nobody else to read; its log has the same permissions
      const int file = open(path.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600);
      if (file >= 0) close(file);
    }
    const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
    RETURN_IF_ERROR(Checked(sqlite3_open_v2(path.c_str(), &sqlite_, flags, nullptr)));
    sqlite3_extended_result_codes(sqlite_, 1);
    sqlite3_progress_handler(sqlite_, kStepsBetweenLooks, &IsLate, this);
    // Then one that was cut off is read, too, as far as it goes.
    if (damaged) return Script("PRAGMA writable_schema = ON");
    // What is acknowledged is on the disk.  Readers and the writer do not wait for each other.
    RETURN_IF_ERROR(Script("PRAGMA foreign_keys = ON; PRAGMA synchronous = FULL"));
    // A file without a name is written only when it has more than these pages (64 MiB).
    return Script(has_file_ ? "PRAGMA journal_mode = WAL" : "PRAGMA cache_size = -65536");
  }

  void SetDeadline(absl::Time until) override {
    until_ = until;
    const absl::Duration left =
        std::clamp(until - absl::Now(), absl::ZeroDuration(), absl::Hours(1));
    sqlite3_busy_timeout(sqlite_, static_cast<int>(absl::ToInt64Milliseconds(left)));
  }

  absl::Status Script(const std::string& sql) override {
    return Checked(sqlite3_exec(sqlite_, sql.c_str(), nullptr, nullptr, nullptr));
  }

  absl::Status Each(std::string_view sql, absl::Span<const Value> parameters,
                    absl::FunctionRef<void(Row)> see) override {
    // What is written to a file that was removed is lost.
    int is_gone = 0;
    if (has_file_) sqlite3_file_control(sqlite_, "main", SQLITE_FCNTL_HAS_MOVED, &is_gone);
    if (is_gone != 0) return absl::UnavailableError("the store: the file is not where it was");
    ASSIGN_OR_RETURN(sqlite3_stmt* const statement, Prepared(sql));
    for (size_t i = 0; i < parameters.size(); ++i) Bind(statement, i, parameters[i]);
    int code = SQLITE_ROW;
    while ((code = sqlite3_step(statement)) == SQLITE_ROW) see(RowOf(statement));
    absl::Status status = code == SQLITE_DONE ? absl::OkStatus() : Checked(code);
    sqlite3_reset(statement);
    sqlite3_clear_bindings(statement);
    return status;
  }

  bool IsGood() const override { return true; }

 private:
  static int IsLate(void* self) {
    return absl::Now() > static_cast<SqliteConnection*>(self)->until_ ? 1 : 0;
  }

  absl::Status Checked(int code) const {
    if (code == SQLITE_OK) return absl::OkStatus();
    const std::string message =
        StoreMessage(sqlite_ == nullptr ? sqlite3_errstr(code) : sqlite3_errmsg(sqlite_));
    switch (code & 0xFF) {
      case SQLITE_CORRUPT:
      case SQLITE_NOTADB:
        return absl::DataLossError(message);
      case SQLITE_ERROR:
      case SQLITE_MISUSE:
      case SQLITE_CONSTRAINT:
      case SQLITE_RANGE:
        return absl::InternalError(message);
      default:  // it is busy, full, read-only, late or cannot be read now
        return absl::UnavailableError(message);
    }
  }

  // Statements are few and come again and again, but for those with many rows of parameters.
  absl::StatusOr<sqlite3_stmt*> Prepared(std::string_view sql) {
    const auto known = statements_.find(sql);
    if (known != statements_.end()) return known->second;
    sqlite3_stmt* statement = nullptr;
    RETURN_IF_ERROR(Checked(sqlite3_prepare_v2(sqlite_, sql.data(), static_cast<int>(sql.size()),
                                               &statement, nullptr)));
    statements_.emplace(sql, statement);
    return statement;
  }

  static void Bind(sqlite3_stmt* statement, size_t i, const Value& value) {
    const int at = sqlite3_bind_parameter_index(statement, absl::StrCat("$", i + 1).c_str());
    if (const auto* const number = std::get_if<int64_t>(&value)) {
      sqlite3_bind_int64(statement, at, *number);
    } else if (const auto* const text = std::get_if<std::string>(&value)) {
      sqlite3_bind_text64(statement, at, text->data(), text->size(), SQLITE_STATIC, SQLITE_UTF8);
    } else {
      const std::string& bytes = std::get<Bytes>(value).bytes;
      sqlite3_bind_blob64(statement, at, bytes.data(), bytes.size(), SQLITE_STATIC);
    }
  }

  static Row RowOf(sqlite3_stmt* statement) {
    Row row;
    for (int i = 0; i < sqlite3_column_count(statement); ++i) {
      if (sqlite3_column_type(statement, i) == SQLITE_INTEGER) {
        row.values.emplace_back(int64_t{sqlite3_column_int64(statement, i)});
        continue;
      }
      const auto* const bytes = static_cast<const char*>(sqlite3_column_blob(statement, i));
      const int size = sqlite3_column_bytes(statement, i);
      row.values.emplace_back(bytes == nullptr ? ""
                                               : std::string(bytes, static_cast<size_t>(size)));
    }
    return row;
  }

  sqlite3* sqlite_ = nullptr;
  bool has_file_ = false;
  std::map<std::string, sqlite3_stmt*, std::less<>> statements_;
  absl::Time until_ = absl::InfiniteFuture();
};

}  // namespace

absl::StatusOr<std::unique_ptr<Connection>> OpenSqlite(const std::string& target, absl::Time until,
                                                       bool damaged) {
  auto connection = std::make_unique<SqliteConnection>();
  RETURN_IF_ERROR(connection->Open(target, damaged));
  connection->SetDeadline(until);
  return connection;
}

}  // namespace dragoman
