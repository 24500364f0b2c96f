#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/documents/zip_of.h"

namespace dragoman::epub_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kContainer[] =
    "<container xmlns=\"urn:oasis:names:tc:opendocument:xmlns:container\"><rootfiles><rootfile "
    "full-path=\"OPS/book.opf\"/></rootfiles></container>";
constexpr char kPackage[] =
    "<package xmlns=\"http://www.idpf.org/2007/opf\" xml:lang=\"en\"><metadata "
    "xmlns:dc=\"http://purl.org/dc/elements/1.1/\"><dc:title>A dog</dc:title><dc:language>en"
    "</dc:language></metadata><manifest><item href=\"one%20page.xhtml#x\" "
    "media-type=\"application/xhtml+xml\"/><item href=\"../toc.ncx\" "
    "media-type=\"application/x-dtbncx+xml\"/></manifest></package>";
constexpr char kNcx[] =
    "<ncx xmlns=\"http://www.daisy.org/z3986/2005/ncx/\"><navLabel><text>Chapter</text></navLabel>"
    "</ncx>";

std::string Book(const std::string& page) {
  const std::string path = TemporaryPath(".epub");
  WriteZip(path, {{"mimetype", "application/epub+zip", 0},
                  {"META-INF/container.xml", kContainer},
                  {"OPS/book.opf", kPackage},
                  {"OPS/one page.xhtml", page},
                  {"toc.ncx", kNcx},
                  {"OPS/other.xhtml", "not <well-formed"}});
  return path;
}

std::string Page(const std::string& body) {
  return "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<!DOCTYPE html PUBLIC \"-//W3C//DTD XHTML "
         "1.1//EN\" \"xhtml11.dtd\">\n<html xmlns=\"http://www.w3.org/1999/xhtml\" "
         "xml:lang=\"en\">" +
         body + "</html>";
}

struct Seen {
  std::vector<std::string> texts;  // of the page
  std::string page;
};

Seen Translate(const std::string& body) {
  const std::string path = Book(Page(body));
  const Translated same = TranslateFile(path, Same);
  EXPECT_TRUE(same.status.ok()) << same.status;
  const std::vector<Member> before = ReadZip(path), after = ReadZip(same.output);
  for (size_t i = 0; i < before.size(); ++i) EXPECT_EQ(before[i].packed, after[i].packed);
  Translated result = TranslateFile(path, Upper);
  EXPECT_TRUE(result.status.ok()) << result.status;
  EXPECT_EQ(result.texts.front(), "A dog");
  EXPECT_EQ(result.texts.back(), "Chapter");
  result.texts.erase(result.texts.begin());
  result.texts.pop_back();
  return {result.texts, ReadMember(result.output, "OPS/one page.xhtml")};
}

TEST(Epub, ParagraphsArePassages) {
  const Seen seen = Translate(
      "<head><title>T&#233;a</title><style>p {}</style></head><body>\n<h1>A <em>big</em>\n  "
      "dog</h1>"
      "<div>\n  Loose <p>One.</p> text <ul><li>two</li></ul></div><pre>code</pre></body>");
  EXPECT_THAT(seen.texts,
              ElementsAre("T\u00e9a", "A <g2>big</g2> dog", "Loose", "One.", "text", "two"));
  EXPECT_THAT(seen.page,
              HasSubstr("<body>\n<h1>A <em>BIG</em> DOG</h1><div>\n  LOOSE <p>ONE.</p> TEXT "
                        "<ul><li>TWO</li></ul></div><pre>code</pre></body>"));
}

TEST(Epub, InlineElements) {
  const Seen seen = Translate(
      "<body><p>See <a href=\"b\">the <i>cat</i></a><br/>and&nbsp;&mdash;&unknown;<b id=\"x\">dog"
      "</b> <img src=\"i\"/><code>main</code> now</p></body>");
  EXPECT_THAT(seen.texts,
              ElementsAre("See <g2>the <g3>cat</g3></g2>\n<x4/>and\u00a0\u2014<x5/><g6>dog</g6> "
                          "<x7/><g8 translate=\"no\">main</g8> now"));
  EXPECT_THAT(seen.page, HasSubstr("<p>SEE <a href=\"b\">THE <i>CAT</i></a><br/>AND\u00a0\u2014"
                                   "&unknown;<b id=\"x\">DOG</b> <img src=\"i\"/>"));
}

TEST(Epub, AnnotationsOfRubyAreLeftOut) {
  const Seen seen = Translate(
      "<body><p>a <ruby>d<rp>(</rp><rt>di</rt><rb>og</rb><rt>ogu</rt></ruby> runs</p></body>");
  EXPECT_THAT(seen.texts, ElementsAre("a dog runs"));
  EXPECT_THAT(seen.page, HasSubstr("<p>A DOG RUNS</p>"));
}

TEST(Epub, WhatIsNotToBeTranslated) {
  const Seen seen = Translate(
      "<body><div translate=\"no\"><p>a</p><p translate=\"yes\">b</p></div><p "
      "class=\"notranslate\">"
      "c</p><p>d <span class=\"notranslate\">e</span> f</p><script>g</script></body>");
  EXPECT_THAT(seen.texts, ElementsAre("b", "d <g2 translate=\"no\">e</g2> f"));
}

TEST(Epub, TheLanguageBecomesTheTarget) {
  const Translated result = TranslateFile(Book(Page("<body><p lang=\"la\">Ave</p></body>")), Upper,
                                          {.target_language = "de"});
  ASSERT_TRUE(result.status.ok()) << result.status;
  EXPECT_THAT(ReadMember(result.output, "OPS/book.opf"),
              AllOf(HasSubstr("opf\" xml:lang=\"de\">"), HasSubstr("<dc:title>A DOG</dc:title>"),
                    HasSubstr("<dc:language>de</dc:language>")));
  EXPECT_THAT(ReadMember(result.output, "OPS/one page.xhtml"),
              HasSubstr("xml:lang=\"de\"><body><p lang=\"la\">AVE</p>"));
  EXPECT_EQ(result.texts, (std::vector<std::string>{"A dog", "Ave", "Chapter"}));
}

TEST(Epub, ALanguageWithinAPassageStays) {
  const std::string path = Book("<b lang=\"en\">dog</b>");
  const Translated result = TranslateFile(path, Upper, {.target_language = "de"});
  ASSERT_TRUE(result.status.ok()) << result.status;
  EXPECT_EQ(ReadMember(result.output, "OPS/one page.xhtml"), "<b lang=\"en\">DOG</b>");
}

TEST(Epub, APageIsSetToTheTargetEvenWithoutText) {
  const Translated result = TranslateFile(Book(Page("<body/>")), Upper, {.target_language = "de"});
  ASSERT_TRUE(result.status.ok()) << result.status;
  EXPECT_THAT(ReadMember(result.output, "OPS/one page.xhtml"), HasSubstr("xml:lang=\"de\">"));
}

TEST(Epub, FormatsInEachOtherAreReadUpToADepth) {
  const auto nested = [](int depth) {
    std::string text = "dogs";
    for (int i = 0; i < depth; ++i) {
      text = "<i class=\"c" + std::to_string(i) + "\">" + text + "</i>";
    }
    return Translate("<body><p>Two " + text + " run</p></body>").page;
  };
  EXPECT_THAT(nested(16), HasSubstr("\"c0\">DOGS</i>"));
  EXPECT_THAT(nested(17), HasSubstr("TWO"));
  EXPECT_THAT(nested(17), HasSubstr("\"c0\">dogs</i>"));
}

}  // namespace
}  // namespace dragoman::epub_test
