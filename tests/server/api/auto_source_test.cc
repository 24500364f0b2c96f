#include "server/api/auto_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "engine/base/status.h"

namespace dragoman {
namespace {

using ::testing::ElementsAre;
using ::testing::Gt;
using ::testing::HasSubstr;
using ::testing::SizeIs;

// A server with models for English and French.
absl::StatusOr<Route> Find(const std::string& source) {
  if (source == "en" || source == "fr" || source.empty()) {
    return Route(std::shared_ptr<const Translator>());
  }
  return InvalidField("source_language", "there is en, fr");
}

absl::StatusOr<DetectedSources> Detect(const std::vector<std::string>& texts,
                                       const std::string& target) {
  StillWanted always;
  return DetectSources(texts,
                       {.target = target,
                        .find = Find,
                        .languages =
                            [] {
                              return std::vector<std::string>{"en", "fr"};
                            }},
                       /*has_markup=*/false, &always);
}

// Detect on a server with a model of four languages.
absl::StatusOr<DetectedSources> DetectAmongFour(const std::vector<std::string>& texts) {
  static const std::vector<std::string> kFour = {"de", "en", "es", "fr"};
  const auto find = [](const std::string& source) -> absl::StatusOr<Route> {
    if (source.empty() || std::count(kFour.begin(), kFour.end(), source) > 0) {
      return Route(std::shared_ptr<const Translator>());
    }
    return InvalidField("source_language", "there is de, en, es, fr");
  };
  StillWanted always;
  return DetectSources(texts, {.target = "en", .find = find, .languages = [] { return kFour; }},
                       /*has_markup=*/false, &always);
}

constexpr char kEnglish[] = "Good morning, where is the station?";
constexpr char kFrench[] = "La maison est bleue et le chat dort.";
constexpr char kGerman[] = "Guten Morgen, wo ist der Bahnhof?";

TEST(LanguageDetector, KnowsShortTexts) {
  for (const auto& [text, language] : {std::pair(kEnglish, "en"),
                                       {kFrench, "fr"},
                                       {kGerman, "de"},
                                       {"Hallo Welt", "de"},
                                       {"Привет", "ru"}}) {
    const std::vector<DetectedLanguage> found = DetectLanguages(text);
    ASSERT_FALSE(found.empty()) << text;
    EXPECT_EQ(found[0].language, language);
    EXPECT_GT(found[0].confidence, 0.5f);
    EXPECT_LE(found[0].confidence, 1.0f);
  }
  EXPECT_TRUE(DetectLanguages("").empty());
  EXPECT_TRUE(DetectLanguages("12:30").empty());
}

TEST(LanguageDetector, LooksAtTheBeginningOfALongText) {
  std::string text;
  while (text.size() < 200'000) text += "Größe und Übermaß, wo ist der Bahnhof? ";
  EXPECT_EQ(DetectLanguages(text)[0].language, "de");
}

TEST(LanguageDetector, ChoosesAmongLanguages) {
  const auto likeliest = [](const char* text, const std::vector<std::string>& languages) {
    std::vector<std::string> tags;
    for (const DetectedLanguage& found : LikeliestAmong(text, languages)) {
      EXPECT_GT(found.confidence, 0) << text;
      EXPECT_LE(found.confidence, 0.5f) << text;
      tags.push_back(found.language);
    }
    return tags;
  };
  const std::vector<std::string> four = {"de", "en", "es", "fr"};
  EXPECT_THAT(likeliest("De nada.", four), ElementsAre("es"));
  EXPECT_THAT(likeliest("Danke", four), ElementsAre("de"));
  EXPECT_THAT(likeliest("Go home.", four), SizeIs(Gt(1))) << "a tie";
  EXPECT_THAT(likeliest("Goedemorgen", four), ElementsAre());
  EXPECT_THAT(likeliest("12:30", four), ElementsAre());
  EXPECT_THAT(likeliest("Danke", {"tlh-x-none", "de"}), ElementsAre("de"));
  EXPECT_THAT(likeliest("תודה", {"en", "he"}), ElementsAre("he"));
}

TEST(AutoSource, GroupsTheTextsByTheirLanguages) {
  const absl::StatusOr<DetectedSources> sources =
      Detect({kFrench, kEnglish, kGerman, "12:30", kFrench}, "de");
  ASSERT_TRUE(sources.ok()) << sources.status();
  ASSERT_EQ(sources->groups.size(), 3u);
  EXPECT_EQ(sources->groups[0].language, "fr");
  EXPECT_THAT(sources->groups[0].texts,
              ElementsAre(0, 3, 4));  // texts without a language join them
  EXPECT_THAT(sources->groups[1].texts, ElementsAre(1));
  EXPECT_FALSE(sources->groups[2].route.has_value()) << "German needs no translation";
  EXPECT_EQ(sources->texts[3].confidence, 0);
  EXPECT_EQ(sources->texts[3].language, "fr");
}

TEST(AutoSource, ATextWithoutALanguageIsInThatOfTheModel) {
  const absl::StatusOr<DetectedSources> sources = Detect({"12:30", ""}, "de");
  ASSERT_TRUE(sources.ok()) << sources.status();
  ASSERT_EQ(sources->groups.size(), 1u);
  EXPECT_EQ(sources->groups[0].language, "");
  EXPECT_TRUE(sources->groups[0].route.has_value());
}

TEST(AutoSource, AWeakGuessAtALanguageThatIsNotServedDoesNotCount) {
  const std::vector<DetectedLanguage> guess = DetectLanguages("Hi.");
  ASSERT_FALSE(guess.empty());
  ASSERT_LT(guess[0].confidence, 0.5f);
  for (const DetectedLanguage& language : guess) EXPECT_FALSE(Find(language.language).ok());
  const absl::StatusOr<DetectedSources> alone = Detect({"Hi."}, "de");
  ASSERT_TRUE(alone.ok()) << alone.status();
  EXPECT_EQ(alone->groups[0].language, "");  // the model's own
  EXPECT_EQ(alone->texts[0].confidence, 0);
  const absl::StatusOr<DetectedSources> among_others = Detect({kFrench, "Hi."}, "de");
  ASSERT_TRUE(among_others.ok()) << among_others.status();
  EXPECT_EQ(among_others->texts[1].language, "fr");
}

TEST(AutoSource, AShortTextInALanguageThatIsNotServedIsInTheLikeliestOneThatIs) {
  for (const char* text : {"De nada", "De nada.", "Adiós", "¿Como estas?"}) {
    const std::vector<DetectedLanguage> guess = DetectLanguages(text);
    ASSERT_FALSE(guess.empty()) << text;
    EXPECT_NE(guess[0].language, "es") << text;
    EXPECT_GT(guess[0].confidence, 0.5f) << text;
    const absl::StatusOr<DetectedSources> sources = DetectAmongFour({text});
    ASSERT_TRUE(sources.ok()) << sources.status();
    EXPECT_EQ(sources->texts[0].language, "es") << text;
    EXPECT_LE(sources->texts[0].confidence, 0.5f) << "no more than a guess: " << text;
    ASSERT_EQ(sources->groups.size(), 1u);
    EXPECT_THAT(sources->groups[0].texts, ElementsAre(0));
  }
}

TEST(AutoSource, AShortTextInOneOfTwoLanguagesIsInThatOfItsNeighbours) {
  const absl::StatusOr<DetectedSources> sources = DetectAmongFour({kFrench, "Go home."});
  ASSERT_TRUE(sources.ok()) << sources.status();
  EXPECT_EQ(sources->texts[1].language, "fr");
  EXPECT_EQ(sources->texts[1].confidence, 0);
}

TEST(AutoSource, AShortTextSurelyInAnotherLanguageIsRefused) {
  for (const char* text : {"Goedemorgen", "Dobrý den", "Спасибо"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(DetectAmongFour({text}).status())) << text;
  }
}

TEST(AutoSource, ALongTextIsNotForcedIntoAServedLanguage) {
  const char* const kPortuguese = "Onde fica a estação mais próxima, por favor?";
  const absl::Status status = DetectAmongFour({kPortuguese}).status();
  EXPECT_THAT(std::string(status.message()), HasSubstr("\"pt\" (detected"));
  ASSERT_EQ(LikeliestAmong(kPortuguese, {"de", "en", "es", "fr"}).size(), 1u);
}

TEST(AutoSource, ALanguageThatIsNotServedIsNamed) {
  const absl::Status status = Detect({kGerman}, "fr").status();
  EXPECT_TRUE(absl::IsInvalidArgument(status));
  EXPECT_EQ(FieldOf(status), "source_language");
  EXPECT_THAT(std::string(status.message()), HasSubstr("\"de\" (detected"));
}

TEST(AutoSource, OneOfSeveralTextsIsNamedByItsIndex) {
  const absl::Status status = Detect({kEnglish, kGerman}, "fr").status();
  EXPECT_THAT(std::string(status.message()), HasSubstr("the text with index 1 is in \"de\""));
}

TEST(AutoSource, AutoIsCaseInsensitive) {
  EXPECT_TRUE(IsAuto("auto"));
  EXPECT_TRUE(IsAuto("AUTO"));
  EXPECT_FALSE(IsAuto(""));
  EXPECT_FALSE(IsAuto("au"));
}

}  // namespace
}  // namespace dragoman
