#include "engine/base/yaml.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dragoman {
namespace {

using ::testing::HasSubstr;

nlohmann::json Parse(const std::string& text) {
  const auto json = ParseYamlObject(text, "test.yml");
  EXPECT_TRUE(json.ok()) << json.status();
  return json.value_or(nlohmann::json());
}

std::string ErrorOf(const std::string& text) {
  const auto json = ParseYamlObject(text, "test.yml");
  EXPECT_FALSE(json.ok()) << text;
  return std::string(json.status().message());
}

TEST(Yaml, ReadsWhatMarianWrites) {
  const nlohmann::json json = Parse(
      "relative-paths: true\nmodels:\n  - model.npz\nnormalize: 0.6\nbeam-size: 6\n"
      "input-types:\n  []\nlemma-dependency: \"\"\nversion: v1.12.43 c9f287db 2025-06-23\n");
  EXPECT_EQ(json["relative-paths"], true);
  EXPECT_EQ(json["models"], nlohmann::json::array({"model.npz"}));
  EXPECT_EQ(json["normalize"], 0.6);
  EXPECT_EQ(json["beam-size"], 6);
  EXPECT_TRUE(json["input-types"].empty());
  EXPECT_EQ(json["lemma-dependency"], "");
  EXPECT_EQ(json["version"], "v1.12.43 c9f287db 2025-06-23");
}

TEST(Yaml, KeysAreTextAndQuotedScalarsAreStrings) {
  const nlohmann::json json = Parse("1: 2\ntrue: 3\n\"\\\"\": 4\n'it''s': \"5\"\n</s>: 0\n");
  EXPECT_EQ(json["1"], 2);
  EXPECT_EQ(json["true"], 3);
  EXPECT_EQ(json["\""], 4);
  EXPECT_EQ(json["it's"], "5");
  EXPECT_EQ(json["</s>"], 0);
}

TEST(Yaml, JsonIsYaml) { EXPECT_EQ(Parse(R"({"a":[1,{"b":-2.5}]})")["a"][1]["b"], -2.5); }

TEST(Yaml, RefusesAnythingButAMapping) {
  EXPECT_THAT(ErrorOf("- a\n"), HasSubstr("test.yml: is not a mapping"));
  EXPECT_THAT(ErrorOf(""), HasSubstr("test.yml: "));
  EXPECT_THAT(ErrorOf("a: 1\na: 2\n"), HasSubstr("line 2: \"a\" occurs twice"));
  EXPECT_THAT(ErrorOf("a: {b: [c\n"), HasSubstr("test.yml: "));
  EXPECT_THAT(ErrorOf("? [a]\n: 1\n"), HasSubstr("a key that is not a scalar"));
}

// Ten lines of them can expand to a billion values.
TEST(Yaml, RefusesAnchorsAndAliases) {
  EXPECT_THAT(ErrorOf("a: &x [1]\nb: [*x, *x]\n"), HasSubstr("anchor"));
}

TEST(Yaml, RefusesDeepNesting) {
  EXPECT_THAT(ErrorOf("a: " + std::string(100, '[') + std::string(100, ']') + "\n"),
              HasSubstr("nests deeper"));
}

}  // namespace
}  // namespace dragoman
