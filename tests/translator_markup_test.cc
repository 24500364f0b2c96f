// Texts with markup through a real model.

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/synchronization/notification.h"
#include "engine/base/status.h"
#include "engine/route.h"
#include "engine/translator.h"
#include "gtest/gtest.h"
#include "tests/translator_fixture.h"

namespace dragoman {
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
}  // namespace dragoman
