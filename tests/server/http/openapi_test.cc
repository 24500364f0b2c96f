#include "server/http/openapi.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "absl/strings/ascii.h"
#include "engine/base/json.h"
#include "server/http/api.h"
#include "server/http/document_api.h"
#include "server/http/stream_api.h"

namespace dragoman {
namespace {

nlohmann::json Document() {
  return nlohmann::json::parse(OpenApi(), nullptr, /*allow_exceptions=*/false);
}

// Every {"$ref": ...} in `value`.
void CollectReferences(const nlohmann::json& value, std::set<std::string>* found) {
  if (value.is_object() && value.contains("$ref")) found->insert(value["$ref"]);
  if (!value.is_structured()) return;
  for (const auto& part : value) CollectReferences(part, found);
}

TEST(OpenApi, HasEveryPathOfTheApiAndNoOther) {
  HttpRouter router;
  AddApi({}, &router);
  AddStreamApi({}, &router);
  AddDocumentApi({}, &router);
  std::set<std::string> served, described;
  for (const HttpRoute& route : router.routes()) {
    std::string path = route.path;
    const size_t star = path.find('*');
    if (star != path.npos) {
      path.replace(star, path.find_first_not_of('*', star) - star,
                   path.find("/v1/models") == 0 ? "{name}" : "{id}");
    }
    served.insert(route.method + " " + path);
  }
  const nlohmann::json document = Document();
  for (const auto& [path, methods] : document["paths"].items()) {
    for (const auto& [method, operation] : methods.items()) {
      described.insert(absl::AsciiStrToUpper(method) + " " + path);
    }
  }
  EXPECT_EQ(described, served);
}

TEST(OpenApi, ReferencesWhatItHas) {
  const nlohmann::json document = Document();
  std::set<std::string> references;
  CollectReferences(document, &references);
  EXPECT_GT(references.size(), 10u);
  for (const std::string& reference : references) {
    ASSERT_EQ(reference.find("#/"), 0u);
    EXPECT_TRUE(document.contains(nlohmann::json::json_pointer(reference.substr(1)))) << reference;
  }
}

TEST(OpenApi, SaysWhatTheProtoSays) {
  const nlohmann::json schemas = Document()["components"]["schemas"];
  const nlohmann::json beam = schemas["DecodingOptions"]["properties"]["beamSize"];
  EXPECT_EQ(beam["type"], "integer");
  EXPECT_THAT(std::string(beam["description"]), testing::HasSubstr("1 is greedy search"));
  EXPECT_EQ(schemas["TranslateRequest"]["properties"]["contents"]["type"], "array");
  EXPECT_EQ(schemas["TranslateRequest"]["properties"]["contents"]["minItems"], 1);
  EXPECT_EQ(beam["minimum"], 1);
  EXPECT_EQ(schemas["DecodingOptions"]["properties"]["patience"]["maximum"], 10);
  const nlohmann::json segments = Document()["paths"]["/v1/memories/{id}/segments"]["get"];
  EXPECT_EQ(segments["parameters"].back()["name"], "limit");
  EXPECT_EQ(segments["parameters"].back()["schema"]["maximum"], 1000);
  EXPECT_EQ(schemas["MemorySegment"]["properties"]["source"]["pattern"], "\\S");
  EXPECT_EQ(schemas["MemorySegment"]["required"], nlohmann::json({"source", "target"}));
  EXPECT_TRUE(segments["responses"].contains("404"));
  EXPECT_EQ(schemas["Timing"]["properties"]["total"]["type"], "string");
  EXPECT_EQ(schemas["TranslateRequest"]["properties"]["priority"]["enum"][2], "PRIORITY_BATCH");
}

}  // namespace
}  // namespace dragoman
