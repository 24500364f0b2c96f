#include "engine/text/languages.h"

#include "engine/base/status.h"
#include "engine/text/language_tag.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dragoman::languages_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(LanguageTag, CodesOfModelsBecomeTags) {
  const std::pair<const char*, const char*> cases[] = {
      {"de", "de"},       {"deu", "de"},           {"ger", "de"},          {"deu_Latn", "de"},
      {"de_DE", "de"},    {"en_XX", "en"},         {"EN-us", "en"},        {"zh", "zh"},
      {"zho_Hans", "zh"}, {"zho_Hant", "zh-Hant"}, {"zh_TW", "zh-Hant"},   {"cmn_Hans", "zh"},
      {"srp_Cyrl", "sr"}, {"sr_Latn", "sr-Latn"},  {"arb_Arab", "ar"},     {"pes_Arab", "fa"},
      {"ast", "ast"},     {"ceb_Latn", "ceb"},     {"nob_Latn", "no"},     {"he_IL", "he"},
      {"mul", "mul"},     {"deu+eng", "deu+eng"},  {"ROMANCE", "ROMANCE"}, {"", ""},
  };
  for (const auto& [code, tag] : cases) EXPECT_EQ(TagOf(code), tag) << code;
}

TEST(LanguageTag, LanguageFamiliesAndNonsenseHaveNoTag) {
  for (const char* code : {"mul", "gem", "deu+eng", "x", "", "-", "de1", "language"}) {
    EXPECT_FALSE(ParseLanguage(code).has_value()) << code;
  }
}

TEST(LanguageTag, AnythingAfterTheRegionIsIgnored) {
  const auto language = ParseLanguage("sl-Latn-IT-nedis-x-whatever");
  ASSERT_TRUE(language.has_value());
  EXPECT_EQ(language->language, "sl");
  EXPECT_EQ(language->script, "Latn");
  EXPECT_EQ(language->region, "IT");
}

Languages Chinese() {
  return Languages::All({"eng_Latn", "zho_Hans", "zho_Hant", "pt_BR", "pt_PT"},
                        {"eng_Latn", "zho_Hans", "zho_Hant", "pt_BR", "pt_PT"}, {"eng_Latn", ""},
                        /*target_needed=*/true);
}

TEST(Languages, TheNearestIsTaken) {
  const std::pair<const char*, const char*> cases[] = {
      {"zh", "zho_Hans"},    {"zh-Hant", "zho_Hant"},  {"zh-TW", "zho_Hant"},
      {"zh-CN", "zho_Hans"}, {"zh-SG", "zho_Hans"},    {"zho_Hant", "zho_Hant"},
      {"en-GB", "eng_Latn"}, {"pt", "pt_BR"},          {"pt-PT", "pt_PT"},
      {"pt-AO", "pt_BR"},    {"ENG_latn", "eng_Latn"},
  };
  for (const auto& [wanted, code] : cases) {
    const auto pair = Chinese().Resolve("", wanted);
    ASSERT_TRUE(pair.ok()) << wanted << pair.status();
    EXPECT_EQ(pair->target, code) << wanted;
    EXPECT_EQ(pair->source, "eng_Latn");
  }
}

TEST(Languages, OthersAreRefusedWithAListOfThoseServed) {
  const absl::Status target = Chinese().Resolve("en", "tlh").status();
  EXPECT_EQ(FieldOf(target), "target_language");
  EXPECT_THAT(std::string(target.message()),
              HasSubstr("\"tlh\" is not served; this model has en, zh, zh-Hant, pt"));
  EXPECT_EQ(FieldOf(Chinese().Resolve("fr", "en").status()), "source_language");
  EXPECT_EQ(FieldOf(Chinese().Resolve("en", "not a language").status()), "target_language");
  EXPECT_THAT(std::string(Chinese().Resolve("en", "").status().message()),
              HasSubstr("has to be named"));
  EXPECT_FALSE(Languages().Resolve("", "de").ok());
  EXPECT_TRUE(Languages().Resolve("", "").ok());
}

TEST(Languages, ASourceGroupAcceptsAnyLanguage) {
  const Languages languages = Languages::All({"mul"}, {"en"}, {}, /*target_needed=*/false);
  EXPECT_TRUE(languages.Resolve("de", "en").ok());
  EXPECT_TRUE(languages.Resolve("", "").ok());
  EXPECT_FALSE(languages.Resolve("de", "fr").ok());
  EXPECT_FALSE(languages.Resolve("not a language", "en").ok());
  // But a target group does not stand for its languages.
  EXPECT_FALSE(Languages::All({"en"}, {"gmq"}, {}, false).Resolve("en", "de").ok());
}

TEST(Languages, AListOfPairsIsCheckedByPair) {
  const Languages languages = Languages::Only({{"en", "de"}, {"en", "fr"}, {"ro", "en"}});
  EXPECT_TRUE(languages.Resolve("en-US", "fr").ok());
  const absl::Status status = languages.Resolve("ro", "de").status();
  EXPECT_EQ(FieldOf(status), "target_language");
  EXPECT_THAT(std::string(status.message()), HasSubstr("en to de, en to fr, ro to en"));
  EXPECT_THAT(languages.Tags(), ElementsAre(LanguagePair{"en", "de"}, LanguagePair{"en", "fr"},
                                            LanguagePair{"ro", "en"}));
}

TEST(Languages, PairsMayBeServedWithoutAskingForTheSource) {
  const Languages languages =
      Languages::Only({{"eng", "deu"}, {"deu", "eng"}, {"fra", "eng"}}, /*source_needed=*/false);
  const auto target_alone = languages.Resolve("", "en");
  ASSERT_TRUE(target_alone.ok()) << target_alone.status();
  EXPECT_EQ(*target_alone, (LanguagePair{"", "eng"}));
  EXPECT_TRUE(languages.Resolve("fr", "en").ok());
  EXPECT_EQ(FieldOf(languages.Resolve("", "fr").status()), "target_language");
  EXPECT_EQ(FieldOf(languages.Resolve("fr", "de").status()), "target_language");
  EXPECT_EQ(FieldOf(languages.Resolve("fr", "").status()), "target_language");
  EXPECT_EQ(languages.Nearness("fr", "de"), 0);
}

TEST(Languages, ARequestWithoutLanguagesGetsTheModelsOwnPair) {
  const std::vector<LanguagePair> pairs = {{"eng", "deu"}, {"deu", "eng"}, {"eng", "fra"}};
  const Languages languages = Languages::Only(pairs, /*source_needed=*/false, pairs[0]);
  EXPECT_EQ(*languages.Resolve("", ""), (LanguagePair{"eng", "deu"}));
  // It does not complete a pair of which the request says one half.
  EXPECT_EQ(*languages.Resolve("", "fr"), (LanguagePair{"", "fra"}));
  EXPECT_EQ(FieldOf(languages.Resolve("en", "").status()), "target_language");
  EXPECT_EQ(*Languages::Only(pairs).Resolve("", ""), LanguagePair());
}

TEST(Languages, NearnessTellsTheBetterOfTwoModels) {
  const Languages any = Languages::All({"mul"}, {"de"}, {}, false);
  const Languages english = Languages::All({"en"}, {"de"}, {}, false);
  EXPECT_GT(english.Nearness("en-GB", "de"), any.Nearness("en-GB", "de"));
  EXPECT_EQ(english.Nearness("fr", "de"), 0);
  EXPECT_GT(any.Nearness("fr", "de"), 0);
}

TEST(Languages, ListsTagsOnce) {
  EXPECT_THAT(Languages::All({"en"}, {"de", "deu", "fra"}, {}, false).Tags(),
              ElementsAre(LanguagePair{"en", "de"}, LanguagePair{"en", "fr"}));
}

}  // namespace
}  // namespace dragoman::languages_test
