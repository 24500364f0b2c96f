#include "server/import.h"

#include <limits>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "engine/base/status.h"
#include "server/glossaries/glossary_store.h"
#include "server/memories/memory_store.h"
#include "server/store/file_directory.h"

namespace dragoman {
namespace {

constexpr std::string_view kSuffix = ".tsv";
constexpr absl::Duration kLongest = absl::Minutes(10);  // for a file

// Takes what a file has, and says what that is.
using ImportFile =
    absl::FunctionRef<absl::StatusOr<std::string>(const std::string& id, const std::string& text)>;

absl::Status ImportFiles(const std::string& directory, const char* noun, ImportFile import,
                         std::ostream* out) {
  if (directory.empty()) return absl::OkStatus();
  RETURN_IF_ERROR(CheckDirectory(directory));
  ASSIGN_OR_RETURN(const FileVersions files, FilesIn(directory));
  int failed = 0;
  for (const auto& [name, version] : files) {
    if (!IsPlainName(name) || !name.ends_with(kSuffix)) continue;
    const std::string id = name.substr(0, name.size() - kSuffix.size());
    *out << noun << " " << id << ": ";
    const absl::StatusOr<std::string> text = ReadFileIn(directory, name);
    const absl::StatusOr<std::string> said =
        text.ok() ? import(id, *text) : absl::StatusOr<std::string>(text.status());
    if (said.ok()) {
      *out << *said << "\n";
    } else if (absl::IsAlreadyExists(said.status())) {
      *out << "is in the store already\n";
    } else {
      ++failed;
      *out << "NOT IMPORTED: " << said.status().message() << "\n";
    }
  }
  if (failed == 0) return absl::OkStatus();
  return FailedPreconditionError(failed, " files of ", directory, " were not imported");
}

}  // namespace

absl::Status ImportKept(const std::string& store, const Errand& errand, std::ostream* out) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Database> database, Database::Open(store));
  RETURN_IF_ERROR(database->fault());
  if (!database->survives()) {
    return absl::InvalidArgumentError("--store keeps nothing: name one that does");
  }
  IndexCache indices(0);
  constexpr int64_t kAny = std::numeric_limits<int64_t>::max();
  const StoreParts parts = {
      .database = database.get(), .limits = {kAny, kAny}, .indices = &indices};
  GlossaryStore glossaries(parts);
  MemoryStore memories(parts);
  absl::Status status = ImportFiles(
      errand.import_glossaries, "glossary",
      [&](const std::string& id, const std::string& text) -> absl::StatusOr<std::string> {
        ASSIGN_OR_RETURN(GlossaryText glossary, ParseGlossary(text));
        size_t entries = 0;
        for (const GlossaryDictionary& each : glossary.dictionaries) entries += each.entries.size();
        RETURN_IF_ERROR(
            glossaries.Create(absl::Now() + kLongest, std::move(glossary), id).status());
        return absl::StrCat(entries, " entries");
      },
      out);
  status.Update(ImportFiles(
      errand.import_memories, "translation memory",
      [&](const std::string& id, const std::string& text) -> absl::StatusOr<std::string> {
        ASSIGN_OR_RETURN(MemoryText memory, ParseMemory(text));
        const size_t segments = memory.segments.size();
        RETURN_IF_ERROR(memories.Create(absl::Now() + kLongest, std::move(memory), id).status());
        return absl::StrCat(segments, " segments");
      },
      out));
  return status;
}

}  // namespace dragoman
