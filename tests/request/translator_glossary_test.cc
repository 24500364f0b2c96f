// Stored glossaries in translations: what is forced, what is left out, and what is told.

#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/request/route.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/request/translator_fixture.h"

namespace dragoman::translator_glossary_test {
namespace {

using ::testing::AnyOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

constexpr char kOldHouse[] = "The old house is small.";

TermLists Stored(std::vector<GlossaryEntry> entries, LanguagePair languages = {}) {
  return {std::make_shared<const TermList>(std::move(entries), "houses", languages)};
}

class TranslatorGlossaryTest : public TranslatorTest {
 protected:
  Translation Translated(TranslateRequest request) {
    TranslateResponse response = Translate(std::move(request));
    EXPECT_TRUE(response.status.ok()) << response.status;
    return response.translations.at(0);
  }
  static std::string TextOf(const Translation& translation) {
    return translation.hypotheses[0].text;
  }
};

TEST_F(TranslatorGlossaryTest, AnyFormOfAStoredTermWillDo) {
  const std::string plain = TextOf(Translated({.texts = {kOldHouse}}));
  ASSERT_THAT(plain, HasSubstr("Haus"));
  // If one of the forms is what the model says by itself, nothing changes.
  TranslateRequest request = {.texts = {kOldHouse}};
  request.words.stored = Stored({{"house", {"Heim", "Haus", "Hauses"}}});
  const Translation kept = Translated(request);
  EXPECT_EQ(TextOf(kept), plain);
  EXPECT_THAT(kept.unmet, IsEmpty());
  request.words.stored_max_loss = 100.0f;
  request.words.stored = Stored({{"house", {"Heim", "Hund"}}});
  const Translation other = Translated(request);
  EXPECT_THAT(TextOf(other), AnyOf(HasSubstr("Heim"), HasSubstr("Hund")));
  EXPECT_THAT(other.unmet, IsEmpty());
}

TEST_F(TranslatorGlossaryTest, ATermThatWouldRuinTheSentenceIsLeftOutAndTold) {
  TranslateRequest request = {.texts = {kOldHouse}};
  request.words.stored = Stored({{"house", {"Lehrer Lehrer Lehrer"}}});
  request.words.stored_max_loss = 0.01f;
  const Translation translation = Translated(request);
  EXPECT_THAT(TextOf(translation), Not(HasSubstr("Lehrer Lehrer")));
  ASSERT_THAT(translation.unmet, SizeIs(1));
  EXPECT_EQ(translation.unmet[0].glossary, "houses");
  EXPECT_EQ(translation.unmet[0].source, "house");
  EXPECT_EQ(translation.unmet[0].span, (TextSpan{8, 13}));
  // The request's own glossary is followed whatever it costs.
  request.words.stored.clear();
  request.words.glossary = {{"house", {"Lehrer Lehrer Lehrer"}}};
  EXPECT_THAT(TextOf(Translated(request)), HasSubstr("Lehrer Lehrer Lehrer"));
  request.words.shared = std::make_shared<SharedGlossary>(std::move(request.words.glossary));
  request.words.glossary.clear();
  EXPECT_THAT(TextOf(Translated(request)), HasSubstr("Lehrer Lehrer Lehrer"));
}

TEST_F(TranslatorGlossaryTest, WhatCannotBeSaidIsTold) {
  TranslateRequest request = {.texts = {"<p>The <b>old</b> house.</p>"}, .markup = Markup::kHtml};
  request.words.stored = Stored({{"house", {"天気"}}});
  const Translation translation = Translated(request);
  ASSERT_THAT(translation.unmet, SizeIs(1));
  EXPECT_EQ(translation.unmet[0].span, (TextSpan{18, 23}));
  // Nor is it searched for by drawing at random, but it may come.
  request = {.texts = {kOldHouse}, .options = {.sampling = true}};
  request.words.stored = Stored({{"house", {"Lehrer"}}});
  EXPECT_THAT(Translated(request).unmet, SizeIs(1));
  request.words.stored = Stored({{"tree", {"Lehrer"}}});
  EXPECT_THAT(Translated(request).unmet, IsEmpty());
}

TEST_F(TranslatorGlossaryTest, AListForOtherLanguagesIsNotUsed) {
  TranslateRequest request = {.texts = {kOldHouse}};
  request.words.stored_max_loss = 100.0f;
  request.words.stored = Stored({{"house", {"Heim"}}}, {"en", "fr"});
  request.source_language = "en";
  request.target_language = "de";
  EXPECT_EQ(TextOf(Translated(request)), TextOf(Translated({.texts = {kOldHouse}})));
  request.words.stored = Stored({{"house", {"Heim"}}}, {"en", "de"});
  EXPECT_THAT(TextOf(Translated(request)), HasSubstr("Heim"));
}

TEST_F(TranslatorGlossaryTest, TheLossThatMayBeHasARange) {
  TranslateRequest request = {.texts = {kOldHouse}};
  for (const float loss : {-0.1f, 101.0f, std::nanf("")}) {
    request.words.stored_max_loss = loss;
    ExpectInvalid(request, "options.glossary_max_loss");
  }
}

TEST_F(TranslatorGlossaryTest, AHundredTermsInASentenceAreAsManyAsFit) {
  std::string text;
  for (int i = 0; i < 12; ++i) text += "cat dog ";
  TranslateRequest request = {.texts = {text}};
  request.words.stored = Stored({{"cat", {"Haus"}}, {"dog", {"Lehrer"}}});
  request.options.max_length = 12;
  EXPECT_TRUE(Translate(request).status.ok());
}

TEST_F(TranslatorGlossaryTest, ATermGoesThroughAThirdLanguage) {
  const auto load = [&](const char* directory) {
    const auto model = Model::Load(directory, directory, ModelOptions());
    EXPECT_TRUE(model.ok()) << model.status();
    return std::make_shared<const Translator>(*model, &pool_, limits_);
  };
  const Route route(load("models/en-de-fr-es"), "en", load("tests/golden/models/en-de"));
  TranslateRequest request = {.texts = {"La vieille maison est petite.", "Le chat dort."},
                              .source_language = "fr",
                              .target_language = "de"};
  request.words.stored_max_loss = 100.0f;
  request.words.stored = Stored({{"maison", {"Hund", "Katze"}}}, {"fr", "de"});
  TranslateResponse response = TranslateAndWait(route, request);
  ASSERT_TRUE(response.status.ok()) << response.status;
  EXPECT_THAT(response.translations[0].hypotheses[0].text,
              AnyOf(HasSubstr("Hund"), HasSubstr("Katze")));
  EXPECT_THAT(response.translations[0].unmet, IsEmpty());
  request.words.stored = Stored({{"maison", {"\U00010330"}}});
  response = TranslateAndWait(route, request);
  ASSERT_TRUE(response.status.ok()) << response.status;
  ASSERT_THAT(response.translations[0].unmet, SizeIs(1));
  EXPECT_EQ(response.translations[0].unmet[0].glossary, "houses");
  EXPECT_EQ(response.translations[0].unmet[0].source, "maison");
  EXPECT_EQ(response.translations[0].unmet[0].span, (TextSpan{11, 17}));
  EXPECT_THAT(response.translations[1].unmet, IsEmpty());
}

}  // namespace
}  // namespace dragoman::translator_glossary_test
