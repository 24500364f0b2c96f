#include "server/memories/memory_store.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "crypto/pem_files.h"
#include "engine/base/status.h"
#include "engine/text/normal_form.h"
#include "server/base/errors.h"
#include "server/store/kept_text.h"

namespace dragoman {
namespace {

constexpr std::string_view kTmx = ".tmx";
// What a segment takes in memory besides its text, and its text as a multiple (measured with
// 100,000 segments of ten words).
constexpr int64_t kBytesOfSegment = 200, kCopiesOfSegment = 3;
constexpr size_t kRowsAtOnce = 100;  // of a statement

absl::StatusOr<StoredMemoryPtr> ReadMemoryFile(const std::string& id, const std::string& text) {
  ASSIGN_OR_RETURN(MemoryText read, id.ends_with(kTmx) ? ParseTmxMemory(text) : ParseMemory(text));
  auto memory = std::make_shared<StoredMemory>();
  memory->id = id;
  memory->read_only = true;
  memory->bytes = static_cast<int64_t>(text.size());
  static_cast<OwnedHead&>(*memory) = read;
  memory->memory = std::make_shared<const TranslationMemory>(
      TranslationMemory(id, read.languages).Learn(std::move(read.segments), read.version));
  memory->lists = {{read.languages, static_cast<int64_t>(memory->memory->size())}};
  return memory;
}

int64_t BytesOf(const MemorySegment& segment) {
  return static_cast<int64_t>(segment.source.size() + segment.target.size() +
                              segment.previous.size() + segment.next.size());
}

struct KeyedSegment {
  std::string key;
  const MemorySegment* segment;
};

// The last of those with the same source and context, which become NormalForm.
std::vector<KeyedSegment> Keyed(std::vector<MemorySegment>* segments) {
  std::vector<KeyedSegment> keyed;
  absl::flat_hash_map<std::string, size_t> last;
  for (MemorySegment& segment : *segments) {
    for (std::string* const text : {&segment.source, &segment.previous, &segment.next}) {
      *text = NormalForm(*text);
    }
    // A line break is in no NormalForm.
    const std::string key =
        HexSha256(absl::StrCat(segment.source, "\n", segment.previous, "\n", segment.next))
            .substr(0, 32);
    last[key] = keyed.size();
    keyed.push_back({key, &segment});
  }
  size_t at = 0;
  std::erase_if(keyed, [&](const KeyedSegment& each) { return last[each.key] != at++; });
  return keyed;
}

// Writes segments, at most kRowsAtOnce, of which `position` are before them.
absl::Status WriteSome(Connection* connection, absl::Span<const KeyedSegment> segments,
                       int64_t position, Owned* memory) {
  std::vector<Value> keys = {memory->id};
  for (const KeyedSegment& each : segments) keys.emplace_back(each.key);
  ASSIGN_OR_RETURN(
      const std::vector<Row> replaced,
      connection->Run(absl::StrCat("SELECT COUNT(*), CAST(COALESCE(SUM(bytes), 0) AS BIGINT) "
                                   "FROM segments WHERE kept_id = $1 AND key IN (",
                                   Parameters(2, segments.size()), ")"),
                      keys));
  memory->lists[0].size += static_cast<int64_t>(segments.size()) - replaced[0].number(0);
  memory->bytes -= replaced[0].number(1);
  std::string sql =
      "INSERT INTO segments (kept_id, key, version, position, source, target, previous, next, "
      "bytes) VALUES ";
  std::vector<Value> values;
  for (const KeyedSegment& each : segments) {
    absl::StrAppend(&sql, values.empty() ? "(" : ", (", Parameters(values.size() + 1, 9), ")");
    const MemorySegment& segment = *each.segment;
    const std::initializer_list<Value> row = {memory->id,       each.key,       memory->version,
                                              position++,       segment.source, segment.target,
                                              segment.previous, segment.next,   BytesOf(segment)};
    values.insert(values.end(), row.begin(), row.end());
    memory->bytes += BytesOf(segment);
  }
  absl::StrAppend(&sql,
                  " ON CONFLICT (kept_id, key) DO UPDATE SET version = excluded.version, "
                  "position = excluded.position, target = excluded.target, "
                  "bytes = excluded.bytes");
  return connection->Do(sql, values);
}

// As the version that the memory has now.
absl::Status WriteSegments(Connection* connection, absl::Span<const KeyedSegment> segments,
                           Owned* memory) {
  for (size_t i = 0; i < segments.size(); i += kRowsAtOnce) {
    RETURN_IF_ERROR(
        WriteSome(connection, segments.subspan(i, kRowsAtOnce), static_cast<int64_t>(i), memory));
  }
  const OwnedList& list = memory->lists[0];
  if (list.size > static_cast<int64_t>(kMaxSegments)) {
    return ResourceExhaustedError("the memory would have ", list.size, " segments, the most is ",
                                  kMaxSegments);
  }
  return connection->Do(
      "INSERT INTO lists (kept_id, position, source_language, target_language, size, "
      "content) VALUES ($1, 0, $2, $3, $4, '') "
      "ON CONFLICT (kept_id, position) DO UPDATE SET size = excluded.size",
      {memory->id, list.languages.source, list.languages.target, list.size});
}

}  // namespace

const OwnedKind& MemoryStore::Kind() {
  static const auto& kind = *new OwnedKind{.number = 2,
                                           .noun = "translation memory",
                                           .nouns = "translation memories",
                                           .parts = "segments",
                                           .type = "dragoman.v1.TranslationMemory",
                                           .most_parts = 1'000'000};
  return kind;
}

absl::StatusOr<std::unique_ptr<MemoryStore::Files>> MemoryStore::OpenFiles(
    const std::string& directory) {
  return Files::Open(directory, {.noun = Kind().noun, .suffixes = {kTmx}, .read = &ReadMemoryFile});
}

absl::StatusOr<Owned> MemoryStore::Create(absl::Time until, MemoryText memory,
                                          const std::string& id) {
  TidySegments(&memory.segments);
  RETURN_IF_ERROR(CheckMemory(memory));
  const std::vector<KeyedSegment> keyed = Keyed(&memory.segments);
  Owned thing = {memory, id};
  thing.lists = {{memory.languages}};
  return rows().Create(until, std::move(thing), /*unique=*/false,
                       [&](Connection* connection, Owned* stored) {
                         return WriteSegments(connection, keyed, stored);
                       });
}

absl::StatusOr<Owned> MemoryStore::Learn(const Asker& asker, const std::string& id,
                                         std::vector<MemorySegment> segments) {
  TidySegments(&segments);
  RETURN_IF_ERROR(CheckSegments(segments));
  ASSIGN_OR_RETURN(const Ptr file, FindFile(id, asker.principal));
  if (file != nullptr) return NotYours(Kind().noun);
  const std::vector<KeyedSegment> keyed = Keyed(&segments);
  return rows().Change(asker, id, [&](Connection* connection, Owned* memory) {
    return WriteSegments(connection, keyed, memory);
  });
}

absl::StatusOr<StoredMemoryPtr> MemoryStore::Load(Connection* connection, Owned thing,
                                                  const Ptr& before) const {
  auto memory = std::make_shared<StoredMemory>();
  static_cast<Owned&>(*memory) = std::move(thing);
  std::vector<MemorySegment> segments;
  RETURN_IF_ERROR(connection->Each(
      "SELECT source, target, previous, next FROM segments WHERE kept_id = $1 AND version > $2 "
      "ORDER BY version, position",
      {memory->id, before == nullptr ? int64_t{0} : before->version}, [&](Row row) {
        segments.push_back({std::move(row.text(0)), std::move(row.text(1)), std::move(row.text(2)),
                            std::move(row.text(3))});
      }));
  const TranslationMemory known =
      before != nullptr ? *before->memory
                        : TranslationMemory(memory->id, memory->lists.at(0).languages);
  memory->memory =
      std::make_shared<const TranslationMemory>(known.Learn(std::move(segments), memory->version));
  return memory;
}

int64_t MemoryStore::IndexBytes(const Owned& thing) const {
  return kCopiesOfSegment * thing.bytes + kBytesOfSegment * thing.size();
}

}  // namespace dragoman
