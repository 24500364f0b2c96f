// Plain text and HTML.

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "absl/strings/str_replace.h"
#include "documents/readers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/documents/scripted_reader.h"

namespace dragoman::text_readers_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(TextReader, ParagraphsEndAtAnEmptyLine) {
  constexpr std::string_view kPart = "\n One.\nTwo. \n \t\n\nThree.\r\n\r\nFour.";
  EXPECT_THAT(TextsOf(ReadText, kPart), ElementsAre("One.\nTwo.", "Three.", "Four."));
  EXPECT_EQ(InUpperCase(ReadText, kPart), "\n ONE.\nTWO. \n \t\n\nTHREE.\r\n\r\nFOUR.");
  const auto passages = ReadText(kPart, {});
  ASSERT_TRUE(passages.ok());
  EXPECT_EQ((*passages)[0].line, 2);
  EXPECT_EQ((*passages)[1].line, 6);
  EXPECT_THAT(TextsOf(ReadText, " \n"), IsEmpty());
}

TEST(TextReader, LongParagraphsAreCutWhereTheyAreLeastHurt) {
  std::string lines, words, letters;
  for (int i = 0; i < 2000; ++i)
    lines += "a line\n", words += "Words. ", letters += "\xc3\xa9\xc3\xa9\xc3\xa9";
  for (const std::string& part : {lines, words, letters}) {
    const std::vector<std::string> texts = TextsOf(ReadText, part);
    EXPECT_GT(texts.size(), 1);
    for (const std::string& text : texts) {
      EXPECT_LE(text.size(), 8000);
      EXPECT_TRUE(text.ends_with("line") || text.ends_with("Words.") || text.ends_with("\xa9"));
    }
    EXPECT_EQ(Unchanged(ReadText, part), part);
  }
}

TEST(TextReader, LinesWithoutWordsAndMarkersOfItemsStay) {
  constexpr std::string_view kPart = "One.\n-----\nTwo.\n 0\n...\n* a\n  b\n 1) c\n=====\nd\n";
  EXPECT_THAT(TextsOf(ReadText, kPart), ElementsAre("One.", "Two.", "a\n  b", "c", "d"));
  EXPECT_EQ(InUpperCase(ReadText, kPart),
            "ONE.\n-----\nTWO.\n 0\n...\n* A\n  B\n 1) C\n=====\nD\n");
}

TEST(TextReader, WordsNeverVanishAndNoLineBecomesEmpty) {
  const auto with = [](std::string_view translation) {
    return TranslatedBy([&](const Passage&) { return std::string(translation); }, ReadText,
                        "One.\nEAT\nTwo.");
  };
  EXPECT_EQ(with(""), "One.\nEAT\nTwo.");
  EXPECT_EQ(with("Eins.\n\nZwei."), "Eins.\nEAT\nZwei.");
  EXPECT_EQ(with("Eins.\n \n\nZwei."), "Eins.\nZwei.");
}

TEST(HtmlReader, ASmallPageIsOnePassage) {
  constexpr std::string_view kPart =
      "<!DOCTYPE html>\n<html><title>One</title><body><p>Two <b>three</b></p></body></html>\n";
  EXPECT_THAT(TextsOf(ReadHtml, kPart), ElementsAre("\n<html><title>One</title><body><p>Two "
                                                    "<b>three</b></p></body></html>\n"));
  EXPECT_EQ(
      InUpperCase(ReadHtml, kPart),
      "<!DOCTYPE html>\n<html><title>ONE</title><body><p>TWO <b>THREE</b></p></body></html>\n");
}

TEST(HtmlReader, ThePageSaysItsNewLanguage) {
  const DocumentOptions options = {.source_language = "en", .target_language = "de"};
  const std::string body = "<body lang=\"en\"><p>ONE</p></body></html>";
  for (const std::string page : {"<html lang=\"@\" class=\"a\">", "<html class=a lang=@>",
                                 "<!DOCTYPE html>\n<!-- a b -->\n<html xml:lang='@' lang='@'>"}) {
    const auto with = [&](const std::string& language) {
      return absl::StrReplaceAll(page, {{"@", language}}) + body;
    };
    EXPECT_EQ(InUpperCase(ReadHtml, with("en-US"), options), with("de"));
    EXPECT_EQ(InUpperCase(ReadHtml, with("fr"), options), with("fr"));
  }
}

TEST(HtmlReader, ScriptsBetweenBlocksAreNoPassage) {
  constexpr std::string_view kPart =
      "<p>One</p><script>if (a<b) c('</p>')</script> <!-- <p>no</p> -->\n<style>p{}</style><p>Two "
      "<script>x</script></p>";
  EXPECT_THAT(TextsOf(ReadHtml, kPart), ElementsAre("<p>One</p>", "<p>Two <script>x</script></p>"));
}

std::string Repeat(std::string_view text, int times) {
  std::string out;
  for (; times > 0; --times) out += text;
  return out;
}

// The file in upper case, through OpenDocument.
std::string FileInUpperCase(const std::string& name, const std::string& bytes) {
  const std::string path = ::testing::TempDir() + "/encoding_" + name, output = path + ".new";
  std::ofstream(path, std::ios::binary) << bytes;
  const auto document = OpenDocument(*FindDocumentFormat(name), path, output, {});
  if (!document.ok()) return std::string(document.status().message());
  const auto passages = (*document)->Next();
  if (!passages.ok()) return std::string(passages.status().message());
  PassageTranslations translations;
  for (const Passage& passage : **passages) {
    translations.push_back(UpperCase(passage.text, passage.markup) + "\u20ac");
  }
  const absl::Status written = (*document)->Write(translations);
  if (!written.ok()) return std::string(written.message());
  std::ifstream file(output, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

TEST(TextEncoding, FilesComeOutAsTheyCame) {
  using std::string_literals::operator""s;
  EXPECT_EQ(FileInUpperCase("a.txt",
                            "\xff\xfe"
                            "a\0\xe9\0\n\0"s),
            "\xff\xfe"
            "A\0\xe9\0\xac\x20\n\0"s);
  EXPECT_EQ(FileInUpperCase("a.txt", "\xfe\xff\0a\0\n"s), "\xfe\xff\0A\x20\xac\0\n"s);
  EXPECT_EQ(FileInUpperCase("a.resx",
                            "<?xml version=\"1.0\" encoding='iso-8859-1'?><root><data name=\"a\">"
                            "<value>a\xe9</value></data></root>"),
            "<?xml version=\"1.0\" encoding='iso-8859-1'?><root><data name=\"a\">"
            "<value>A\xe9&#8364;</value></data></root>");
  EXPECT_EQ(FileInUpperCase("a.html", "<meta charset=latin1><p>a\xe9</p>"),
            "<meta charset=latin1><p>A\xe9</p>\x80");
  const std::string po = "msgid \"\"\nmsgstr \"Content-Type: text/plain; charset=";
  const std::string entry = "\\n\"\n\nmsgid \"a\xe9\"\nmsgstr ";
  EXPECT_EQ(FileInUpperCase("a.po", po + "ISO-8859-15" + entry + "\"\"\n"),
            po + "ISO-8859-15" + entry + "\"A\xe9\xa4\"\n");
  EXPECT_EQ(FileInUpperCase("a.po", po + "ISO-8859-1" + entry + "\"\"\n"),
            po + "UTF-8\\n\"\n\nmsgid \"a\u00e9\"\nmsgstr \"A\u00e9\u20ac\"\n");
}

TEST(HtmlReader, WhatXhtmlClosesByItselfSwallowsNothing) {
  const std::string head = "<html xmlns=\"http://www.w3.org/1999/xhtml\">";
  EXPECT_THAT(TextsOf(ReadHtml, head + "<title/><script src=\"a\"/><p>one<code/> two</p><style />"
                                       "<p>three</p></html>"),
              ElementsAre(head, "<p>one", " two</p>", "<p>three</p></html>"));
  EXPECT_THAT(TextsOf(ReadHtml, "<script/><p>one</p>"), ElementsAre());
}

TEST(HtmlReader, ALargePageIsCutBetweenBlocks) {
  const std::string part =
      "<ul>" + Repeat("<li title='a>b'>An <i>item</i> that has some words.</li>\n", 500) + "</ul>";
  const std::vector<std::string> texts = TextsOf(ReadHtml, part);
  EXPECT_GT(texts.size(), 2);
  for (const std::string& text : texts) {
    EXPECT_LT(text.size(), 6100);
    EXPECT_EQ(text.find("An "), text.find('>', text.find("b'>")) + 1);  // whole items
  }
  EXPECT_EQ(Unchanged(ReadHtml, part), part);
}

TEST(HtmlReader, ALongBlockIsCut) {
  const std::string lines = Repeat("The man sees the old house.<br>\n", 2000);
  const std::string sentences = Repeat("It is a dog and <b>no</b> cat. ", 2000);
  const std::string words = Repeat("dogs&lt;cats ", 5000);
  for (const std::string& text : {lines, sentences, words, words + sentences}) {
    const std::string part = "<p>" + text + "</p>";
    for (const std::string& passage : TextsOf(ReadHtml, part)) EXPECT_LT(passage.size(), 20000);
    EXPECT_EQ(Unchanged(ReadHtml, part), part);
  }
}

TEST(HtmlReader, TagsOfTemplatesHideWhatIsInThem) {
  constexpr std::string_view kPart =
      "{% if a < b %}\n<p>One</p>\n{# <p>no</p> #}\n<?php $a->b('<p>'); ?>\n<% if a > b "
      "%><p>Two</p>";
  EXPECT_THAT(TextsOf(ReadHtml, kPart), ElementsAre("\n<p>One</p>\n", "<p>Two</p>"));
}

TEST(HtmlReader, WhatIsLongAndNotTranslatedIsNoPassage) {
  const std::string kept = "<div translate=no>" + Repeat("<p>code of a kind</p>", 500) + "</div>";
  const std::string pre = "<pre>" + Repeat("<p>code of a kind</p>", 500) + "</pre>";
  const std::string part = "<p>One</p>" + kept + "<p>Two</p>" + pre + "<p>Three</p>";
  const std::vector<std::string> texts = TextsOf(ReadHtml, part);
  for (const std::string& text : texts) EXPECT_EQ(text.find("code of a kind"), text.npos);
  EXPECT_EQ(Unchanged(ReadHtml, part), part);
}

TEST(HtmlReader, ImagesInThePageAreShort) {
  const std::string image = "data:image/png;base64," + std::string(300, 'A');
  const std::string part = "<p>a <img src=\"" + image + "\" alt=\"data: b\"></p>";
  EXPECT_THAT(TextsOf(ReadHtml, part),
              ElementsAre("<p>a <img src=\"#data-1;\" alt=\"data: b\"></p>"));
  EXPECT_EQ(InUpperCase(ReadHtml, part), "<p>A <img src=\"" + image + "\" alt=\"data: b\"></p>");
}

TEST(HtmlReader, AParagraphEndsWhereTheNextBlockBegins) {
  const std::string part =
      "<p translate=no>Kept<div>" + Repeat("<p>Words of a kind.</p>", 800) + "</div>";
  EXPECT_GT(TextsOf(ReadHtml, part).size(), 1);
}

}  // namespace
}  // namespace dragoman::text_readers_test
