#include "server/base/language_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace dragoman {
namespace {

using ::testing::Contains;
using ::testing::Pair;

TEST(LanguageNames, AreInTheLanguageThatIsAskedFor) {
  EXPECT_EQ(NameOf("de", "en"), "German");
  EXPECT_EQ(NameOf("de", "de"), "Deutsch");
  EXPECT_EQ(NameOf("fr", "fr-CA"), "Français");
  EXPECT_EQ(NameOf("zh-Hant", "en"), "Chinese (Traditional)");
  EXPECT_EQ(NameOf("PT-BR", "en"), "Portuguese (Brazil)");
}

TEST(LanguageNames, AreEnglishOrTheTagOtherwise) {
  const std::string longest(100'000, 'x');
  for (const std::string& in : {std::string("qqq"), std::string("\xff'"), longest}) {
    EXPECT_EQ(NameOf("de", in), "German") << in.size();
  }
  for (const std::string& tag : {std::string("xx"), std::string(), longest}) {
    EXPECT_EQ(NameOf(tag, "en"), tag);
  }
}

TEST(LanguageNames, LeadToTags) {
  EXPECT_THAT(TagsByName("zh"), Contains(Pair("德语", "de")));
  EXPECT_THAT(TagsByName("zh"), Contains(Pair("中文（简体）", "zh-Hans")));
}

}  // namespace
}  // namespace dragoman
