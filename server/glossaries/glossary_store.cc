#include "server/glossaries/glossary_store.h"

#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "engine/base/status.h"
#include "server/base/errors.h"
#include "server/glossaries/tbx.h"

namespace dragoman {
namespace {

constexpr std::string_view kCommas = ".csv";
constexpr std::string_view kTbx = ".tbx";

bool IsOfOthers(std::string_view id) { return id.ends_with(kCommas) || id.ends_with(kTbx); }

GlossaryPtr InMemory(const std::string& id, GlossaryText text) {
  auto glossary = std::make_shared<StoredGlossary>();
  glossary->id = id;
  glossary->name = std::move(text.name);
  glossary->owner = std::move(text.owner);
  glossary->shared = text.shared;
  glossary->version = text.version;
  glossary->created = text.created;
  glossary->read_only = IsOfOthers(id);
  for (GlossaryDictionary& dictionary : text.dictionaries) {
    glossary->dictionaries.push_back(std::make_shared<const TermList>(
        std::move(dictionary.entries), id, std::move(dictionary.languages)));
  }
  return glossary;
}

GlossaryText AsText(const StoredGlossary& glossary) {
  GlossaryText text = {.name = glossary.name,
                       .owner = glossary.owner,
                       .shared = glossary.shared,
                       .version = glossary.version,
                       .created = glossary.created};
  for (const std::shared_ptr<const TermList>& list : glossary.dictionaries) {
    text.dictionaries.push_back({list->languages(), list->entries()});
  }
  return text;
}

absl::StatusOr<GlossaryPtr> ReadGlossary(const std::string& id, const std::string& text) {
  ASSIGN_OR_RETURN(GlossaryText glossary,
                   id.ends_with(kTbx) ? ParseTbx(text)
                                      : ParseGlossary(text, id.ends_with(kCommas) ? ',' : '\t'));
  return InMemory(id, std::move(glossary));
}

}  // namespace

size_t StoredGlossary::entries() const {
  size_t entries = 0;
  for (const std::shared_ptr<const TermList>& list : dictionaries) {
    entries += list->entries().size();
  }
  return entries;
}

GlossaryStore::GlossaryStore(const std::string& directory, const GlossaryLimits& limits,
                             std::function<void()> on_step)
    : limits_(limits),
      files_(directory,
             {.noun = "glossary",
              .of_others = {std::string(kCommas), std::string(kTbx)},
              .read = ReadGlossary,
              .not_found = GlossaryNotFound},
             std::move(on_step)) {}

absl::StatusOr<std::unique_ptr<GlossaryStore>> GlossaryStore::Open(const std::string& directory,
                                                                   const GlossaryLimits& limits,
                                                                   std::function<void()> on_step) {
  auto store =
      std::unique_ptr<GlossaryStore>(new GlossaryStore(directory, limits, std::move(on_step)));
  RETURN_IF_ERROR(store->files_.Open());
  return store;
}

absl::Status GlossaryStore::CheckLimits(const std::string& id, const GlossaryText& glossary) const {
  size_t glossaries = 1, entries = 0;
  for (const GlossaryDictionary& dictionary : glossary.dictionaries) {
    entries += dictionary.entries.size();
  }
  files_.ForEachOf(glossary.owner, id, [&](const StoredGlossary& other) {
    ++glossaries;
    entries += other.entries();
  });
  if (glossaries > limits_.glossaries) {
    return absl::ResourceExhaustedError(
        absl::StrCat("you have ", glossaries - 1, " glossaries, the most is ", limits_.glossaries));
  }
  if (entries > limits_.entries) {
    return absl::ResourceExhaustedError(absl::StrCat("your glossaries would have ", entries,
                                                     " entries, the most is ", limits_.entries));
  }
  return absl::OkStatus();
}

absl::StatusOr<GlossaryPtr> GlossaryStore::Create(GlossaryText glossary) {
  glossary.version = 1;
  glossary.created = absl::FromUnixSeconds(absl::ToUnixSeconds(absl::Now()));
  absl::MutexLock lock(files_.writing());
  return Put(NewUuid(), std::move(glossary));
}

absl::StatusOr<GlossaryPtr> GlossaryStore::Update(
    const std::string& id, const std::string& principal,
    absl::FunctionRef<absl::Status(GlossaryText*)> edit) {
  absl::MutexLock lock(files_.writing());
  ASSIGN_OR_RETURN(const GlossaryPtr before, files_.FindToChange(id, principal));
  GlossaryText text = AsText(*before);
  RETURN_IF_ERROR(edit(&text));
  text.owner = before->owner;
  text.created = before->created;
  text.version = before->version + 1;
  return Put(id, std::move(text));
}

absl::StatusOr<GlossaryPtr> GlossaryStore::Put(const std::string& id, GlossaryText glossary) {
  TidyGlossary(&glossary);
  RETURN_IF_ERROR(CheckGlossary(glossary));
  for (size_t d = 0; d < glossary.dictionaries.size(); ++d) {
    RETURN_IF_ERROR(CheckSources(absl::StrCat("glossary.dictionaries[", d, "].entries"),
                                 glossary.dictionaries[d].entries));
  }
  RETURN_IF_ERROR(CheckLimits(id, glossary));
  const std::string text = WriteGlossary(glossary);
  GlossaryPtr stored = InMemory(id, std::move(glossary));
  RETURN_IF_ERROR(files_.Put(text, stored));
  return stored;
}

}  // namespace dragoman
