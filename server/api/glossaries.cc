#include "server/api/glossaries.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "engine/base/status.h"

namespace dragoman {
namespace {

constexpr int kMaxIds = 16;

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

// Adds the lists of a glossary, unless they are there already.
void AddLists(const StoredGlossary& glossary, TermLists* lists) {
  for (const std::shared_ptr<const TermList>& list : glossary.dictionaries) {
    if (std::find(lists->begin(), lists->end(), list) == lists->end()) lists->push_back(list);
  }
}

absl::StatusOr<v1::Glossary> FindGlossary(
    absl::FunctionRef<absl::StatusOr<v1::GetGlossaryRequest>()> parse, const ServerParts& parts,
    Call* call, bool with_entries) {
  RETURN_IF_ERROR(call->Admit());
  ASSIGN_OR_RETURN(const v1::GetGlossaryRequest request, parse());
  ASSIGN_OR_RETURN(const GlossaryStore* const store, GlossariesOf(parts));
  ASSIGN_OR_RETURN(const GlossaryPtr glossary, store->Find(request.id(), call->principal()));
  return AsProto(*glossary, *call, with_entries);
}

}  // namespace

absl::StatusOr<GlossaryStore*> GlossariesOf(const ServerParts& parts) {
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

absl::StatusOr<v1::Glossary> CreateGlossary(
    absl::FunctionRef<absl::StatusOr<v1::CreateGlossaryRequest>()> parse, const ServerParts& parts,
    Call* call) {
  RETURN_IF_ERROR(call->Admit());
  ASSIGN_OR_RETURN(const v1::CreateGlossaryRequest request, parse());
  ASSIGN_OR_RETURN(GlossaryStore* const store, GlossariesOf(parts));
  GlossaryText text = {.owner = call->principal()};
  Fill(request.glossary(), &text);
  ASSIGN_OR_RETURN(const GlossaryPtr glossary, store->Create(std::move(text)));
  return AsProto(*glossary, *call, /*with_entries=*/false);
}

absl::StatusOr<v1::Glossary> GetGlossary(
    absl::FunctionRef<absl::StatusOr<v1::GetGlossaryRequest>()> parse, const ServerParts& parts,
    Call* call) {
  return FindGlossary(parse, parts, call, /*with_entries=*/false);
}

absl::StatusOr<v1::Glossary> GetGlossaryEntries(
    absl::FunctionRef<absl::StatusOr<v1::GetGlossaryRequest>()> parse, const ServerParts& parts,
    Call* call) {
  return FindGlossary(parse, parts, call, /*with_entries=*/true);
}

absl::StatusOr<v1::ListGlossariesResponse> ListGlossaries(
    absl::FunctionRef<absl::StatusOr<v1::ListGlossariesRequest>()> parse, const ServerParts& parts,
    Call* call) {
  RETURN_IF_ERROR(call->Admit());
  RETURN_IF_ERROR(parse().status());
  ASSIGN_OR_RETURN(const GlossaryStore* const store, GlossariesOf(parts));
  v1::ListGlossariesResponse response;
  for (const GlossaryPtr& glossary : store->List(call->principal())) {
    *response.add_glossaries() = AsProto(*glossary, *call, /*with_entries=*/false);
  }
  return response;
}

absl::StatusOr<v1::Glossary> ReplaceGlossary(
    absl::FunctionRef<absl::StatusOr<v1::ReplaceGlossaryRequest>()> parse, const ServerParts& parts,
    Call* call) {
  RETURN_IF_ERROR(call->Admit());
  ASSIGN_OR_RETURN(const v1::ReplaceGlossaryRequest request, parse());
  ASSIGN_OR_RETURN(GlossaryStore* const store, GlossariesOf(parts));
  const v1::Glossary& glossary = request.glossary();
  const auto edit = [&](GlossaryText* text) -> absl::Status {
    if (glossary.version() != 0 && glossary.version() != text->version) {
      return absl::FailedPreconditionError(
          absl::StrCat("the glossary has version ", text->version, ", not ", glossary.version()));
    }
    Fill(glossary, text);
    return absl::OkStatus();
  };
  ASSIGN_OR_RETURN(const GlossaryPtr stored, store->Update(request.id(), call->principal(), edit));
  return AsProto(*stored, *call, /*with_entries=*/false);
}

absl::StatusOr<v1::DeleteGlossaryResponse> DeleteGlossary(
    absl::FunctionRef<absl::StatusOr<v1::DeleteGlossaryRequest>()> parse, const ServerParts& parts,
    Call* call) {
  RETURN_IF_ERROR(call->Admit());
  ASSIGN_OR_RETURN(const v1::DeleteGlossaryRequest request, parse());
  ASSIGN_OR_RETURN(GlossaryStore* const store, GlossariesOf(parts));
  RETURN_IF_ERROR(store->Delete(request.id(), call->principal()));
  return v1::DeleteGlossaryResponse();
}

std::vector<std::string> IdsByDefault(const std::vector<DefaultGlossary>& defaults,
                                      const std::string& principal, const std::string& model) {
  std::vector<std::string> ids;
  for (const DefaultGlossary& by_default : defaults) {
    const bool is_for = (by_default.principal.empty() || by_default.principal == principal) &&
                        (by_default.model.empty() || by_default.model == model);
    if (is_for) ids.insert(ids.end(), by_default.ids.begin(), by_default.ids.end());
  }
  return ids;
}

absl::StatusOr<TermLists> GlossariesFor(const ServerParts& parts,
                                        const v1::TranslateRequest& request,
                                        const std::string& principal, const std::string& model) {
  TermLists lists;
  if (request.glossary_ids_size() > kMaxIds) {
    return InvalidField("glossary_ids", absl::StrCat("are ", request.glossary_ids_size(),
                                                     ", the most is ", kMaxIds));
  }
  for (const std::string& id : request.glossary_ids()) {
    ASSIGN_OR_RETURN(const GlossaryStore* const store, GlossariesOf(parts));
    ASSIGN_OR_RETURN(const GlossaryPtr glossary, store->Find(id, principal));
    AddLists(*glossary, &lists);
  }
  if (parts.glossaries == nullptr) return lists;
  for (const std::string& id : IdsByDefault(parts.default_glossaries, principal, model)) {
    const absl::StatusOr<GlossaryPtr> glossary = parts.glossaries->Find(id, principal);
    if (glossary.ok()) AddLists(**glossary, &lists);
  }
  return lists;
}

}  // namespace dragoman
