#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "engine/request/running_request.h"
#include "tests/request/translator_fixture.h"

namespace dragoman::reverse_check_test {
namespace {

constexpr char kText[] =
    "The house is old. The dog is small. I see a man. The book is new. We have time. It is late.";

// The model stands in for that of the other direction: what it says is low, and that is all that
// these tests need.
class ReverseCheckTest : public TranslatorTest {
 protected:
  static TranslateRequest Request() {
    return {.texts = {kText, ""},
            .splitting = Splitting::kSentences,
            .check_literals = true,
            .judge = true};
  }

  // Translates, and checks with a model of these limits.
  TranslateResponse Check(TranslateRequest request, const Limits& limits) {
    const auto by = [&](const Limits& of) {
      return std::make_shared<const Translator>(TrainedModel(), &pool_, of);
    };
    return TranslateAndWait({.groups = {{.language = "", .route = Route(by(limits_)), .texts = {}}},
                             .check = ReverseRoute{.translator = by(limits), .languages = {}}},
                            std::move(request));
  }
};

TEST_F(ReverseCheckTest, EverySentenceIsCheckedAndTheTextIsAsGoodAsTheWorst) {
  const TranslateResponse plain = Translate(Request());
  ASSERT_TRUE(plain.status.ok()) << plain.status;
  // More sentences than a request may have texts.
  const TranslateResponse checked = Check(Request(), limits_);
  ASSERT_TRUE(checked.status.ok()) << checked.status;
  const Translation& before = plain.translations[0];
  const Translation& after = checked.translations[0];
  EXPECT_EQ(after.hypotheses[0].text, before.hypotheses[0].text);
  ASSERT_EQ(after.sentences.size(), 6u);
  float worst = 1.0f;
  for (size_t s = 0; s < after.sentences.size(); ++s) {
    const Quality& quality = *after.sentences[s].quality;
    EXPECT_FALSE(before.sentences[s].quality->reverse_log_prob.has_value());
    ASSERT_TRUE(quality.reverse_log_prob.has_value()) << s;
    EXPECT_LT(*quality.reverse_log_prob, 0.0f);
    worst = std::min(worst, quality.score);
  }
  EXPECT_EQ(after.hypotheses[0].quality->score, worst);
  EXPECT_TRUE(after.hypotheses[0].quality->reverse_log_prob.has_value());
  EXPECT_FALSE(checked.translations[1].hypotheses[0].quality.has_value());  // of no words
}

TEST_F(ReverseCheckTest, GivesWhatAScoreOfTheOtherDirectionGives) {
  TranslateRequest request = Request();
  request.texts = {"The house is old."};
  const Translation checked = Check(request, limits_).translations.at(0);
  const TranslateResponse scored =
      Translate({.texts = {checked.hypotheses[0].text}, .targets = {"The house is old."}});
  const TranslatedHypothesis& back = scored.translations.at(0).hypotheses[0];
  EXPECT_FLOAT_EQ(*checked.hypotheses[0].quality->reverse_log_prob,
                  back.log_prob / static_cast<float>(back.scored_tokens));
}

TEST_F(ReverseCheckTest, TheBoundIsThatOfTheNewScore) {
  TranslateRequest request = Request();
  request.texts = {"The house is old."};
  const float before = Translate(request).translations.at(0).hypotheses[0].quality->score;
  const float after = Check(request, limits_).translations.at(0).hypotheses[0].quality->score;
  ASSERT_NE(before, after);
  request.min_quality = (before + after) / 2;
  EXPECT_EQ(Translate(request).translations.at(0).low_quality, before < after);
  EXPECT_EQ(Check(request, limits_).translations.at(0).low_quality, after < before);
  request.refuse_low_quality = true;
  EXPECT_EQ(Check(request, limits_).status.ok(), before < after);
  request.min_quality = 1.0f;
  const TranslateResponse refused = Check(request, limits_);
  EXPECT_TRUE(absl::IsFailedPrecondition(refused.status)) << refused.status;
  EXPECT_TRUE(refused.translations.empty());
}

TEST_F(ReverseCheckTest, HasItsOwnLimits) {
  const TranslateResponse refused = Check(Request(), {.max_characters = 3});
  EXPECT_TRUE(absl::IsFailedPrecondition(refused.status)) << refused.status;
  EXPECT_NE(refused.status.message().find("in reverse"), std::string::npos) << refused.status;
  EXPECT_TRUE(refused.translations.empty());
}

TEST_F(ReverseCheckTest, WhatHasFailedIsNotChecked) {
  TranslateRequest request = Request();
  request.texts = {};
  const TranslateResponse failed = Check(request, limits_);
  EXPECT_TRUE(absl::IsInvalidArgument(failed.status)) << failed.status;
}

}  // namespace
}  // namespace dragoman::reverse_check_test
