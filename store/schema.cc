#include "store/schema.h"

#include "absl/strings/str_cat.h"
#include "engine/base/status.h"

namespace dragoman {
namespace {

// Migration n leads from version n to n + 1.  One that was released is never changed.
constexpr const char* kMigrations[] = {
    R"sql(
-- What a principal has stored, and how many bytes all of it has.
CREATE TABLE owners (
  owner TEXT PRIMARY KEY,
  bytes BIGINT NOT NULL);

-- Glossaries (kind 1) and translation memories (kind 2).
CREATE TABLE kept (
  id TEXT PRIMARY KEY,
  kind BIGINT NOT NULL,
  owner TEXT NOT NULL,     -- a principal; '': nobody, so it is for everybody
  name TEXT NOT NULL,
  shared BIGINT NOT NULL,  -- 1: others may use it, too
  version BIGINT NOT NULL,
  created BIGINT NOT NULL, -- seconds since 1970
  bytes BIGINT NOT NULL);  -- of its entries or segments
CREATE INDEX kept_by_owner ON kept (kind, owner);

-- Of a glossary, its dictionaries; of a translation memory, one row without content.
CREATE TABLE lists (
  kept_id TEXT NOT NULL REFERENCES kept (id) ON DELETE CASCADE,
  position BIGINT NOT NULL,
  source_language TEXT NOT NULL,  -- tags; '': any
  target_language TEXT NOT NULL,
  size BIGINT NOT NULL,           -- entries or segments
  content TEXT NOT NULL,          -- of a glossary: lines of a source and its targets
  PRIMARY KEY (kept_id, position));

-- Of translation memories.
CREATE TABLE segments (
  kept_id TEXT NOT NULL REFERENCES kept (id) ON DELETE CASCADE,
  key TEXT NOT NULL,          -- a digest of source, previous and next
  version BIGINT NOT NULL,    -- of the memory, that brought it
  position BIGINT NOT NULL,   -- among those of this version
  source TEXT NOT NULL,
  target TEXT NOT NULL,
  previous TEXT NOT NULL,
  next TEXT NOT NULL,
  bytes BIGINT NOT NULL,      -- of the four
  PRIMARY KEY (kept_id, key));
CREATE INDEX segments_by_version ON segments (kept_id, version, position);

-- Files that are translated, to be fetched later.
CREATE TABLE documents (
  id TEXT PRIMARY KEY,
  secret TEXT NOT NULL,           -- who knows it may fetch the document
  owner TEXT NOT NULL,
  created BIGINT NOT NULL,        -- milliseconds since 1970
  header BYTEA NOT NULL,          -- dragoman.v1.DocumentHeader
  server TEXT NOT NULL,           -- that translates it
  lease BIGINT NOT NULL,          -- until then; milliseconds since 1970
  passages_done BIGINT NOT NULL,
  passages_known BIGINT NOT NULL,
  code BIGINT NOT NULL,           -- -1: in progress; 0: done; or that of the error
  message TEXT NOT NULL,
  report BYTEA NOT NULL,          -- dragoman.v1.DocumentReport
  bytes BIGINT NOT NULL);         -- of its file, then of its result

CREATE TABLE document_files (
  document_id TEXT NOT NULL REFERENCES documents (id) ON DELETE CASCADE,
  kind BIGINT NOT NULL,           -- 0: the file; 1: the result
  number BIGINT NOT NULL,         -- of the piece
  content BYTEA NOT NULL,
  PRIMARY KEY (document_id, kind, number));

-- That are translated while the document is in progress.
CREATE TABLE document_passages (
  document_id TEXT NOT NULL REFERENCES documents (id) ON DELETE CASCADE,
  key TEXT NOT NULL,              -- a digest of the request
  answer BYTEA NOT NULL,          -- dragoman.v1.TranslateBulkResponse
  PRIMARY KEY (document_id, key));
)sql"};
constexpr int64_t kVersion = std::size(kMigrations);

constexpr char kLock[] = "SELECT pg_advisory_xact_lock(7236840931)";  // no other program's number

}  // namespace

// Documents are gone within the hour, and are in no backup.
absl::Span<const Table> StoreTables() {
  static const auto& tables = *new std::vector<Table>{
      {"owners", {"owner", "bytes"}},
      {"kept", {"id", "kind", "owner", "name", "shared", "version", "created", "bytes"}},
      {"lists", {"kept_id", "position", "source_language", "target_language", "size", "content"}},
      {"segments",
       {"kept_id", "key", "version", "position", "source", "target", "previous", "next", "bytes"}}};
  return tables;
}

absl::Status Migrate(Connection* connection, bool postgres) {
  if (postgres) RETURN_IF_ERROR(connection->Do(kLock));
  RETURN_IF_ERROR(
      connection->Script("CREATE TABLE IF NOT EXISTS store_schema (version BIGINT NOT NULL)"));
  ASSIGN_OR_RETURN(const std::vector<Row> rows,
                   connection->Run("SELECT version FROM store_schema"));
  const int64_t version = rows.empty() ? 0 : rows[0].number(0);
  if (version > kVersion) {
    return absl::FailedPreconditionError(absl::StrCat("the store has schema ", version,
                                                      ", and this server knows those up to ",
                                                      kVersion, ": a newer server has used it"));
  }
  for (int64_t next = version; next < kVersion; ++next) {
    RETURN_IF_ERROR(connection->Script(kMigrations[next]));
  }
  if (rows.empty()) {
    return connection->Do("INSERT INTO store_schema (version) VALUES ($1)", {kVersion});
  }
  if (version == kVersion) return absl::OkStatus();
  return connection->Do("UPDATE store_schema SET version = $1", {kVersion});
}

}  // namespace dragoman
