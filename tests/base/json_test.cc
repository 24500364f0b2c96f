#include "engine/base/json.h"

#include <algorithm>
#include <fstream>
#include <random>
#include <string>

#include "absl/time/clock.h"
#include "engine/base/utf8.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dragoman {
namespace {

using std::string_literals::operator""s;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string Nested(int depth) {
  return "{\"a\":" + std::string(depth, '[') + std::string(depth, ']') + "}";
}

TEST(Json, AnObjectIsParsed) {
  const auto json = ParseJsonObject(R"({"a": {"a": 1}, "b": [{"a": 2}, {"a": 3}]})", "f.json");
  ASSERT_TRUE(json.ok()) << json.status();
  EXPECT_EQ((*json)["a"]["a"], 1);
  EXPECT_EQ((*json)["b"][1]["a"], 3);
}

TEST(Json, MalformedObjectsAreRefusedByName) {
  const std::pair<std::string, const char*> cases[] = {
      {"", "parse error"},
      {"{", "parse error"},
      {"{} {}", "parse error"},
      {"{\"a\": \"\xC3\"}", "parse error"},
      {"{}\0 anything"s, "NUL"},
      {"[]", "is a JSON array, want an object"},
      {"null", "is a JSON null"},
      {R"({"a": 1, "a": 2})", "\"a\" occurs twice"},
      {R"([{"b": {"c": 1, "c": 1}}])", "\"c\" occurs twice"},
      {Nested(kMaxJsonDepth + 1), "nests deeper than 32"},
      {Nested(1 << 20), "nests deeper than 32"},
  };
  for (const auto& [text, message] : cases) {
    const absl::Status status = ParseJsonObject(text, "f.json").status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << message;
    EXPECT_THAT(std::string(status.message()), AllOf(StartsWith("f.json: "), HasSubstr(message)));
  }
  EXPECT_TRUE(ParseJsonObject(Nested(kMaxJsonDepth - 1), "f.json").ok());
}

TEST(Json, AListOfManyObjectsTakesTimeInProportion) {
  const auto seconds = [](size_t objects) {
    std::string text = "[{}";
    for (size_t i = 1; i < objects; ++i) text += ",{}";
    const absl::Time start = absl::Now();
    EXPECT_EQ(ParseJsonArray(text + "]", "body")->size(), objects);
    return absl::ToDoubleSeconds(absl::Now() - start);
  };
  const double least = std::min({seconds(20'000), seconds(20'000), seconds(20'000)});
  EXPECT_LT(seconds(320'000), 80 * least);
}

TEST(Json, AMissingFileIsNotFound) {
  EXPECT_EQ(ReadJsonObject("no/such.json").status().code(), absl::StatusCode::kNotFound);
  EXPECT_TRUE(ReadJsonObject("tests/golden/models/en-de/config.json").ok());
}

TEST(Json, AFileHoldsAnArrayWhereOneIsWanted) {
  const std::string path = ::testing::TempDir() + "/array.json";
  std::ofstream(path) << R"(["a", "\u2581b"])";
  const auto array = ReadJsonArray(path);
  ASSERT_TRUE(array.ok()) << array.status();
  EXPECT_EQ((*array)[1], "▁b");
  EXPECT_THAT(std::string(ReadJsonObject(path).status().message()), HasSubstr("want an object"));
  std::ofstream(path) << "{}";
  EXPECT_THAT(std::string(ReadJsonArray(path).status().message()),
              HasSubstr("is a JSON object, want an array"));
}

TEST(Json, EveryStringCanBeWritten) {
  std::mt19937 random(1);
  for (int i = 0; i < 1000; ++i) {
    std::string bytes;
    for (int k = 0; k < 8; ++k) bytes += static_cast<char>(random());
    const nlohmann::json value = {{bytes, bytes}};
    const std::string text = WriteJson(value);
    EXPECT_TRUE(IsValidUtf8(text));
    const auto read = ParseJsonObject(text, "text");
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_EQ(*read == value, IsValidUtf8(bytes));
  }
  const nlohmann::ordered_json ordered = {{"b", "ä"}, {"a", 1}};
  EXPECT_EQ(WriteJson(ordered, 1), "{\n \"b\": \"ä\",\n \"a\": 1\n}");
}

TEST(Json, ValuesAreDescribedInShortUtf8) {
  EXPECT_EQ(Describe({1, "two"}), R"([1,"two"])");
  EXPECT_EQ(Describe("a\x92"), "\"a\uFFFD\"");
  const std::string cut = Describe(std::string(78, 'x') + "\u2581\u2581");
  EXPECT_EQ(cut, "\"" + std::string(78, 'x') + "...");
}

}  // namespace
}  // namespace dragoman
