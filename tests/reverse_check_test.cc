#include "engine/request/reverse_check.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "absl/synchronization/notification.h"
#include "tests/translator_fixture.h"

namespace dragoman {
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
            .judge = true,
            .bound_later = true};
  }

  ReverseCheck CheckBy(const Limits& limits) {
    return {.translator = std::make_shared<const Translator>(TrainedModel(), &pool_, limits),
            .sources = {kText, ""}};
  }

  static TranslateResponse Check(ReverseCheck check, TranslateResponse response,
                                 absl::Time deadline = absl::InfiniteFuture()) {
    TranslateResponse checked;
    absl::Notification done;
    CheckInReverse(std::move(check), std::move(response), std::make_shared<RequestState>(deadline),
                   [&](TranslateResponse answer) {
                     checked = std::move(answer);
                     done.Notify();
                   });
    done.WaitForNotification();
    return checked;
  }
};

TEST_F(ReverseCheckTest, EverySentenceIsCheckedAndTheTextIsAsGoodAsTheWorst) {
  const TranslateResponse plain = Translate(Request());
  ASSERT_TRUE(plain.status.ok()) << plain.status;
  // More sentences than a request may have texts.
  const TranslateResponse checked = Check(CheckBy(limits_), plain);
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
  EXPECT_GE(checked.times.decode, plain.times.decode);
}

TEST_F(ReverseCheckTest, GivesWhatAScoreOfTheOtherDirectionGives) {
  TranslateRequest request = Request();
  request.texts = {"The house is old."};
  const TranslateResponse plain = Translate(request);
  ReverseCheck check = CheckBy(limits_);
  check.sources = request.texts;
  const Translation checked = Check(std::move(check), plain).translations.at(0);
  const TranslateResponse scored = Translate(
      {.texts = {plain.translations[0].hypotheses[0].text}, .targets = {"The house is old."}});
  const TranslatedHypothesis& back = scored.translations.at(0).hypotheses[0];
  EXPECT_FLOAT_EQ(*checked.hypotheses[0].quality->reverse_log_prob,
                  back.log_prob / static_cast<float>(back.scored_tokens));
}

TEST_F(ReverseCheckTest, TheBoundIsThatOfTheNewScore) {
  const TranslateResponse plain = Translate(Request());
  EXPECT_FALSE(plain.translations.at(0).low_quality);
  ReverseCheck check = CheckBy(limits_);
  check.min_quality = 1.0f;
  EXPECT_TRUE(Check(check, plain).translations.at(0).low_quality);
  check.refuse_low_quality = true;
  const TranslateResponse refused = Check(check, plain);
  EXPECT_TRUE(absl::IsFailedPrecondition(refused.status)) << refused.status;
  EXPECT_TRUE(refused.translations.empty());
}

TEST_F(ReverseCheckTest, HasTheDeadlineOfTheRequestAndItsOwnLimits) {
  const TranslateResponse plain = Translate(Request());
  const TranslateResponse late = Check(CheckBy(limits_), plain, absl::InfinitePast());
  EXPECT_TRUE(absl::IsDeadlineExceeded(late.status)) << late.status;
  EXPECT_TRUE(late.translations.empty());
  const TranslateResponse refused = Check(CheckBy({.max_characters = 3}), plain);
  EXPECT_TRUE(absl::IsFailedPrecondition(refused.status)) << refused.status;
  EXPECT_NE(refused.status.message().find("in reverse"), std::string::npos) << refused.status;
}

TEST_F(ReverseCheckTest, AFailureStaysAsItIs) {
  TranslateResponse failed;
  failed.status = absl::UnavailableError("no place");
  EXPECT_EQ(Check(CheckBy(limits_), failed).status, failed.status);
}

}  // namespace
}  // namespace dragoman
