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

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "engine/base/status.h"
#include "server/api/glossaries.h"
#include "server/base/language_names.h"
#include "server/compat/compat.h"
#include "server/compat/deepl.h"
#include "server/glossaries/glossary_text.h"

namespace dragoman::deepl_glossaries {
namespace {

using Json = nlohmann::ordered_json;
using deepl::KeptCall;

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
      return InvalidField("entries", "line ", number, " has no source and target");
    }
    entries.push_back(EntryByCase(std::move(line[0]), std::move(line[1])));
  }
  if (entries.empty()) return InvalidField("entries", "is missing");
  return entries;
}

// "en" of "EN"; DeepL's variants are regions.
absl::StatusOr<LanguagePair> ReadLanguages(const CompatFields& fields) {
  LanguagePair languages;
  for (const auto& [name, tag] :
       {std::pair("source_lang", &languages.source), {"target_lang", &languages.target}}) {
    ASSIGN_OR_RETURN(const std::string given, fields.Text(name));
    if (given.empty()) return InvalidField(name, "is missing");
    if (absl::EqualsIgnoreCase(NameOf(given, "en"), given)) {
      return InvalidField(name, "\"", given.substr(0, 32),
                          "\" is not supported: it is no language");
    }
    *tag = absl::AsciiStrToLower(given);
  }
  return languages;
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
  if (dictionaries.size() > kMaxDictionaries) {
    return InvalidField("dictionaries", "are ", dictionaries.size(), ", the most is ",
                        kMaxDictionaries);
  }
  for (const CompatFields& one : dictionaries) {
    ASSIGN_OR_RETURN(glossary.dictionaries.emplace_back(), ReadDictionary(one));
  }
  return glossary;
}

// ---- What is answered --------------------------------------------------------------------------

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
    json["creation_time"] = deepl::TimeText(glossary.created);
  } else {
    json["ready"] = true;
    json["creation_time"] = deepl::TimeText(glossary.created);
    json.update(Describe(glossary.lists.empty() ? OwnedList() : glossary.lists.front()));
  }
  return json;
}

std::string AsTsv(const TermList& list) {
  std::string text;
  for (const GlossaryEntry& entry : list.entries()) {
    absl::StrAppend(&text, entry.source, "\t", FirstTarget(entry), "\n");
  }
  if (!text.empty()) text.pop_back();
  return text;
}

// ---- The calls ---------------------------------------------------------------------------------

using Answer = absl::StatusOr<HttpResponse>;

GlossaryStore* StoreOf(const KeptCall& call) { return call.call->parts().glossaries; }

Answer Create(const KeptCall& call) {
  ASSIGN_OR_RETURN(GlossaryText text, ReadGlossary(call.fields, call.several));
  text.owner = call.call->principal();
  ASSIGN_OR_RETURN(const Owned glossary, StoreOf(call)->Create(call.asker.until, std::move(text)));
  return JsonResponse(201, Describe(glossary, call.several));
}

Answer List(const KeptCall& call) {
  Json glossaries = Json::array();
  ASSIGN_OR_RETURN(const std::vector<Owned> list, StoreOf(call)->List(call.asker));
  for (const Owned& glossary : list) {
    if (!call.several && glossary.lists.size() != 1) continue;
    glossaries.push_back(Describe(glossary, call.several));
  }
  return JsonResponse(200, {{"glossaries", std::move(glossaries)}});
}

Answer Get(const KeptCall& call) {
  ASSIGN_OR_RETURN(const Owned glossary, StoreOf(call)->Describe(call.asker, call.id));
  return JsonResponse(200, Describe(glossary, call.several));
}

Answer Delete(const KeptCall& call) {
  RETURN_IF_ERROR(StoreOf(call)->Delete(call.asker, call.id));
  return HttpResponse{.code = 204};
}

// The entries of the pair that is named, or of all.
Answer GetEntries(const KeptCall& call) {
  ASSIGN_OR_RETURN(const GlossaryPtr glossary, StoreOf(call)->Find(call.asker, call.id));
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

Answer Patch(const KeptCall& call) {
  ASSIGN_OR_RETURN(const GlossaryText more, ReadGlossary(call.fields, /*several=*/true));
  // Several for the same languages are merged as one: each time takes all that is there.
  GlossaryText by_languages;
  for (const GlossaryDictionary& dictionary : more.dictionaries) {
    std::vector<GlossaryEntry>& entries =
        DictionaryFor(dictionary.languages, &by_languages).entries;
    entries.insert(entries.end(), dictionary.entries.begin(), dictionary.entries.end());
  }
  const auto edit = [&](GlossaryText* text) {
    if (call.fields.Has("name")) text->name = more.name;
    for (const GlossaryDictionary& dictionary : by_languages.dictionaries) Merge(dictionary, text);
    return absl::OkStatus();
  };
  ASSIGN_OR_RETURN(const Owned glossary, StoreOf(call)->Update(call.asker, call.id, edit));
  return JsonResponse(200, Describe(glossary, /*several=*/true));
}

Answer PutDictionary(const KeptCall& call) {
  ASSIGN_OR_RETURN(const GlossaryDictionary dictionary, ReadDictionary(call.fields));
  const auto edit = [&](GlossaryText* text) {
    DictionaryFor(dictionary.languages, text).entries = dictionary.entries;
    return absl::OkStatus();
  };
  RETURN_IF_ERROR(StoreOf(call)->Update(call.asker, call.id, edit).status());
  return JsonResponse(
      200, Describe({dictionary.languages, static_cast<int64_t>(dictionary.entries.size())}));
}

Answer DeleteDictionary(const KeptCall& call) {
  ASSIGN_OR_RETURN(const LanguagePair languages, ReadLanguages(call.fields));
  const auto edit = [&](GlossaryText* text) -> absl::Status {
    const size_t removed = std::erase_if(
        text->dictionaries, [&](const GlossaryDictionary& d) { return d.languages == languages; });
    if (removed > 0) return absl::OkStatus();
    return absl::NotFoundError("the glossary has no dictionary for these languages");
  };
  RETURN_IF_ERROR(StoreOf(call)->Update(call.asker, call.id, edit).status());
  return HttpResponse{.code = 204};
}

}  // namespace

void AddRoutes(const ApiContext& context, HttpRouter* router) {
  const deepl::KeptRoute routes[] = {
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
  for (const deepl::KeptRoute& to : routes) deepl::AddKeptRoute(context, to, router);
}

}  // namespace dragoman::deepl_glossaries
