#include "server/memories/memory_store.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "documents/tmx.h"
#include "engine/base/status.h"
#include "server/base/errors.h"

namespace dragoman {
namespace {

constexpr std::string_view kTmx = ".tmx";
constexpr size_t kMostOld = 1000;  // segments out of date that are not worth a new file

absl::StatusOr<MemoryText> TextFromTmx(const std::string& text) {
  ASSIGN_OR_RETURN(TmxMemory tmx, ReadTmx(text, "", ""));
  MemoryText memory;
  memory.languages = {tmx.source_language, tmx.target_language};
  for (TmxSegment& segment : tmx.segments) {
    memory.segments.push_back({std::move(segment.source), std::move(segment.target),
                               std::move(segment.previous), std::move(segment.next)});
  }
  TidySegments(&memory.segments);
  std::erase_if(memory.segments, [](const MemorySegment& segment) {
    return segment.source.empty() || segment.target.empty();
  });
  RETURN_IF_ERROR(CheckMemory(memory));
  return memory;
}

std::shared_ptr<StoredMemory> MemoryFrom(const std::string& id, MemoryText text) {
  auto stored = std::make_shared<StoredMemory>();
  stored->id = id;
  stored->name = std::move(text.name);
  stored->owner = std::move(text.owner);
  stored->shared = text.shared;
  stored->version = text.version;
  stored->created = text.created;
  stored->read_only = id.ends_with(kTmx);
  stored->bytes = text.bytes;
  stored->segments = text.segments.size();
  stored->memory =
      std::make_shared<const TranslationMemory>(TranslationMemory(id, std::move(text.languages))
                                                    .Learn(std::move(text.segments), text.version));
  return stored;
}

absl::StatusOr<StoredMemoryPtr> ReadMemory(const std::string& id, const std::string& text) {
  ASSIGN_OR_RETURN(MemoryText memory, id.ends_with(kTmx) ? TextFromTmx(text) : ParseMemory(text));
  return MemoryFrom(id, std::move(memory));
}

// All of a memory, for a file that has nothing that is out of date.
std::string WholeText(const StoredMemory& stored) {
  return WriteMemory({.name = stored.name,
                      .owner = stored.owner,
                      .shared = stored.shared,
                      .version = stored.version,
                      .created = stored.created,
                      .languages = stored.memory->languages(),
                      .segments = stored.memory->Segments(0, stored.memory->size())});
}

}  // namespace

MemoryStore::MemoryStore(const std::string& directory, const MemoryLimits& limits,
                         std::function<void()> on_step)
    : limits_(limits),
      files_(directory,
             {.noun = "translation memory",
              .of_others = {std::string(kTmx)},
              .read = ReadMemory,
              .not_found = MemoryNotFound},
             std::move(on_step)) {}

absl::StatusOr<std::unique_ptr<MemoryStore>> MemoryStore::Open(const std::string& directory,
                                                               const MemoryLimits& limits,
                                                               std::function<void()> on_step) {
  auto store = std::unique_ptr<MemoryStore>(new MemoryStore(directory, limits, std::move(on_step)));
  RETURN_IF_ERROR(store->files_.Open());
  return store;
}

absl::Status MemoryStore::CheckLimits(const std::string& id, const std::string& owner,
                                      size_t segments) const {
  if (segments > kMaxSegments) {
    return absl::ResourceExhaustedError(
        absl::StrCat("the memory would have ", segments, " segments, the most is ", kMaxSegments));
  }
  size_t memories = 1;
  files_.ForEachOf(owner, id, [&](const StoredMemory& other) {
    ++memories;
    segments += other.memory->size();
  });
  if (memories > limits_.memories) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "you have ", memories - 1, " translation memories, the most is ", limits_.memories));
  }
  if (segments > limits_.segments) {
    return absl::ResourceExhaustedError(absl::StrCat("your translation memories would have ",
                                                     segments, " segments, the most is ",
                                                     limits_.segments));
  }
  return absl::OkStatus();
}

absl::StatusOr<StoredMemoryPtr> MemoryStore::Create(MemoryText memory) {
  memory.version = 1;
  memory.created = absl::FromUnixSeconds(absl::ToUnixSeconds(absl::Now()));
  TidySegments(&memory.segments);
  RETURN_IF_ERROR(CheckMemory(memory));
  absl::MutexLock lock(files_.writing());
  RETURN_IF_ERROR(CheckLimits("", memory.owner, memory.segments.size()));
  const std::string text = WriteMemory(memory);
  memory.bytes = text.size();
  const StoredMemoryPtr stored = MemoryFrom(NewUuid(), std::move(memory));
  RETURN_IF_ERROR(files_.Put(text, stored));
  return stored;
}

absl::StatusOr<StoredMemoryPtr> MemoryStore::Learn(const std::string& id,
                                                   const std::string& principal,
                                                   std::vector<MemorySegment> segments) {
  TidySegments(&segments);
  RETURN_IF_ERROR(CheckSegments(segments));
  absl::MutexLock lock(files_.writing());
  ASSIGN_OR_RETURN(const StoredMemoryPtr before, files_.FindToChange(id, principal));
  if (segments.empty()) return before;
  auto after = std::make_shared<StoredMemory>(*before);
  ++after->version;
  after->segments += segments.size();
  const std::string text = WriteLearned(segments, after->version);
  after->bytes += text.size();
  after->memory = std::make_shared<const TranslationMemory>(
      before->memory->Learn(std::move(segments), after->version));
  RETURN_IF_ERROR(CheckLimits(id, before->owner, after->memory->size()));
  const bool is_worn = after->segments > 2 * after->memory->size() + kMostOld;
  if (before->bytes > 0 && !is_worn) {
    RETURN_IF_ERROR(files_.Add(before->bytes, text, after));
    return after;
  }
  const std::string whole = WholeText(*after);
  after->bytes = whole.size();
  after->segments = after->memory->size();
  RETURN_IF_ERROR(files_.Put(whole, after));
  return after;
}

}  // namespace dragoman
