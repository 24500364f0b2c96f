#include "engine/request/attempts.h"

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/text/numbers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/request/translator_fixture.h"

namespace dragoman::attempts_test {
namespace {

using testing::ElementsAre;

Hypothesis Said(std::vector<int32_t> tokens) {
  Hypothesis said = {.tokens = std::move(tokens)};
  for (size_t i = 0; i <= said.tokens.size(); ++i) {
    said.token_log_probs.push_back(-static_cast<float>(i));
    said.attention.insert(said.attention.end(), {static_cast<float>(i), 0.5f});
  }
  return said;
}

TEST(Attempts, NumbersTakeThePlacesOfTheirStandIns) {
  SentenceReading reading;
  reading.source.resize(2);
  reading.places = {{{7, 8}, {1, 2, 3}}, {{9}, {4}}};
  Hypothesis said = Said({5, 7, 8, 6, 9});
  ASSERT_TRUE(PutNumeralsBack(reading, &said));
  EXPECT_THAT(said.tokens, ElementsAre(5, 1, 2, 3, 6, 4));
  EXPECT_THAT(said.token_log_probs, ElementsAre(0, -1, -1, -2, -3, -4, -5));
  EXPECT_THAT(said.attention, ElementsAre(0, .5, 1, .5, 1, .5, 2, .5, 3, .5, 4, .5, 5, .5));
  EXPECT_EQ(said.log_prob, -16);
  for (Hypothesis bad : {Said({5, 7, 6, 9}), Said({7, 8, 7, 8, 9}), Said({7, 8})}) {
    EXPECT_FALSE(PutNumeralsBack(reading, &bad)) << testing::PrintToString(bad.tokens);
  }
}

// The numbers of a text, without the marks in them, in any order.
std::multiset<std::string> NumbersIn(const std::string& text) {
  std::multiset<std::string> numbers;
  for (const TextSpan span : FindNumerals(text)) {
    std::string numeral = text.substr(span.begin, span.size());
    std::erase_if(numeral, [](char c) { return c < '0' || c > '9'; });
    numbers.insert(numeral);
  }
  return numbers;
}

class NumeralsOfAModelTest : public TranslatorTest {};

// Which copies hardly any number by itself.
TEST_F(NumeralsOfAModelTest, ComeThrough) {
  int all = 0, right = 0, alone = 0;
  for (const std::string pattern : {"The house costs @ euros.", "She has <b>@</b> cats.",
                                    "He sees @ cats and @ dogs.", "Mail %s the @ cats today."}) {
    for (int i = 0; i < 25; ++i) {
      std::string text = pattern;
      for (int n = 1; text.find('@') != text.npos; ++n) {
        std::string number = std::to_string(13 + (i * 7919 + n * 104729) % 86000);
        if (i % 3 == 0 && number.size() > 3) number.insert(number.size() - 3, ",");
        text.replace(text.find('@'), 1, number);
      }
      TranslateRequest request = {.texts = {text}};
      if (text.find('<') != text.npos) request.markup = Markup::kHtml;
      for (const bool keeps : {true, false}) {
        request.keep_literals = keeps;
        const TranslateResponse response = Translate(request);
        ASSERT_TRUE(response.status.ok()) << response.status;
        const std::string& said = response.translations[0].hypotheses[0].text;
        (keeps ? right : alone) += NumbersIn(said) == NumbersIn(text);
      }
      ++all;
    }
  }
  EXPECT_GT(right, all * 9 / 10);
  EXPECT_LT(alone, all / 2);
}

TEST_F(NumeralsOfAModelTest, AreNoWordsBehindASign) {
  for (const char* const text : {"It costs $12.", "The ticket costs $12 today.", "It is £5."}) {
    const std::string said = Translate({.texts = {text}}).translations[0].hypotheses[0].text;
    EXPECT_EQ(NumbersIn(said), NumbersIn(text)) << said;
  }
}

// Its caller may ask for no more than one job.
TEST_F(NumeralsOfAModelTest, AFurtherAttemptAlwaysFindsRoom) {
  int lost = 0;
  for (int i = 0; i < 10; ++i) {
    TranslateRequest request = {
        .texts = {"The house costs " + std::to_string(13013 + i * 7919) + " euros."}};
    const TranslateResponse response = WaitFor([&](std::function<void(TranslateResponse)> done) {
      translator_.Translate(request,
                            std::make_shared<RequestState>(RequestTerms{
                                .principal = std::to_string(i), .quota = {.per_minute = 0.001}}),
                            std::move(done));
    });
    ASSERT_TRUE(response.status.ok()) << response.status;
    EXPECT_EQ(response.translations[0].hypotheses[0].text,
              Translate(request).translations[0].hypotheses[0].text);
    request.keep_literals = false;
    lost += NumbersIn(Translate(request).translations[0].hypotheses[0].text) !=
            NumbersIn(request.texts[0]);
  }
  EXPECT_GT(lost, 0);
}

// One search finds all hypotheses that lack a number; those that have theirs stay, and the best one
// is what it would be alone.
TEST_F(NumeralsOfAModelTest, ComeThroughInSeveralHypotheses) {
  constexpr int kHypotheses = 4;
  int all = 0, right = 0, alone = 0;
  for (int i = 0; i < 40; ++i) {
    const std::string text = "The old teacher sees " + std::to_string(13 + i * 7919 % 86000) +
                             (i % 2 == 0 ? " small houses." : " cats and the dog.");
    TranslateRequest request = {.texts = {text}};
    request.options.beam_size = kHypotheses;
    const TranslateResponse one = Translate(request);
    request.options.num_hypotheses = kHypotheses;
    for (const bool keeps : {true, false}) {
      request.keep_literals = keeps;
      const TranslateResponse response = Translate(request);
      ASSERT_TRUE(response.status.ok()) << response.status;
      std::set<std::vector<int32_t>> distinct;
      float score = 0.0f;
      for (const TranslatedHypothesis& said : response.translations[0].hypotheses) {
        (keeps ? right : alone) += NumbersIn(said.text) == NumbersIn(text);
        all += keeps ? 1 : 0;
        EXPECT_LE(said.score, score);
        score = said.score;
        EXPECT_TRUE(distinct.insert(said.token_ids).second) << said.text;
      }
      EXPECT_EQ(distinct.size(), size_t{kHypotheses});
      if (!keeps) continue;
      EXPECT_EQ(NumbersIn(response.translations[0].hypotheses[0].text),
                NumbersIn(one.translations[0].hypotheses[0].text));
    }
  }
  EXPECT_GT(right, all * 9 / 10);
  EXPECT_LT(alone, all / 2);
}

// A request that takes long is judged on other threads, and gets the same.
TEST_F(NumeralsOfAModelTest, DoNotDependOnTheRequest) {
  WorkerPool pool({.workers = 1, .preparing_threads = 2}, &observer_);
  const Translator other(TrainedModel(), &pool, {.max_texts = 200});
  TranslateRequest all;
  for (int i = 0; i < 200; ++i) {
    all.texts.push_back("He sees " + std::to_string(13 + i * 7919 % 86000) + " cats today.");
  }
  const TranslateResponse together = TranslateAndWait(other, all);
  ASSERT_TRUE(together.status.ok()) << together.status;
  for (size_t i = 0; i < all.texts.size(); i += 7) {
    const TranslateResponse alone = Translate({.texts = {all.texts[i]}});
    EXPECT_EQ(together.translations[i].hypotheses[0].text,
              alone.translations[0].hypotheses[0].text);
    EXPECT_EQ(together.translations[i].hypotheses[0].token_scores,
              alone.translations[0].hypotheses[0].token_scores);
  }
}

}  // namespace
}  // namespace dragoman::attempts_test
