#include "server/api/auto_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <numeric>

#include "absl/synchronization/notification.h"
#include "engine/base/status.h"
#include "engine/decode/worker_pool.h"

namespace dragoman {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A server with models for English and French.
absl::StatusOr<Route> Find(const std::string& source) {
  if (source == "en" || source == "fr" || source.empty()) {
    return Route(std::shared_ptr<const Translator>());
  }
  return InvalidField("source_language", "there is en, fr");
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

TEST(LanguageDetector, NamesLanguagesInEnglish) {
  EXPECT_EQ(EnglishNameOf("de"), "German");
  EXPECT_EQ(EnglishNameOf("zh"), "Chinese");
  EXPECT_EQ(EnglishNameOf("pt-BR"), "Portuguese (BR)");
  EXPECT_EQ(EnglishNameOf("xx"), "xx");
}

TEST(AutoSource, GroupsTheTextsByTheirLanguages) {
  const absl::StatusOr<DetectedSources> sources =
      DetectSources({kFrench, kEnglish, kGerman, "12:30", kFrench}, "de", Find);
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
  const absl::StatusOr<DetectedSources> sources = DetectSources({"12:30", ""}, "de", Find);
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
  const absl::StatusOr<DetectedSources> alone = DetectSources({"Hi."}, "de", Find);
  ASSERT_TRUE(alone.ok()) << alone.status();
  EXPECT_EQ(alone->groups[0].language, "");  // the model's own
  EXPECT_EQ(alone->texts[0].confidence, 0);
  const absl::StatusOr<DetectedSources> among_others = DetectSources({kFrench, "Hi."}, "de", Find);
  ASSERT_TRUE(among_others.ok()) << among_others.status();
  EXPECT_EQ(among_others->texts[1].language, "fr");
}

TEST(AutoSource, ALanguageThatIsNotServedIsNamed) {
  const absl::Status status = DetectSources({kGerman}, "fr", Find).status();
  EXPECT_TRUE(absl::IsInvalidArgument(status));
  EXPECT_EQ(FieldOf(status), "source_language");
  EXPECT_THAT(std::string(status.message()), HasSubstr("\"de\" (detected"));
}

// Counts how sentences end.
struct Ends : NullObserver {
  void OnJobDone(const Job&, const JobResult& result) override {
    ++(absl::IsCancelled(result.status) ? cancelled : others);
  }
  std::atomic<int> cancelled = 0, others = 0;
};

// Translates groups of texts by one small model.
class GroupsTest : public testing::Test {
 protected:
  GroupsTest() {
    auto model = Model::Load("toy", "tests/golden/models/marian-trained", {});
    DRAGOMAN_CHECK(model.ok());
    translator_ = std::make_shared<const Translator>(
        *std::move(model), &pool_, Limits{.max_source_tokens = 20, .max_beam_size = 8});
  }

  SourceGroup Group(const std::string& language, std::vector<size_t> texts) const {
    return {.language = language, .route = Route(translator_), .texts = std::move(texts)};
  }

  // Many long translations, and at last a sentence that is too long.
  TranslateRequest ManyAndOneTooLong() const {
    TranslateRequest request;
    request.texts.assign(64, "The cat is old.");
    request.texts.emplace_back();
    for (int i = 0; i < 50; ++i) request.texts.back() += "cat ";
    request.options.beam_size = 8;
    request.options.min_length = 60;
    request.options.max_length = 61;
    return request;
  }

  TranslateResponse Translate(const std::vector<SourceGroup>& groups,
                              const TranslateRequest& request) {
    TranslateResponse response;
    absl::Notification ended;
    TranslateGroups(groups, request, std::make_shared<RequestState>(absl::InfiniteFuture()),
                    [&](TranslateResponse result) {
                      response = std::move(result);
                      ended.Notify();
                    });
    ended.WaitForNotification();
    return response;
  }

  Ends ends_;
  WorkerPool pool_{{.workers = 1, .max_batch_rows = 32, .kv_capacity_bytes = 64 << 20}, &ends_};
  std::shared_ptr<const Translator> translator_;
};

TEST_F(GroupsTest, AGroupThatIsRefusedEndsThoseThatRun) {
  std::vector<size_t> many(64);
  std::iota(many.begin(), many.end(), 0);
  const TranslateResponse response =
      Translate({Group("", many), Group("", {64})}, ManyAndOneTooLong());
  EXPECT_TRUE(absl::IsInvalidArgument(response.status)) << response.status;
  EXPECT_EQ(FieldOf(response.status), "contents[64]");
  EXPECT_GT(ends_.cancelled, 0);
}

TEST_F(GroupsTest, NothingStartsAfterAGroupWasRefused) {
  std::vector<size_t> many(64);
  std::iota(many.begin(), many.end(), 0);
  const TranslateResponse response =
      Translate({Group("", {64}), Group("", many)}, ManyAndOneTooLong());
  EXPECT_TRUE(absl::IsInvalidArgument(response.status)) << response.status;
  EXPECT_EQ(ends_.cancelled + ends_.others, 0);
}

TEST(AutoSource, AutoIsCaseInsensitive) {
  EXPECT_TRUE(IsAuto("auto"));
  EXPECT_TRUE(IsAuto("AUTO"));
  EXPECT_FALSE(IsAuto(""));
  EXPECT_FALSE(IsAuto("au"));
}

}  // namespace
}  // namespace dragoman
