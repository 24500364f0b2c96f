// Translation memories: what they learn, and what the translator does with what they have.

#include "engine/request/memory.h"

#include <functional>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "engine/request/repair.h"
#include "engine/request/route.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/request/translator_fixture.h"

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

TEST(TranslationMemory, HasTheLastInContextThenTheLast) {
  std::mt19937 random(4);
  const auto any = [&](const std::string& letters) {
    return std::string(1, letters[random() % letters.size()]);
  };
  std::vector<MemorySegment> kept;  // as they were learned
  TranslationMemory memory("m", {});
  for (int i = 0; i < 2000; ++i) {
    const MemorySegment learned = {any("ab"), absl::StrCat(i), any("pqrstu"), any("klmno")};
    memory = memory.Learn({learned}, i);
    std::erase_if(kept, [&](const MemorySegment& each) {
      return each.source == learned.source && each.previous == learned.previous &&
             each.next == learned.next;
    });
    kept.push_back(learned);
    const SegmentQuery query(any("ab"), any("pqrstuv"), any("klmno"));
    const MemorySegment* wanted = nullptr;
    bool in_context = false;
    for (const MemorySegment& each : kept) {
      const bool here = each.previous == query.previous && each.next == query.next;
      if (each.source != query.source || (in_context && !here)) continue;
      wanted = &each;
      in_context = here;
    }
    const auto match = memory.Find(query, 75);
    ASSERT_EQ(match.has_value(), wanted != nullptr) << i;
    if (wanted == nullptr) continue;
    EXPECT_EQ(match->segment, *wanted) << i;
    EXPECT_EQ(match->in_context, in_context) << i;
  }
  EXPECT_EQ(memory.Segments(0, 1000), kept);
}

size_t LooksOf(const std::function<void()>& call) {
  const size_t before = SegmentIndex::Looks();
  call();
  return SegmentIndex::Looks() - before;
}

// How often calls look at segments of a memory in which this many have one source.
struct Looks {
  size_t load, learn, list;
  std::vector<size_t> look_ups;

  explicit Looks(int segments) {
    std::vector<MemorySegment> all, last, others;
    for (int i = 0; i < segments; ++i) {
      all.push_back({"Yes.", absl::StrCat(i), absl::StrCat("Question ", i, "?"), ""});
      others.push_back({"Yes.", absl::StrCat(i), absl::StrCat("Other ", i, "?"), ""});
      if (i >= segments - segments / 4) last.push_back(all.back());
    }
    TranslationMemory memory("m", {});
    load = LooksOf([&] { memory = memory.Learn(all, 1); });
    // The last ones again, which are then hidden where they were first.
    learn = LooksOf([&] { memory = memory.Learn(last, 2); });
    for (const auto& [sentence, before] : {std::pair("Yes.", ""),
                                           {"Yes.", "Question 7?"},
                                           {"Yes.", "None?"},
                                           {"Yes .", "Question 7?"},
                                           {"No.", ""}}) {
      const SegmentQuery query(sentence, before, "");
      look_ups.push_back(LooksOf([&] { memory.Find(query, 75); }));
    }
    list = LooksOf([&] {
      size_t listed = 0;
      for (size_t start = 0; start < memory.size(); start += 100) {
        listed += memory.Segments(start, 100).size();
      }
      EXPECT_EQ(listed, static_cast<size_t>(segments));
    });
    learn += LooksOf([&] { memory = memory.Learn(others, 3); });
    EXPECT_EQ(memory.size(), 2 * static_cast<size_t>(segments));
  }
};

TEST(TranslationMemory, OneSourceOfVeryManySegmentsCostsNoMoreThanMany) {
  const Looks some(5000), twice(10'000);
  EXPECT_LT(twice.load, some.load * 5 / 2);
  EXPECT_LT(twice.learn, some.learn * 5 / 2);
  EXPECT_LT(twice.list, some.list * 5 / 2);
  EXPECT_LE(twice.list, 15'000u);
  for (size_t i = 0; i < some.look_ups.size(); ++i) {
    EXPECT_LE(twice.look_ups[i], some.look_ups[i] * 3 / 2 + 20) << i;
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
  static std::string TextOf(const TranslateResponse& response, size_t text = 0) {
    return response.translations.at(text).hypotheses[0].text;
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
  TranslateRequest prefixed = {.texts = {text}, .target_prefixes = {"Das"}};
  TranslateRequest scored = {.texts = {text}, .targets = {"Das alte Haus ist klein."}};
  for (TranslateRequest* request : {&several, &prefixed, &scored}) {
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

// The model reads the stored target in one step.
TEST_F(TranslatorMemoryTest, AStoredTargetIsAlignedIfThatIsWanted) {
  const std::string text = "The old house is small.", target = Plain(text);
  for (const std::string& stored : {target, target + " \U00010330"}) {
    TranslateRequest request = {.texts = {text}};
    request.alignment.wanted = true;
    TranslateRequest plain = request;
    request.memories = Stored({{text, stored}});
    const TranslateResponse with = Translate(request), without = Translate(plain);
    ASSERT_TRUE(with.status.ok()) << with.status;
    const TranslatedHypothesis& best = with.translations[0].hypotheses[0];
    EXPECT_EQ(best.text, stored);
    EXPECT_EQ(with.translations[0].matches[0].kind, MemoryMatch::kExact);
    EXPECT_EQ(with.times.steps, 1);
    EXPECT_EQ(best.alignment.target.size(), best.tokens.size());
    for (const AlignedToken& token : best.alignment.target) {
      EXPECT_LE(token.span.begin, token.span.end);
      EXPECT_LE(token.span.end, best.text.size());
    }
    if (stored != target) continue;
    const Alignment& own = without.translations[0].hypotheses[0].alignment;
    ASSERT_EQ(best.alignment.words.size(), own.words.size());
    for (size_t i = 0; i < own.words.size(); ++i) {
      EXPECT_EQ(best.alignment.words[i].source, own.words[i].source);
      EXPECT_EQ(best.alignment.words[i].target, own.words[i].target);
    }
  }
}

TEST_F(TranslatorMemoryTest, LiteralsArePartOfAStoredSentence) {
  const std::string text = "See https://example.com/a for the old house.";
  EXPECT_EQ(TextOf(With(text, {{text, "Siehe https://example.com/a"}})),
            "Siehe https://example.com/a");
}

TEST_F(TranslatorMemoryTest, TagsFindTheirPlacesInAStoredTarget) {
  const std::string target = Plain("The old house is small.");
  ASSERT_THAT(target, HasSubstr("Haus"));
  const std::string text = "<p>The old <b>house</b> is small. The cat sleeps.</p>";
  TranslateRequest request = {
      .texts = {text}, .splitting = Splitting::kSentences, .markup = Markup::kHtml};
  const std::string plain = TextOf(Translate(request));
  ASSERT_THAT(plain, HasSubstr("<b>Haus</b>"));
  request.memories = Stored({{"The old house is small.", target}});
  const TranslateResponse response = Translate(request);
  EXPECT_EQ(TextOf(response), plain);
  ASSERT_THAT(response.translations[0].matches, SizeIs(1));
  EXPECT_EQ(response.translations[0].matches[0].kind, MemoryMatch::kExact);
  request.texts = {"<p>The old house is small.</p>"};
  EXPECT_EQ(TextOf(Translate(request)), "<p>" + target + "</p>");
  // A target that the model would never say has the tags, too, and all of its own text.
  request.memories = Stored({{"The old house is small.", "Klein; alt \U00010330 Haus!"}});
  request.texts = {"<p>The old <b><i>house</i></b> is small.</p>"};
  std::string tagged = TextOf(Translate(request));
  for (const std::string tag : {"<p>", "<b>", "<i>", "</i>", "</b>", "</p>"}) {
    const size_t at = tagged.find(tag);
    ASSERT_NE(at, tagged.npos) << tag << " in " << tagged;
    tagged.erase(at, tag.size());
  }
  EXPECT_EQ(tagged, "Klein; alt \U00010330 Haus!");
  // What is not translated may be anywhere in a stored target: such a sentence is translated.
  request.texts = {"<p>The old <code>house</code> is small.</p>"};
  const TranslateResponse opaque = Translate(request);
  EXPECT_THAT(TextOf(opaque), HasSubstr("<code>house</code>"));
  EXPECT_THAT(opaque.translations[0].matches, IsEmpty());
}

TEST_F(TranslatorMemoryTest, TagsAndLiteralsAreReportedAsTheyAreAnswered) {
  TranslateRequest request = {.texts = {"<p>The old <b>house</b> is {0} small.</p>"},
                              .splitting = Splitting::kSentences,
                              .markup = Markup::kHtml};
  request.memories = Stored({{"The old house is {0} small.", "Das alte Haus ist {0} klein."}});
  const std::string whole = TextOf(Translate(request));
  EXPECT_THAT(whole, HasSubstr("{0}"));
  std::string told;
  absl::Notification done;
  translator_.Translate(
      request, std::make_shared<RequestState>(absl::InfiniteFuture()),
      [&](TranslateResponse response) {
        EXPECT_TRUE(response.status.ok()) << response.status;
        done.Notify();
      },
      [&](TranslateProgress progress) { told += progress.stable_text; });
  done.WaitForNotification();
  EXPECT_EQ(told, whole);
}

// What is between the first language and the last; the language between is never seen.
TEST_F(TranslatorMemoryTest, AnswersThroughAThirdLanguage) {
  const auto load = [&](const char* directory) {
    const auto model = Model::Load(directory, directory, ModelOptions());
    EXPECT_TRUE(model.ok()) << model.status();
    return std::make_shared<const Translator>(*model, &pool_, limits_);
  };
  const Route route(load("models/en-de-fr-es"), "en", load("tests/golden/models/en-de"));
  const auto memory = std::make_shared<const TranslationMemory>(
      TranslationMemory("maisons", {"fr", "de"})
          .Learn({{"La vieille maison est petite.", "Ganz z.B. Anders. Und mehr"},
                  {"Voir {0}.", "Siehe {0} hier."}},
                 3));
  TranslateRequest request = {
      .texts = {"Le chat dort. La vieille maison est petite. Le chien dort.", "Voir {0}.",
                "Le chat dort."},
      .source_language = "fr",
      .target_language = "de",
      .splitting = Splitting::kSentences};
  const TranslateResponse without = TranslateAndWait(route, request);
  ASSERT_TRUE(without.status.ok()) << without.status;
  request.memories = {memory};
  const TranslateResponse with = TranslateAndWait(route, request);
  ASSERT_TRUE(with.status.ok()) << with.status;
  const Translation& translation = with.translations[0];
  const auto part = [](const Translation& of, size_t sentence) {
    const TextSpan span = of.sentences[sentence].target;
    return of.hypotheses[0].text.substr(span.begin, span.size());
  };
  ASSERT_THAT(translation.sentences, SizeIs(3));
  for (const size_t sentence : {0, 2}) {
    EXPECT_EQ(part(translation, sentence), part(without.translations[0], sentence));
  }
  EXPECT_EQ(part(translation, 1), "Ganz z.B. Anders. Und mehr");
  ASSERT_THAT(translation.matches, SizeIs(1));
  EXPECT_EQ(translation.matches[0].kind, MemoryMatch::kExact);
  EXPECT_EQ(translation.matches[0].version, 3);
  EXPECT_EQ(translation.matches[0].span, (TextSpan{14, 43}));
  EXPECT_EQ(TextOf(with, 1), "Siehe {0} hier.");
  EXPECT_EQ(TextOf(with, 2), TextOf(without, 2));
  // A memory into the language between is none of the request's.
  request.memories = {std::make_shared<const TranslationMemory>(
      TranslationMemory("en", {"fr", "en"}).Learn({{"Le chat dort.", "WRONG"}}, 1))};
  EXPECT_EQ(TextOf(TranslateAndWait(route, request), 2), TextOf(without, 2));
  // A sentence that is similar is translated, and so is all where only models know the answer.
  request.memories = {memory};
  request.texts = {"La vieille maison est grande."};
  EXPECT_THAT(TranslateAndWait(route, request).translations[0].matches, IsEmpty());
  request.texts = {"La vieille maison est petite."};
  request.alignment.wanted = true;
  EXPECT_THAT(TranslateAndWait(route, request).translations[0].matches, IsEmpty());
}

}  // namespace
}  // namespace dragoman::memory_test
