#include "client/model_index.h"

#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "engine/base/json.h"
#include "engine/base/mapped_file.h"
#include "engine/base/status.h"
#include "engine/base/unpacked_zip.h"
#include "engine/base/zip_archive.h"

namespace dragoman {

const char kModelIndexHelp[] =
    "OWNER/NAME, as on huggingface.co; argos:en-de, a package of Argos Translate; or "
    "firefox:de-en, a student of Firefox";

namespace {

namespace fs = std::filesystem;
using IndexJson = nlohmann::json;

// "zh" stands for "zh-Hans" as well.
bool IsCalled(const std::string& wanted, const std::string& code) {
  return wanted == code || absl::StartsWith(code, wanted + "-");
}

// Whether the languages are "SOURCE-TARGET", either of which may contain a dash.
bool IsPair(const std::string& languages, const std::string& source, const std::string& target) {
  for (size_t dash = languages.find('-'); dash != std::string::npos;
       dash = languages.find('-', dash + 1)) {
    if (IsCalled(languages.substr(0, dash), source) &&
        IsCalled(languages.substr(dash + 1), target)) {
      return true;
    }
  }
  return false;
}

// "1.10" is newer than "1.9", and "2.0" than "2.0a1", which is a preview.
std::vector<int> VersionKey(const std::string& version) {
  std::vector<int> key = {version.find_first_not_of("0123456789.") == std::string::npos};
  const std::vector<std::string> parts = absl::StrSplit(version, '.');
  for (const std::string& part : parts) {
    int number = 0;
    if (!absl::SimpleAtoi(part.substr(0, part.find_first_not_of("0123456789")), &number)) break;
    key.push_back(number);
  }
  return key;
}

bool IsNewer(const std::string& a, const std::string& b) { return VersionKey(a) > VersionKey(b); }

absl::Status NotThere(const IndexedModel& model, const std::set<std::string>& pairs) {
  std::vector<std::string> near;
  for (const std::string& pair : pairs) {
    const std::vector<std::string> languages = absl::StrSplit(pair, '-');
    for (const std::string& language : languages) {
      const bool named = absl::StrContains(absl::StrCat("-", model.languages, "-"),
                                           absl::StrCat("-", language, "-"));
      if (named && language != "en" && (near.empty() || near.back() != pair)) near.push_back(pair);
    }
  }
  return NotFoundError(model.url, " has no model ", model.languages,
                       near.empty() ? absl::StrCat("; it has ", pairs.size(), " others")
                                    : absl::StrCat("; it has ", absl::StrJoin(near, ", ")));
}

absl::StatusOr<IndexJson> FetchJson(HttpClient* http, const std::string& url) {
  ASSIGN_OR_RETURN(const std::string text, GetText(http, {.url = url}, url));
  IndexJson parsed = IndexJson::parse(text, nullptr, /*allow_exceptions=*/false);
  if (parsed.is_discarded()) return InternalError(url, " is not JSON");
  return parsed;
}

// A list of packages, each with from_code, to_code, package_version and links.
absl::StatusOr<HubRepository> FindPackage(const IndexedModel& model, HttpClient* http) {
  ASSIGN_OR_RETURN(const IndexJson packages, FetchJson(http, model.url));
  std::set<std::string> pairs;
  HubRepository found;
  for (const IndexJson& package : packages) {
    const std::string from = TextIn(package, "from_code"), to = TextIn(package, "to_code");
    if (from.empty() || to.empty() || from == to) continue;
    pairs.insert(absl::StrCat(from, "-", to));
    const std::string version = TextIn(package, "package_version");
    const IndexJson& links = Member(package, "links");
    if (!IsPair(model.languages, from, to) || !links.is_array() ||
        (!found.files.empty() && !IsNewer(version, found.commit))) {
      continue;
    }
    for (const IndexJson& link : links) {
      std::string url = link.is_string() ? link.get<std::string>() : "";
      // A mirror may name files beside its index.
      if (!absl::StrContains(url, ":")) {
        url = model.url.substr(0, model.url.rfind('/') + 1) + url;
      }
      if (!absl::StartsWith(url, "http")) continue;
      found.commit = version;
      found.files.clear();
      found.files.push_back({.name = "package.argosmodel", .url = url});
      break;
    }
  }
  if (found.files.empty()) return NotThere(model, pairs);
  return found;
}

// Remote Settings: the records of a collection, one for each file, whose attachments are at
// another address, which the root names.
absl::StatusOr<HubRepository> FindRecords(const IndexedModel& model, HttpClient* http) {
  ASSIGN_OR_RETURN(const IndexJson root, FetchJson(http, model.url + "/"));
  const std::string base = TextIn(Member(Member(root, "capabilities"), "attachments"), "base_url");
  if (base.empty()) return InternalError(model.url, " names no address of attachments");
  ASSIGN_OR_RETURN(
      const IndexJson answer,
      FetchJson(http, model.url + "/buckets/main/collections/translations-models/records"));
  const IndexJson& records = Member(answer, "data");
  if (!records.is_array()) {
    return InternalError(model.url, " has no records of models");
  }
  std::set<std::string> pairs;
  // By languages, since "zh" may be that of several scripts.
  std::map<std::string, std::map<std::string, std::vector<HubFile>>> versions;
  std::map<std::string, std::set<std::string>> complete;  // versions with a model
  for (const IndexJson& record : records) {
    const IndexJson& attachment = Member(record, "attachment");
    if (!attachment.is_object()) continue;
    const std::string from = TextIn(record, "fromLang"), to = TextIn(record, "toLang");
    const std::string name = TextIn(record, "name"), kind = TextIn(record, "fileType");
    const std::string location = TextIn(attachment, "location");
    const std::string languages = absl::StrCat(from, "-", to);
    pairs.insert(languages);
    if (!IsPair(model.languages, from, to) || kind == "qualityModel" || location.empty() ||
        name.empty() || name[0] == '.' || absl::StrContains(name, "/")) {
      continue;
    }
    const std::string version = TextIn(record, "version");
    if (kind == "model") complete[languages].insert(version);
    const IndexJson& size = Member(attachment, "size");
    versions[languages][version].push_back(
        {.name = name,
         .size = size.is_number_integer() ? size.get<int64_t>() : -1,
         .sha256 = TextIn(attachment, "hash"),
         .url = base + location});
  }
  if (complete.empty()) return NotThere(model, pairs);
  auto chosen = complete.find(model.languages);
  if (chosen == complete.end()) chosen = complete.begin();
  HubRepository found;
  found.commit = *absl::c_min_element(chosen->second, IsNewer);
  found.files = versions[chosen->first][found.commit];
  return found;
}

struct ModelIndex {
  const char* name;
  const char* variable;  // of the environment, with the address of a mirror
  const char* url;
  absl::StatusOr<HubRepository> (*find)(const IndexedModel& model, HttpClient* http);
};

constexpr ModelIndex kIndexes[] = {
    {"argos", "DRAGOMAN_ARGOS_INDEX",
     "https://raw.githubusercontent.com/argosopentech/argospm-index/main/index.json", FindPackage},
    {"firefox", "DRAGOMAN_FIREFOX_INDEX", "https://firefox.settings.services.mozilla.com/v1",
     FindRecords},
};

// What the server reads of a package: neither the sentence splitter nor other tools.
bool IsNeeded(std::string_view name) {
  return name == "metadata.json" || name == "sentencepiece.model" || name == "bpe.model" ||
         absl::StartsWith(absl::string_view(name.data(), name.size()), "model/");
}

}  // namespace

std::optional<IndexedModel> ParseIndexedModel(const std::string& name, const std::string& mirror) {
  for (const ModelIndex& index : kIndexes) {
    const std::string prefix = absl::StrCat(index.name, ":");
    if (!absl::StartsWith(name, prefix)) continue;
    const char* const variable = std::getenv(index.variable);
    IndexedModel model = {.index = index.name, .languages = name.substr(prefix.size())};
    model.url = !mirror.empty()                            ? mirror
                : variable != nullptr && *variable != '\0' ? variable
                                                           : index.url;
    while (model.url.ends_with('/')) model.url.pop_back();
    return model;
  }
  return std::nullopt;
}

absl::StatusOr<HubRepository> FindInIndex(const IndexedModel& model) {
  HttpClient http;
  for (const ModelIndex& index : kIndexes) {
    if (model.index != index.name) continue;
    ASSIGN_OR_RETURN(HubRepository found, index.find(model, &http));
    found.name = absl::StrCat(model.index, ":", model.languages);
    return found;
  }
  return InvalidArgumentError("there is no index ", model.index);
}

absl::StatusOr<std::vector<std::string>> UnpackModel(const std::string& path) {
  if (!UnpackedZip::IsZip(path)) return std::vector<std::string>();
  ASSIGN_OR_RETURN(const auto file, MappedFile::Open(path));
  ASSIGN_OR_RETURN(const ZipArchive zip, ZipArchive::Open(file->bytes()));
  const fs::path directory = fs::path(path).parent_path();
  std::set<std::string> names;
  for (const ZipArchive::Entry& entry : zip.entries()) {
    const std::string name = entry.name.substr(entry.name.find('/') + 1);  // all is in one folder
    if (!IsNeeded(name) || name.ends_with('/') || absl::StrContains(name, "..")) continue;
    std::error_code error;
    fs::create_directories((directory / name).parent_path(), error);
    fs::remove(directory / name, error);
    RETURN_IF_ERROR(zip.Extract(entry, (directory / name).string()));
    names.insert(name.substr(0, name.find('/')));
  }
  if (names.empty()) return absl::DataLossError("the package has no model in it");
  return std::vector<std::string>(names.begin(), names.end());
}

}  // namespace dragoman
