#include "server/api/document_store.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "engine/base/status.h"
#include "server/base/errors.h"
#include "server/base/uuid.h"

namespace dragoman {
namespace {

constexpr size_t kPiece = 1 << 20;                       // bytes of a row
constexpr absl::Duration kPatience = absl::Seconds(30);  // with the store
constexpr int64_t kInProgress = -1;                      // instead of a status code
enum Kind : int64_t { kInput = 0, kOutput = 1 };

absl::Time Soon() { return absl::Now() + kPatience; }

absl::Status WriteFile(Connection* connection, const std::string& id, Kind kind,
                       const Spool& file) {
  for (size_t at = 0, number = 0; at < file.size(); at += kPiece, ++number) {
    ASSIGN_OR_RETURN(std::string bytes, file.Read(at, kPiece));
    RETURN_IF_ERROR(
        connection->Do("INSERT INTO document_files (document_id, kind, number, content) "
                       "VALUES ($1, $2, $3, $4)",
                       {id, int64_t{kind}, static_cast<int64_t>(number), Bytes{std::move(bytes)}}));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<Spool>> ReadFile(Connection* connection, DocumentDesk* desk,
                                                const std::string& principal, const std::string& id,
                                                Kind kind) {
  ASSIGN_OR_RETURN(std::shared_ptr<Spool> file, desk->NewSpool(principal, 0));
  absl::Status written;
  RETURN_IF_ERROR(connection->Each(
      "SELECT content FROM document_files WHERE document_id = $1 AND kind = $2 ORDER BY number",
      {id, int64_t{kind}}, [&](Row row) { written.Update(file->Append(row.text(0))); }));
  RETURN_IF_ERROR(written);
  return file;
}

constexpr std::string_view kColumns =
    "id, secret, owner, created, passages_done, passages_known, code, message, report";

StoredDocument DocumentFrom(const Row& row) {
  StoredDocument document = {.id = row.text(0),
                             .key = row.text(1),
                             .principal = row.text(2),
                             .started = absl::FromUnixMillis(row.number(3))};
  document.progress.set_passages_done(row.number(4));
  document.progress.set_passages_known(row.number(5));
  if (row.number(6) != kInProgress) {
    document.end = absl::Status(static_cast<absl::StatusCode>(row.number(6)), row.text(7));
    document.report.ParseFromString(row.text(8));
  }
  return document;
}

absl::StatusOr<StoredDocument> Select(Connection* connection, const std::string& id) {
  ASSIGN_OR_RETURN(
      const std::vector<Row> rows,
      connection->Run(
          absl::StrCat("SELECT ", std::string(kColumns), " FROM documents WHERE id = $1"), {id}));
  if (rows.empty()) return absl::NotFoundError("there is no such document (any more)");
  return DocumentFrom(rows[0]);
}

}  // namespace

absl::Duration StoredDocument::TimeLeft(absl::Time now) const {
  const auto passages = static_cast<double>(progress.passages_done());
  const auto known = static_cast<double>(progress.passages_known());
  if (end.has_value()) return absl::ZeroDuration();
  if (passages < 1) return absl::Seconds(1);
  return (now - started) * (known - passages) / passages;
}

// A document that is translated here.
struct DocumentStore::Work {
  std::string id, key, principal;
  absl::Time started;
  OnEnd on_end;
  std::map<std::string, std::string> known;  // passages that another server has translated

  absl::Mutex mutex;
  std::shared_ptr<DocumentExchange> exchange ABSL_GUARDED_BY(mutex);  // null after its end
  v1::DocumentProgress progress ABSL_GUARDED_BY(mutex);
  // Passages that are not in the store yet.
  std::vector<std::pair<std::string, std::string>> fresh ABSL_GUARDED_BY(mutex);
  bool lost ABSL_GUARDED_BY(mutex) = false;  // it is not this server's any more
  // After the end, for the thread that writes it.
  std::optional<CallEnd> end;
  v1::DocumentReport report;
  std::shared_ptr<Spool> output;

  void Cancel() {
    std::shared_ptr<DocumentExchange> running;
    {
      absl::MutexLock lock(&mutex);
      running = exchange;
    }
    if (running != nullptr) running->Cancel();
  }
};

DocumentStore::DocumentStore(const ServerParts* parts, Database* database,
                             const DocumentStoreLimits& limits)
    : parts_(parts), database_(database), limits_(limits), server_(NewUuid()) {}

absl::StatusOr<StoredDocument> DocumentStore::Add(Caller caller, const v1::DocumentHeader& header,
                                                  std::shared_ptr<Spool> file, OnEnd on_end) {
  auto work = std::make_shared<Work>();
  work->id = NewSecret();
  work->key = NewSecret();
  work->started = absl::FromUnixMillis(absl::ToUnixMillis(absl::Now()));
  const auto exchange = StartExchange(work, std::move(caller));
  if (const DocumentEvent event = exchange->Next(); event.end.has_value()) return event.end->status;
  work->principal = exchange->principal().value_or("");
  absl::Status stored = Insert(*work, header, *file);
  if (stored.ok()) {
    absl::MutexLock lock(&mutex_);
    if (closed_) stored = absl::UnavailableError("the server is draining");
  }
  if (!stored.ok()) {
    exchange->NoMore(stored);
    exchange->Next();
    return stored;
  }
  work->on_end = std::move(on_end);
  Begin(work, exchange, header, std::move(file));
  return StoredDocument{
      .id = work->id, .key = work->key, .principal = work->principal, .started = work->started};
}

absl::Status DocumentStore::Insert(const Work& work, const v1::DocumentHeader& header,
                                   const Spool& file) const {
  const auto bytes = static_cast<int64_t>(file.size() + header.ByteSizeLong());
  return database_->Transact(Soon(), Database::kWrite, [&](Connection* connection) -> absl::Status {
    RETURN_IF_ERROR(MakeRoom(connection, work.principal, bytes, /*of_result=*/false));
    RETURN_IF_ERROR(connection->Do(
        "INSERT INTO documents (id, secret, owner, created, header, server, lease, "
        "passages_done, passages_known, code, message, report, bytes) VALUES "
        "($1, $2, $3, $4, $5, $6, $7, 0, 0, $8, '', $9, $10)",
        {work.id, work.key, work.principal, absl::ToUnixMillis(work.started),
         Bytes{header.SerializeAsString()}, server_,
         absl::ToUnixMillis(absl::Now() + limits_.lease), kInProgress, Bytes{}, bytes}));
    return WriteFile(connection, work.id, kInput, file);
  });
}

absl::Status DocumentStore::MakeRoom(Connection* connection, const std::string& principal,
                                     int64_t bytes, bool of_result) const {
  while (true) {
    ASSIGN_OR_RETURN(
        const std::vector<Row> rows,
        connection->Run("SELECT COUNT(*), CAST(COALESCE(SUM(bytes), 0) AS BIGINT), "
                        "CAST(COALESCE(SUM(CASE WHEN owner = $1 THEN 1 ELSE 0 END), 0) AS BIGINT), "
                        "CAST(COALESCE(SUM(CASE WHEN owner = $1 THEN bytes ELSE 0 END), 0) AS "
                        "BIGINT) FROM documents",
                        {principal}));
    const auto fits = [](int64_t limit, int64_t used, int64_t held, int64_t wanted) {
      return SharedBudget::Fits(static_cast<size_t>(limit), static_cast<size_t>(used),
                                static_cast<size_t>(held), static_cast<size_t>(wanted));
    };
    const Row& row = rows[0];
    const bool has_room = of_result ? row.number(1) + bytes <= limits_.bytes
                                    : fits(limits_.documents, row.number(0), row.number(2), 1) &&
                                          fits(limits_.bytes, row.number(1), row.number(3), bytes);
    if (has_room) return absl::OkStatus();
    ASSIGN_OR_RETURN(
        const std::vector<Row> oldest,
        connection->Run("DELETE FROM documents WHERE id = (SELECT id FROM documents WHERE owner = "
                        "$1 AND code <> $2 ORDER BY created LIMIT 1) RETURNING id",
                        {principal, kInProgress}));
    if (oldest.empty()) {
      return absl::ResourceExhaustedError(
          "too many translated files wait to be fetched, or are being translated");
    }
  }
}

std::shared_ptr<DocumentExchange> DocumentStore::StartExchange(const std::shared_ptr<Work>& work,
                                                               Caller caller) {
  const auto ready = [this, weak = std::weak_ptr(work)] {
    if (const auto self = weak.lock()) Pump(self);
  };
  auto exchange = std::make_shared<DocumentExchange>(parts_, std::move(caller), ready);
  exchange->Start();
  return exchange;
}

void DocumentStore::Begin(const std::shared_ptr<Work>& work,
                          std::shared_ptr<DocumentExchange> exchange, v1::DocumentHeader header,
                          std::shared_ptr<Spool> file) {
  {
    absl::MutexLock lock(&work->mutex);
    work->exchange = exchange;
  }
  {
    absl::MutexLock lock(&mutex_);
    works_.push_back(work);
  }
  const PassageJournal journal = {
      .find = [work](const std::string& key) -> std::optional<std::string> {
        const auto found = work->known.find(key);
        if (found == work->known.end()) return std::nullopt;
        return found->second;
      },
      .add =
          [work](const std::string& key, const std::string& answer) {
            absl::MutexLock lock(&work->mutex);
            work->fresh.emplace_back(key, answer);
          }};
  exchange->Work(
      [header = std::move(header), file = std::move(file)](
          v1::DocumentHeader* wanted) -> absl::StatusOr<std::shared_ptr<Spool>> {
        *wanted = header;
        return file;
      },
      journal);
  Pump(work);
}

// Takes what the exchange has.
void DocumentStore::Pump(const std::shared_ptr<Work>& work) {
  {
    absl::MutexLock lock(&work->mutex);
    if (work->exchange == nullptr) return;
    while (true) {
      DocumentEvent event = work->exchange->Next();
      if (event.end.has_value()) {
        work->end = std::move(event.end);
        work->exchange = nullptr;  // a drain waits until it is gone
        break;
      }
      if (!event.message.has_value()) return;
      if (event.message->has_progress()) {
        work->progress = event.message->progress();
      } else if (work->output == nullptr) {  // the result
        work->report = work->exchange->report();
        work->output = work->exchange->TakeOutput();
      }
    }
  }
  // The store may not answer at once.
  parts_->documents->Run([this, work] { Finish(work); });
}

void DocumentStore::Finish(const std::shared_ptr<Work>& work) {
  bool closed = false;
  {
    absl::MutexLock lock(&mutex_);
    works_.remove(work);
    closed = closed_;
  }
  bool lost = false;
  {
    absl::MutexLock lock(&work->mutex);
    lost = work->lost;
  }
  const absl::Status& end = work->end->status;
  // Another server goes on with what this one was to end, and one of them, after a while, with what
  // it had no place for, unless somebody waits for the end.
  const bool ends = closed || parts_->gate->shut();
  const bool is_full = absl::IsResourceExhausted(end) && !IsMessageTooLarge(end);
  const bool left = !end.ok() && (ends || (is_full && work->on_end == nullptr));
  if (left) {
    Renew(work.get()).IgnoreError();  // what was translated is not lost
    Release(*work, ends ? absl::UnixEpoch() : absl::Now() + limits_.renew);
  } else if (!lost) {
    // If this fails, the lease runs out, and another server does it again.
    WriteEnd(work.get()).IgnoreError();
  }
  if (work->on_end == nullptr) return;
  work->on_end({.id = work->id,
                .key = work->key,
                .principal = work->principal,
                .end = end,
                .report = work->report,
                .started = work->started});
}

absl::Status DocumentStore::WriteEnd(Work* work) const {
  absl::Status& end = work->end->status;
  return database_->Transact(Soon(), Database::kWrite, [&](Connection* connection) -> absl::Status {
    // The result takes the place of the file, and may be longer.
    RETURN_IF_ERROR(connection->Do("UPDATE documents SET bytes = 0 WHERE id = $1 AND server = $2",
                                   {work->id, server_}));
    int64_t bytes = end.ok() ? static_cast<int64_t>(work->output->size()) : 0;
    end.Update(MakeRoom(connection, work->principal, bytes, /*of_result=*/true));
    if (!end.ok()) bytes = 0;
    ASSIGN_OR_RETURN(
        const std::vector<Row> rows,
        connection->Run("UPDATE documents SET code = $1, message = $2, report = $3, bytes = $4, "
                        "header = '', lease = 0 WHERE id = $5 AND server = $6 RETURNING id",
                        {static_cast<int64_t>(end.code()), std::string(end.message()),
                         Bytes{work->report.SerializeAsString()}, bytes, work->id, server_}));
    if (rows.empty()) return absl::OkStatus();  // it was removed
    for (const char* const table : {"document_files", "document_passages"}) {
      RETURN_IF_ERROR(connection->Do(absl::StrCat("DELETE FROM ", table, " WHERE document_id = $1"),
                                     {work->id}));
    }
    return end.ok() ? WriteFile(connection, work->id, kOutput, *work->output) : absl::OkStatus();
  });
}

absl::Status DocumentStore::Renew(Work* work) const {
  std::vector<std::pair<std::string, std::string>> fresh;
  v1::DocumentProgress progress;
  {
    absl::MutexLock lock(&work->mutex);
    fresh = work->fresh;
    progress = work->progress;
  }
  bool lost = false;
  RETURN_IF_ERROR(
      database_->Transact(Soon(), Database::kWrite, [&](Connection* connection) -> absl::Status {
        ASSIGN_OR_RETURN(
            const std::vector<Row> rows,
            connection->Run(
                "UPDATE documents SET lease = $1, passages_done = $2, passages_known = "
                "$3 WHERE id = $4 AND server = $5 RETURNING id",
                {absl::ToUnixMillis(absl::Now() + limits_.lease), progress.passages_done(),
                 progress.passages_known(), work->id, server_}));
        lost = rows.empty();
        if (lost) return absl::OkStatus();
        for (const auto& [key, answer] : fresh) {
          RETURN_IF_ERROR(
              connection->Do("INSERT INTO document_passages (document_id, key, answer) "
                             "VALUES ($1, $2, $3) ON CONFLICT DO NOTHING",
                             {work->id, key, Bytes{answer}}));
        }
        return absl::OkStatus();
      }));
  {
    absl::MutexLock lock(&work->mutex);
    work->lost = lost;
    work->fresh.erase(work->fresh.begin(),
                      work->fresh.begin() + static_cast<std::ptrdiff_t>(fresh.size()));
  }
  if (lost) work->Cancel();
  return absl::OkStatus();
}

// Another server may take it from then on.
void DocumentStore::Release(const Work& work, absl::Time then) const {
  database_
      ->Transact(Soon(), Database::kWrite,
                 [&](Connection* connection) {
                   return connection->Do(
                       "UPDATE documents SET lease = $1 WHERE id = $2 AND server = $3",
                       {absl::ToUnixMillis(then), work.id, server_});
                 })
      .IgnoreError();
}

absl::StatusOr<StoredDocument> DocumentStore::Find(const std::string& id) const {
  return database_->Ask<StoredDocument>(
      Soon(), [&](Connection* connection) { return Select(connection, id); });
}

absl::StatusOr<std::shared_ptr<Spool>> DocumentStore::Output(const StoredDocument& document) const {
  return database_->Ask<std::shared_ptr<Spool>>(Soon(), [&](Connection* connection) {
    return ReadFile(connection, parts_->documents, document.principal, document.id, kOutput);
  });
}

absl::Status DocumentStore::Remove(const std::string& id) const {
  return database_->Transact(Soon(), Database::kWrite, [&](Connection* connection) {
    return connection->Do("DELETE FROM documents WHERE id = $1", {id});
  });
}

void DocumentStore::Look(absl::Time now) {
  std::vector<std::shared_ptr<Work>> works;
  bool may_take = false;
  {
    absl::MutexLock lock(&mutex_);
    if (closed_) return;
    if (now - renewed_ < limits_.renew && now >= renewed_) return;
    renewed_ = now;
    works.assign(works_.begin(), works_.end());
    may_take = static_cast<int>(works.size()) < parts_->documents->limits().at_once;
  }
  for (const std::shared_ptr<Work>& work : works) Renew(work.get()).IgnoreError();
  const absl::Status tidied =
      database_->Transact(Soon(), Database::kWrite, [&](Connection* connection) {
        return connection->Do("DELETE FROM documents WHERE created < $1",
                              {absl::ToUnixMillis(now - limits_.keep)});
      });
  if (tidied.ok() && may_take) TakeOne(now);
}

// Goes on with the oldest document whose server has not renewed its lease.
void DocumentStore::TakeOne(absl::Time now) {
  auto work = std::make_shared<Work>();
  v1::DocumentHeader header;
  std::shared_ptr<Spool> file;
  const std::string skip = database_->is_postgres() ? " FOR UPDATE SKIP LOCKED" : "";
  const absl::Status taken =
      database_->Transact(Soon(), Database::kWrite, [&](Connection* connection) -> absl::Status {
        ASSIGN_OR_RETURN(
            std::vector<Row> rows,
            connection->Run(
                absl::StrCat("UPDATE documents SET server = $1, lease = $2 WHERE id = (SELECT id "
                             "FROM documents WHERE code = $3 AND lease < $4 ORDER BY created "
                             "LIMIT 1",
                             skip, ") RETURNING id, secret, owner, created, header"),
                {server_, absl::ToUnixMillis(absl::Now() + limits_.lease), kInProgress,
                 absl::ToUnixMillis(now)}));
        if (rows.empty()) return absl::NotFoundError("none");
        work->id = rows[0].text(0);
        work->key = rows[0].text(1);
        work->principal = rows[0].text(2);
        work->started = absl::FromUnixMillis(rows[0].number(3));
        header.ParseFromString(rows[0].text(4));
        ASSIGN_OR_RETURN(
            file, ReadFile(connection, parts_->documents, work->principal, work->id, kInput));
        work->known.clear();
        return connection->Each(
            "SELECT key, answer FROM document_passages WHERE document_id = $1", {work->id},
            [&](Row row) { work->known.emplace(std::move(row.text(0)), std::move(row.text(1))); });
      });
  if (!taken.ok()) return;
  Caller caller;
  caller.on_behalf_of = work->principal;
  Begin(work, StartExchange(work, std::move(caller)), std::move(header), std::move(file));
}

void DocumentStore::Close() {
  std::vector<std::shared_ptr<Work>> works;
  {
    absl::MutexLock lock(&mutex_);
    closed_ = true;
    works.assign(works_.begin(), works_.end());
  }
  for (const std::shared_ptr<Work>& work : works) work->Cancel();
}

}  // namespace dragoman
