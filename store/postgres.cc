#include <libpq-fe.h>
#include <poll.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/base/internal/endian.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "absl/time/clock.h"
#include "engine/base/status.h"
#include "store/database.h"

namespace dragoman {
namespace {

// The types of PostgreSQL's catalogue.
constexpr Oid kBytea = 17, kBigint = 20, kInteger = 23, kText = 25;

absl::Status Unreachable(const PGconn* postgres) {
  return absl::UnavailableError(StoreMessage(PQerrorMessage(postgres)));
}

// Waits until the socket has what it is polled for.
absl::Status Await(const PGconn* postgres, short events, absl::Time until) {
  while (true) {
    pollfd poll_for = {PQsocket(postgres), events, 0};
    const absl::Duration left = until - absl::Now();
    if (left <= absl::ZeroDuration()) return absl::UnavailableError("the store: takes too long");
    const auto wait = static_cast<int>(absl::ToInt64Milliseconds(std::min(left, absl::Hours(1))));
    const int ready = poll(&poll_for, 1, wait + 1);
    if (ready > 0) return absl::OkStatus();
    if (ready < 0 && errno != EINTR) {
      return absl::UnavailableError(absl::StrCat("the store: ", std::strerror(errno)));
    }
  }
}

template <typename T>
T BigEndian(const char* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof(T));
  return absl::big_endian::ToHost(value);
}

class PostgresConnection final : public Connection {
 public:
  explicit PostgresConnection(absl::Time until) : until_(until) {}
  ~PostgresConnection() override { PQfinish(postgres_); }

  absl::Status Open(const std::string& url) {
    const std::array<const char*, 6> names = {"dbname",           "application_name",
                                              "client_encoding",  "keepalives_idle",
                                              "tcp_user_timeout", nullptr};
    const std::array<const char*, 6> values = {url.c_str(), "dragoman", "UTF8",
                                               "10",        "10000",    nullptr};
    postgres_ = PQconnectStartParams(names.data(), values.data(), /*expand_dbname=*/1);
    if (postgres_ == nullptr) return absl::ResourceExhaustedError("the store: no memory");
    if (PQstatus(postgres_) == CONNECTION_BAD) return Unreachable(postgres_);
    for (PostgresPollingStatusType next = PGRES_POLLING_WRITING; next != PGRES_POLLING_OK;
         next = PQconnectPoll(postgres_)) {
      if (next == PGRES_POLLING_FAILED) return Unreachable(postgres_);
      RETURN_IF_ERROR(Await(postgres_, next == PGRES_POLLING_READING ? POLLIN : POLLOUT, until_));
    }
    PQsetnonblocking(postgres_, 1);
    PQsetNoticeProcessor(
        postgres_, [](void*, const char*) {}, nullptr);
    return absl::OkStatus();
  }

  void SetDeadline(absl::Time until) override { until_ = until; }
  bool IsGood() const override {
    return good_ && PQstatus(postgres_) == CONNECTION_OK &&
           PQtransactionStatus(postgres_) == PQTRANS_IDLE;
  }

  absl::Status Script(const std::string& sql) override {
    return Finish(PQsendQuery(postgres_, sql.c_str()), [](Row) {});
  }

  absl::Status Each(std::string_view sql, absl::Span<const Value> parameters,
                    absl::FunctionRef<void(Row)> see) override {
    std::vector<Oid> types;
    std::vector<std::string> numbers(parameters.size());
    std::vector<const char*> values;
    std::vector<int> sizes, formats;
    for (size_t i = 0; i < parameters.size(); ++i) {
      const std::string* bytes = &numbers[i];
      if (const auto* const number = std::get_if<int64_t>(&parameters[i])) {
        numbers[i] = absl::StrCat(*number);
        types.push_back(kBigint);
      } else if (const auto* const text = std::get_if<std::string>(&parameters[i])) {
        bytes = text;
        types.push_back(kText);
      } else {
        bytes = &std::get<Bytes>(parameters[i]).bytes;
        types.push_back(kBytea);
      }
      values.push_back(bytes->c_str());
      sizes.push_back(static_cast<int>(bytes->size()));
      formats.push_back(types.back() == kBytea ? 1 : 0);
    }
    const int sent =
        PQsendQueryParams(postgres_, std::string(sql).c_str(), static_cast<int>(parameters.size()),
                          types.data(), values.data(), sizes.data(), formats.data(), /*binary=*/1);
    PQsetSingleRowMode(postgres_);
    return Finish(sent, see);
  }

 private:
  using Result = std::unique_ptr<PGresult, decltype(&PQclear)>;

  // An error of the connection, after which it is not used again.
  absl::Status Broken(absl::Status status) {
    good_ = false;
    return status;
  }

  // Takes all results of what was sent.
  absl::Status Finish(int sent, absl::FunctionRef<void(Row)> see) {
    if (!good_) return absl::UnavailableError("the store: the connection was lost");
    if (sent == 0) return Broken(Unreachable(postgres_));
    while (true) {
      const int left = PQflush(postgres_);
      if (left < 0) return Broken(Unreachable(postgres_));
      if (left == 0) break;
      const absl::Status writable = Await(postgres_, POLLIN | POLLOUT, until_);
      if (!writable.ok()) return Broken(writable);
      if (PQconsumeInput(postgres_) == 0) return Broken(Unreachable(postgres_));
    }
    absl::Status status;
    while (true) {
      while (PQisBusy(postgres_) != 0) {
        const absl::Status readable = Await(postgres_, POLLIN, until_);
        if (!readable.ok()) return Broken(readable);
        if (PQconsumeInput(postgres_) == 0) return Broken(Unreachable(postgres_));
      }
      const Result result(PQgetResult(postgres_), &PQclear);
      if (result == nullptr) return status;
      const ExecStatusType kind = PQresultStatus(result.get());
      if (kind == PGRES_SINGLE_TUPLE || kind == PGRES_TUPLES_OK) {
        for (int row = 0; row < PQntuples(result.get()); ++row) see(RowOf(result.get(), row));
      } else if (kind != PGRES_COMMAND_OK) {
        status.Update(ErrorOf(result.get()));
      }
      if (PQstatus(postgres_) != CONNECTION_OK) return Broken(Unreachable(postgres_));
    }
  }

  // By the class of the error (PostgreSQL's "Error Codes").
  absl::Status ErrorOf(const PGresult* result) {
    const char* const code = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    const std::string message = StoreMessage(PQresultErrorMessage(result));
    if (code == nullptr) return Broken(absl::UnavailableError(message));
    if (absl::StartsWith(code, "40")) return absl::AbortedError(message);  // a deadlock
    if (absl::StartsWith(code, "XX001") || absl::StartsWith(code, "XX002")) {
      return absl::DataLossError(message);
    }
    // A connection, resources, an operator, the system; a server that only reads.
    for (const char* const kind : {"08", "53", "57", "58", "25006"}) {
      if (absl::StartsWith(code, kind)) return Broken(absl::UnavailableError(message));
    }
    return absl::InternalError(message);
  }

  static Row RowOf(const PGresult* result, int row) {
    Row values;
    for (int i = 0; i < PQnfields(result); ++i) {
      const char* const bytes = PQgetvalue(result, row, i);
      const auto size = static_cast<size_t>(PQgetlength(result, row, i));
      const Oid type = PQftype(result, i);
      if (type == kBigint && size == sizeof(uint64_t)) {
        values.values.emplace_back(static_cast<int64_t>(BigEndian<uint64_t>(bytes)));
      } else if (type == kInteger && size == sizeof(uint32_t)) {
        values.values.emplace_back(int64_t{static_cast<int32_t>(BigEndian<uint32_t>(bytes))});
      } else {
        values.values.emplace_back(std::string(bytes, size));
      }
    }
    return values;
  }

  PGconn* postgres_ = nullptr;
  absl::Time until_;
  bool good_ = true;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Connection>> OpenPostgres(const std::string& target,
                                                         absl::Time until) {
  auto connection = std::make_unique<PostgresConnection>(until);
  RETURN_IF_ERROR(connection->Open(target));
  return connection;
}

}  // namespace dragoman
