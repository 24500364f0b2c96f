// The glossaries of Google's Cloud Translation API, advanced edition
// (https://cloud.google.com/translate/docs/reference/rest/v3/projects.locations.glossaries), over
// the stored glossaries.  There are no files in a cloud to read them from: entries are added one by
// one.
//
//   POST    /v3/LOCATION/glossaries           creates one; the operation that is answered is done
//   GET     the same                          lists them
//   GET     /v3/GLOSSARY                      one of them; DELETE deletes it
//   POST    /v3/GLOSSARY/glossaryEntries      adds an entry
//   GET     the same                          lists them
//   GET     /v3/GLOSSARY/glossaryEntries/ID   one of them; PATCH replaces, DELETE deletes it
//
// LOCATION is projects/ANY/locations/ANY, and GLOSSARY is LOCATION/glossaries/NAME: the name that
// the caller gave, or the id of a glossary that was made in another way.  The id of an entry is its
// languages and source in base64.

#include <algorithm>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/functional/function_ref.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "engine/base/status.h"
#include "server/api/glossaries.h"
#include "server/api/kept.h"
#include "server/compat/google.h"
#include "server/compat/rpc.h"
#include "server/glossaries/glossary_text.h"
#include "server/store/file_directory.h"

namespace dragoman::google_glossaries {
namespace {

using Answer = absl::StatusOr<HttpResponse>;
using Json = nlohmann::ordered_json;

constexpr char kGlossaries[] = "/glossaries/", kEntries[] = "/glossaryEntries/";
constexpr int kMostInPage = 1000;
constexpr AnswerTerms kStored = {.work = CallWork::kStore};

GlossaryStore& StoreOf(const Call& call) { return *call.parts().glossaries; }

// What a name of the form LOCATION/glossaries/ID[/glossaryEntries/ID] says.
struct Resource {
  std::string location, id, entry;
  std::string glossary;  // its whole name
};
absl::StatusOr<Resource> ReadResource(const CompatFields& fields, const char* field) {
  ASSIGN_OR_RETURN(const std::string text, fields.Text(field));
  const size_t id = text.find(kGlossaries), entry = text.find(kEntries);
  if (id == text.npos || entry < id) {
    return InvalidField(field, "is not of the form projects/P/locations/L/glossaries/NAME");
  }
  Resource resource = {.location = text.substr(0, id), .glossary = text.substr(0, entry)};
  resource.id = resource.glossary.substr(id + sizeof(kGlossaries) - 1);
  if (entry != text.npos) resource.entry = text.substr(entry + sizeof(kEntries) - 1);
  return resource;
}

// The part of a list that a call asks for.
struct Page {
  size_t begin = 0, end = 0;
  std::string next;  // the token of the page after it; "": there is none
};
absl::StatusOr<Page> PageOf(const CompatFields& fields, size_t size) {
  ASSIGN_OR_RETURN(const int begin, fields.Number("pageToken", 0));
  ASSIGN_OR_RETURN(int asked, fields.Number("pageSize", 0));
  if (asked == 0) asked = kMostInPage;
  Page page = {.begin = std::min(size, static_cast<size_t>(begin))};
  page.end = page.begin + std::min<size_t>(size - page.begin, std::min(asked, kMostInPage));
  if (page.end < size) page.next = std::to_string(page.end);
  return page;
}

Answer List(const char* name, Json list, const Page& page) {
  Json body = {{name, std::move(list)}};
  if (!page.next.empty()) body["nextPageToken"] = page.next;
  return JsonResponse(200, body);
}

// ---- Glossaries --------------------------------------------------------------------------------

Json Describe(const Owned& glossary, const std::string& name) {
  const std::string created =
      absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", glossary.created, absl::UTCTimeZone());
  Json body = {{"name", name}, {"entryCount", glossary.size()}};
  if (glossary.lists.size() == 1) {
    const LanguagePair& pair = glossary.lists[0].languages;
    body["languagePair"] = {{"sourceLanguageCode", pair.source},
                            {"targetLanguageCode", pair.target}};
  }
  body["submitTime"] = body["endTime"] = created;
  return body;
}

// An operation that is done.  `method`: "CreateGlossary".
HttpResponse Done(const Resource& of, const std::string& method, const char* type, Json response) {
  const std::string prefix = "type.googleapis.com/google.cloud.translation.v3.";
  response["@type"] = prefix + type;
  return JsonResponse(200, {{"name", absl::StrCat(of.location, "/operations/", method, "-", of.id)},
                            {"metadata",
                             {{"@type", absl::StrCat(prefix, method, "Metadata")},
                              {"name", of.glossary},
                              {"state", "SUCCEEDED"}}},
                            {"done", true},
                            {"response", std::move(response)}});
}

Answer Create(const CompatFields& fields, Call* call) {
  ASSIGN_OR_RETURN(const CompatFields given, fields.Object("glossary"));
  RETURN_IF_ERROR(given.Refuse({"inputConfig", "languageCodesSet", "displayName"}));
  ASSIGN_OR_RETURN(const Resource resource, ReadResource(given, "name"));
  if (!IsPlainName(resource.id)) return InvalidField("name", "ends with no plain name");
  ASSIGN_OR_RETURN(const CompatFields pair, given.Object("languagePair"));
  GlossaryText text = {{.name = resource.id, .owner = call->principal()}};
  LanguagePair& languages = text.dictionaries.emplace_back().languages;
  for (const auto& [field, tag] : {std::pair("sourceLanguageCode", &languages.source),
                                   {"targetLanguageCode", &languages.target}}) {
    ASSIGN_OR_RETURN(*tag, pair.Text(field));
    if (tag->empty()) return InvalidField(absl::StrCat("languagePair.", field), "is missing");
  }
  ASSIGN_OR_RETURN(
      const Owned glossary,
      StoreOf(*call).Create(AskerOf(*call).until, std::move(text), "", /*unique=*/true));
  return Done(resource, "CreateGlossary", "Glossary", Describe(glossary, resource.glossary));
}

Answer ListAll(const CompatFields& fields, Call* call) {
  RETURN_IF_ERROR(fields.Refuse({"filter"}));
  ASSIGN_OR_RETURN(const std::string parent, fields.Text("parent"));
  ASSIGN_OR_RETURN(const std::vector<Owned> list, StoreOf(*call).List(AskerOf(*call)));
  ASSIGN_OR_RETURN(const Page page, PageOf(fields, list.size()));
  Json glossaries = Json::array();
  std::set<std::string> names;
  for (size_t i = 0; i < page.end; ++i) {
    // Of several with one name, that is the oldest's.
    const bool has_name = list[i].owner == call->principal() && IsPlainName(list[i].name) &&
                          names.insert(list[i].name).second;
    const std::string& id = has_name ? list[i].name : list[i].id;
    if (i < page.begin) continue;
    glossaries.push_back(Describe(list[i], absl::StrCat(parent, kGlossaries, id)));
  }
  return List("glossaries", std::move(glossaries), page);
}

Answer Get(const CompatFields& fields, Call* call) {
  ASSIGN_OR_RETURN(const Resource resource, ReadResource(fields, "name"));
  ASSIGN_OR_RETURN(const Owned glossary, StoreOf(*call).Describe(AskerOf(*call), resource.id));
  return JsonResponse(200, Describe(glossary, resource.glossary));
}

Answer Delete(const CompatFields& fields, Call* call) {
  ASSIGN_OR_RETURN(const Resource resource, ReadResource(fields, "name"));
  RETURN_IF_ERROR(StoreOf(*call).Delete(AskerOf(*call), resource.id));
  return Done(resource, "DeleteGlossary", "DeleteGlossaryResponse", {{"name", resource.glossary}});
}

// ---- Their entries -----------------------------------------------------------------------------

using Entries = std::vector<GlossaryEntry>;

struct Terms {
  LanguagePair languages;
  GlossaryEntry entry;
};

Json DescribeEntry(const std::string& glossary, const LanguagePair& languages,
                   const GlossaryEntry& entry) {
  const std::string id = absl::WebSafeBase64Escape(
      absl::StrCat(languages.source, "\t", languages.target, "\t", entry.source));
  const auto term = [](const std::string& language, const std::string& text) {
    return Json{{"languageCode", language}, {"text", text}};
  };
  return {{"name", absl::StrCat(glossary, kEntries, id)},
          {"termsPair",
           {{"sourceTerm", term(languages.source, entry.source)},
            {"targetTerm", term(languages.target, FirstTarget(entry))}}}};
}

absl::StatusOr<Terms> ReadTerms(const CompatFields& fields) {
  RETURN_IF_ERROR(fields.Refuse({"termsSet", "description"}));
  ASSIGN_OR_RETURN(const CompatFields pair, fields.Object("termsPair"));
  Terms terms;
  std::string source, target;
  for (const auto& [name, tag, text] : {std::tuple("sourceTerm", &terms.languages.source, &source),
                                        {"targetTerm", &terms.languages.target, &target}}) {
    ASSIGN_OR_RETURN(const CompatFields term, pair.Object(name));
    ASSIGN_OR_RETURN(*tag, term.Text("languageCode"));
    ASSIGN_OR_RETURN(*text, term.Text("text"));
    if (text->empty()) return InvalidField(absl::StrCat("termsPair.", name, ".text"), "is missing");
  }
  terms.entry = EntryByCase(std::move(source), std::move(target));
  return terms;
}

// Where an entry of this id is.
Terms KeyOf(const Resource& resource) {
  std::string decoded;
  absl::WebSafeBase64Unescape(resource.entry, &decoded);
  const std::vector<std::string> parts = absl::StrSplit(decoded, absl::MaxSplits('\t', 2));
  if (parts.size() < 3) return {};
  return {{parts[0], parts[1]}, {.source = parts[2]}};
}

template <typename List>
auto Find(List& entries, const std::string& source) {
  return absl::c_find_if(entries,
                         [&](const GlossaryEntry& entry) { return entry.source == source; });
}

absl::Status NoEntry() { return absl::NotFoundError("the glossary has no such entry"); }

// Changes the entries of these languages; `none` if there are none.
absl::Status EditEntries(const Call& call, const Resource& resource, const LanguagePair& languages,
                         const absl::Status& none,
                         absl::FunctionRef<absl::Status(Entries* entries)> edit) {
  const auto edit_list = [&](GlossaryText* text) {
    for (GlossaryDictionary& dictionary : text->dictionaries) {
      if (dictionary.languages == languages) return edit(&dictionary.entries);
    }
    return none;
  };
  return StoreOf(call).Update(AskerOf(call), resource.id, edit_list).status();
}

Answer CreateEntry(const CompatFields& fields, Call* call) {
  ASSIGN_OR_RETURN(const Resource resource, ReadResource(fields, "parent"));
  ASSIGN_OR_RETURN(const CompatFields given, fields.Object("glossaryEntry"));
  ASSIGN_OR_RETURN(const Terms terms, ReadTerms(given));
  const auto add = [&](Entries* entries) {
    if (Find(*entries, terms.entry.source) != entries->end()) {
      return absl::AlreadyExistsError("the glossary has an entry with this source");
    }
    entries->push_back(terms.entry);
    return absl::OkStatus();
  };
  RETURN_IF_ERROR(EditEntries(*call, resource, terms.languages,
                              InvalidField("termsPair", "has other languages than the glossary"),
                              add));
  return JsonResponse(200, DescribeEntry(resource.glossary, terms.languages, terms.entry));
}

Answer ListEntries(const CompatFields& fields, Call* call) {
  ASSIGN_OR_RETURN(const Resource resource, ReadResource(fields, "parent"));
  ASSIGN_OR_RETURN(const GlossaryPtr glossary, StoreOf(*call).Find(AskerOf(*call), resource.id));
  ASSIGN_OR_RETURN(const Page page, PageOf(fields, static_cast<size_t>(glossary->size())));
  Json entries = Json::array();
  size_t before = 0;  // in other lists
  for (const auto& list : glossary->dictionaries) {
    const size_t end = before + list->entries().size();
    for (size_t i = std::max(page.begin, before); i < std::min(page.end, end); ++i) {
      entries.push_back(
          DescribeEntry(resource.glossary, list->languages(), list->entries()[i - before]));
    }
    before = end;
  }
  return List("glossaryEntries", std::move(entries), page);
}

Answer GetEntry(const CompatFields& fields, Call* call) {
  ASSIGN_OR_RETURN(const Resource resource, ReadResource(fields, "name"));
  const Terms key = KeyOf(resource);
  ASSIGN_OR_RETURN(const GlossaryPtr glossary, StoreOf(*call).Find(AskerOf(*call), resource.id));
  for (const auto& list : glossary->dictionaries) {
    const auto at = Find(list->entries(), key.entry.source);
    if (!(list->languages() == key.languages) || at == list->entries().end()) continue;
    return JsonResponse(200, DescribeEntry(resource.glossary, key.languages, *at));
  }
  return NoEntry();
}

Answer UpdateEntry(const CompatFields& fields, Call* call) {
  ASSIGN_OR_RETURN(const CompatFields given, fields.Object("glossaryEntry"));
  ASSIGN_OR_RETURN(const Resource resource, ReadResource(given, "name"));
  ASSIGN_OR_RETURN(const Terms terms, ReadTerms(given));
  const Terms key = KeyOf(resource);
  if (!(terms.languages == key.languages)) {
    return InvalidField("termsPair", "has other languages than the entry");
  }
  const auto replace = [&](Entries* entries) {
    const auto at = Find(*entries, key.entry.source);
    if (at == entries->end()) return NoEntry();
    *at = terms.entry;
    return absl::OkStatus();
  };
  RETURN_IF_ERROR(EditEntries(*call, resource, key.languages, NoEntry(), replace));
  return JsonResponse(200, DescribeEntry(resource.glossary, terms.languages, terms.entry));
}

Answer DeleteEntry(const CompatFields& fields, Call* call) {
  ASSIGN_OR_RETURN(const Resource resource, ReadResource(fields, "name"));
  const Terms key = KeyOf(resource);
  const auto remove = [&](Entries* entries) {
    const auto at = Find(*entries, key.entry.source);
    if (at == entries->end()) return NoEntry();
    entries->erase(at);
    return absl::OkStatus();
  };
  RETURN_IF_ERROR(EditEntries(*call, resource, key.languages, NoEntry(), remove));
  return JsonResponse(200, Json::object());
}

// ---- The table ---------------------------------------------------------------------------------

struct Row {
  const char* verb;
  const char* path;    // below a location
  const char* field;   // of the request, which the path is but for the "/glossaries" of its end
  const char* body;    // a field of the request; null: none
  const char* method;  // that it amounts to
  CompatAct* act;
  const char* rpc;
};

constexpr char kAll[] = "/glossaries", kOne[] = "/glossaries/*";
constexpr char kItsEntries[] = "/glossaries/*/glossaryEntries";
constexpr char kEntry[] = "/glossaries/*/glossaryEntries/*";

constexpr Row kRows[] = {
    {"POST", kAll, "parent", "glossary", "CreateGlossary", Create, "CreateGlossary"},
    {"GET", kAll, "parent", nullptr, "ListGlossaries", ListAll, "ListGlossaries"},
    {"GET", kOne, "name", nullptr, "GetGlossary", Get, "GetGlossary"},
    {"DELETE", kOne, "name", nullptr, "DeleteGlossary", Delete, "DeleteGlossary"},
    {"POST", kItsEntries, "parent", "glossaryEntry", "ReplaceGlossary", CreateEntry,
     "CreateGlossaryEntry"},
    {"GET", kItsEntries, "parent", nullptr, "GetGlossaryEntries", ListEntries,
     "ListGlossaryEntries"},
    {"GET", kEntry, "name", nullptr, "GetGlossaryEntries", GetEntry, "GetGlossaryEntry"},
    {"PATCH", kEntry, "name", "glossaryEntry", "ReplaceGlossary", UpdateEntry,
     "UpdateGlossaryEntry"},
    {"DELETE", kEntry, "name", nullptr, "ReplaceGlossary", DeleteEntry, "DeleteGlossaryEntry"}};

// The fields that the message of a call over HTTP has.
absl::StatusOr<CompatFields> ReadMessage(const Row& row, const HttpRequest& http) {
  ASSIGN_OR_RETURN(CompatFields given, CompatFields::Read(http));
  std::string name = http.path.substr(sizeof("/v3/") - 1);
  const bool of_parent = row.field == std::string_view("parent");
  if (of_parent) name.resize(name.rfind('/'));
  CompatFields message = row.body == nullptr ? given : CompatFields();
  (row.body != nullptr && !of_parent ? given : message).Set(row.field, name);
  if (row.body != nullptr) message.Set(row.body, given);
  return message;
}

}  // namespace

void AddRoutes(const ApiContext& context, HttpRouter* router) {
  for (const Row& row : kRows) {
    const auto read = [row](const HttpRequest& http) { return ReadMessage(row, http); };
    AddRoute(router, row.verb, absl::StrCat("/v3/projects/*/locations/*", row.path),
             AnswerWith(context,
                        {google_translate::kAdvanced, row.method, google_translate::Error, kStored},
                        row.act, read),
             google_translate::PlainError);
  }
}

std::vector<Method> RpcMethods() {
  std::vector<Method> methods;
  for (const Row& row : kRows) {
    methods.push_back(
        CompatRpc(google_translate::kAdvanced, row.method, row.rpc, row.act, kStored));
  }
  return methods;
}

}  // namespace dragoman::google_glossaries
