// dragoman mcp: translation as tools for a language model, by the Model Context Protocol.
//
// Standard input and output carry JSON-RPC 2.0, a message per line (modelcontextprotocol.io,
// "Transports", stdio).  Versions of the protocol to 2025-11-25 begin with `initialize`; since
// 2026-07-28 each request names its version instead.  No answer depends on an earlier message, so
// one loop speaks them all.  A tool is a row of Tools(), and what it says is that of a command.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "client/commands.h"
#include "client/json.h"
#include "client/line_reader.h"
#include "engine/base/json.h"
#include "engine/base/status.h"

namespace dragoman {
namespace {

// A request of 1 MiB whose every byte is escaped for JSON.
constexpr size_t kMaxMessageBytes = 6 << 20;

// Newest first.  The first one has no `initialize`.
constexpr const char* kVersions[] = {"2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26",
                                     "2024-11-05"};
constexpr char kVersionField[] = "io.modelcontextprotocol/protocolVersion";

// JSON-RPC 2.0, 5.1; the last one is the protocol's own.
constexpr int kParseError = -32700;
constexpr int kInvalidRequest = -32600;
constexpr int kMethodNotFound = -32601;
constexpr int kInvalidParams = -32602;
constexpr int kUnsupportedVersion = -32022;

Json Failure(int code, const std::string& message) {
  return {{"error", {{"code", code}, {"message", message}}}};
}

// All arguments are strings.
struct Argument {
  const char* name;
  const char* description;
  bool required = false;
};
using Arguments = std::map<std::string, std::string>;  // those that are given

// What a tool answers: a text for the model, and for programs the same as JSON.
struct Said {
  std::string text;
  Json json;
};

struct Tool {
  const char* name;
  const char* description;
  std::vector<Argument> arguments;
  absl::StatusOr<Said> (*call)(Arguments arguments, TranslationClient* client);
};

absl::StatusOr<Said> Translate(Arguments arguments, TranslationClient* client) {
  v1::TranslateRequest request;
  request.add_contents(arguments["text"]);
  request.set_source_language(arguments["source_language"]);
  request.set_target_language(arguments["target_language"]);
  request.set_model(arguments["model"]);
  ASSIGN_OR_RETURN(const v1::TranslateResponse response, client->Translate(request));
  const v1::Translation& translation = response.translations(0);
  const std::string& text = translation.hypotheses(0).text();
  Json json = {{"translation", text}, {"model", response.model()}};
  if (!translation.detected_language().empty()) {
    json["detected_language"] = translation.detected_language();
  }
  return Said{text, json};
}

absl::StatusOr<Said> Detect(Arguments arguments, TranslationClient* client) {
  ASSIGN_OR_RETURN(const v1::DetectLanguageResponse response,
                   client->DetectLanguage(arguments["text"]));
  return Said{GuessesOf(response.texts(0)), ToJson(arguments["text"], response.texts(0))};
}

absl::StatusOr<Said> ListLanguages(Arguments, TranslationClient* client) {
  ASSIGN_OR_RETURN(const v1::ListModelsResponse response, client->ListModels());
  Json models = Json::array();
  for (const v1::Model& model : response.models()) {
    const Json all = ToJson(model);
    models.push_back({{"model", all["name"]}});
    for (const char* const field :
         {"language_pairs", "source_languages", "target_languages", "is_default"}) {
      models.back()[field] = all[field];
    }
  }
  const Json json = {{"models", std::move(models)}};
  return Said{ToLine(json), json};
}

const std::vector<Tool>& Tools() {
  static const std::vector<Tool> kTools = {
      {"translate",
       "Translates a text and returns nothing but its translation.",
       {{"text", "what is translated: a word, a sentence or several paragraphs", true},
        {"target_language", "a BCP-47 tag such as de; not needed if the server has only one"},
        {"source_language", "a BCP-47 tag such as en, or auto; not needed if it has only one"},
        {"model", "the name of a model of the server, as the tool languages lists them"}},
       Translate},
      {"detect",
       "Says in which languages a text may be written, with their confidence, the best first; und "
       "if nothing suggests any.",
       {{"text", "whose language is asked for", true}},
       Detect},
      {"languages",
       "Lists the models of the server with the languages that each translates.",
       {},
       ListLanguages}};
  return kTools;
}

Json Schema(const Tool& tool) {
  Json properties = Json::object(), required = Json::array();
  for (const Argument& argument : tool.arguments) {
    properties[argument.name] = {{"type", "string"}, {"description", argument.description}};
    if (argument.required) required.push_back(argument.name);
  }
  return {{"type", "object"},
          {"properties", std::move(properties)},
          {"required", std::move(required)},
          {"additionalProperties", false}};
}

absl::StatusOr<Arguments> ReadArguments(const Tool& tool, const nlohmann::json& given) {
  Arguments arguments;
  for (const Argument& argument : tool.arguments) {
    const auto found = given.find(argument.name);
    if (found == given.end()) {
      if (argument.required) return InvalidField(argument.name, "is missing");
    } else if (!found->is_string()) {
      return InvalidField(argument.name, "is a ", found->type_name(), ", want a string");
    } else {
      arguments[argument.name] = found->get<std::string>();
    }
  }
  for (const auto& [name, value] : given.items()) {
    if (!arguments.contains(name)) {
      return InvalidField(name, "is no argument of ", tool.name);
    }
  }
  return arguments;
}

Json ServerInfo() { return {{"name", "dragoman"}, {"version", DRAGOMAN_VERSION}}; }

Json Capabilities() { return {{"tools", Json::object()}}; }

Json Initialize(const nlohmann::json& params, TranslationClient*) {
  const nlohmann::json& asked = Member(params, "protocolVersion");
  if (!asked.is_string()) {
    return Failure(kInvalidParams, "protocolVersion: is missing, want a string");
  }
  const auto known = std::find(kVersions + 1, std::end(kVersions), asked);
  return {{"result",
           {{"protocolVersion", known == std::end(kVersions) ? kVersions[1] : *known},
            {"capabilities", Capabilities()},
            {"serverInfo", ServerInfo()}}}};
}

Json Ping(const nlohmann::json&, TranslationClient*) { return {{"result", Json::object()}}; }

Json Discover(const nlohmann::json&, TranslationClient*) {
  return {{"result",
           {{"supportedVersions", kVersions},
            {"capabilities", Capabilities()},
            {"ttlMs", 0},
            {"cacheScope", "public"},
            {"_meta", {{"io.modelcontextprotocol/serverInfo", ServerInfo()}}}}}};
}

Json ListTools(const nlohmann::json&, TranslationClient*) {
  Json tools = Json::array();
  for (const Tool& tool : Tools()) {
    tools.push_back({{"name", tool.name},
                     {"description", tool.description},
                     {"inputSchema", Schema(tool)},
                     {"annotations", {{"readOnlyHint", true}, {"openWorldHint", false}}}});
  }
  return {{"result", {{"tools", std::move(tools)}, {"ttlMs", 0}, {"cacheScope", "public"}}}};
}

// What a tool cannot do is a result, which the model reads and may mend.
Json CallTool(const nlohmann::json& params, TranslationClient* client) {
  const nlohmann::json name = params.value("name", nlohmann::json());
  const auto tool = absl::c_find_if(Tools(), [&name](const Tool& one) { return name == one.name; });
  if (tool == Tools().end()) {
    return Failure(kInvalidParams, absl::StrCat("name: there is no tool ", Describe(name)));
  }
  const nlohmann::json given = params.value("arguments", nlohmann::json::object());
  if (!given.is_object()) {
    return Failure(kInvalidParams,
                   absl::StrCat("arguments: is a ", given.type_name(), ", want an object"));
  }
  absl::StatusOr<Said> said = Said{};
  if (absl::StatusOr<Arguments> arguments = ReadArguments(*tool, given); arguments.ok()) {
    said = tool->call(*std::move(arguments), client);
  } else {
    said = arguments.status();
  }
  const std::string text = said.ok() ? said->text : DescribeError(said.status());
  Json result = {{"content", Json::array({{{"type", "text"}, {"text", text}}})},
                 {"isError", !said.ok()}};
  if (said.ok()) result["structuredContent"] = said->json;
  return {{"result", std::move(result)}};
}

constexpr struct {
  const char* name;
  Json (*answer)(const nlohmann::json& params, TranslationClient* client);
} kMethods[] = {{"initialize", Initialize},
                {"ping", Ping},
                {"server/discover", Discover},
                {"tools/call", CallTool},
                {"tools/list", ListTools}};

// {"result": ...} or {"error": ...}
Json AnswerMethod(const nlohmann::json& name, const nlohmann::json& params,
                  TranslationClient* client) {
  if (!params.is_object()) {
    return Failure(kInvalidParams,
                   absl::StrCat("params: is a ", params.type_name(), ", want an object"));
  }
  const auto method =
      absl::c_find_if(kMethods, [&name](const auto& one) { return name == one.name; });
  if (method == std::end(kMethods)) {
    return Failure(kMethodNotFound, absl::StrCat("there is no method ", Describe(name)));
  }
  const nlohmann::json meta = params.value("_meta", nlohmann::json());
  if (!meta.is_object() || !meta.contains(kVersionField)) return method->answer(params, client);
  const nlohmann::json& version = meta[kVersionField];
  if (!absl::c_linear_search(kVersions, version)) {
    Json failure = Failure(kUnsupportedVersion, "this version of the protocol is not spoken");
    failure["error"]["data"] = {{"supported", kVersions}, {"requested", Json(version)}};
    return failure;
  }
  Json answer = method->answer(params, client);
  if (answer.contains("result")) answer["result"]["resultType"] = "complete";
  return answer;
}

Json Response(const Json& id, const Json& answer) {
  Json response = {{"jsonrpc", "2.0"}, {"id", id}};
  response.update(answer);
  return response;
}

// Null if none is due: to a notification, or to the response to a request, of which there was none.
Json AnswerMessage(const nlohmann::json& message, TranslationClient* client) {
  if (!message.is_object()) {
    return Response(nullptr, Failure(kInvalidRequest, "a message is a JSON object"));
  }
  const auto id = message.find("id");
  const bool has_id = id != message.end() && (id->is_string() || id->is_number());
  const nlohmann::json method = message.value("method", nlohmann::json());
  if (method.is_null() && (message.contains("result") || message.contains("error"))) return nullptr;
  if (message.value("jsonrpc", nlohmann::json()) != "2.0" || !method.is_string() ||
      (id != message.end() && !has_id)) {
    return Response(has_id ? Json(*id) : Json(),
                    Failure(kInvalidRequest,
                            "want \"jsonrpc\": \"2.0\", a method, and as id a string or a number"));
  }
  if (!has_id) return nullptr;
  return Response(*id,
                  AnswerMethod(method, message.value("params", nlohmann::json::object()), client));
}

// Version 2025-03-26 has batches: a line with an array of messages.
Json AnswerLine(const std::string& line, TranslationClient* client) {
  const bool batch = line.find_first_not_of(" \t") == line.find('[');
  const absl::StatusOr<nlohmann::json> parsed =
      batch ? ParseJsonArray(line, "message") : ParseJsonObject(line, "message");
  if (!parsed.ok() || (batch && parsed->empty())) {
    const bool is_json = nlohmann::json::accept(line);
    return Response(nullptr,
                    Failure(is_json ? kInvalidRequest : kParseError,
                            is_json && parsed.ok() ? "the batch is empty" : Text(parsed.status())));
  }
  if (!batch) return AnswerMessage(*parsed, client);
  Json answers;
  for (const nlohmann::json& message : *parsed) {
    if (Json answer = AnswerMessage(message, client); !answer.is_null()) answers.push_back(answer);
  }
  return answers;
}

Outcome RunMcp(const ServerFlags& server, const Console& console) {
  ASSIGN_OR_RETURN(const auto client, server.Connect(console));
  LineReader reader(console.in, kMaxMessageBytes);
  while (true) {
    const absl::StatusOr<std::optional<std::string>> line = reader.Next();
    if (absl::IsUnavailable(line.status())) return line.status();
    if (line.ok() && !line->has_value()) return kExitOk;
    const Json answer = line.ok() ? AnswerLine(**line, client.get())
                                  : Response(nullptr, Failure(kParseError, Text(line.status())));
    if (!answer.is_null()) console.out << ToLine(answer) << std::endl;
  }
}

}  // namespace

void AddMcpCommand(CLI::App* app, const Console& console, ExitCode* exit_code) {
  auto server = std::make_shared<ServerFlags>();
  CLI::App* command = app->add_subcommand(
      "mcp",
      "Offers the tools translate, detect and languages to a program with a language model, which "
      "starts this command and talks with it by the Model Context Protocol.");
  server->AddTo(command);
  command->callback(
      [server, &console, exit_code] { *exit_code = CodeOf(RunMcp(*server, console), console); });
}

}  // namespace dragoman
