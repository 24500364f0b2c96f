#include <string>
#include <vector>

#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/documents/zip_of.h"

namespace dragoman::epub_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kContainer[] =
    "<container xmlns=\"urn:oasis:names:tc:opendocument:xmlns:container\"><rootfiles><rootfile "
    "full-path=\"book.pdf\" media-type=\"application/pdf\"/><rootfile "
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

std::string Book(const std::string& page, const std::string& package = kPackage) {
  const std::string path = TemporaryPath(".epub");
  WriteZip(path, {{"mimetype", "application/epub+zip", 0},
                  {"META-INF/container.xml", kContainer},
                  {"OPS/book.opf", package},
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
  const std::vector<ZipMember> before = ReadZip(path), after = ReadZip(same.output);
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
              ElementsAre("See <g2>the <g3>cat</g3></g2>\n<x4/>and <x5/>\u2014<x6/><g7>dog</g7> "
                          "<x8/><g9 translate=\"no\">main</g9> now"));
  EXPECT_THAT(seen.page, HasSubstr("<p>SEE <a href=\"b\">THE <i>CAT</i></a><br/>AND&nbsp;\u2014"
                                   "&unknown;<b id=\"x\">DOG</b> <img src=\"i\"/>"));
}

TEST(Epub, AnnotationsOfRubyStay) {
  const Seen seen = Translate(
      "<body><p>a <ruby>d<rp>(</rp><rt>di</rt><rb>og</rb><rt>ogu</rt></ruby> runs</p></body>");
  EXPECT_THAT(seen.texts, ElementsAre("a <g2>d<x3/><g4>og</g4><x5/></g2> runs"));
  EXPECT_THAT(seen.page, HasSubstr("<p>A <ruby>D<rp>(</rp><rt>di</rt><rb>OG</rb><rt>ogu</rt></ruby>"
                                   " RUNS</p>"));
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

TEST(Epub, APageOfOneElementIsSetToTheTarget) {
  const std::string path = Book("<b lang=\"en\">dog</b>");
  const Translated result = TranslateFile(path, Upper, {.target_language = "de"});
  ASSERT_TRUE(result.status.ok()) << result.status;
  EXPECT_EQ(ReadMember(result.output, "OPS/one page.xhtml"), "<b lang=\"de\">DOG</b>");
}

TEST(Epub, APageIsSetToTheTargetEvenWithoutText) {
  const Translated result = TranslateFile(Book(Page("<body/>")), Upper, {.target_language = "de"});
  ASSERT_TRUE(result.status.ok()) << result.status;
  EXPECT_THAT(ReadMember(result.output, "OPS/one page.xhtml"), HasSubstr("xml:lang=\"de\">"));
}

TEST(Epub, ElementsInEachOtherStayAsTheyAre) {
  std::string text = "dogs", upper = "DOGS";
  for (int i = 0; i < 200; ++i) {
    const std::string open = "<i class=\"c" + std::to_string(i) + "\">";
    text = open + text + "</i>";
    upper = open + upper + "</i>";
  }
  EXPECT_THAT(Translate("<body><p>Two " + text + " run</p></body>").page,
              HasSubstr("<p>TWO " + upper + " RUN</p>"));
}

TEST(Epub, NothingIsJoinedOrLost) {
  const Seen seen = Translate(
      "<body><div>One</div>\n<span>\nand two\n</span><p>The <code class=\"c\"><span "
      "class=\"p\">--open</span> <span class=\"p\">door</span></code> says</p>"
      "<p><i>a</i><i>b</i> <span>c</span></p></body>");
  EXPECT_THAT(seen.texts,
              ElementsAre("One", "and two",
                          "The <g2 translate=\"no\"><g3>--open</g3> <g4>door</g4></g2> says",
                          "<g2>a</g2><g3>b</g3> <g4>c</g4>"));
  EXPECT_THAT(seen.page, HasSubstr("<body><div>ONE</div>\n<span>\nAND TWO\n</span><p>THE <code "
                                   "class=\"c\"><span class=\"p\">--open</span> <span "
                                   "class=\"p\">door</span></code> SAYS</p>"
                                   "<p><i>A</i><i>B</i> <span>C</span></p></body>"));
}

TEST(Epub, AnEmptiedLinkKeepsItsElements) {
  const std::string path = Book(Page("<body><p>See <a href=\"b\"><i>it</i></a> now</p></body>"));
  const Translated result = TranslateFile(path, [](const std::string& text) {
    return text.starts_with("See") ? "Sieh <g2><g3></g3></g2> es" : text;
  });
  ASSERT_TRUE(result.status.ok()) << result.status;
  EXPECT_THAT(ReadMember(result.output, "OPS/one page.xhtml"),
              HasSubstr("<p>Sieh <a href=\"b\"><i></i></a> es</p>"));
}

TEST(Epub, EntitiesOfHtmlNeedNoDocumentType) {
  const auto page = [](const std::string& text) {
    return "<html xmlns=\"http://www.w3.org/1999/xhtml\"><body><p title=\"a&nbsp;b\">" + text +
           "</p></body></html>";
  };
  const Translated result =
      TranslateFile(Book(page("old&nbsp;man&mdash;here &copy; a&#160;b &#8226; c")), Upper);
  ASSERT_TRUE(result.status.ok()) << result.status;
  EXPECT_THAT(
      ReadMember(result.output, "OPS/one page.xhtml"),
      HasSubstr("<p title=\"a&nbsp;b\">OLD&nbsp;MAN\u2014HERE &copy; A&#160;B &#8226; C</p>"));
  const absl::Status unknown = TranslateFile(Book(page("a\n&dog;")), Upper).status;
  EXPECT_EQ(unknown.message(), "OPS/one page.xhtml: line 2: refers to &dog;, which is not defined");
  const Translated entities = TranslateFile(
      Book(page("a"), absl::StrReplaceAll(kPackage, {{"A dog", "A&nbsp;dog&mdash;b"}})), Upper);
  ASSERT_TRUE(entities.status.ok()) << entities.status;
  EXPECT_THAT(ReadMember(entities.output, "OPS/book.opf"),
              HasSubstr("<dc:title>A&nbsp;DOG\u2014B</dc:title>"));
}

TEST(Epub, ScriptsAndStylesByAnyCaseAreKept) {
  const Seen seen = Translate(
      "<head><Style>p {color: red} /* a cat */</Style></head><body>"
      "<SCRIPT>a cat</SCRIPT><p>a cat</p></body>");
  EXPECT_THAT(seen.texts, ElementsAre("a cat"));
}

// A paragraph over every limit is cut: at line breaks, at the ends of sentences, in an element.
TEST(Epub, LongParagraphsAreCut) {
  std::string lines, sentences, words;
  for (int i = 0; i < 2000; ++i) {
    lines += "The man sees house " + std::to_string(i) + ".<br/>\n";
    sentences += "It is a dog &amp; <b>no</b> cat. ";
    words += "dogs&lt;cats ";
  }
  const std::string code = "<code>" + words + "</code>";
  for (const std::string& text :
       {lines, sentences, words, "a <i>" + sentences + words + "</i> b", "a " + code + " b"}) {
    const Seen seen = Translate("<body><p>" + text + "</p></body>");
    for (const std::string& part : seen.texts) {
      EXPECT_LT(part.size(), 16000);
      if (text == lines || text == sentences) {
        EXPECT_EQ(part.back(), '.') << part;
      }
    }
    EXPECT_THAT(seen.page, HasSubstr(text.find(code) == text.npos ? Upper(text) : code));
  }
}

}  // namespace
}  // namespace dragoman::epub_test
