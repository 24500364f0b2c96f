#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/documents/zip_of.h"

namespace dragoman::office_file_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kTypes[] =
    "<Types xmlns=\"http://schemas.openxmlformats.org/package/2006/content-types\">"
    "<Default Extension=\"xml\" ContentType=\"application/xml\"/>"
    "<Override PartName=\"/part.xml\" ContentType=\"application/vnd.openxmlformats-officedocument.";

// A file with one member that has text.
std::string OfficeFile(const std::string& suffix, const std::string& type,
                       const std::string& part) {
  const std::string path = TemporaryPath(suffix);
  WriteZip(path, {{"[Content_Types].xml", kTypes + type + "+xml\"/></Types>"}, {"part.xml", part}});
  return path;
}

constexpr char kDocument[] =
    "<w:document xmlns:w=\"http://schemas.openxmlformats.org/wordprocessingml/2006/main\"><w:body>";
constexpr char kDocumentEnd[] = "</w:body></w:document>";

std::string Docx(const std::string& body) {
  return OfficeFile(".docx", "wordprocessingml.document.main", kDocument + body + kDocumentEnd);
}

struct Seen {
  std::vector<std::string> texts;
  std::string body;  // of the translation
};

// The body of a document in its translation, which the first passage has.
Seen Translate(const std::string& body, const Translation& translation = Upper) {
  const Translated same = TranslateFile(Docx(body), Same);
  EXPECT_TRUE(same.status.ok()) << same.status;
  EXPECT_EQ(ReadMember(same.output, "part.xml"), kDocument + body + kDocumentEnd);
  const Translated result = TranslateFile(Docx(body), translation);
  EXPECT_TRUE(result.status.ok()) << result.status;
  std::string part = ReadMember(result.output, "part.xml");
  EXPECT_TRUE(part.starts_with(kDocument) && part.ends_with(kDocumentEnd)) << part;
  const size_t begin = std::string(kDocument).size();
  part = part.substr(begin, part.size() - begin - std::string(kDocumentEnd).size());
  return {result.texts, part};
}

std::string TextRun(const std::string& text, const std::string& format = "") {
  const std::string properties = format.empty() ? "" : "<w:rPr>" + format + "</w:rPr>";
  return "<w:r>" + properties + "<w:t xml:space=\"preserve\">" + text + "</w:t></w:r>";
}

std::string P(const std::string& content) { return "<w:p>" + content + "</w:p>"; }

TEST(Docx, RunsThatLookEqualAreOneSentence) {
  const Seen seen = Translate(
      P("<w:pPr><w:pStyle w:val=\"Title\"/></w:pPr><w:r w:rsidR=\"00A1\"><w:t>One</w:t></w:r>"
        "<w:proofErr w:type=\"spellStart\"/>" +
        TextRun(" big", "<w:lang w:val=\"de\"/>") + "<w:proofErr w:type=\"spellEnd\"/>" +
        TextRun(" d", "<w:noProof/>") + TextRun("og &amp; cat.")));
  EXPECT_THAT(seen.texts, ElementsAre("One big dog &amp; cat."));
  EXPECT_EQ(seen.body,
            P("<w:pPr><w:pStyle w:val=\"Title\"/></w:pPr>" + TextRun("ONE BIG DOG &amp; CAT.")));
}

TEST(Docx, OtherFormatsAreElements) {
  const Seen seen =
      Translate(P(TextRun("The ") + TextRun("big", "<w:b/>") + TextRun(" dog and a ") +
                  TextRun("cat", "<w:i/>") + TextRun(" run.")));
  EXPECT_THAT(seen.texts, ElementsAre("The <g2>big</g2> dog and a <g3>cat</g3> run."));
  EXPECT_EQ(seen.body, P(TextRun("THE ") + TextRun("BIG", "<w:b/>") + TextRun(" DOG AND A ") +
                         TextRun("CAT", "<w:i/>") + TextRun(" RUN.")));
}

TEST(Docx, TheFormatOfMostTextNeedsNoElement) {
  const Seen seen = Translate(P(TextRun("A", "<w:i/>") + TextRun(" dog runs", "<w:b/>")));
  EXPECT_THAT(seen.texts, ElementsAre("<g2>A</g2> dog runs"));
  EXPECT_EQ(seen.body, P(TextRun("A", "<w:i/>") + TextRun(" DOG RUNS", "<w:b/>")));
}

TEST(Docx, TagsTakeTheirRunsWithThem) {
  const Seen seen =
      Translate(P(TextRun("red ") + TextRun("dog", "<w:b/>")), [](const std::string& text) {
        EXPECT_EQ(text, "red <g2>dog</g2>");
        return "<g2>Hund</g2>, rot &lt;";
      });
  EXPECT_EQ(seen.body, P(TextRun("Hund", "<w:b/>") + TextRun(", rot &lt;")));
}

TEST(Docx, ATranslationThatLostATagIsNotWritten) {
  const std::string body = P(TextRun("red ") + TextRun("dog", "<w:b/>"));
  for (const char* const wrong :
       {"Hund", "<g2>", "<g2>a</g2><g2>b</g2>", "<g3>a</g3>", "</g2>a<g2>", "<g2", "<b>x</b>",
        "<p1><g2>a</g2></p1>", "<>", "</>", "<g99999999999999999999>a</g>"}) {
    EXPECT_EQ(Translate(body, [&](const std::string&) { return wrong; }).body, body) << wrong;
  }
}

TEST(Docx, MarksKeepTheirPlacesAmongWords) {
  const std::string note = "<w:r><w:footnoteReference w:id=\"2\"/></w:r>";
  const Seen seen =
      Translate(P("<w:r><w:t>One</w:t><w:tab/><w:t>dog</w:t></w:r>" + note + TextRun(" runs.")));
  EXPECT_THAT(seen.texts, ElementsAre("One <x2/>dog<x3/> runs."));
  EXPECT_EQ(seen.body,
            P(TextRun("ONE") + "<w:r><w:tab/></w:r>" + TextRun("DOG") + note + TextRun(" RUNS.")));
}

TEST(Docx, MarksAtTheEndsAreNoPartOfAPassage) {
  const std::string begin = "<w:bookmarkStart w:id=\"1\" w:name=\"a\"/>";
  const std::string end = "<w:bookmarkEnd w:id=\"1\"/>";
  const Seen seen = Translate(P(begin + TextRun("One dog.") + end));
  EXPECT_THAT(seen.texts, ElementsAre("One dog."));
  EXPECT_EQ(seen.body, P(begin + TextRun("ONE DOG.") + end));
}

TEST(Docx, TheEndOfARangeStaysBehindItsBeginning) {
  const std::string begin = "<w:bookmarkStart w:id=\"1\" w:name=\"a\"/>";
  const std::string end = "<w:bookmarkEnd w:id=\"1\"/>";
  const Seen seen = Translate(P(TextRun("One ") + begin + TextRun("dog") + end + TextRun(" runs")),
                              [](const std::string& text) {
                                EXPECT_EQ(text, "One <x2/>dog<x3/> runs");
                                return "ein <x3/>Hund<x2/> rennt";
                              });
  EXPECT_EQ(seen.body, P(TextRun("ein ") + begin + TextRun("Hund") + end + TextRun(" rennt")));
}

TEST(Docx, LinksAndInsertionsAreElements) {
  const std::string link = "<w:hyperlink r:id=\"rId4\">", ins = "<w:ins w:id=\"1\">";
  const Seen seen = Translate(
      P(TextRun("See ") + link + TextRun("the page", "<w:rStyle w:val=\"Hyperlink\"/>") +
        "</w:hyperlink>" + ins + TextRun(" now") + "</w:ins>" +
        "<w:del w:id=\"2\"><w:r><w:delText>then</w:delText></w:r></w:del>" + TextRun(".")));
  EXPECT_THAT(seen.texts, ElementsAre("See <g2>the page</g2><g3> now</g3><x4/>."));
  EXPECT_THAT(seen.body, HasSubstr(link + TextRun("THE PAGE", "<w:rStyle w:val=\"Hyperlink\"/>")));
  EXPECT_THAT(seen.body, HasSubstr("<w:delText>then</w:delText>"));
}

std::string Field(const std::string& what, const std::string& result) {
  const auto part = [](const std::string& type) {
    return "<w:r><w:fldChar w:fldCharType=\"" + type + "\"/></w:r>";
  };
  return part("begin") + "<w:r><w:instrText xml:space=\"preserve\"> " + what +
         " </w:instrText></w:r>" + part("separate") + result + part("end");
}

TEST(Docx, FieldsAreElementsAroundTheirResults) {
  const std::string body =
      P(TextRun("Page ") + Field("PAGE", TextRun("seven")) + TextRun(" of ") +
        Field("HYPERLINK \"http://x\"", TextRun("the book")) + TextRun(" here"));
  const Seen seen = Translate(body);
  EXPECT_THAT(seen.texts, ElementsAre("Page <g2 translate=\"no\">seven</g2> of <g3>the book</g3> "
                                      "here"));
  EXPECT_THAT(seen.body, HasSubstr(Field("HYPERLINK \"http://x\"", TextRun("THE BOOK"))));
}

TEST(Docx, FieldsInEachOthersResultsAreElementsUpToADepth) {
  const auto nested = [](int depth) {
    std::string field = TextRun("dogs");
    for (int i = 0; i < depth; ++i) field = Field("REF x", field);
    return P(TextRun("Two ") + field + TextRun(" run"));
  };
  EXPECT_THAT(Translate(nested(3)).body, HasSubstr("DOGS"));
  EXPECT_THAT(Translate(nested(100)).body, HasSubstr("dogs"));
  const std::string begin =
      "<w:r><w:fldChar w:fldCharType=\"begin\"/></w:r>"
      "<w:r><w:fldChar w:fldCharType=\"separate\"/></w:r>";
  const std::string end = "<w:r><w:fldChar w:fldCharType=\"end\"/></w:r>";
  std::string begins, ends;
  for (int i = 0; i < 20'000; ++i) {
    begins += begin;
    ends += end;
  }
  const Seen seen = Translate(P(TextRun("Two ") + begins + TextRun("dogs") + ends));
  EXPECT_THAT(seen.body, HasSubstr("TWO"));
}

TEST(Docx, AFieldOverSeveralParagraphsIsNoElement) {
  const std::string field = Field("TOC \\o", "");
  const size_t end = field.rfind("<w:r>");
  const Seen seen = Translate(P(field.substr(0, end) + TextRun("One")) + P(TextRun("Two")) +
                              P(TextRun("three") + field.substr(end) + TextRun(" dogs")));
  EXPECT_THAT(seen.texts, ElementsAre("One", "Two", "three<x2/> dogs"));
  EXPECT_EQ(seen.body, P(field.substr(0, end) + TextRun("ONE")) + P(TextRun("TWO")) +
                           P(TextRun("THREE") + field.substr(end) + TextRun(" DOGS")));
}

TEST(Docx, ATextBoxIsABlockOfItsParagraph) {
  const auto box = [](const std::string& text) {
    return "<w:r><w:drawing><w:txbxContent>" + P(TextRun(text)) + P("") +
           "</w:txbxContent></w:drawing></w:r>";
  };
  const Seen seen = Translate(P(TextRun("One ") + box("in a box") + TextRun("dog")));
  EXPECT_THAT(seen.texts, ElementsAre("<p1>One <x2/>dog</p1>\n<p3>in a box</p3>"));
  EXPECT_EQ(seen.body, P(TextRun("ONE ") + box("IN A BOX") + TextRun("DOG")));
  // At an end of the paragraph, and without text around it, it is a passage of its own.
  EXPECT_THAT(Translate(P(box("a") + TextRun("b") + box("c")) + P(box("d"))).texts,
              ElementsAre("a", "b", "c", "d"));
}

TEST(Docx, CodeAndNumbersAreNotTranslated) {
  const std::string code = "<w:rStyle w:val=\"HTMLCode\"/>";
  const Seen seen = Translate(
      P("<w:pPr><w:pStyle w:val=\"PreformattedText\"/></w:pPr>" + TextRun("int x;")) +
      P(TextRun("12.5 %")) + P(TextRun("Call ") + TextRun("main", code) + TextRun(" now")));
  EXPECT_THAT(seen.texts, ElementsAre("Call <g2 translate=\"no\">main</g2> now"));
}

TEST(Docx, AHyphenThatDoesNotBreakIsText) {
  const std::string hyphen = "<w:r><w:noBreakHyphen/></w:r>";
  const Seen seen = Translate(P(hyphen + TextRun("dog") + hyphen + TextRun("cat")));
  EXPECT_THAT(seen.texts, ElementsAre("\u2011dog\u2011cat"));
  EXPECT_EQ(seen.body, P(TextRun("\u2011DOG\u2011CAT")));
}

TEST(Docx, WrappedRunsAndOtherPrefixes) {
  const std::string sdt = "<w:sdt><w:sdtPr><w:id/></w:sdtPr><w:sdtContent>";
  const Seen seen =
      Translate(P(TextRun("A ") + sdt + TextRun("dog") + "</w:sdtContent></w:sdt>" + TextRun("!")));
  EXPECT_THAT(seen.texts, ElementsAre("A <g2>dog</g2>!"));
  EXPECT_EQ(seen.body,
            P(TextRun("A ") + sdt + TextRun("DOG") + "</w:sdtContent></w:sdt>" + TextRun("!")));

  const std::string part =
      "<document xmlns=\"http://purl.oclc.org/ooxml/wordprocessingml/main\"><p><r><t>One</t></r>"
      "<x:p xmlns:x=\"urn:x\"><x:t>no</x:t></x:p></p></document>";
  const Translated other =
      TranslateFile(OfficeFile(".docx", "wordprocessingml.header", part), Upper);
  EXPECT_THAT(other.texts, ElementsAre("One"));
}

TEST(Pptx, TextOfSlidesIsTranslated) {
  const std::string slide =
      "<p:sld xmlns:p=\"urn:p\" xmlns:a=\"http://schemas.openxmlformats.org/drawingml/2006/main\">"
      "<a:p><a:pPr lvl=\"1\"/><a:r><a:rPr lang=\"en-US\" dirty=\"0\"/><a:t>One </a:t></a:r>"
      "<a:r><a:rPr lang=\"en-GB\" err=\"1\"/><a:t>dog</a:t></a:r><a:br><a:rPr/></a:br>"
      "<a:r><a:rPr b=\"1\"/><a:t>runs</a:t></a:r><a:fld type=\"slidenum\"><a:t>No</a:t></a:fld>"
      "<a:endParaRPr/></a:p></p:sld>";
  const std::string path = OfficeFile(".pptx", "presentationml.slide", slide);
  const Translated result = TranslateFile(path, Upper);
  ASSERT_TRUE(result.status.ok()) << result.status;
  EXPECT_THAT(result.texts, ElementsAre("One dog <x2/><g3>runs</g3>"));
  EXPECT_THAT(ReadMember(result.output, "part.xml"),
              HasSubstr("<a:pPr lvl=\"1\"/><a:r><a:rPr lang=\"en-US\" dirty=\"0\"/><a:t>ONE DOG"
                        "</a:t></a:r><a:br><a:rPr/></a:br><a:r><a:rPr b=\"1\"/><a:t>RUNS</a:t>"
                        "</a:r><a:fld type=\"slidenum\"><a:t>No</a:t></a:fld>"));
}

constexpr char kSheet[] = " xmlns=\"http://schemas.openxmlformats.org/spreadsheetml/2006/main\"";

TEST(Xlsx, SharedStringsAreTranslated) {
  const std::string strings =
      std::string("<sst") + kSheet +
      "><si><t>One\ndog</t></si><si><r><t>A </t></r><r><rPr><b/></rPr><t xml:space=\"preserve\">"
      "big</t></r><r><t xml:space=\"preserve\"> one</t></r><rPh sb=\"0\" eb=\"1\"><t>ka</t></rPh>"
      "</si><si><t>42</t></si></sst>";
  const Translated result =
      TranslateFile(OfficeFile(".xlsx", "spreadsheetml.sharedStrings", strings), Upper);
  ASSERT_TRUE(result.status.ok()) << result.status;
  EXPECT_THAT(result.texts, ElementsAre("One\ndog", "A<g2>big</g2> one"));
  const std::string part = ReadMember(result.output, "part.xml");
  EXPECT_THAT(part, HasSubstr("<si><t xml:space=\"preserve\">ONE\nDOG</t></si>"));
  EXPECT_THAT(part, HasSubstr("<rPh sb=\"0\" eb=\"1\"><t>ka</t></rPh></si><si><t>42</t>"));
}

TEST(Xlsx, InlineStringsAreTranslatedAndFormulasAreNot) {
  const std::string sheet =
      std::string("<x:worksheet xmlns:x") + (kSheet + 6) +
      "><x:sheetData><x:c t=\"inlineStr\"><x:is><x:t>dog</x:t></x:is></x:c><x:c t=\"str\"><x:f>"
      "\"a\"&amp;B1</x:f><x:v>a dog</x:v></x:c></x:sheetData></x:worksheet>";
  const Translated result =
      TranslateFile(OfficeFile(".xlsx", "spreadsheetml.worksheet", sheet), Upper);
  ASSERT_TRUE(result.status.ok()) << result.status;
  EXPECT_THAT(result.texts, ElementsAre("dog"));
  EXPECT_THAT(ReadMember(result.output, "part.xml"),
              HasSubstr("<x:is><x:t xml:space=\"preserve\">DOG</x:t></x:is>"));
}

TEST(Xlsx, NamesOfTheColumnsOfATableStay) {
  const std::string path = TemporaryPath(".xlsx");
  WriteZip(path,
           {{"[Content_Types].xml",
             std::string(kTypes) +
                 "spreadsheetml.sharedStrings+xml\"/><Override PartName=\"/Table1.xml\" ContentType"
                 "=\"application/vnd.openxmlformats-officedocument.spreadsheetml.table+xml\"/>"
                 "</Types>"},
            {"part.xml", std::string("<sst") + kSheet +
                             "><si><t>Name &amp; age</t></si><si><t>dog</t></si></sst>"},
            {"table1.xml",
             std::string("<table") + kSheet + "><tableColumn name=\"Name &amp; age\"/></table>"}});
  const Translated result = TranslateFile(path, Upper);
  ASSERT_TRUE(result.status.ok()) << result.status;
  EXPECT_THAT(result.texts, ElementsAre("dog"));
}

}  // namespace
}  // namespace dragoman::office_file_test
