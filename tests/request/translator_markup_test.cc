// Texts with markup through a real model.

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/synchronization/notification.h"
#include "engine/base/status.h"
#include "engine/request/route.h"
#include "engine/request/translator.h"
#include "gtest/gtest.h"
#include "tests/request/translator_fixture.h"

namespace dragoman::translator_markup_test {
namespace {

constexpr char kDocument[] =
    "<?xml version='1.0'?>\n<doc><!-- keep -->\n <p>The <b>old</b> teacher sees a "
    "<i a='&lt;'>small</i> house. Anna <u>buys the <s>red</s> apple</u> today.</p>"
    "<p>&#84;he bridge is not <b>expensive!</b></p><p>* &#42;</p>\n</doc>\n";

std::string WithoutTags(std::string text) {
  for (size_t begin = text.find('<'); begin != text.npos; begin = text.find('<', begin)) {
    text.erase(begin, text.find('>', begin) + 1 - begin);
  }
  return text;
}

class MarkupTranslatorTest : public TranslatorTest {
 protected:
  TranslateRequest Request(std::string text) {
    return {.texts = {std::move(text)}, .splitting = Splitting::kSentences, .markup = Markup::kXml};
  }

  Translation One(const TranslateRequest& request) {
    TranslateResponse response = Translate(request);
    EXPECT_TRUE(response.status.ok()) << response.status;
    return response.status.ok() ? std::move(response.translations[0]) : Translation();
  }
};

TEST_F(MarkupTranslatorTest, TheTextIsWhatItWouldBeWithoutMarkup) {
  const std::string marked = One(Request(kDocument)).hypotheses[0].text;
  const Translation plain =
      One({.texts = {"\n\n The old teacher sees a small house. Anna buys the red apple today.\n"
                     "The bridge is not expensive!"},
           .splitting = Splitting::kSentences});
  std::string joined = WithoutTags(marked);
  joined.erase(joined.find("*"));
  std::string expected = plain.hypotheses[0].text;
  expected.erase(expected.rfind('\n'), 1);
  EXPECT_EQ(joined, expected);
  EXPECT_TRUE(marked.starts_with("<?xml version='1.0'?>\n<doc><!-- keep -->\n <p>")) << marked;
  EXPECT_TRUE(marked.ends_with("</p><p>* &#42;</p>\n</doc>\n")) << marked;
  for (const std::string tag : {"<b>", "</b>", "<i a='&lt;'>", "</i>", "<u>", "<s>", "</s>"}) {
    EXPECT_NE(marked.find(tag), marked.npos) << tag << " in " << marked;
  }
}

TEST_F(MarkupTranslatorTest, TagsGoWithTheirWords) {
  EXPECT_EQ(One(Request("The <b>old</b> teacher sees a small <i>house</i>.")).hypotheses[0].text,
            "Der <b>alte</b> Lehrer sieht ein kleines <i>Haus</i>.");
}

TEST_F(MarkupTranslatorTest, AFormulaAtTheEndOfASentenceIsWhole) {
  TranslateRequest request = Request("<p>The house is x<sup>2</sup></p><p>The house is old.</p>");
  request.markup = Markup::kHtml;
  const std::string text = One(request).hypotheses[0].text;
  EXPECT_NE(text.find("x<sup>2</sup>"), text.npos) << text;
  EXPECT_EQ(text.find("</sup>"), text.rfind("</sup>")) << text;
}

TEST_F(MarkupTranslatorTest, SpansReferToTheBytesWithMarkup) {
  TranslateRequest request = Request("<p>The <b>old</b> c&#97;t.</p> <p>The bridge is old.</p>");
  request.alignment.wanted = true;
  const Translation translation = One(request);
  const std::string& source = request.texts[0];
  const TranslatedHypothesis& best = translation.hypotheses[0];
  ASSERT_EQ(translation.sentences.size(), 2u);
  const auto part = [](const std::string& text, TextSpan span) {
    return text.substr(span.begin, span.size());
  };
  EXPECT_EQ(part(source, translation.sentences[0].source), "The <b>old</b> c&#97;t.");
  EXPECT_EQ(part(source, translation.sentences[1].source), "The bridge is old.");
  EXPECT_TRUE(part(best.text, translation.sentences[1].target).starts_with("Die "));
  std::vector<std::string> words;
  for (const WordLink& link : best.alignment.words) {
    words.push_back(part(source, link.source) + "=" + part(best.text, link.target));
  }
  EXPECT_NE(std::find(words.begin(), words.end(), "old=alte"), words.end())
      << testing::PrintToString(words);
  EXPECT_NE(std::find(words.begin(), words.end(), "c&#97;t=Katze"), words.end())
      << testing::PrintToString(words);
}

TEST_F(MarkupTranslatorTest, EveryHypothesisHasTheTags) {
  TranslateRequest request = Request("<p>The <b>old</b> teacher sees a <i>small</i> house.</p>");
  request.options.beam_size = 4;
  request.options.num_hypotheses = 4;
  const Translation translation = One(request);
  ASSERT_EQ(translation.hypotheses.size(), 4u);
  for (const TranslatedHypothesis& hypothesis : translation.hypotheses) {
    for (const std::string tag : {"<p>", "<b>", "</b>", "<i>", "</i>", "</p>"}) {
      EXPECT_NE(hypothesis.text.find(tag), std::string::npos) << hypothesis.text;
    }
  }
}

TEST_F(MarkupTranslatorTest, AStreamAddsUpToTheTranslation) {
  const TranslateRequest request = Request(kDocument);
  const Translation whole = One(request);
  std::string told;
  std::vector<FinishedSentence> sentences;
  absl::Notification done;
  translator_.Translate(
      request, std::make_shared<RequestState>(absl::InfiniteFuture()),
      [&](TranslateResponse response) {
        EXPECT_TRUE(response.status.ok()) << response.status;
        done.Notify();
      },
      [&](TranslateProgress progress) {
        told += progress.stable_text;
        if (progress.sentence.has_value()) sentences.push_back(*std::move(progress.sentence));
      });
  done.WaitForNotification();
  EXPECT_EQ(told, whole.hypotheses[0].text);
  ASSERT_EQ(sentences.size(), whole.sentences.size());
  for (size_t i = 0; i < sentences.size(); ++i) {
    EXPECT_EQ(sentences[i].source_span, whole.sentences[i].source);
    EXPECT_EQ(sentences[i].target_span, whole.sentences[i].target);
  }
}

// Of plain text with literals, too: nothing waits for the sentences after it.
TEST_F(MarkupTranslatorTest, AStreamTellsEachSentenceByItself) {
  const TranslateRequest request = {.texts = {"The old teacher sees %1$s. The bridge is old."},
                                    .splitting = Splitting::kSentences};
  const Translation whole = One(request);
  ASSERT_EQ(whole.sentences.size(), 2u);
  size_t told = 0;
  std::vector<size_t> ends;
  absl::Notification done;
  translator_.Translate(
      request, std::make_shared<RequestState>(absl::InfiniteFuture()),
      [&](const TranslateResponse& response) {
        EXPECT_TRUE(response.status.ok()) << response.status;
        done.Notify();
      },
      [&](const TranslateProgress& progress) {
        told += progress.stable_text.size();
        if (progress.sentence.has_value()) ends.push_back(told);
      });
  done.WaitForNotification();
  EXPECT_EQ(ends, (std::vector{whole.sentences[0].target.end, whole.sentences[1].target.end}));
}

TEST_F(MarkupTranslatorTest, APlaceholderIsSaidOnlyInItsOwnText) {
  const std::string other = "The bridge is not expensive.";
  const TranslateResponse both = Translate(
      {.texts = {"The man sees %1$s in the house.", other}, .splitting = Splitting::kSentences});
  ASSERT_TRUE(both.status.ok()) << both.status;
  const Translation alone = One({.texts = {other}, .splitting = Splitting::kSentences});
  EXPECT_EQ(both.translations[1].hypotheses[0].text, alone.hypotheses[0].text);
}

std::string Part(const std::string& text, TextSpan span) {
  return text.substr(span.begin, span.size());
}

// The fixture's limit is 40 tokens.
TEST_F(MarkupTranslatorTest, ALongSentenceIsDividedAndMarked) {
  TranslateRequest request = {
      .texts = {"The old teacher sees a small house, and Anna buys the red apple today; the bridge "
                "is not expensive, but the old cat is small, and the teacher sees the red house, "
                "and the old teacher sees the small bridge today. The cat is old."},
      .splitting = Splitting::kSentences};
  request.alignment.wanted = true;
  const Translation translation = One(request);
  EXPECT_TRUE(translation.divided);
  EXPECT_FALSE(translation.truncated);
  const std::string& source = request.texts[0];
  const std::vector<SentencePair>& pairs = translation.sentences;
  ASSERT_GE(pairs.size(), 3u);
  size_t semicolons = 0;
  for (size_t i = 0; i + 1 < pairs.size(); ++i) {
    EXPECT_TRUE(pairs[i].is_part);
    EXPECT_EQ(pairs[i + 1].source.begin, pairs[i].source.end + 1);
    EXPECT_EQ(pairs[i + 1].target.begin, pairs[i].target.end + 1);
    semicolons += Part(source, pairs[i].source).ends_with("today;") ? 1 : 0;
  }
  EXPECT_EQ(semicolons, 1u);
  EXPECT_FALSE(pairs.back().is_part);
  EXPECT_EQ(Part(source, pairs.back().source), "The cat is old.");
  const TranslatedHypothesis& best = translation.hypotheses[0];
  EXPECT_EQ(pairs.back().target.end, best.text.size());
  for (const WordLink& link : best.alignment.words) {
    for (const SentencePair& pair : pairs) {
      EXPECT_EQ(link.source.begin >= pair.source.begin && link.source.end <= pair.source.end,
                link.target.begin >= pair.target.begin && link.target.end <= pair.target.end);
    }
  }
  request.splitting = Splitting::kNone;
  EXPECT_GE(One(request).sentences.size(), 3u);
}

TEST_F(MarkupTranslatorTest, AnEndlessWordStaysAsItIs) {
  std::string word = "house";
  for (int i = 0; i < 5; ++i) word += "," + word;
  TranslateRequest request = Request("<p>The old cat: <b>" + word + "</b></p><p>The cat.</p>");
  request.judge = true;
  const Translation translation = One(request);
  const TranslatedHypothesis& best = translation.hypotheses[0];
  EXPECT_EQ(translation.untranslated, 1);
  EXPECT_NE(best.text.find(word), best.text.npos) << best.text;
  EXPECT_TRUE(best.text.ends_with(One(Request("<p>The cat.</p>")).hypotheses[0].text)) << best.text;
  ASSERT_TRUE(best.quality.has_value());
  EXPECT_EQ(best.quality->score, 0.0f);
}

TEST_F(MarkupTranslatorTest, ALongSentenceWithTagsKeepsThem) {
  const std::string clause = "The <b>old</b> teacher sees a small <i>house</i> ";
  const TranslateRequest request = Request("<p><u>" + clause + clause + clause + "{{a; b}} " +
                                           clause + clause + clause + clause + "</u></p>");
  const Translation translation = One(request);
  EXPECT_TRUE(translation.divided);
  EXPECT_GE(translation.sentences.size(), 2u);
  const std::string& text = translation.hypotheses[0].text;
  const auto count = [&](const std::string& part) {
    size_t found = 0;
    for (size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++found;
    return found;
  };
  for (const std::string tag : {"<b>", "</b>", "<i>", "</i>"}) EXPECT_EQ(count(tag), 7u) << text;
  EXPECT_EQ(count("{{a; b}}"), 1u) << text;
  EXPECT_TRUE(text.starts_with("<p><u>") && text.ends_with("</u></p>")) << text;
}

std::shared_ptr<const Translator> Load(const std::string& directory, WorkerPool* pool) {
  absl::StatusOr<std::shared_ptr<const Model>> model =
      Model::Load("model", directory, {.precision = Precision::kFloat32});
  EXPECT_TRUE(model.ok()) << model.status();
  return model.ok() ? std::make_shared<Translator>(*std::move(model), pool, Limits()) : nullptr;
}

// What a model says of numbers is known if it is given what to say.
TEST_F(MarkupTranslatorTest, NumbersThatDoNotComeThroughAreTold) {
  const auto translator = Load("tests/golden/models/en-de", &pool_);
  ASSERT_NE(translator, nullptr);
  TranslateRequest request = {.texts = {"The cat sees 24 dogs and 50 houses."},
                              .targets = {"Die Katze sieht 42 Hunde."},
                              .check_literals = true};
  TranslateResponse response = TranslateAndWait(*translator, request);
  ASSERT_TRUE(response.status.ok()) << response.status;
  const TranslatedHypothesis& said = response.translations[0].hypotheses[0];
  ASSERT_EQ(said.text, request.targets[0]);
  const std::vector<LiteralFault>& faults = said.literal_faults;
  ASSERT_EQ(faults.size(), 2u);
  EXPECT_EQ(faults[0].text, "24");
  EXPECT_EQ(faults[0].source, (TextSpan{13, 15}));
  EXPECT_EQ(faults[0].found, "42");
  EXPECT_EQ(faults[0].target, (TextSpan{16, 18}));
  EXPECT_EQ(faults[1].text, "50");
  EXPECT_TRUE(faults[1].found.empty());
}

// A literal that is kept is no fault, and neither is the number that it is read as.
TEST_F(MarkupTranslatorTest, WhatIsKeptIsNotReported) {
  TranslateRequest request =
      Request("<p class='1 2'>The old <code>x9</code> teacher</p><p>sees %1$s and 🙂.</p>");
  request.check_literals = true;
  const TranslatedHypothesis best = One(request).hypotheses[0];
  for (const LiteralFault& fault : best.literal_faults) ADD_FAILURE() << fault.text;
  EXPECT_NE(best.text.find("%1$s"), best.text.npos);
}

TEST_F(MarkupTranslatorTest, SpansOfFaultsReferToTheBytesWithMarkup) {
  TranslateRequest request = Request("<p>The old cat.</p><p>The <b>&#x38;61 old</b> houses.</p>");
  request.check_literals = true;
  const TranslatedHypothesis best = One(request).hypotheses[0];
  for (const LiteralFault& fault : best.literal_faults) {
    EXPECT_EQ(Part(request.texts[0], fault.source), "&#x38;61");
    EXPECT_EQ(Part(best.text, fault.target), fault.found);
  }
}

TEST_F(MarkupTranslatorTest, TagsGoThroughAThirdLanguage) {
  const auto first = Load("models/en-de-fr-es", &pool_);
  const auto second = Load("tests/golden/models/en-de", &pool_);
  ASSERT_TRUE(first != nullptr && second != nullptr);
  const Route route(first, "en", second);
  const std::string source =
      "<h1 title=\"Le chat\">La vieille maison</h1><!-- c --><p lang=fr>Où est le <a "
      "href='/chat'>vieux "
      "<b>chat</b></a> <img src=x> aujourd'hui ? Je vois <i>%s</i>.</p><pre>a  b</pre>";
  TranslateRequest request = {.texts = {source},
                              .source_language = "fr",
                              .target_language = "de",
                              .splitting = Splitting::kSentences,
                              .markup = Markup::kHtml,
                              .check_literals = true};
  const TranslateResponse response = TranslateAndWait(route, request);
  ASSERT_TRUE(response.status.ok()) << response.status;
  const Translation& translation = response.translations[0];
  const std::string& text = translation.hypotheses[0].text;
  for (const std::string kept :
       {"<h1 title=\"", "</h1><!-- c --><p lang=fr>", "<a href='/chat'>", "</a>", "<b>", "</b>",
        "<img src=x>", "<i>%s</i>", "</p><pre>a  b</pre>"}) {
    const size_t at = text.find(kept);
    ASSERT_NE(at, text.npos) << kept << " in " << text;
    EXPECT_EQ(text.find(kept, at + 1), text.npos) << kept << " in " << text;
  }
  EXPECT_LT(text.find("<a "), text.find("<b>"));
  EXPECT_LT(text.find("</b>"), text.find("</a>"));
  EXPECT_NE(text.find("Katze</b>"), text.npos) << text;
  EXPECT_TRUE(translation.hypotheses[0].literal_faults.empty());
  EXPECT_EQ(Part(source, translation.sentences.back().source), "Je vois <i>%s</i>.");
}

TEST_F(MarkupTranslatorTest, TheDirectionIsSetWhereItChanges) {
  const auto translator = Load("tests/golden/models/m2m100-trained", &pool_);
  ASSERT_NE(translator, nullptr);
  const auto translate = [&](const std::string& from, const std::string& to, bool set) {
    const TranslateResponse response =
        TranslateAndWait(*translator, {.texts = {"<!DOCTYPE html><p>The cat.</p><div dir=auto>is "
                                                 "old</div><ul class=a><li>today</ul>"},
                                       .source_language = from,
                                       .target_language = to,
                                       .options = {.max_length = 4},
                                       .markup = Markup::kHtml,
                                       .set_direction = set});
    EXPECT_TRUE(response.status.ok()) << response.status;
    std::string tags;
    const std::string text =
        response.status.ok() ? response.translations[0].hypotheses[0].text : "";
    for (size_t at = text.find('<'); at != text.npos; at = text.find('<', at + 1)) {
      tags += text.substr(at, text.find('>', at) + 1 - at);
    }
    return tags;
  };
  EXPECT_EQ(translate("en", "ar", true),
            "<!DOCTYPE html><p dir=\"rtl\"></p><div dir=auto></div><ul dir=\"rtl\" "
            "class=a><li></ul>");
  EXPECT_EQ(translate("ar", "en", true),
            "<!DOCTYPE html><p dir=\"ltr\"></p><div dir=auto></div><ul dir=\"ltr\" "
            "class=a><li></ul>");
  const std::string as_it_was = "<!DOCTYPE html><p></p><div dir=auto></div><ul class=a><li></ul>";
  EXPECT_EQ(translate("en", "ar", false), as_it_was);
  EXPECT_EQ(translate("en", "de", true), as_it_was);
  EXPECT_EQ(translate("ar", "he", true), as_it_was);
}

// What is between two words without a space stays so: the model reads one word.
TEST_F(MarkupTranslatorTest, AnElementWithinAWordLeavesItWhole) {
  TranslateRequest request = Request("<p>The old teach<img/>er sees a small house.</p>");
  request.markup = Markup::kHtml;
  const std::string text = One(request).hypotheses[0].text;
  EXPECT_EQ(WithoutTags(text), "Der alte Lehrer sieht ein kleines Haus.");
  EXPECT_NE(text.find("<img/>"), text.npos) << text;
}

TEST_F(MarkupTranslatorTest, BrokenXmlIsAMistakeInTheContents) {
  TranslateRequest request = Request("<a>");
  request.texts = {"fine", "<b>not</i>"};
  ExpectInvalid(request, "contents[1]");
  request.texts = {"fine"};
  request.target_prefixes = {"Das"};
  request.splitting = Splitting::kAuto;
  ExpectInvalid(request, "markup");
}

}  // namespace
}  // namespace dragoman::translator_markup_test
