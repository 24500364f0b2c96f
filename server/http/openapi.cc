#include "server/http/openapi.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>

#include <set>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "engine/base/json.h"
#include "engine/base/status.h"
#include "server/api/methods.h"
#include "server/base/methods.h"
#include "server/http/api_descriptors.h"
#include "server/http/json.h"
#include "server/http/stream_api.h"

namespace dragoman {
namespace {

using Json = nlohmann::ordered_json;
using google::protobuf::Descriptor;
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

class Schemas {
 public:
  // A reference to the schema of a message, which is created if necessary.
  Json Of(const Descriptor* message) {
    const std::string name = NameOf(message);
    if (made_.insert(message->full_name()).second) schemas_[name] = Make(message);
    return Reference(name);
  }

  Json& all() { return schemas_; }

 private:
  // "Model.State" of dragoman.v1.Model.State.
  static std::string NameOf(const Descriptor* message) {
    return message->full_name().substr(message->file()->package().size() + 1);
  }

  Json Make(const Descriptor* message) {
    Json properties = Json::object();
    for (int i = 0; i < message->field_count(); ++i) {
      const FieldDescriptor* const field = message->field(i);
      Json property = field->is_repeated() ? Json{{"type", "array"}, {"items", OfValue(field)}}
                                           : OfValue(field);
      const std::string comment = CommentOf(field);
      // OpenAPI allows nothing beside a reference.
      if (!comment.empty() && property.contains("$ref")) {
        property = {{"allOf", Json::array({property})}};
      }
      if (!comment.empty()) property["description"] = comment;
      properties[field->json_name()] = std::move(property);
    }
    Json schema = {{"type", "object"}};
    if (const std::string comment = CommentOf(message); !comment.empty()) {
      schema["description"] = comment;
    }
    schema["properties"] = std::move(properties);
    return schema;
  }

  // The schema of one value of a field, in protobuf's JSON mapping.
  Json OfValue(const FieldDescriptor* field) {
    switch (field->cpp_type()) {
      case FieldDescriptor::CPPTYPE_INT32:
        return {{"type", "integer"}, {"format", "int32"}};
      case FieldDescriptor::CPPTYPE_UINT32:
        return {{"type", "integer"}, {"format", "int64"}, {"minimum", 0}};
      case FieldDescriptor::CPPTYPE_INT64:
      case FieldDescriptor::CPPTYPE_UINT64:
        return {{"type", "string"}, {"pattern", "^-?[0-9]+$"}};
      case FieldDescriptor::CPPTYPE_FLOAT:
        return {{"type", "number"}, {"format", "float"}};
      case FieldDescriptor::CPPTYPE_DOUBLE:
        return {{"type", "number"}, {"format", "double"}};
      case FieldDescriptor::CPPTYPE_BOOL:
        return {{"type", "boolean"}};
      case FieldDescriptor::CPPTYPE_STRING:
        if (field->type() == FieldDescriptor::TYPE_BYTES) {
          return {{"type", "string"}, {"format", "byte"}};
        }
        return {{"type", "string"}};
      case FieldDescriptor::CPPTYPE_ENUM: {
        Json values = Json::array();
        for (int i = 0; i < field->enum_type()->value_count(); ++i) {
          values.push_back(field->enum_type()->value(i)->name());
        }
        return {{"type", "string"}, {"enum", std::move(values)}};
      }
      case FieldDescriptor::CPPTYPE_MESSAGE:
        return OfMessage(field->message_type());
    }
    return Json::object();
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

  std::set<std::string> made_;
  Json schemas_ = Json::object();
};

Json HeaderParameter(const char* name, const char* description) {
  return {{"name", name},
          {"in", "header"},
          {"required", false},
          {"description", description},
          {"schema", {{"type", "string"}}}};
}

// "/v1/models/{name}": OpenAPI does not say which parameters may contain slashes.
std::string PathOf(const Method& method) { return absl::StrReplaceAll(method.path, {{"=**", ""}}); }

Json Describe(const Method& method, const google::protobuf::DescriptorPool& pool,
              Schemas* schemas) {
  const std::string service = ServiceOf(method.name);
  const auto* const rpc = pool.FindMethodByName(absl::StrCat(service, ".", method.name));
  DRAGOMAN_CHECK(rpc != nullptr);
  Json parameters = Json::array(
      {HeaderParameter("X-Request-Timeout", "The time the call may take: seconds, or 500ms, 2m."),
       HeaderParameter("X-Request-Id", "Is returned, and appears in the log.")});
  for (const char* const name : {"name", "id"}) {
    if (!absl::StrContains(PathOf(method), absl::StrCat("{", name, "}"))) continue;
    parameters.push_back(
        {{"name", name}, {"in", "path"}, {"required", true}, {"schema", {{"type", "string"}}}});
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
  described["responses"] = {
      {"200",
       {{"description", "OK"},
        {"content", {{type, {{"schema", schemas->Of(rpc->output_type())}}}}}}},
      {"default",
       {{"description", "An error; the code is the HTTP code of its gRPC code."},
        {"content", {{kJson, {{"schema", Reference("Status")}}}}}}}};
  return described;
}

// The form of /v1/translate_file (document_api.h), which is no message of the API.
Json DescribeFiles(const google::protobuf::DescriptorPool& pool, Schemas* schemas) {
  const auto text = [](const char* description) {
    return Json{{"type", "string"}, {"description", description}};
  };
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
        {"column", text("Of tables: a column to translate; repeat it for several.")},
        {"skip_errors", text("true: what cannot be translated is left as it is.")},
        {"request", schemas->Of(pool.FindMessageTypeByName("dragoman.v1.TranslateRequest"))}}}};
  return {{"operationId", "TranslateFile"},
          {"summary", "Translates a file and answers with the translated file."},
          {"parameters",
           Json::array({HeaderParameter("X-Request-Timeout",
                                        "The time the call may take: seconds, or 500ms, 2m."),
                        HeaderParameter("X-Request-Id", "Is returned, and appears in the log.")})},
          {"requestBody",
           {{"required", true}, {"content", {{"multipart/form-data", {{"schema", form}}}}}}},
          {"responses",
           {{"200",
             {{"description", "The translated file."},
              {"content", {{"application/octet-stream", {{"schema", file}}}}}}},
            {"default",
             {{"description", "An error; the code is the HTTP code of its gRPC code."},
              {"content", {{kJson, {{"schema", Reference("Status")}}}}}}}}}};
}

Json Make() {
  google::protobuf::FileDescriptorSet files;
  DRAGOMAN_CHECK(files.ParseFromArray(kApiDescriptors, static_cast<int>(kApiDescriptorsSize)));
  google::protobuf::DescriptorPool pool;
  for (const auto& file : files.file()) DRAGOMAN_CHECK(pool.BuildFile(file) != nullptr);
  Schemas schemas;
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
  router->Add({.method = "GET",
               .path = "/openapi.json",
               .handler = [](const HttpRequest&, const std::shared_ptr<HttpAnswer>& answer) {
                 answer->Send({.content_type = kJson, .body = OpenApi()});
               }});
}

}  // namespace dragoman
