#include "server/languages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "engine/base/status.h"
#include "tests/server/test_server.h"

namespace dragoman {
namespace {

// From "en" to "de", and has tokens for some target languages, `>>deu<<` among them.
class LanguagesTest : public testing::Test {
 protected:
  LanguagesTest() {
    auto tokenizer = Tokenizer::Load(kModelDirectory);
    EXPECT_TRUE(tokenizer.ok()) << tokenizer.status();
    tokenizer_ = *std::move(tokenizer);
  }

  std::unique_ptr<const Tokenizer> tokenizer_;
};

TEST_F(LanguagesTest, ModelsOwnLanguagesNeedNoToken) {
  EXPECT_EQ(ResolveLanguages(*tokenizer_, "", "").value(), "");
  EXPECT_EQ(ResolveLanguages(*tokenizer_, "en", "de").value(), "");
  EXPECT_EQ(ResolveLanguages(*tokenizer_, "EN", "De").value(), "");
}

TEST_F(LanguagesTest, TokenIsNamedAsTheModelSpellsIt) {
  EXPECT_EQ(ResolveLanguages(*tokenizer_, "en", "DEU").value(), "deu");
}

TEST_F(LanguagesTest, OthersAreRefusedAndThoseServedAreNamed) {
  const absl::Status source = ResolveLanguages(*tokenizer_, "fr", "de").status();
  EXPECT_EQ(FieldOf(source), "source_language");
  EXPECT_THAT(std::string(source.message()), testing::EndsWith("this model has en"));
  const absl::Status target = ResolveLanguages(*tokenizer_, "en", "tlh").status();
  EXPECT_EQ(FieldOf(target), "target_language");
  EXPECT_THAT(std::string(target.message()), testing::HasSubstr("this model has de, deu"));
}

TEST_F(LanguagesTest, ModelsOwnIsListedFirst) {
  EXPECT_THAT(TargetLanguages(*tokenizer_), testing::Contains("deu"));
  EXPECT_EQ(TargetLanguages(*tokenizer_).front(), "de");
}

// The same model, but its own languages are groups.
class GroupsTest : public testing::Test {
 protected:
  GroupsTest() : directory_(testing::TempDir() + "/groups") {
    std::filesystem::remove_all(directory_);
    std::filesystem::copy(kModelDirectory, directory_);
    std::ofstream(directory_ + "/tokenizer_config.json")
        << R"({"source_lang": "eng+fra", "target_lang": "deu+fra"})";
    auto tokenizer = Tokenizer::Load(directory_);
    EXPECT_TRUE(tokenizer.ok()) << tokenizer.status();
    tokenizer_ = *std::move(tokenizer);
  }

  std::string directory_;
  std::unique_ptr<const Tokenizer> tokenizer_;
};

TEST_F(GroupsTest, EachOfAGroupIsASource) {
  EXPECT_THAT(SourceLanguages(*tokenizer_), testing::ElementsAre("eng", "fra"));
  EXPECT_EQ(ResolveLanguages(*tokenizer_, "FRA", "deu").value(), "deu");
  const absl::Status source = ResolveLanguages(*tokenizer_, "deu", "fra").status();
  EXPECT_EQ(FieldOf(source), "source_language");
  EXPECT_THAT(std::string(source.message()), testing::EndsWith("this model has eng, fra"));
}

TEST_F(GroupsTest, TokensTellTheTargets) {
  EXPECT_EQ(TargetLanguages(*tokenizer_), tokenizer_->target_languages());
  EXPECT_THAT(TargetLanguages(*tokenizer_), testing::Contains("deu"));
}

}  // namespace
}  // namespace dragoman
