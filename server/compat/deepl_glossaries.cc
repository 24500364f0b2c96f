// DeepL's API for glossaries
// (https://developers.deepl.com/docs/api-reference/multilingual-glossaries), as its own libraries
// and Weblate call it.  Version 2 has one pair of languages in a glossary, version 3 any number of
// them; both are over the same stored glossaries.
//
//   POST    /v2/glossaries, /v3/glossaries   creates one
//   GET     the same                         lists them
//   GET     /v2/glossaries/ID, /v3/...       one of them; DELETE deletes it
//   GET     /v2/glossaries/ID/entries        lines of source, tab, target; /v3/... the same in JSON
//   PATCH   /v3/glossaries/ID                renames it, adds entries
//   PUT     /v3/glossaries/ID/dictionaries   replaces the entries of a pair; DELETE deletes them
//
// A source in lower case is found in any case, any other one as it is written.

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "engine/base/status.h"
#include "engine/base/utf8.h"
#include "engine/base/work_threads.h"
#include "engine/text/letter_case.h"
#include "server/api/glossaries.h"
#include "server/compat/compat.h"
#include "server/compat/deepl.h"
#include "server/glossaries/glossary_text.h"

namespace dragoman::deepl_glossaries {
namespace {

using Json = nlohmann::ordered_json;

// The rest of a path, without what ends it.
std::string IdIn(const HttpRequest& http, std::string_view end = "") {
  constexpr size_t kBeginning = sizeof("/v2/glossaries/") - 1;  // and that of version 3
  std::string id = http.path.size() > kBeginning ? http.path.substr(kBeginning) : "";
  if (id.ends_with(end)) id.resize(id.size() - end.size());
  return id;
}

bool HasUpperCase(std::string_view text) {
  for (size_t i = 0; i < text.size();) {
    const char32_t c = NextCodePoint(text, &i);
    if (LowerCase(c) != c) return true;
  }
  return false;
}

// Reads `entries` in their `entries_format`.
absl::StatusOr<std::vector<GlossaryEntry>> ReadEntries(const CompatFields& fields) {
  ASSIGN_OR_RETURN(const std::string text, fields.Text("entries"));
  ASSIGN_OR_RETURN(const std::string format, fields.Text("entries_format", "tsv"));
  if (format != "tsv" && format != "csv") {
    return InvalidField("entries_format", "is neither \"tsv\" nor \"csv\"");
  }
  std::vector<GlossaryEntry> entries;
  std::string_view rest = text;
  for (int number = 1; !rest.empty(); ++number) {
    std::vector<std::string> line = ReadTableLine(format == "csv" ? ',' : '\t', &rest);
    if (line.size() == 1 && line[0].empty()) continue;
    if (line.size() < 2 || line[0].empty() || line[1].empty()) {
      return InvalidField("entries", absl::StrCat("line ", number, " has no source and target"));
    }
    const bool ignore_case = !HasUpperCase(line[0]);
    entries.push_back({std::move(line[0]), {std::move(line[1])}, ignore_case});
  }
  if (entries.empty()) return InvalidField("entries", "is missing");
  return entries;
}

// "en" of "EN"; DeepL's variants are regions.
absl::StatusOr<LanguagePair> ReadLanguages(const CompatFields& fields) {
  ASSIGN_OR_RETURN(const std::string source, fields.Text("source_lang"));
  ASSIGN_OR_RETURN(const std::string target, fields.Text("target_lang"));
  if (source.empty()) return InvalidField("source_lang", "is missing");
  if (target.empty()) return InvalidField("target_lang", "is missing");
  return LanguagePair{absl::AsciiStrToLower(source), absl::AsciiStrToLower(target)};
}

absl::StatusOr<GlossaryDictionary> ReadDictionary(const CompatFields& fields) {
  GlossaryDictionary dictionary;
  ASSIGN_OR_RETURN(dictionary.languages, ReadLanguages(fields));
  ASSIGN_OR_RETURN(dictionary.entries, ReadEntries(fields));
  return dictionary;
}

absl::StatusOr<GlossaryText> ReadGlossary(const CompatFields& fields, bool several) {
  GlossaryText glossary;
  ASSIGN_OR_RETURN(glossary.name, fields.Text("name"));
  if (!several) {
    ASSIGN_OR_RETURN(glossary.dictionaries.emplace_back(), ReadDictionary(fields));
    return glossary;
  }
  ASSIGN_OR_RETURN(const std::vector<CompatFields> dictionaries, fields.Objects("dictionaries"));
  for (const CompatFields& one : dictionaries) {
    ASSIGN_OR_RETURN(glossary.dictionaries.emplace_back(), ReadDictionary(one));
  }
  return glossary;
}

// ---- What is answered --------------------------------------------------------------------------

// With milliseconds, as DeepL sends it: its Python library refuses a time without a fraction.
std::string TimeOf(const Owned& glossary) {
  return absl::FormatTime("%Y-%m-%dT%H:%M:%E3SZ", glossary.created, absl::UTCTimeZone());
}

Json Describe(const OwnedList& list) {
  return {{"source_lang", list.languages.source},
          {"target_lang", list.languages.target},
          {"entry_count", list.size}};
}

// Version 2 has one pair of languages: of several, the first.
Json Describe(const Owned& glossary, bool several) {
  Json json = {{"glossary_id", glossary.id}, {"name", glossary.name}};
  if (several) {
    Json dictionaries = Json::array();
    for (const OwnedList& list : glossary.lists) dictionaries.push_back(Describe(list));
    json["dictionaries"] = std::move(dictionaries);
    json["creation_time"] = TimeOf(glossary);
  } else {
    json["ready"] = true;
    json["creation_time"] = TimeOf(glossary);
    json.update(Describe(glossary.lists.empty() ? OwnedList() : glossary.lists.front()));
  }
  return json;
}

std::string AsTsv(const TermList& list) {
  std::string text;
  for (const GlossaryEntry& entry : list.entries()) {
    absl::StrAppend(&text, entry.source, "\t",
                    entry.targets.empty() ? entry.source : entry.targets.front(), "\n");
  }
  if (!text.empty()) text.pop_back();
  return text;
}

// ---- The calls ---------------------------------------------------------------------------------

// What a handler knows of its call, which was admitted.
struct GlossaryCall {
  GlossaryStore* store;
  const HttpRequest& http;
  const CompatFields& fields;
  const std::string& principal;
  bool several;  // version 3
  absl::Time until;
};
using Answer = absl::StatusOr<HttpResponse>;

Answer Create(const GlossaryCall& call) {
  ASSIGN_OR_RETURN(GlossaryText text, ReadGlossary(call.fields, call.several));
  text.owner = call.principal;
  ASSIGN_OR_RETURN(const Owned glossary, call.store->Create(call.until, std::move(text)));
  return JsonResponse(201, Describe(glossary, call.several));
}

Answer List(const GlossaryCall& call) {
  Json glossaries = Json::array();
  ASSIGN_OR_RETURN(const std::vector<Owned> list, call.store->List(call.until, call.principal));
  for (const Owned& glossary : list) {
    if (!call.several && glossary.lists.size() != 1) continue;
    glossaries.push_back(Describe(glossary, call.several));
  }
  return JsonResponse(200, {{"glossaries", std::move(glossaries)}});
}

Answer Get(const GlossaryCall& call) {
  ASSIGN_OR_RETURN(const Owned glossary,
                   call.store->Describe(call.until, IdIn(call.http), call.principal));
  return JsonResponse(200, Describe(glossary, call.several));
}

Answer Delete(const GlossaryCall& call) {
  RETURN_IF_ERROR(call.store->Delete(call.until, IdIn(call.http), call.principal));
  return HttpResponse{.code = 204};
}

// The entries of the pair that is named, or of all.
Answer GetEntries(const GlossaryCall& call) {
  ASSIGN_OR_RETURN(const GlossaryPtr glossary,
                   call.store->Find(call.until, IdIn(call.http, "/entries"), call.principal));
  LanguagePair wanted;
  if (call.fields.Has("source_lang")) {
    ASSIGN_OR_RETURN(wanted, ReadLanguages(call.fields));
  }
  Json dictionaries = Json::array();
  std::string first;
  for (const std::shared_ptr<const TermList>& list : glossary->dictionaries) {
    if (!wanted.source.empty() && !(list->languages() == wanted)) continue;
    if (dictionaries.empty()) first = AsTsv(*list);
    dictionaries.push_back({{"source_lang", list->languages().source},
                            {"target_lang", list->languages().target},
                            {"entries", AsTsv(*list)},
                            {"entries_format", "tsv"}});
  }
  if (call.several) return JsonResponse(200, {{"dictionaries", std::move(dictionaries)}});
  return HttpResponse{.content_type = "text/tab-separated-values; charset=utf-8",
                      .body = std::move(first)};
}

// An entry takes the place of the one with that source.
void Merge(GlossaryDictionary more, GlossaryText* glossary) {
  std::vector<GlossaryEntry>& entries = DictionaryFor(more.languages, glossary).entries;
  std::map<std::string, size_t> known;
  for (size_t i = 0; i < entries.size(); ++i) known.emplace(entries[i].source, i);
  for (GlossaryEntry& entry : more.entries) {
    const auto [place, is_new] = known.emplace(entry.source, entries.size());
    if (is_new) {
      entries.push_back(std::move(entry));
    } else {
      entries[place->second] = std::move(entry);
    }
  }
}

Answer Patch(const GlossaryCall& call) {
  ASSIGN_OR_RETURN(const GlossaryText more, ReadGlossary(call.fields, /*several=*/true));
  const auto edit = [&](GlossaryText* text) {
    if (call.fields.Has("name")) text->name = more.name;
    for (const GlossaryDictionary& dictionary : more.dictionaries) Merge(dictionary, text);
    return absl::OkStatus();
  };
  ASSIGN_OR_RETURN(const Owned glossary,
                   call.store->Update(call.until, IdIn(call.http), call.principal, edit));
  return JsonResponse(200, Describe(glossary, /*several=*/true));
}

constexpr char kDictionaries[] = "/dictionaries";

Answer PutDictionary(const GlossaryCall& call) {
  ASSIGN_OR_RETURN(const GlossaryDictionary dictionary, ReadDictionary(call.fields));
  const Json answer = {{"source_lang", dictionary.languages.source},
                       {"target_lang", dictionary.languages.target},
                       {"entry_count", dictionary.entries.size()}};
  const auto edit = [&](GlossaryText* text) {
    DictionaryFor(dictionary.languages, text).entries = dictionary.entries;
    return absl::OkStatus();
  };
  RETURN_IF_ERROR(
      call.store->Update(call.until, IdIn(call.http, kDictionaries), call.principal, edit)
          .status());
  return JsonResponse(200, answer);
}

Answer DeleteDictionary(const GlossaryCall& call) {
  ASSIGN_OR_RETURN(const LanguagePair languages, ReadLanguages(call.fields));
  const auto edit = [&](GlossaryText* text) -> absl::Status {
    const size_t removed = std::erase_if(
        text->dictionaries, [&](const GlossaryDictionary& d) { return d.languages == languages; });
    if (removed > 0) return absl::OkStatus();
    return absl::NotFoundError("the glossary has no dictionary for these languages");
  };
  RETURN_IF_ERROR(
      call.store->Update(call.until, IdIn(call.http, kDictionaries), call.principal, edit)
          .status());
  return HttpResponse{.code = 204};
}

struct GlossaryRoute {
  const char* method;
  const char* path;
  const char* call;  // as the metrics and the log name it
  Answer (*answer)(const GlossaryCall& call);
};

constexpr GlossaryRoute kRoutes[] = {
    {"POST", "/v2/glossaries", "CreateGlossary", Create},
    {"GET", "/v2/glossaries", "ListGlossaries", List},
    {"GET", "/v2/glossaries/*/entries", "GetGlossaryEntries", GetEntries},
    {"GET", "/v2/glossaries/*", "GetGlossary", Get},
    {"DELETE", "/v2/glossaries/*", "DeleteGlossary", Delete},
    {"POST", "/v3/glossaries", "CreateGlossary", Create},
    {"GET", "/v3/glossaries", "ListGlossaries", List},
    {"GET", "/v3/glossaries/*/entries", "GetGlossaryEntries", GetEntries},
    {"PUT", "/v3/glossaries/*/dictionaries", "ReplaceGlossary", PutDictionary},
    {"DELETE", "/v3/glossaries/*/dictionaries", "ReplaceGlossary", DeleteDictionary},
    {"GET", "/v3/glossaries/*", "GetGlossary", Get},
    {"PATCH", "/v3/glossaries/*", "ReplaceGlossary", Patch},
    {"DELETE", "/v3/glossaries/*", "DeleteGlossary", Delete},
};

}  // namespace

void AddRoutes(const ApiContext& context, HttpRouter* router) {
  for (const GlossaryRoute& to : kRoutes) {
    const auto handler = [context, &to](HttpRequest http, std::shared_ptr<HttpAnswer> answer) {
      const auto request = std::make_shared<HttpRequest>(std::move(http));
      const auto work = [context, &to, request, answer] {
        const absl::StatusOr<CompatFields> fields = ReadFields(deepl::kApi, request.get());
        const auto admitted = [&](Call* call) -> absl::StatusOr<HttpResponse> {
          RETURN_IF_ERROR(call->Admit());
          RETURN_IF_ERROR(fields.status());
          return to.answer({context.parts->glossaries, *request, *fields, call->principal(),
                            std::string_view(to.path).starts_with("/v3/"),
                            StoreDeadline(call->deadline())});
        };
        answer->Send(AnswerCall(context, deepl::kApi, to.call, *request, deepl::Error, admitted));
      };
      absl::Status waits = context.loaded();
      if (waits.ok()) {
        waits = context.parts->store_threads->Run(CallerOf(*request, deepl::kApi.name).peer, work);
      }
      if (!waits.ok()) answer->Send(deepl::Error(waits));
    };
    AddRoute(router, to.method, to.path, handler, deepl::PlainError);
  }
}

}  // namespace dragoman::deepl_glossaries
