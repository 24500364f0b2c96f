// Translation memories: what they learn, and what the translator does with what they have.

#include "engine/memory.h"

#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "engine/repair.h"
#include "engine/route.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/translator_fixture.h"

namespace dragoman::memory_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

SegmentQuery Query(const std::string& source) { return SegmentQuery(source, "", ""); }

TEST(TranslationMemory, WhatItLearnsTakesThePlaceOfTheSameSentence) {
  const TranslationMemory empty("m", {});
  EXPECT_EQ(empty.size(), 0u);
  EXPECT_FALSE(empty.Find(Query("One."), 75).has_value());
  const TranslationMemory first = empty.Learn({{"One.", "Eins."}, {"Two.", "Zwo."}}, 1);
  const TranslationMemory second = first.Learn({{"Two.", "2", "One.", ""}, {" Two. ", "Zwei."}}, 2);
  EXPECT_EQ(second.version(), 2);
  EXPECT_EQ(first.size(), 2u);
  EXPECT_EQ(second.size(), 3u);  // one is in a context
  EXPECT_EQ(first.Find(Query("Two."), 75)->segment.target, "Zwo.");
  EXPECT_EQ(second.Find(Query("Two."), 75)->segment.target, "Zwei.");
  EXPECT_EQ(second.Find(SegmentQuery("Two.", "One.", ""), 75)->segment.target, "2");
  EXPECT_EQ(second.Find(Query("One."), 75)->segment.target, "Eins.");
}

TEST(TranslationMemory, LearningOneByOneOrAtOnceIsTheSame) {
  std::mt19937 random(3);
  std::vector<MemorySegment> all;
  TranslationMemory grown("m", {});
  for (int i = 0; i < 300; ++i) {
    const MemorySegment segment = {absl::StrCat("Number ", random() % 200, "."), absl::StrCat(i)};
    all.push_back(segment);
    grown = grown.Learn({segment}, i);
  }
  const TranslationMemory whole = TranslationMemory("m", {}).Learn(all, 1);
  EXPECT_EQ(grown.size(), whole.size());
  EXPECT_EQ(grown.Segments(0, 1000), whole.Segments(0, 1000));
  EXPECT_EQ(whole.Segments(0, 1000).size(), whole.size());
  std::vector<MemorySegment> pages;
  for (size_t start = 0; start < grown.size(); start += 7) {
    for (MemorySegment& segment : grown.Segments(start, 7)) pages.push_back(std::move(segment));
  }
  EXPECT_EQ(pages, whole.Segments(0, 1000));
  for (int i = 0; i < 200; ++i) {
    const SegmentQuery query = Query(absl::StrCat("Number ", i, "."));
    const auto a = grown.Find(query, 100), b = whole.Find(query, 100);
    ASSERT_EQ(a.has_value(), b.has_value()) << i;
    if (!a.has_value()) continue;
    EXPECT_EQ(a->segment, b->segment);
  }
}

TEST(TranslationMemory, IsForItsLanguages) {
  const auto memory = [](const char* id, LanguagePair languages, const char* target) {
    return std::make_shared<const TranslationMemory>(
        TranslationMemory(id, std::move(languages)).Learn({{"One.", target}}, 4));
  };
  const std::vector<MemoryPtr> memories = {memory("fr", {"en", "fr"}, "Un."),
                                           memory("de", {"en", "de"}, "Eins."),
                                           memory("any", {}, "1")};
  const auto match = FindInMemories(memories, {"en", "de-AT"}, Query("One."), 75);
  ASSERT_TRUE(match.has_value());
  EXPECT_EQ(match->memory, "de");  // of equal matches, that of the earlier memory
  EXPECT_EQ(match->version, 4);
  EXPECT_EQ(match->kind, MemoryMatch::kExact);
  EXPECT_EQ(FindInMemories(memories, {"es", "de"}, Query("One."), 75)->memory, "any");
}

TEST(ChangedTokens, AreThoseOfWordsThatTheStoredSentenceLacks) {
  const std::string sentence = "It costs 45 euros today.";
  const std::vector<TextSpan> tokens = {{0, 2},   {3, 8},   {9, 10},  {10, 11},
                                        {12, 17}, {18, 23}, {23, 24}, {0, 0}};
  EXPECT_THAT(ChangedTokens("It costs 30 euros today.", sentence, tokens),
              ElementsAre(0, 0, 1, 1, 0, 0, 0, 0));
  EXPECT_THAT(ChangedTokens("It costs 45 euros.", sentence, tokens),
              ElementsAre(0, 0, 0, 0, 0, 1, 0, 0));
}

class TranslatorMemoryTest : public TranslatorTest {
 protected:
  static std::vector<MemoryPtr> Stored(std::vector<MemorySegment> segments) {
    return {std::make_shared<const TranslationMemory>(
        TranslationMemory("houses", {"en", "de"}).Learn(std::move(segments), 7))};
  }
  TranslateResponse With(const std::string& text, std::vector<MemorySegment> segments,
                         DecodingOptions options = {}) {
    TranslateRequest request = {.texts = {text}, .options = options};
    request.splitting = Splitting::kSentences;
    request.memories = Stored(std::move(segments));
    TranslateResponse response = Translate(std::move(request));
    EXPECT_TRUE(response.status.ok()) << response.status;
    return response;
  }
  std::string Plain(const std::string& text) {
    return Translate({.texts = {text}}).translations.at(0).hypotheses[0].text;
  }
  static std::string TextOf(const TranslateResponse& response) {
    return response.translations.at(0).hypotheses[0].text;
  }
};

TEST_F(TranslatorMemoryTest, TheSameSentenceIsAnsweredWithoutTheModel) {
  const TranslateResponse response =
      With("The old house is small.", {{"The old house is small.", "STORED"}});
  EXPECT_EQ(TextOf(response), "STORED");
  EXPECT_EQ(response.times.steps, 0);
  const std::vector<MemoryMatch>& matches = response.translations[0].matches;
  ASSERT_THAT(matches, SizeIs(1));
  EXPECT_EQ(matches[0].memory, "houses");
  EXPECT_EQ(matches[0].version, 7);
  EXPECT_EQ(matches[0].percent, 100);
  EXPECT_EQ(matches[0].kind, MemoryMatch::kExact);
  EXPECT_EQ(matches[0].span, (TextSpan{0, 23}));
}

TEST_F(TranslatorMemoryTest, EachSentenceOfATextIsLookedUpWithThoseAroundIt) {
  const std::vector<MemorySegment> segments = {
      {"The old house is small.", "A"},
      {"The old house is small.", "B", "The cat sleeps.", "The dog sleeps."}};
  const std::string text = "The cat sleeps. The old house is small. The dog sleeps.";
  const TranslateResponse response = With(text, segments);
  EXPECT_EQ(TextOf(response), Plain("The cat sleeps.") + " B " + Plain("The dog sleeps."));
  ASSERT_THAT(response.translations[0].matches, SizeIs(1));
  EXPECT_EQ(response.translations[0].matches[0].kind, MemoryMatch::kContext);
  EXPECT_EQ(response.translations[0].matches[0].span, (TextSpan{16, 39}));
  EXPECT_EQ(response.translations[0].sentences[1].target.size(), 1u);
}

TEST_F(TranslatorMemoryTest, NothingChangesWhereNothingMatches) {
  for (const int beam : {1, 4}) {
    const DecodingOptions options = {.beam_size = beam};
    const TranslateResponse plain =
        Translate({.texts = {"The old house is small."}, .options = options});
    const TranslateResponse response =
        With("The old house is small.", {{"A cat and a dog.", "x"}}, options);
    EXPECT_EQ(TextOf(response), plain.translations[0].hypotheses[0].text);
    EXPECT_EQ(response.times.steps, plain.times.steps);
    EXPECT_THAT(response.translations[0].matches, IsEmpty());
  }
}

TEST_F(TranslatorMemoryTest, ASimilarSentenceIsRepaired) {
  const std::string old = "The old house is small.", changed = "The old house is big.";
  const std::string target = Plain(old);
  for (const int beam : {1, 4}) {
    const DecodingOptions options = {.beam_size = beam};
    const TranslateResponse plain = Translate({.texts = {changed}, .options = options});
    const TranslateResponse response = With(changed, {{old, target}}, options);
    ASSERT_THAT(response.translations[0].matches, SizeIs(1));
    EXPECT_EQ(response.translations[0].matches[0].kind, MemoryMatch::kRepaired);
    EXPECT_EQ(response.translations[0].matches[0].percent, 83);
    EXPECT_LT(response.times.steps, plain.times.steps);
    EXPECT_GT(response.times.kept, 0);
    EXPECT_NE(TextOf(response), target);
  }
}

TEST_F(TranslatorMemoryTest, AStoredTargetThatIsNoTranslationIsLeftAlone) {
  const std::string changed = "The old house is big.";
  for (const int beam : {1, 4}) {
    const DecodingOptions options = {.beam_size = beam};
    const TranslateResponse plain = Translate({.texts = {changed}, .options = options});
    const TranslateResponse response = With(
        changed, {{"The old house is small.", "Der Hund. Hund Hund Katze Katze Lehrer"}}, options);
    EXPECT_EQ(TextOf(response), plain.translations[0].hypotheses[0].text) << beam;
    EXPECT_THAT(response.translations[0].matches, SizeIs(1));
  }
}

TEST_F(TranslatorMemoryTest, WhatAMemoryCannotAnswerIsTranslated) {
  const std::string text = "The old house is small.";
  const std::vector<MemorySegment> segments = {{text, "STORED"}};
  TranslateRequest several = {.texts = {text}, .options = {.beam_size = 4, .num_hypotheses = 2}};
  TranslateRequest aligned = {.texts = {text}};
  aligned.alignment.wanted = true;
  TranslateRequest prefixed = {.texts = {text}, .target_prefixes = {"Das"}};
  TranslateRequest scored = {.texts = {text}, .targets = {"Das alte Haus ist klein."}};
  for (TranslateRequest* request : {&several, &aligned, &prefixed, &scored}) {
    TranslateRequest plain = *request;
    request->memories = Stored(segments);
    const TranslateResponse with = Translate(std::move(*request)),
                            without = Translate(std::move(plain));
    ASSERT_TRUE(with.status.ok()) << with.status;
    EXPECT_NE(TextOf(with), "STORED");
    EXPECT_EQ(with.translations[0].hypotheses.size(), without.translations[0].hypotheses.size());
  }
  TranslateRequest wrong = {.texts = {text}};
  wrong.memory_threshold = 49;
  ExpectInvalid(wrong, "memory_threshold");
}

TEST_F(TranslatorMemoryTest, LiteralsArePartOfAStoredSentenceAndTagsAreNot) {
  const std::string text = "See https://example.com/a for the old house.";
  EXPECT_EQ(TextOf(With(text, {{text, "Siehe https://example.com/a"}})),
            "Siehe https://example.com/a");
  TranslateRequest request = {.texts = {"The old <b>house</b> is small."}, .markup = Markup::kHtml};
  request.memories = Stored({{"The old house is small.", "STORED"}});
  EXPECT_THAT(TextOf(Translate(request)), HasSubstr("<b>"));
  request.texts = {"<p>The old house is small.</p>"};
  EXPECT_EQ(TextOf(Translate(request)), "<p>STORED</p>");
}

}  // namespace
}  // namespace dragoman::memory_test
