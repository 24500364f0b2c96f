#include "engine/text/vocabulary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

namespace dragoman::vocabulary_test {
namespace {

using ::testing::HasSubstr;

absl::StatusOr<Vocabulary> Read(const std::string& json) {
  const std::string path = testing::TempDir() + "vocabulary_test.json";
  std::ofstream(path) << json;
  return Vocabulary::ReadJson(path);
}

TEST(Vocabulary, PiecesHaveTheirIds) {
  const auto vocabulary = Read(R"({"▁a": 2, "\u2581b\"": 0, "": 5})");
  ASSERT_TRUE(vocabulary.ok()) << vocabulary.status();
  EXPECT_EQ(vocabulary->size(), 6);
  EXPECT_EQ(vocabulary->IdOf("▁a"), 2);
  EXPECT_EQ(vocabulary->IdOf("▁b\""), 0);
  EXPECT_EQ(*vocabulary->Find(5), "");
  EXPECT_EQ(vocabulary->Find(1), nullptr);
  EXPECT_EQ(Read("{}")->size(), 0);
}

TEST(Vocabulary, WhatIsWrongInAFileIsNamed) {
  const auto why = [](const std::string& json) {
    const absl::Status status = Read(json).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << json;
    return std::string(status.message());
  };
  EXPECT_THAT(why(R"({"a": 1, "b": 2, "a": 1})"), HasSubstr("\"a\" occurs twice"));
  EXPECT_THAT(why(R"({"a": 1, "b": 1})"), HasSubstr("both \"a\" and \"b\" have the id 1"));
  EXPECT_THAT(why(R"({"b": 1, "a": 1})"), HasSubstr("both \"a\" and \"b\" have the id 1"));
  EXPECT_THAT(why(R"({"a": -1})"), HasSubstr("the id of \"a\" is -1"));
  EXPECT_THAT(why(R"({"a": 10000000})"), HasSubstr("the id of \"a\" is 10000000"));
  EXPECT_THAT(why(R"({"a": 1.5})"), HasSubstr("the id of \"a\" is 1.5"));
  EXPECT_THAT(why(R"({"a": {"b": 1}})"), HasSubstr("the id of \"a\" is {"));
  EXPECT_THAT(why(R"({"a": [1]})"), HasSubstr("the id of \"a\" is ["));
  EXPECT_THAT(why(R"({"a": null})"), HasSubstr("the id of \"a\" is null"));
  EXPECT_THAT(why("3"), HasSubstr("want an object"));
  EXPECT_THAT(why("[1]"), HasSubstr("want an object"));
  EXPECT_THAT(why(R"({"a": 1)"), HasSubstr("parse error"));
  EXPECT_THAT(why(R"({"a": 1} 2)"), HasSubstr("parse error"));
  EXPECT_THAT(why(std::string("{\"a\": 1}\0", 9)), HasSubstr("NUL"));
  EXPECT_EQ(Vocabulary::ReadJson("no/such/file").status().code(), absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace dragoman::vocabulary_test
