#include "server/http/openapi.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>

#include <map>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "engine/base/json.h"
#include "engine/base/status.h"
#include "engine/request/translator.h"
#include "server/api/methods.h"
#include "server/base/methods.h"
#include "server/http/api_descriptors.h"
#include "server/http/json.h"
#include "server/http/stream_api.h"

namespace dragoman {
namespace {

using Json = nlohmann::ordered_json;
using google::protobuf::Descriptor;
using google::protobuf::DescriptorPool;
using google::protobuf::FieldDescriptor;

// The comment above or after a declaration, as one paragraph.
template <typename Declaration>
std::string CommentOf(const Declaration* declaration) {
  google::protobuf::SourceLocation location;
  if (!declaration->GetSourceLocation(&location)) return "";
  std::string text =
      location.leading_comments.empty() ? location.trailing_comments : location.leading_comments;
  absl::RemoveExtraAsciiWhitespace(&text);
  return text;
}

Json Reference(const std::string& name) { return {{"$ref", "#/components/schemas/" + name}}; }

// What a field must be besides its type, whichever server it is.
const std::map<std::string, Json>& Bounds() {
  static const Json kList = Json::object({{"minItems", 1}}),
                    kText = Json::object({{"pattern", "\\S"}}),
                    kThreshold = {{"minimum", 0}, {"exclusiveMinimum", true}, {"maximum", 1}};
  static const auto& bounds = *new std::map<std::string, Json>{
      {"TranslateRequest.contents", kList},
      {"DetectLanguageRequest.contents", kList},
      {"TokenizeRequest.contents", kList},
      {"ScoreRequest.pairs", kList},
      {"LearnSegmentsRequest.segments", kList},
      {"GlossaryEntry.source", kText},
      {"MemorySegment.source", kText},
      {"MemorySegment.target", kText},
      {"OutputOptions.alignment_threshold", kThreshold},
      {"ScoreRequest.alignment_threshold", kThreshold},
      {"GetMemorySegmentsRequest.start", Json::object({{"minimum", 0}})},
      {"GetMemorySegmentsRequest.limit", Json::object({{"minimum", 0}, {"maximum", 1000}})}};
  return bounds;
}

std::string KeyOf(const FieldDescriptor* field) {
  return absl::StrCat(field->containing_type()->name(), ".", field->name());
}

// The fields of options with a range.
std::map<const FieldDescriptor*, const Option*> RangesIn(const DescriptorPool& pool) {
  std::map<const FieldDescriptor*, const Option*> ranges;
  for (const Option& option : kOptionTable) {
    if (option.low >= option.high) continue;
    const Descriptor* message = pool.FindMessageTypeByName("dragoman.v1.DecodingOptions");
    const FieldDescriptor* field = nullptr;
    for (const absl::string_view part : absl::StrSplit(option.name, '.')) {
      field = message->FindFieldByName(std::string(part));
      DRAGOMAN_CHECK(field != nullptr);
      message = field->message_type();
    }
    ranges[field] = &option;
  }
  return ranges;
}

class Schemas {
 public:
  explicit Schemas(const DescriptorPool& pool) : ranges_(RangesIn(pool)) {}

  // A reference to the schema of a message, which is created if necessary.
  Json Of(const Descriptor* message) {
    const std::string name = NameOf(message);
    if (made_.insert(message->full_name()).second) schemas_[name] = Make(message);
    return Reference(name);
  }

  // The schema of a field.
  Json Of(const FieldDescriptor* field) {
    Json schema =
        field->is_repeated() ? Json{{"type", "array"}, {"items", OfValue(field)}} : OfValue(field);
    if (const auto found = Bounds().find(KeyOf(field)); found != Bounds().end()) {
      schema.update(found->second);
    }
    if (const auto range = ranges_.find(field); range != ranges_.end()) {
      schema["minimum"] = range->second->low;
      if (range->second->cap == OptionCap::kNone) schema["maximum"] = range->second->high;
    }
    return schema;
  }

  Json& all() { return schemas_; }

 private:
  // "Model.State" of dragoman.v1.Model.State.
  static std::string NameOf(const Descriptor* message) {
    return message->full_name().substr(message->file()->package().size() + 1);
  }

  Json Make(const Descriptor* message) {
    Json properties = Json::object(), required = Json::array();
    for (int i = 0; i < message->field_count(); ++i) {
      const FieldDescriptor* const field = message->field(i);
      Json property = Of(field);
      const std::string comment = CommentOf(field);
      // OpenAPI allows nothing beside a reference.
      if (!comment.empty() && property.contains("$ref")) {
        property = {{"allOf", Json::array({property})}};
      }
      if (!comment.empty()) property["description"] = comment;
      // A TranslateRequest has no texts beside a file.
      const bool must = Bounds().contains(KeyOf(field)) && !property.contains("minimum");
      if (must && message->name() != "TranslateRequest") required.push_back(field->json_name());
      properties[field->json_name()] = std::move(property);
    }
    Json schema = {{"type", "object"}};
    if (const std::string comment = CommentOf(message); !comment.empty()) {
      schema["description"] = comment;
    }
    if (!required.empty()) schema["required"] = std::move(required);
    schema["properties"] = std::move(properties);
    return schema;
  }

  // The schema of one value of a field, in protobuf's JSON mapping.
  Json OfValue(const FieldDescriptor* field) {
    static const Json kLong = {{"type", "string"}, {"pattern", "^-?[0-9]+$"}};
    static const auto& plain = *new std::map<FieldDescriptor::Type, Json>{
        {FieldDescriptor::TYPE_INT32, {{"type", "integer"}, {"format", "int32"}}},
        {FieldDescriptor::TYPE_UINT32, {{"type", "integer"}, {"format", "int64"}, {"minimum", 0}}},
        {FieldDescriptor::TYPE_INT64, kLong},
        {FieldDescriptor::TYPE_UINT64, kLong},
        {FieldDescriptor::TYPE_FLOAT, {{"type", "number"}, {"format", "float"}}},
        {FieldDescriptor::TYPE_DOUBLE, {{"type", "number"}, {"format", "double"}}},
        {FieldDescriptor::TYPE_BOOL, Json::object({{"type", "boolean"}})},
        {FieldDescriptor::TYPE_BYTES, {{"type", "string"}, {"format", "byte"}}},
        {FieldDescriptor::TYPE_STRING, Json::object({{"type", "string"}})}};
    if (const auto found = plain.find(field->type()); found != plain.end()) return found->second;
    if (field->message_type() != nullptr) return OfMessage(field->message_type());
    Json values = Json::array();
    for (int i = 0; i < field->enum_type()->value_count(); ++i) {
      values.push_back(field->enum_type()->value(i)->name());
    }
    return {{"type", "string"}, {"enum", std::move(values)}};
  }

  Json OfMessage(const Descriptor* message) {
    if (message->full_name() == "google.protobuf.Duration") {
      return {{"type", "string"}, {"pattern", "^-?[0-9]+(\\.[0-9]+)?s$"}, {"example", "1.5s"}};
    }
    if (message->full_name() == "google.protobuf.Timestamp") {
      return {{"type", "string"}, {"format", "date-time"}};
    }
    if (message->full_name() == "google.protobuf.Any") {
      return {{"type", "object"},
              {"properties", {{"@type", {{"type", "string"}}}}},
              {"additionalProperties", true}};
    }
    return Of(message);
  }

  const std::map<const FieldDescriptor*, const Option*> ranges_;
  std::set<std::string> made_;
  Json schemas_ = Json::object();
};

// The answers of a call whose good one has this content.
Json Responses(const char* description, const char* type, Json schema) {
  Json responses = {
      {"200",
       {{"description", description}, {"content", {{type, {{"schema", std::move(schema)}}}}}}}};
  const Json error = {{kJson, {{"schema", Reference("Status")}}}};
  for (const auto& [code, when] : {std::pair("400", "The request is not valid."),
                                   {"401", "No valid token is shown."},
                                   {"403", "The token has no right to this."},
                                   {"404", "What is named is not there."},
                                   {"412", "If-Match names another version."},
                                   {"413", "The message is too large."},
                                   {"429", "The server is full, or a quota is used up."},
                                   {"499", "The caller went away."},
                                   {"501", "The model or the server cannot do this."},
                                   {"503", "The server or the model is not ready."},
                                   {"504", "The time of the call is over."},
                                   {"default", "Any other error."}}) {
    responses[code] = {{"description", when}, {"content", error}};
  }
  return responses;
}

Json HeaderParameter(const char* name, const char* description, const char* pattern = ".*") {
  return {{"name", name},
          {"in", "header"},
          {"required", false},
          {"description", description},
          {"schema", {{"type", "string"}, {"pattern", pattern}}}};
}

// The headers that every call may have.
Json CallHeaders() {
  return Json::array(
      {HeaderParameter("X-Request-Timeout", "The time the call may take: seconds, or 500ms, 2m.",
                       "^(([1-9][0-9]{0,4}([.][0-9]{1,3})?|0[.][0-9]{0,2}[1-9])(ms|s|m)?)?$"),
       HeaderParameter("X-Request-Id", "Is returned, and appears in the log.")});
}

// "/v1/models/{name}": OpenAPI does not say which parameters may contain slashes.
std::string PathOf(const Method& method) { return absl::StrReplaceAll(method.path, {{"=**", ""}}); }

Json Describe(const Method& method, const DescriptorPool& pool, Schemas* schemas) {
  const std::string service = ServiceOf(method.name);
  const auto* const rpc = pool.FindMethodByName(absl::StrCat(service, ".", method.name));
  DRAGOMAN_CHECK(rpc != nullptr);
  Json parameters = CallHeaders();
  for (const char* const name : {"name", "id"}) {
    if (!absl::StrContains(PathOf(method), absl::StrCat("{", name, "}"))) continue;
    parameters.push_back(
        {{"name", name}, {"in", "path"}, {"required", true}, {"schema", {{"type", "string"}}}});
  }
  for (int i = 0; !method.has_body() && i < rpc->input_type()->field_count(); ++i) {
    const FieldDescriptor* const field = rpc->input_type()->field(i);
    if (field->cpp_type() != FieldDescriptor::CPPTYPE_INT32) continue;
    parameters.push_back({{"name", field->name()},
                          {"in", "query"},
                          {"description", CommentOf(field)},
                          {"schema", schemas->Of(field)}});
  }
  Json described = {{"operationId", rpc->name()},
                    {"summary", CommentOf(rpc)},
                    {"parameters", std::move(parameters)}};
  if (method.has_body()) {
    const Descriptor* const body =
        method.body == nullptr ? rpc->input_type()
                               : rpc->input_type()->FindFieldByName(method.body)->message_type();
    described["requestBody"] = {{"required", true},
                                {"content", {{kJson, {{"schema", schemas->Of(body)}}}}}};
  }
  const char* const type = method.exchange == nullptr ? kEventStream : kJson;
  described["responses"] = Responses("OK", type, schemas->Of(rpc->output_type()));
  return described;
}

// The form of /v1/translate_file (document_api.h), which is no message of the API.
Json DescribeFiles(const DescriptorPool& pool, Schemas* schemas) {
  const auto text = [](const char* description) {
    return Json{{"type", "string"}, {"description", description}};
  };
  Json skip_errors = text("true: what cannot be translated is left as it is.");
  skip_errors["enum"] = Json::array({"true", "false"});
  Json file = {{"type", "string"}, {"format", "binary"}};
  Json form = {
      {"type", "object"},
      {"required", Json::array({"file"})},
      {"properties",
       {{"file", file},
        {"source_language", text("As in TranslateRequest.")},
        {"target_language", text("As in TranslateRequest.")},
        {"model", text("As in TranslateRequest.")},
        {"format", text("What the file is, unless the suffix of its name says so.")},
        {"encoding", text("Of a text file that does not say it: windows-1252, Shift_JIS.")},
        {"column", text("Of tables: a column to translate; repeat it for several.")},
        {"skip_errors", skip_errors},
        {"request", schemas->Of(pool.FindMessageTypeByName("dragoman.v1.TranslateRequest"))}}}};
  return {{"operationId", "TranslateFile"},
          {"summary", "Translates a file and answers with the translated file."},
          {"parameters", CallHeaders()},
          {"requestBody",
           {{"required", true}, {"content", {{"multipart/form-data", {{"schema", form}}}}}}},
          {"responses", Responses("The translated file.", "application/octet-stream", file)}};
}

Json Make() {
  google::protobuf::FileDescriptorSet files;
  DRAGOMAN_CHECK(files.ParseFromArray(kApiDescriptors, static_cast<int>(kApiDescriptorsSize)));
  DescriptorPool pool;
  for (const auto& file : files.file()) DRAGOMAN_CHECK(pool.BuildFile(file) != nullptr);
  Schemas schemas(pool);
  schemas.Of(pool.FindMessageTypeByName("google.rpc.Status"));
  Json paths = Json::object();
  const Method& of_files = MethodOf("TranslateDocument");
  for (const Method& method : Methods()) {
    if (method.path == nullptr || &method == &of_files) continue;
    paths[PathOf(method)][absl::AsciiStrToLower(method.verb)] = Describe(method, pool, &schemas);
  }
  paths[of_files.path]["post"] = DescribeFiles(pool, &schemas);
  return {{"openapi", "3.0.3"},
          {"info",
           {{"title", "Dragoman"},
            {"description", "Machine translation. The same API as over gRPC."},
            {"version", DRAGOMAN_VERSION}}},
          {"security", Json::array({Json::object(), {{"token", Json::array()}}})},
          {"paths", std::move(paths)},
          {"components",
           {{"schemas", std::move(schemas.all())},
            {"securitySchemes", {{"token", {{"type", "http"}, {"scheme", "bearer"}}}}}}}};
}

}  // namespace

const std::string& OpenApi() {
  static const std::string& text = *new std::string(WriteJson(Make(), 2));
  return text;
}

void AddOpenApi(HttpRouter* router) {
  const HttpHandler handler = AnswerAtOnce(
      [](const HttpRequest&) { return HttpResponse{.content_type = kJson, .body = OpenApi()}; });
  router->Add({.method = "GET", .path = "/openapi.json", .handler = handler});
}

}  // namespace dragoman
