// What a translator reports while a translation is in progress.

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "engine/request/translator.h"
#include "gtest/gtest.h"
#include "tests/request/translator_fixture.h"

namespace dragoman::translator_stream_test {
namespace {

// What the observer of a request is told while the request runs; checks the order.
struct Told {
  std::vector<std::string> texts;  // the stable text of each content, concatenated
  std::vector<Translation> translations;
  std::vector<FinishedSentence> sentences;
  int news = 0;
  TranslateResponse last;
};

Told Stream(const Translator& translator, const TranslateRequest& request) {
  Told told;
  told.texts.resize(request.texts.size());
  absl::Notification done;
  const auto on_progress = [&](TranslateProgress progress) {
    EXPECT_FALSE(done.HasBeenNotified());
    EXPECT_EQ(progress.text, told.translations.size()) << "out of order";
    ++told.news;
    told.texts[progress.text] += progress.stable_text;
    if (progress.sentence.has_value()) told.sentences.push_back(*std::move(progress.sentence));
    if (progress.translation.has_value()) {
      told.translations.push_back(*std::move(progress.translation));
    }
  };
  translator.Translate(
      request, std::make_shared<RequestState>(absl::InfiniteFuture()),
      [&](TranslateResponse response) {
        told.last = std::move(response);
        done.Notify();
      },
      on_progress);
  done.WaitForNotification();
  return told;
}

TEST_F(TranslatorTest, ReportsOnTheWayWhatItReturnsInTheEnd) {
  TranslateRequest request = {
      .texts = {" The old teacher sees a small house.  The cat is old.\n\nAnna buys the red apple "
                "today! ",
                "", "The bridge is not expensive!"},
      .splitting = Splitting::kSentences};
  for (const int beam_size : {1, 2, 5}) {
    for (const bool consensus : {false, true}) {
      request.options.beam_size = beam_size;
      request.options.num_hypotheses = std::min(beam_size, 2);
      request.options.mbr_candidates.reset();
      if (consensus) request.options.mbr_candidates = beam_size;
      const TranslateResponse whole = Translate(request);
      ASSERT_TRUE(whole.status.ok()) << whole.status;
      const Told told = Stream(translator_, request);
      ASSERT_TRUE(told.last.status.ok()) << told.last.status;
      EXPECT_TRUE(told.last.translations.empty());
      ASSERT_EQ(told.translations.size(), 3u);
      size_t sentence = 0;
      for (size_t t = 0; t < 3; ++t) {
        const Translation& translation = whole.translations[t];
        EXPECT_EQ(told.texts[t], translation.hypotheses[0].text);
        ASSERT_EQ(told.translations[t].hypotheses.size(), translation.hypotheses.size());
        for (size_t h = 0; h < translation.hypotheses.size(); ++h) {
          EXPECT_EQ(told.translations[t].hypotheses[h].text, translation.hypotheses[h].text);
          EXPECT_EQ(told.translations[t].hypotheses[h].score, translation.hypotheses[h].score);
        }
        for (size_t i = 0; i < translation.sentences.size(); ++i, ++sentence) {
          ASSERT_LT(sentence, told.sentences.size());
          const FinishedSentence& found = told.sentences[sentence];
          EXPECT_EQ(found.index, i);
          EXPECT_EQ(found.of, translation.sentences.size());
          EXPECT_EQ(found.source_span, translation.sentences[i].source);
          EXPECT_EQ(found.target_span, translation.sentences[i].target);
          EXPECT_EQ(found.target,
                    told.texts[t].substr(found.target_span.begin,
                                         found.target_span.end - found.target_span.begin));
        }
      }
      EXPECT_EQ(sentence, told.sentences.size());
      EXPECT_GE(told.news, beam_size == 1 ? 11 : 8) << "sentences and texts, and words before";
    }
  }
}

TEST_F(TranslatorTest, ReportsNothingOfAHiddenPrefix) {
  TranslateRequest request = {.texts = {"The old teacher sees a small house."},
                              .target_prefixes = {"Der alte"},
                              .return_prefix = false};
  request.options.beam_size = 1;
  const Told told = Stream(translator_, request);
  ASSERT_TRUE(told.last.status.ok()) << told.last.status;
  EXPECT_EQ(told.texts[0], "Lehrer sieht ein kleines Haus.");
}

TEST_F(TranslatorTest, EndsAStreamWithItsError) {
  TranslateRequest request = {.texts = {"", "The cat is old."}};
  request.options.beam_size = 17;
  EXPECT_TRUE(absl::IsInvalidArgument(Stream(translator_, request).last.status));
  const auto state = std::make_shared<RequestState>(absl::InfiniteFuture());
  state->Cancel(absl::Now());
  absl::Notification done;
  translator_.Translate(
      {.texts = {"The cat is old."}}, state,
      [&](const TranslateResponse& response) {
        EXPECT_TRUE(absl::IsCancelled(response.status));
        done.Notify();
      },
      [](const TranslateProgress&) {});
  done.WaitForNotification();
}

}  // namespace
}  // namespace dragoman::translator_stream_test
