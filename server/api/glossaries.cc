#include "server/api/glossaries.h"

#include <utility>

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

v1::Glossary AsProto(const Owned& glossary, const Call& call) {
  v1::Glossary proto;
  Describe(glossary, call.parts().glossaries->survives(), call, &proto);
  for (const OwnedList& list : glossary.lists) {
    v1::GlossaryDictionary* const dictionary = proto.add_dictionaries();
    dictionary->set_source_language(list.languages.source);
    dictionary->set_target_language(list.languages.target);
    dictionary->set_entry_count(static_cast<int>(list.size));
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

}  // namespace

GlossaryEntry EntryFrom(const v1::GlossaryEntry& proto) {
  GlossaryEntry entry = {
      .source = proto.source(), .ignore_case = proto.ignore_case(), .inflect = proto.inflect()};
  if (!proto.target().empty()) entry.targets.push_back(proto.target());
  entry.targets.insert(entry.targets.end(), proto.targets().begin(), proto.targets().end());
  return entry;
}

absl::StatusOr<v1::Glossary> CreateGlossary(const v1::CreateGlossaryRequest& request, Call* call) {
  GlossaryText text = {{.owner = call->principal()}};
  Fill(request.glossary(), &text);
  ASSIGN_OR_RETURN(const Owned glossary, call->parts().glossaries->Create(
                                             StoreDeadline(call->deadline()), std::move(text)));
  return AsProto(glossary, *call);
}

absl::StatusOr<v1::Glossary> GetGlossary(const v1::GetGlossaryRequest& request, Call* call) {
  ASSIGN_OR_RETURN(const Owned glossary,
                   call->parts().glossaries->Describe(AskerOf(*call), request.id()));
  return AsProto(glossary, *call);
}

absl::StatusOr<v1::Glossary> GetGlossaryEntries(const v1::GetGlossaryRequest& request, Call* call) {
  ASSIGN_OR_RETURN(const GlossaryPtr glossary,
                   call->parts().glossaries->Find(AskerOf(*call), request.id()));
  v1::Glossary proto = AsProto(*glossary, *call);
  for (int i = 0; i < proto.dictionaries_size(); ++i) {
    for (const GlossaryEntry& entry : glossary->dictionaries[static_cast<size_t>(i)]->entries()) {
      *proto.mutable_dictionaries(i)->add_entries() = AsProto(entry);
    }
  }
  return proto;
}

absl::StatusOr<v1::ListGlossariesResponse> ListGlossaries(const v1::ListGlossariesRequest&,
                                                          Call* call) {
  ASSIGN_OR_RETURN(const std::vector<Owned> list, call->parts().glossaries->List(AskerOf(*call)));
  v1::ListGlossariesResponse response;
  for (const Owned& glossary : list) *response.add_glossaries() = AsProto(glossary, *call);
  return response;
}

absl::StatusOr<v1::Glossary> ReplaceGlossary(const v1::ReplaceGlossaryRequest& request,
                                             Call* call) {
  const v1::Glossary& glossary = request.glossary();
  const auto edit = [&](GlossaryText* text) -> absl::Status {
    if (glossary.version() != 0 && glossary.version() != text->version) {
      return FailedPreconditionError("the glossary has version ", text->version, ", not ",
                                     glossary.version());
    }
    Fill(glossary, text);
    return absl::OkStatus();
  };
  ASSIGN_OR_RETURN(const Owned stored,
                   call->parts().glossaries->Update(AskerOf(*call), request.id(), edit));
  return AsProto(stored, *call);
}

absl::StatusOr<v1::DeleteGlossaryResponse> DeleteGlossary(const v1::DeleteGlossaryRequest& request,
                                                          Call* call) {
  RETURN_IF_ERROR(call->parts().glossaries->Delete(AskerOf(*call), request.id()));
  return v1::DeleteGlossaryResponse();
}

absl::StatusOr<TermLists> GlossariesFor(const KeptUse& use, const v1::TranslateRequest& request) {
  TermLists lists;
  const auto add = [&](const GlossaryPtr& glossary) {
    for (const auto& list : glossary->dictionaries) {
      // It keeps the whole glossary, whose memory is counted as long as it is used.
      AppendNew({glossary, list.get()}, &lists);
    }
  };
  RETURN_IF_ERROR(AddKept(use, use.parts.glossaries, "glossary_ids", request.glossary_ids(),
                          use.parts.config->default_glossaries(), add));
  return lists;
}

}  // namespace dragoman
