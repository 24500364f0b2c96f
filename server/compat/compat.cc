#include "server/compat/compat.h"

#include <algorithm>
#include <array>
#include <utility>

#include "engine/base/status.h"
#include "server/api/list_models.h"

namespace dragoman {
namespace {

using AddDoor = void (*)(const HttpDoor& door, HttpRouter* router);

// In the order of kCompatNames.
constexpr std::array<AddDoor, kCompatNames.size()> kDoors = {AddLibreTranslate, AddDeepL,
                                                             AddGoogle};

}  // namespace

void AddCompat(const std::vector<std::string>& names, const HttpDoor& door, HttpRouter* router) {
  for (size_t i = 0; i < kDoors.size(); ++i) {
    if (std::find(names.begin(), names.end(), kCompatNames[i]) != names.end()) {
      kDoors[i](door, router);
    }
  }
}

HttpResponse AnswerCall(const HttpDoor& door, const char* door_name, const char* method,
                        const HttpRequest& http, const CompatError& error,
                        const Answered<HttpResponse>& answer) {
  if (const absl::Status loaded = door.loaded(); !loaded.ok()) {
    return WithHeaders(error(loaded), {.status = loaded});
  }
  absl::StatusOr<Caller> caller = CallerOf(http, door_name);
  const absl::Status bad_header = caller.status();
  Call call(door.parts, method, caller.ok() ? *std::move(caller) : Caller{.door = door_name});
  absl::StatusOr<HttpResponse> response =
      bad_header.ok() ? answer(&call) : absl::StatusOr<HttpResponse>(bad_header);
  const CallEnd end = call.End(response.status());
  return WithHeaders(end.status.ok() ? *std::move(response) : error(end.status), end);
}

absl::StatusOr<ServedPairs> ListPairs(const HttpDoor& door, Call* call) {
  ASSIGN_OR_RETURN(const v1::ListModelsResponse models,
                   ListModels([] { return v1::ListModelsRequest(); }, *door.parts, call));
  ServedPairs pairs;
  for (const v1::Model& model : models.models()) {
    for (const v1::LanguagePair& pair : model.language_pairs()) {
      pairs[pair.source()].insert(pair.target());
    }
    if (model.language_pairs_size() > 0) continue;
    for (const std::string& source : model.source_languages()) {
      pairs[source].insert(model.target_languages().begin(), model.target_languages().end());
    }
  }
  return pairs;
}

std::set<std::string> CodesOf(const ServedPairs& pairs) {
  std::set<std::string> codes;
  for (const auto& [source, targets] : pairs) {
    codes.insert(source);
    codes.insert(targets.begin(), targets.end());
  }
  return codes;
}

absl::StatusOr<v1::Markup> FormatOf(const CompatFields& fields, const char* otherwise) {
  ASSIGN_OR_RETURN(const std::string format, fields.Text("format", otherwise));
  if (format == "text") return v1::MARKUP_NONE;
  if (format == "html") return v1::MARKUP_HTML;
  return InvalidField(
      "format", "\"" + format.substr(0, 32) + "\" is not supported, want \"text\" or \"html\"");
}

void UseToken(const std::string& token, HttpRequest* http) {
  if (token.empty() || !BearerToken(http->Header("authorization")).empty()) return;
  std::erase_if(http->headers, [](const auto& header) { return header.first == "authorization"; });
  http->headers.emplace_back("authorization", "Bearer " + token);
}

HttpResponse WithHeaders(HttpResponse response, const CallEnd& end) {
  for (auto& header : HeadersOf(end)) response.headers.push_back(std::move(header));
  return Counted(end, std::move(response));
}

v1::TranslateRequest NewTranslateRequest(std::vector<std::string> texts, std::string source,
                                         std::string target) {
  v1::TranslateRequest request;
  for (std::string& text : texts) request.add_contents(std::move(text));
  request.set_source_language(std::move(source));
  request.set_target_language(std::move(target));
  request.set_sentence_splitting(v1::SENTENCE_SPLITTING_SENTENCES);
  return request;
}

}  // namespace dragoman
