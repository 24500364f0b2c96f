#include "server/api/glossaries.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/base/status.h"

namespace dragoman {
namespace {

v1::GlossaryEntry AsProto(const GlossaryEntry& entry) {
  v1::GlossaryEntry proto;
  proto.set_source(entry.source);
  if (!entry.targets.empty()) proto.set_target(entry.targets.front());
  for (size_t i = 1; i < entry.targets.size(); ++i) proto.add_targets(entry.targets[i]);
  proto.set_ignore_case(entry.ignore_case);
  proto.set_inflect(entry.inflect);
  return proto;
}

v1::Glossary AsProto(const StoredGlossary& glossary, const Call& call, bool with_entries) {
  v1::Glossary proto;
  proto.set_id(glossary.id);
  proto.set_name(glossary.name);
  proto.set_shared(glossary.shared || glossary.owner.empty());
  proto.set_version(glossary.version);
  proto.mutable_create_time()->set_seconds(absl::ToUnixSeconds(glossary.created));
  proto.set_read_only(!glossary.IsChangedBy(call.principal()));
  for (const std::shared_ptr<const TermList>& list : glossary.dictionaries) {
    v1::GlossaryDictionary* const dictionary = proto.add_dictionaries();
    dictionary->set_source_language(list->languages().source);
    dictionary->set_target_language(list->languages().target);
    dictionary->set_entry_count(static_cast<int>(list->entries().size()));
    if (!with_entries) continue;
    for (const GlossaryEntry& entry : list->entries()) {
      *dictionary->add_entries() = AsProto(entry);
    }
  }
  return proto;
}

// Takes what a caller may set.
void Fill(const v1::Glossary& proto, GlossaryText* glossary) {
  glossary->name = proto.name();
  glossary->shared = proto.shared();
  glossary->dictionaries.clear();
  for (const v1::GlossaryDictionary& from : proto.dictionaries()) {
    GlossaryDictionary& to = glossary->dictionaries.emplace_back();
    to.languages = {from.source_language(), from.target_language()};
    for (const v1::GlossaryEntry& entry : from.entries()) to.entries.push_back(EntryFrom(entry));
  }
}

absl::StatusOr<v1::Glossary> Get(Parse<v1::GetGlossaryRequest> parse, const ServerParts& parts,
                                 Call* call, bool with_entries) {
  ASSIGN_OR_RETURN(const auto asked, Ask<GlossaryStore>(parse, parts, call));
  ASSIGN_OR_RETURN(const GlossaryPtr glossary,
                   asked.store->Find(asked.request.id(), call->principal()));
  return AsProto(*glossary, *call, with_entries);
}

}  // namespace

template <>
absl::StatusOr<GlossaryStore*> StoreOf<GlossaryStore>(const ServerParts& parts) {
  if (parts.glossaries != nullptr) return parts.glossaries;
  return absl::FailedPreconditionError("this server keeps no glossaries (--glossaries)");
}

GlossaryEntry EntryFrom(const v1::GlossaryEntry& proto) {
  GlossaryEntry entry = {
      .source = proto.source(), .ignore_case = proto.ignore_case(), .inflect = proto.inflect()};
  if (!proto.target().empty()) entry.targets.push_back(proto.target());
  entry.targets.insert(entry.targets.end(), proto.targets().begin(), proto.targets().end());
  return entry;
}

absl::StatusOr<v1::Glossary> CreateGlossary(Parse<v1::CreateGlossaryRequest> parse,
                                            const ServerParts& parts, Call* call) {
  ASSIGN_OR_RETURN(const auto asked, Ask<GlossaryStore>(parse, parts, call));
  GlossaryText text = {.owner = call->principal()};
  Fill(asked.request.glossary(), &text);
  ASSIGN_OR_RETURN(const GlossaryPtr glossary, asked.store->Create(std::move(text)));
  return AsProto(*glossary, *call, /*with_entries=*/false);
}

absl::StatusOr<v1::Glossary> GetGlossary(Parse<v1::GetGlossaryRequest> parse,
                                         const ServerParts& parts, Call* call) {
  return Get(parse, parts, call, /*with_entries=*/false);
}

absl::StatusOr<v1::Glossary> GetGlossaryEntries(Parse<v1::GetGlossaryRequest> parse,
                                                const ServerParts& parts, Call* call) {
  return Get(parse, parts, call, /*with_entries=*/true);
}

absl::StatusOr<v1::ListGlossariesResponse> ListGlossaries(Parse<v1::ListGlossariesRequest> parse,
                                                          const ServerParts& parts, Call* call) {
  ASSIGN_OR_RETURN(const auto asked, Ask<GlossaryStore>(parse, parts, call));
  v1::ListGlossariesResponse response;
  for (const GlossaryPtr& glossary : asked.store->List(call->principal())) {
    *response.add_glossaries() = AsProto(*glossary, *call, /*with_entries=*/false);
  }
  return response;
}

absl::StatusOr<v1::Glossary> ReplaceGlossary(Parse<v1::ReplaceGlossaryRequest> parse,
                                             const ServerParts& parts, Call* call) {
  ASSIGN_OR_RETURN(const auto asked, Ask<GlossaryStore>(parse, parts, call));
  const v1::Glossary& glossary = asked.request.glossary();
  const auto edit = [&](GlossaryText* text) -> absl::Status {
    if (glossary.version() != 0 && glossary.version() != text->version) {
      return absl::FailedPreconditionError(
          absl::StrCat("the glossary has version ", text->version, ", not ", glossary.version()));
    }
    Fill(glossary, text);
    return absl::OkStatus();
  };
  ASSIGN_OR_RETURN(const GlossaryPtr stored,
                   asked.store->Update(asked.request.id(), call->principal(), edit));
  return AsProto(*stored, *call, /*with_entries=*/false);
}

absl::StatusOr<v1::DeleteGlossaryResponse> DeleteGlossary(Parse<v1::DeleteGlossaryRequest> parse,
                                                          const ServerParts& parts, Call* call) {
  ASSIGN_OR_RETURN(const auto asked, Ask<GlossaryStore>(parse, parts, call));
  RETURN_IF_ERROR(asked.store->Delete(asked.request.id(), call->principal()));
  return v1::DeleteGlossaryResponse();
}

absl::StatusOr<TermLists> GlossariesFor(const KeptUse& use, const v1::TranslateRequest& request) {
  TermLists lists;
  const auto add = [&](const StoredGlossary& glossary) {
    for (const auto& list : glossary.dictionaries) AppendNew(list, &lists);
  };
  RETURN_IF_ERROR(AddKept<GlossaryStore>(use, "glossary_ids", request.glossary_ids(),
                                         use.parts.default_glossaries, add));
  return lists;
}

}  // namespace dragoman
