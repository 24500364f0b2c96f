#include "server/languages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

}  // namespace
}  // namespace dragoman
