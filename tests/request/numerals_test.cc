#include "engine/request/numerals.h"

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/request/translator_fixture.h"

namespace dragoman::numerals_test {
namespace {

using testing::ElementsAre;

std::vector<std::string> NumeralsIn(const std::string& text) {
  std::vector<std::string> found;
  for (const TextSpan span : FindNumerals(text))
    found.push_back(text.substr(span.begin, span.size()));
  return found;
}

TEST(Numerals, AreNumbersThatStandAlone) {
  EXPECT_THAT(NumeralsIn("At 18:37 on 17/10/2029, 15 000 of 1,000.50 (5%) for $7.30."),
              ElementsAre("18:37", "17/10/2029", "15 000", "1,000.50", "5", "7.30"));
  EXPECT_THAT(NumeralsIn("The 22nd of B2, 1-24 base64, x_1, 1er, no."),
              ElementsAre("22nd", "1-24"));
}

TEST(Numerals, HaveTheFormsOfTheTargetLanguage) {
  const LanguagePair to_german = {"en", "de"}, to_english = {"de", "en"}, to_french = {"de", "fr"};
  EXPECT_THAT(FormsOf("1,000.50", to_german),
              ElementsAre("1,000.50", "1.000,50", "1 000,50", "1000.50"));
  EXPECT_THAT(FormsOf("41,5", to_english), ElementsAre("41,5", "41.5"));
  EXPECT_THAT(FormsOf("41,5", to_french), ElementsAre("41,5"));
  EXPECT_THAT(FormsOf("24", to_german), ElementsAre("24"));
  EXPECT_THAT(FormsOf("18:37", to_french), ElementsAre("18:37", "18.37", "18 h 37", "18h37"));
  EXPECT_THAT(FormsOf("22nd", to_german), ElementsAre("22.", "22", "22nd"));
  EXPECT_THAT(FormsOf("17/10/2029", to_german), ElementsAre("17/10/2029"));
}

Hypothesis Said(std::vector<int32_t> tokens) {
  Hypothesis said = {.tokens = std::move(tokens)};
  for (size_t i = 0; i <= said.tokens.size(); ++i) {
    said.token_log_probs.push_back(-static_cast<float>(i));
    said.attention.insert(said.attention.end(), {static_cast<float>(i), 0.5f});
  }
  return said;
}

TEST(Numerals, TakeThePlacesOfTheirStandIns) {
  NumeralReading reading;
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
  for (std::string numeral : NumeralsIn(text)) {
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

}  // namespace
}  // namespace dragoman::numerals_test
