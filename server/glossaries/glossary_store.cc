#include "server/glossaries/glossary_store.h"

#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/base/status.h"
#include "server/base/errors.h"
#include "server/glossaries/tbx.h"
#include "server/store/kept_text.h"

namespace dragoman {
namespace {

constexpr std::string_view kCommas = ".csv";
constexpr std::string_view kTbx = ".tbx";
// What an entry takes in memory besides its text, and its text as a multiple (measured with 100,000
// entries of two words).
constexpr int64_t kBytesOfEntry = 700, kCopiesOfText = 4;

void AddDictionary(GlossaryDictionary dictionary, StoredGlossary* glossary) {
  glossary->dictionaries.push_back(std::make_shared<const TermList>(
      std::move(dictionary.entries), glossary->id, std::move(dictionary.languages)));
}

absl::StatusOr<GlossaryPtr> ReadGlossaryFile(const std::string& id, const std::string& text) {
  ASSIGN_OR_RETURN(GlossaryText read,
                   id.ends_with(kTbx) ? ParseTbx(text)
                                      : ParseGlossary(text, id.ends_with(kCommas) ? ',' : '\t'));
  auto glossary = std::make_shared<StoredGlossary>();
  glossary->id = id;
  glossary->read_only = true;
  glossary->bytes = static_cast<int64_t>(text.size());
  static_cast<OwnedHead&>(*glossary) = read;
  for (GlossaryDictionary& dictionary : read.dictionaries) {
    glossary->lists.push_back(
        {dictionary.languages, static_cast<int64_t>(dictionary.entries.size())});
    AddDictionary(std::move(dictionary), glossary.get());
  }
  return glossary;
}

std::string ContentOf(const GlossaryDictionary& dictionary) {
  return WriteEntries(dictionary.entries);
}

absl::Status Check(GlossaryText* glossary) {
  TidyGlossary(glossary);
  RETURN_IF_ERROR(CheckGlossary(*glossary));
  for (size_t d = 0; d < glossary->dictionaries.size(); ++d) {
    RETURN_IF_ERROR(CheckSources(absl::StrCat("glossary.dictionaries[", d, "].entries"),
                                 glossary->dictionaries[d].entries));
  }
  return absl::OkStatus();
}

// The dictionaries that the store has, and their contents.
struct StoredText {
  std::vector<GlossaryDictionary> dictionaries;
  std::vector<std::string> contents;
};

absl::StatusOr<StoredText> ReadContents(Connection* connection, const std::string& id) {
  StoredText stored;
  absl::Status status;
  RETURN_IF_ERROR(connection->Each(
      "SELECT source_language, target_language, content FROM lists WHERE kept_id = $1 "
      "ORDER BY position",
      {id}, [&](Row row) {
        absl::StatusOr<std::vector<GlossaryEntry>> entries = ReadEntries(row.text(2));
        status.Update(entries.status());
        if (!entries.ok()) return;
        stored.dictionaries.push_back({{row.text(0), row.text(1)}, *std::move(entries)});
        stored.contents.push_back(std::move(row.text(2)));
      }));
  RETURN_IF_ERROR(status);
  return stored;
}

// Writes the dictionaries that differ from those of `before`.
absl::Status WriteContents(Connection* connection, const GlossaryText& glossary,
                           const StoredText& before, Owned* thing) {
  thing->name = glossary.name;
  thing->shared = glossary.shared;
  thing->bytes = 0;
  thing->lists.clear();
  for (size_t d = 0; d < glossary.dictionaries.size(); ++d) {
    const GlossaryDictionary& dictionary = glossary.dictionaries[d];
    const auto size = static_cast<int64_t>(dictionary.entries.size());
    const std::string content = ContentOf(dictionary);
    thing->bytes += static_cast<int64_t>(content.size());
    thing->lists.push_back({dictionary.languages, size});
    const bool is_same = d < before.contents.size() && content == before.contents[d] &&
                         dictionary.languages == before.dictionaries[d].languages;
    if (is_same) continue;
    RETURN_IF_ERROR(connection->Do(
        "INSERT INTO lists (kept_id, position, source_language, target_language, size, "
        "content) VALUES ($1, $2, $3, $4, $5, $6) "
        "ON CONFLICT (kept_id, position) DO UPDATE SET "
        "source_language = excluded.source_language, "
        "target_language = excluded.target_language, size = excluded.size, "
        "content = excluded.content",
        {thing->id, static_cast<int64_t>(d), dictionary.languages.source,
         dictionary.languages.target, size, content}));
  }
  return connection->Do("DELETE FROM lists WHERE kept_id = $1 AND position >= $2",
                        {thing->id, static_cast<int64_t>(glossary.dictionaries.size())});
}

}  // namespace

const OwnedKind& GlossaryStore::Kind() {
  static const auto& kind = *new OwnedKind{.number = 1,
                                           .noun = "glossary",
                                           .nouns = "glossaries",
                                           .parts = "entries",
                                           .type = "dragoman.v1.Glossary",
                                           .most_parts = 300'000};
  return kind;
}

absl::StatusOr<std::unique_ptr<GlossaryStore::Files>> GlossaryStore::OpenFiles(
    const std::string& directory) {
  return Files::Open(directory,
                     {.noun = Kind().noun, .suffixes = {kCommas, kTbx}, .read = &ReadGlossaryFile});
}

absl::StatusOr<Owned> GlossaryStore::Create(absl::Time until, GlossaryText glossary,
                                            const std::string& id, bool unique) {
  RETURN_IF_ERROR(Check(&glossary));
  if (unique) {
    ASSIGN_OR_RETURN(const Ptr file, FindFile(glossary.name, glossary.owner));
    if (file != nullptr) return IsThere(Kind().noun);
  }
  return rows().Create(until, {glossary, id}, unique, [&](Connection* connection, Owned* stored) {
    return WriteContents(connection, glossary, {}, stored);
  });
}

absl::StatusOr<Owned> GlossaryStore::Update(const Asker& asker, const std::string& id,
                                            absl::FunctionRef<absl::Status(GlossaryText*)> edit) {
  ASSIGN_OR_RETURN(const Ptr file, FindFile(id, asker.principal));
  if (file != nullptr) return NotYours(Kind().noun);
  return rows().Change(asker, id, [&](Connection* connection, Owned* thing) -> absl::Status {
    ASSIGN_OR_RETURN(const StoredText before, ReadContents(connection, thing->id));
    GlossaryText text = {*thing, before.dictionaries};
    --text.version;
    RETURN_IF_ERROR(edit(&text));
    RETURN_IF_ERROR(Check(&text));
    return WriteContents(connection, text, before, thing);
  });
}

absl::StatusOr<GlossaryPtr> GlossaryStore::Load(Connection* connection, Owned thing,
                                                const Ptr& before) const {
  auto glossary = std::make_shared<StoredGlossary>();
  static_cast<Owned&>(*glossary) = std::move(thing);
  ASSIGN_OR_RETURN(StoredText stored, ReadContents(connection, glossary->id));
  for (GlossaryDictionary& dictionary : stored.dictionaries) {
    // A dictionary that has not changed keeps its index.
    const size_t place = glossary->dictionaries.size();
    if (before != nullptr && place < before->dictionaries.size() &&
        before->dictionaries[place]->languages() == dictionary.languages &&
        before->dictionaries[place]->entries() == dictionary.entries) {
      glossary->dictionaries.push_back(before->dictionaries[place]);
    } else {
      AddDictionary(std::move(dictionary), glossary.get());
    }
  }
  return glossary;
}

int64_t GlossaryStore::IndexBytes(const Owned& thing) const {
  return kCopiesOfText * thing.bytes + kBytesOfEntry * thing.size();
}

}  // namespace dragoman
