// What a score of quality is made of, and what is done with it.

#include "engine/request/quality.h"

#include <cmath>
#include <string>
#include <vector>

#include "engine/text/negation.h"
#include "gtest/gtest.h"
#include "tests/request/translator_fixture.h"

namespace dragoman::quality_test {
namespace {

using F = QualityFeature;

float Value(const QualityValues& values, F feature) { return values[static_cast<size_t>(feature)]; }

// "Tom is not here." with four tokens on either side, one for each word.
struct Example {
  std::string source = "Tom is not here", target = "Tom ist nicht hier";
  std::vector<float> log_probs = {-0.1f, -0.2f, -0.3f, -0.4f, 0.0f};
  std::vector<float> margins = {0.0f, 0.0f, 0.0f, -0.1f, 0.0f};
  std::vector<TextSpan> source_tokens = {{0, 3}, {4, 6}, {7, 10}, {11, 15}, {15, 15}};
  std::vector<TextSpan> target_tokens = {{0, 3}, {4, 7}, {8, 13}, {14, 18}};
  std::vector<float> attention = {1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0};
  LanguagePair languages = {"en", "de"};
  int literal_faults = 0;
  bool changes_literal = false;
  bool ends = true;

  JudgedSentence Judged() const {
    return {.source = source,
            .target = target,
            .languages = languages,
            .log_probs = log_probs,
            .margins = margins,
            .ends = ends,
            .source_tokens = source_tokens,
            .target_tokens = target_tokens,
            .attention = attention,
            .literal_faults = literal_faults,
            .changes_literal = changes_literal};
  }
  float Get(F feature) const { return Value(QualityValuesOf(Judged()), feature); }
};

TEST(Quality, KnowsTheProbabilitiesOfTheTokens) {
  Example example;
  EXPECT_FLOAT_EQ(example.Get(F::kMeanLogProb), -0.2f);
  EXPECT_FLOAT_EQ(example.Get(F::kMinLogProb), -0.4f);
  example.log_probs[1] = -100.0f;  // one token is not worth more than that
  EXPECT_FLOAT_EQ(example.Get(F::kMinLogProb), -12.0f);
  EXPECT_FLOAT_EQ(example.Get(F::kMeanLogProb), -6.0f);
}

TEST(Quality, KnowsHowFarTokensAreBehindTheBest) {
  Example example;
  example.margins = {0.0f, -0.2f, -9.0f, 0.0f, -5.0f};
  EXPECT_FLOAT_EQ(example.Get(F::kMeanMargin), -14.2f / 5);
  EXPECT_FLOAT_EQ(example.Get(F::kMinMargin), -9.0f);
  EXPECT_FLOAT_EQ(example.Get(F::kWorstMargins), -14.2f / 3);
  EXPECT_FLOAT_EQ(example.Get(F::kFarBehind), 0.4f);
  EXPECT_FLOAT_EQ(example.Get(F::kEndMargin), -5.0f);
}

TEST(Quality, AFullStopThatCameTooEarlyIsATooEarlyEnd) {
  Example example;
  example.margins = {0.0f, -0.2f, 0.0f, -7.0f, -1.0f};
  EXPECT_FLOAT_EQ(example.Get(F::kEndMargin), -1.0f);
  example.target = "Tom ist nicht...";
  example.target_tokens = {{0, 3}, {4, 13}, {13, 14}, {14, 16}};
  EXPECT_FLOAT_EQ(example.Get(F::kEndMargin), -7.0f);
  example.margins = {0.0f, -9.0f, -8.0f, 0.0f, -1.0f};
  EXPECT_FLOAT_EQ(example.Get(F::kEndMargin), -8.0f);
  example.target_tokens.erase(example.target_tokens.begin());  // fewer than margins: a cut text
  EXPECT_FLOAT_EQ(example.Get(F::kEndMargin), -8.0f);
  example.ends = false;
  EXPECT_FLOAT_EQ(example.Get(F::kEndMargin), 0.0f);
}

TEST(Quality, SeesWhatNobodyLookedAt) {
  Example example;
  EXPECT_FLOAT_EQ(example.Get(F::kUncovered), 0.0f);
  EXPECT_FLOAT_EQ(example.Get(F::kUnseenRun), 0.0f);
  // The third and fourth source tokens get nothing; the end, which has no text, does not count.
  example.attention = {1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1};
  EXPECT_FLOAT_EQ(example.Get(F::kUncovered), 0.5f);
  EXPECT_FLOAT_EQ(example.Get(F::kUnseenRun), 0.5f);
  example.attention.clear();  // a network that does not tell
  EXPECT_FLOAT_EQ(example.Get(F::kUncovered), 0.0f);
}

TEST(Quality, ComparesTheLengths) {
  Example example;
  EXPECT_FLOAT_EQ(example.Get(F::kFewTokens), 0.0f);
  example.target_tokens.resize(1);
  example.target = "Tom";
  EXPECT_FLOAT_EQ(example.Get(F::kFewTokens), std::log(6.0f / 3));
  EXPECT_FLOAT_EQ(example.Get(F::kManyTokens), 0.0f);
  EXPECT_FLOAT_EQ(example.Get(F::kFewLetters), 0.4f);  // no matter how much less
  EXPECT_FLOAT_EQ(example.Get(F::kFewWords), std::log(5.0f / 2));
  example.target = "Tom ist jetzt nicht hier im Haus";
  EXPECT_FLOAT_EQ(example.Get(F::kManyLetters), std::log(40.0f / 23));
  EXPECT_FLOAT_EQ(example.Get(F::kManyWords), std::log(8.0f / 5));
  EXPECT_FLOAT_EQ(example.Get(F::kFewLetters), 0.0f);
  example.target = "Tom is not hier";  // as many letters are fewer than usual
  EXPECT_FLOAT_EQ(example.Get(F::kFewLetters), 0.1f);
  example.target = "Tom ist hier";
  EXPECT_FLOAT_EQ(example.Get(F::kFewLetters), 0.1f + std::log(23.0f / 20));
  example.target = "トムはここにいない";  // whose characters say more each
  EXPECT_FLOAT_EQ(example.Get(F::kFewLetters), 0.0f);
  EXPECT_FLOAT_EQ(example.Get(F::kFewWords), 0.0f);
}

TEST(Quality, SeesALostNegation) {
  Example example;
  EXPECT_FLOAT_EQ(example.Get(F::kNegationLost), 0.0f);
  example.target = "Tom ist genau hier";
  EXPECT_FLOAT_EQ(example.Get(F::kNegationLost), 1.0f);
  example.source = "Tom is now here";
  EXPECT_FLOAT_EQ(example.Get(F::kNegationLost), 0.0f);
  example.target = "Tom ist nicht hier";
  EXPECT_FLOAT_EQ(example.Get(F::kNegationAdded), 1.0f);
  example.languages.target = "tlh";  // whose words are not known
  EXPECT_FLOAT_EQ(example.Get(F::kNegationAdded), 0.0f);
}

TEST(Quality, SeesAnotherLanguage) {
  Example example;
  example.target = "Le chat noir dort sous la grande table de la cuisine.";
  EXPECT_GT(example.Get(F::kOtherLanguage), 0.5f);
  example.languages.target = "fr";
  EXPECT_FLOAT_EQ(example.Get(F::kOtherLanguage), 0.0f);
}

TEST(Quality, ComparesTheWords) {
  Example example;
  example.source = "Yesterday Maria went home";
  example.target = "Gestern ging nach home nach home";
  EXPECT_FLOAT_EQ(example.Get(F::kCopied), 2.0f / 5);
  EXPECT_FLOAT_EQ(example.Get(F::kRepeated), 1.0f / 6);
}

TEST(Quality, CountsFaultsOfLiterals) {
  Example example;
  example.literal_faults = 5;
  EXPECT_FLOAT_EQ(example.Get(F::kLiterals), 3.0f);
  EXPECT_FLOAT_EQ(example.Get(F::kChangedNumber), 0.0f);
  example.changes_literal = true;
  EXPECT_FLOAT_EQ(example.Get(F::kChangedNumber), 1.0f);
}

TEST(Quality, TheScoreIsTheLogisticFunctionOfTheWeighedValues) {
  for (const bool checked : {false, true}) {
    Quality quality;
    if (checked) quality.reverse_log_prob = -1.0f;
    const float none = QualityScore(quality.values, checked);
    const float bias = std::log(none / (1.0f - none));
    quality.values[static_cast<size_t>(F::kMinMargin)] = -2.0f;
    quality.values[static_cast<size_t>(F::kLiterals)] = 1.0f;
    const float sum =
        bias + WeighedValue(F::kMinMargin, quality) + WeighedValue(F::kLiterals, quality);
    EXPECT_NEAR(QualityScore(quality.values, checked), 1.0f / (1.0f + std::exp(-sum)), 1e-5f);
  }
  EXPECT_EQ(NameOf(F::kMeanLogProb), "mean_log_prob");
  EXPECT_EQ(NameOf(F::kLogTokens), "log_tokens");
}

TEST(Quality, WhatTheOtherDirectionSaysCounts) {
  Example example;
  Quality quality = Judge(example.Judged());
  EXPECT_FALSE(quality.reverse_log_prob.has_value());
  EXPECT_EQ(Value(quality.values, F::kReverseMinMargin), 0.0f);
  Example back;
  back.margins = {0.0f, -0.5f, 0.0f, 0.0f, 0.0f};
  AddReverse(QualityValuesOf(back.Judged()), -0.2f, &quality);
  const float likely = quality.score;
  EXPECT_EQ(quality.reverse_log_prob, -0.2f);
  EXPECT_FLOAT_EQ(Value(quality.values, F::kReverseMinMargin), -0.5f);
  EXPECT_LT(WeighedValue(F::kReverseMinMargin, quality), 0.0f);
  back.margins = {-9.0f, -9.0f, -9.0f, 0.0f, 0.0f};
  back.log_probs = {-9.0f, -9.0f, -9.0f, 0.0f, 0.0f};
  AddReverse(QualityValuesOf(back.Judged()), -5.4f, &quality);
  EXPECT_LT(quality.score, likely);
}

TEST(Quality, AWordIsDoubtfulIfOneOfItsTokensIs) {
  Example example;
  EXPECT_TRUE(Judge(example.Judged()).doubtful.empty());
  example.target_tokens = {{0, 3}, {4, 7}, {8, 10}, {10, 18}};  // nicht = ni + cht hier
  example.target = "Tom ist nichthier";
  example.target_tokens[3] = {10, 17};
  example.log_probs[3] = -4.0f;
  const Quality quality = Judge(example.Judged());
  ASSERT_EQ(quality.doubtful.size(), 1u);
  EXPECT_EQ(quality.doubtful[0].span, (TextSpan{8, 17}));
  EXPECT_NEAR(quality.doubtful[0].probability, std::exp(-4.0f), 1e-6f);
}

TEST(Negation, IsAWordOfTheLanguage) {
  EXPECT_EQ(SaysNo("I don’t know.", "en"), true);
  EXPECT_EQ(SaysNo("I know.", "eng"), false);
  EXPECT_EQ(SaysNo("Il n'est pas là.", "fr"), true);
  EXPECT_EQ(SaysNo("Nie wieder!", "de"), true);
  EXPECT_EQ(SaysNo("No lo sé.", "es_XX"), true);
  EXPECT_EQ(SaysNo("Não sei.", "pt"), std::nullopt);
}

class QualityOfTranslations : public TranslatorTest {
 protected:
  const std::string sound_ = "Der alte Lehrer sieht ein kleines Haus.";
  TranslateRequest Scored(const std::string& target) const {
    return {.texts = {"The old teacher sees a small house."},
            .targets = {target},
            .check_literals = true,
            .judge = true};
  }
};

TEST_F(QualityOfTranslations, AFaultLowersTheScoreOfAGivenTranslation) {
  const auto score = [&](const std::string& target) {
    const TranslateResponse response = Translate(Scored(target));
    EXPECT_TRUE(response.status.ok()) << response.status;
    return response.translations.at(0).hypotheses.at(0).quality.value();
  };
  const Quality sound = score(sound_);
  EXPECT_TRUE(sound.doubtful.empty());
  for (const char* const faulty :
       {"Der alte Lehrer sieht.", "Der alte Hund sieht ein kleines Haus.",
        "Der alte Lehrer sieht ein kleines Haus und einen Apfel."}) {
    EXPECT_LT(score(faulty).score, sound.score) << faulty;
  }
  const Quality changed = score("Der alte Hund sieht ein kleines Haus.");
  ASSERT_FALSE(changed.doubtful.empty());
  EXPECT_EQ(changed.doubtful[0].span, (TextSpan{9, 13}));
}

// What is translated greedily is judged as if it had been given.
TEST_F(QualityOfTranslations, ATranslationIsJudgedAsIfItWereGiven) {
  TranslateRequest request = {
      .texts = {"The old teacher sees a small house."}, .check_literals = true, .judge = true};
  for (const int beam_size : {1, 4}) {
    request.options.beam_size = beam_size;
    const TranslatedHypothesis found = Translate(request).translations.at(0).hypotheses.at(0);
    ASSERT_EQ(found.text, sound_);
    const TranslatedHypothesis given = Translate(Scored(sound_)).translations.at(0).hypotheses[0];
    for (size_t i = 0; i < kQualityFeatures; ++i) {
      EXPECT_NEAR(found.quality->values[i], given.quality->values[i], 1e-5f)
          << NameOf(static_cast<F>(i)) << ", beam " << beam_size;
    }
  }
}

TEST_F(QualityOfTranslations, ATextIsAsGoodAsItsWorstSentence) {
  TranslateRequest request = {
      .texts = {"The old teacher sees a small house. Qwrt zzkj plmx. The cat is old."},
      .splitting = Splitting::kSentences,
      .check_literals = true,
      .judge = true};
  const TranslateResponse response = Translate(request);
  ASSERT_TRUE(response.status.ok()) << response.status;
  const Translation& translation = response.translations[0];
  ASSERT_EQ(translation.sentences.size(), 3u);
  float worst = 1.0f;
  for (const SentencePair& pair : translation.sentences) {
    ASSERT_TRUE(pair.quality.has_value());
    worst = std::min(worst, pair.quality->score);
  }
  EXPECT_EQ(translation.hypotheses[0].quality->score, worst);
  EXPECT_LT(translation.sentences[1].quality->score, translation.sentences[0].quality->score);
}

TEST_F(QualityOfTranslations, WhoDoesNotAskIsNotJudgedAndGetsTheSameText) {
  TranslateRequest request = {.texts = {"The old teacher sees a small house."}};
  const TranslatedHypothesis plain = Translate(request).translations.at(0).hypotheses.at(0);
  EXPECT_FALSE(plain.quality.has_value());
  request.judge = request.check_literals = true;
  const TranslatedHypothesis judged = Translate(request).translations.at(0).hypotheses.at(0);
  EXPECT_TRUE(judged.quality.has_value());
  EXPECT_EQ(judged.text, plain.text);
  EXPECT_EQ(judged.token_scores, plain.token_scores);
}

TEST_F(QualityOfTranslations, ALowQualityIsMarkedOrRefused) {
  TranslateRequest request = {.texts = {"The old teacher sees a small house.", ""}};
  const TranslatedHypothesis best = [&] {
    TranslateRequest judged = request;
    judged.judge = judged.check_literals = true;
    return Translate(judged).translations.at(0).hypotheses.at(0);
  }();
  const float score = best.quality->score;
  request.min_quality = score;
  EXPECT_FALSE(Translate(request).translations.at(0).low_quality);
  request.min_quality = std::nextafter(score, 2.0f);
  TranslateResponse response = Translate(request);
  ASSERT_TRUE(response.status.ok()) << response.status;
  EXPECT_TRUE(response.translations[0].low_quality);
  EXPECT_FALSE(response.translations[1].low_quality);  // there is nothing to judge
  EXPECT_EQ(response.translations[0].hypotheses[0].text, best.text);

  request.refuse_low_quality = true;
  response = Translate(request);
  EXPECT_TRUE(absl::IsFailedPrecondition(response.status)) << response.status;
  EXPECT_NE(response.status.message().find("contents[0]"), absl::string_view::npos);
  EXPECT_TRUE(response.translations.empty());

  for (const float bad : {-0.1f, 1.1f, std::nanf("")}) {
    request.min_quality = bad;
    ExpectInvalid(request, "min_quality");
  }
}

TEST_F(QualityOfTranslations, AStreamIsRefusedAtTheEndOfTheText) {
  TranslateRequest request = {.texts = {"The old teacher sees a small house."},
                              .min_quality = 1.0f,
                              .refuse_low_quality = true};
  absl::Notification done;
  TranslateResponse last;
  int translations = 0;
  translator_.Translate(
      request, std::make_shared<RequestState>(absl::InfiniteFuture()),
      [&](TranslateResponse response) {
        last = std::move(response);
        done.Notify();
      },
      [&](TranslateProgress progress) { translations += progress.translation.has_value(); });
  done.WaitForNotification();
  EXPECT_TRUE(absl::IsFailedPrecondition(last.status)) << last.status;
  EXPECT_EQ(translations, 0);
}

}  // namespace
}  // namespace dragoman::quality_test
