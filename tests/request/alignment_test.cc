#include "engine/request/alignment.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/synchronization/notification.h"
#include "engine/request/route.h"
#include "engine/request/translator.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/decode/test_jobs.h"
#include "tests/request/translate_and_wait.h"

namespace dragoman::alignment_test {
namespace {

using ::testing::ElementsAre;
using ::testing::FloatNear;
using ::testing::IsEmpty;

// Makes a token of every word, and with `end` one without text, as the end of a sentence is.
std::vector<AlignedToken> TokensOf(const std::string& text, bool end) {
  std::vector<AlignedToken> tokens;
  for (size_t begin = 0; begin < text.size();) {
    const size_t space = std::min(text.find(' ', begin), text.size());
    tokens.push_back({text.substr(begin, space - begin), {begin, space}});
    begin = space + 1;
  }
  if (end) tokens.push_back({"</s>", {text.size(), text.size()}});
  return tokens;
}

Alignment Align(const std::string& source, const std::string& target, std::vector<float> attention,
                const AlignmentOptions& options = {}) {
  Alignment alignment;
  AppendAlignment(
      {source, target, TokensOf(source, true), TokensOf(target, false), std::move(attention)},
      options, &alignment);
  return alignment;
}

std::vector<std::string> Words(const std::string& source, const std::string& target,
                               const Alignment& alignment) {
  std::vector<std::string> words;
  for (const WordLink& link : alignment.words) {
    words.push_back(source.substr(link.source.begin, link.source.size()) + "-" +
                    target.substr(link.target.begin, link.target.size()));
  }
  return words;
}

TEST(Alignment, LinksEachTargetTokenWithTheLikeliestOfTheText) {
  // The end of the sentence gets most of the last row, as it often does, but is never linked.
  const Alignment alignment =
      Align("the cat", "die Katze da", {0.7f, 0.2f, 0.1f, 0.3f, 0.6f, 0.1f, 0.1f, 0.2f, 0.7f});
  ASSERT_EQ(alignment.points.size(), 3u);
  EXPECT_EQ(alignment.points[0].source, 0);
  EXPECT_EQ(alignment.points[1].source, 1);
  EXPECT_EQ(alignment.points[2].source, 1);
  EXPECT_FLOAT_EQ(alignment.points[2].probability, 0.2f);
  EXPECT_TRUE(alignment.points[0].mutual);
  EXPECT_TRUE(alignment.points[1].mutual);
  EXPECT_FALSE(alignment.points[2].mutual);  // "cat" gets more from "Katze"
  EXPECT_THAT(Words("the cat", "die Katze da", alignment),
              ElementsAre("the-die", "cat-Katze", "cat-da"));
}

TEST(Alignment, TiesGoToTheFirst) {
  const Alignment alignment = Align("the cat", "die Katze", {0.4f, 0.4f, 0.2f, 0.4f, 0.4f, 0.2f});
  EXPECT_THAT(Words("the cat", "die Katze", alignment), ElementsAre("the-die", "the-Katze"));
  EXPECT_TRUE(alignment.points[0].mutual);
  EXPECT_FALSE(alignment.points[1].mutual);
}

TEST(Alignment, AThresholdAddsPoints) {
  const std::vector<float> attention = {0.6f, 0.3f, 0.1f, 0.3f, 0.6f, 0.1f};
  EXPECT_EQ(Align("the cat", "die Katze", attention, {.threshold = 0.3f}).points.size(), 4u);
  EXPECT_EQ(Align("the cat", "die Katze", attention, {.threshold = 0.31f}).points.size(), 2u);
  EXPECT_EQ(Align("the cat", "die Katze", attention, {.threshold = 0.01f}).points.size(), 6u);
}

TEST(Alignment, WordsAreLinkedWhereAnyOfTheirTokensAre) {
  // "apple tree" is linked to "Apfel" and "baum", which are pieces of one word.
  SentenceToAlign sentence{"apple tree",
                           "Apfelbaum",
                           TokensOf("apple tree", true),
                           {{"▁Apfel", {0, 5}}, {"baum", {5, 9}}},
                           {0.8f, 0.1f, 0.1f, 0.1f, 0.9f, 0.0f}};
  Alignment alignment;
  AppendAlignment(sentence, {}, &alignment);
  EXPECT_THAT(Words("apple tree", "Apfelbaum", alignment),
              ElementsAre("apple-Apfelbaum", "tree-Apfelbaum"));
  EXPECT_THAT(alignment.words[0].probability, FloatNear(0.45f, 1e-6f));
  EXPECT_THAT(alignment.words[1].probability, FloatNear(0.5f, 1e-6f));
}

TEST(Alignment, ASourceWithoutTextIsLinkedWithNothing) {
  SentenceToAlign sentence{"", "die", TokensOf("", true), TokensOf("die", false), {1.0f}};
  Alignment alignment;
  AppendAlignment(sentence, {}, &alignment);
  EXPECT_THAT(alignment.points, IsEmpty());
  EXPECT_THAT(alignment.words, IsEmpty());
}

TEST(Alignment, ThroughAThirdLanguageAttentionIsChained) {
  // a b -> x y, crossed; x y -> 1 2 3.
  const Alignment first = Align("a b", "x y", {0.1f, 0.8f, 0.1f, 0.9f, 0.1f, 0.0f});
  const Alignment second =
      Align("x y", "1 2 3", {0.7f, 0.2f, 0.1f, 0.2f, 0.7f, 0.1f, 0.2f, 0.8f, 0.0f});
  const Alignment chained = Chain("a b", "1 2 3", first, second, {});
  EXPECT_THAT(Words("a b", "1 2 3", chained), ElementsAre("b-1", "a-2", "a-3"));
  ASSERT_EQ(chained.attention.size(), 1u);
  // 0.7 x (0.1, 0.8, 0.1) + 0.2 x (0.9, 0.1, 0), and so on.
  EXPECT_THAT(chained.attention[0].probabilities[0], FloatNear(0.25f, 1e-6f));
  EXPECT_THAT(chained.attention[0].probabilities[1], FloatNear(0.58f, 1e-6f));
  EXPECT_EQ(chained.source.size(), first.source.size());
  EXPECT_EQ(chained.target.size(), second.target.size());
}

// --- End to end, with a model
class AlignedTranslationTest : public testing::Test {
 protected:
  AlignedTranslationTest() : pool_({.workers = 1}, &observer_) {}

  TranslateResponse Translate(TranslateRequest request) {
    TranslateResponse response =
        TranslateAndWait(Translator(TrainedModel(), &pool_, Limits()), std::move(request));
    EXPECT_TRUE(response.status.ok()) << response.status;
    return response;
  }

  Observer observer_;
  WorkerPool pool_;
};

void ExpectConsistent(const std::string& source, const Translation& translation) {
  for (const TranslatedHypothesis& hypothesis : translation.hypotheses) {
    const Alignment& alignment = hypothesis.alignment;
    EXPECT_EQ(static_cast<int>(alignment.source.size()), translation.source_tokens);
    ASSERT_EQ(alignment.target.size(), hypothesis.tokens.size());
    size_t end = 0;
    for (size_t t = 0; t < alignment.target.size(); ++t) {
      EXPECT_EQ(alignment.target[t].piece, hypothesis.tokens[t]);
      EXPECT_GE(alignment.target[t].span.begin, end);
      end = alignment.target[t].span.end;
      EXPECT_LE(end, hypothesis.text.size());
    }
    EXPECT_EQ(alignment.points.size(), hypothesis.tokens.size());
    size_t targets = 0;
    for (const AttentionBlock& block : alignment.attention) {
      const auto width = static_cast<size_t>(block.source_end - block.source_begin);
      targets += static_cast<size_t>(block.target_end - block.target_begin);
      ASSERT_EQ(block.probabilities.size(), (block.target_end - block.target_begin) * width);
      for (size_t row = 0; row < block.probabilities.size(); row += width) {
        float sum = 0.0f;
        for (size_t s = 0; s < width; ++s) sum += block.probabilities[row + s];
        EXPECT_NEAR(sum, 1.0f, 1e-5f);
      }
    }
    EXPECT_EQ(targets, alignment.target.size());
    for (const WordLink& link : alignment.words) {
      EXPECT_LT(link.source.begin, link.source.end);
      EXPECT_LE(link.source.end, source.size());
      EXPECT_LT(link.target.begin, link.target.end);
      EXPECT_LE(link.target.end, hypothesis.text.size());
    }
  }
}

// A toy model has learned a toy grammar, whose word order is known.
TEST_F(AlignedTranslationTest, WordsOfAWholeTextAreLinked) {
  const std::string source = "The old teacher sees a small house.  \nAnna buys the red apple.";
  const TranslateResponse response = Translate({.texts = {source, ""},
                                                .options = {.beam_size = 4, .num_hypotheses = 3},
                                                .splitting = Splitting::kSentences,
                                                .alignment = {.wanted = true}});
  ExpectConsistent(source, response.translations[0]);
  const TranslatedHypothesis& best = response.translations[0].hypotheses[0];
  const std::vector<std::string> words = Words(source, best.text, best.alignment);
  for (const char* expected : {"old-alte", "teacher-Lehrer", "sees-sieht", "small-kleines",
                               "house-Haus", "Anna-Anna", "buys-kauft", "red-roten"}) {
    EXPECT_THAT(words, ::testing::Contains(expected));
  }
  EXPECT_EQ(best.alignment.attention.size(), 2u);
  EXPECT_THAT(response.translations[1].hypotheses[0].alignment.points, IsEmpty());
}

TEST_F(AlignedTranslationTest, WithoutTheOptionTheTextIsTheSameAndThereIsNoAlignment) {
  for (const std::string& text : TestSentences()) {
    const TranslateResponse plain = Translate({.texts = {text}});
    const TranslateResponse aligned = Translate({.texts = {text}, .alignment = {.wanted = true}});
    EXPECT_EQ(plain.translations[0].hypotheses[0].text, aligned.translations[0].hypotheses[0].text);
    EXPECT_TRUE(plain.translations[0].hypotheses[0].alignment.target.empty());
    ExpectConsistent(text, aligned.translations[0]);
  }
}

TEST_F(AlignedTranslationTest, ScoringAlignsAsTranslatingDoes) {
  const std::string text = "The old teacher sees a small house.";
  const TranslateResponse found = Translate({.texts = {text}, .alignment = {.wanted = true}});
  const TranslatedHypothesis& best = found.translations[0].hypotheses[0];
  const TranslateResponse scored =
      Translate({.texts = {text}, .alignment = {.wanted = true}, .targets = {best.text}});
  EXPECT_EQ(scored.translations[0].hypotheses[0].alignment.attention[0].probabilities,
            best.alignment.attention[0].probabilities);
}

TEST_F(AlignedTranslationTest, APrefixIsAlignedUnlessItIsHidden) {
  TranslateRequest request = {.texts = {"The old teacher sees a small house."},
                              .target_prefixes = {"Der alte Mann"},
                              .alignment = {.wanted = true}};
  const TranslateResponse shown = Translate(request);
  ExpectConsistent(request.texts[0], shown.translations[0]);
  request.return_prefix = false;
  const TranslateResponse hidden = Translate(request);
  ExpectConsistent(request.texts[0], hidden.translations[0]);
  const TranslatedHypothesis& whole = shown.translations[0].hypotheses[0];
  const TranslatedHypothesis& rest = hidden.translations[0].hypotheses[0];
  EXPECT_THAT(Words(request.texts[0], whole.text, whole.alignment),
              ::testing::Contains("old-alte"));
  const std::vector<float>& all = whole.alignment.attention[0].probabilities;
  const std::vector<float>& tail = rest.alignment.attention[0].probabilities;
  ASSERT_LT(tail.size(), all.size());
  EXPECT_TRUE(std::equal(tail.rbegin(), tail.rend(), all.rbegin()));
}

TEST_F(AlignedTranslationTest, UnknownTokensAreReplacedByTheirSource) {
  TranslateRequest request = {.texts = {"The old 漢字 sees a small house."}};
  // The prefix ends in characters that the model cannot write.
  request.target_prefixes = {"Der alte 漢字"};
  const std::string without = Translate(request).translations[0].hypotheses[0].text;
  request.options.replace_unknowns = true;
  const std::string with = Translate(request).translations[0].hypotheses[0].text;
  EXPECT_EQ(without.find("漢字"), std::string::npos) << without;
  EXPECT_NE(with, without);
}

TEST_F(AlignedTranslationTest, ThroughAThirdLanguageSpansAreThoseOfTheFirstAndTheLast) {
  // The same model is used twice.  Its German is read as English the second time, which does not
  // matter here.
  const auto translator = std::make_shared<Translator>(TrainedModel(), &pool_, Limits());
  const std::string source = "The old teacher sees a small house.";
  const TranslateResponse response = TranslateAndWait(
      Route(translator, "", translator), {.texts = {source}, .alignment = {.wanted = true}});
  ASSERT_TRUE(response.status.ok()) << response.status;
  const TranslatedHypothesis& last = response.translations[0].hypotheses[0];
  EXPECT_EQ(last.alignment.target.size(), last.tokens.size());
  EXPECT_EQ(static_cast<int>(last.alignment.source.size()), response.translations[0].source_tokens);
  ASSERT_FALSE(last.alignment.words.empty());
  for (const WordLink& link : last.alignment.words) {
    EXPECT_LE(link.source.end, source.size());
    EXPECT_LE(link.target.end, last.text.size());
  }
}

}  // namespace
}  // namespace dragoman::alignment_test
