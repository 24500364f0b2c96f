#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/documents/zip_of.h"

namespace dragoman::opendocument_file_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string Content(const std::string& styles, const std::string& body) {
  const auto space = [](const std::string& name) {
    return " xmlns:" + name + "=\"urn:oasis:names:tc:opendocument:xmlns:" + name + ":1.0\"";
  };
  return "<office:document-content" + space("office") + space("text") + space("table") +
         space("style") + space("draw") + "><office:automatic-styles>" + styles +
         "</office:automatic-styles><office:body>" + body +
         "</office:body></office:document-content>";
}

struct Seen {
  std::vector<std::string> texts;
  std::string part;
};

Seen Translate(const std::string& body, const std::string& styles = "") {
  const std::string content = Content(styles, body);
  const std::string path = TemporaryPath(".odt");
  WriteZip(path,
           {{"mimetype", "application/vnd.oasis.opendocument.text", 0}, {"content.xml", content}});
  const Translated same = TranslateFile(path, Same);
  EXPECT_TRUE(same.status.ok()) << same.status;
  EXPECT_EQ(ReadMember(same.output, "content.xml"), content);
  const Translated result = TranslateFile(path, Upper);
  EXPECT_TRUE(result.status.ok()) << result.status;
  return {result.texts, ReadMember(result.output, "content.xml")};
}

TEST(OpenDocument, ParagraphsAndHeadingsArePassages) {
  const Seen seen = Translate(
      "<text:h text:outline-level=\"1\">A  title</text:h>\n<text:p>\n  One <text:line-break/>dog"
      "<text:tab/>&amp; cat<text:s text:c=\"2\"/>\n</text:p><text:p>12</text:p>");
  EXPECT_THAT(seen.texts, ElementsAre("A title", "One <x2/>dog <x3/>&amp; cat"));
  EXPECT_THAT(seen.part, HasSubstr("<text:h text:outline-level=\"1\">A TITLE</text:h>\n<text:p>\n"
                                   "  ONE <text:line-break/>DOG<text:tab/>&amp; CAT<text:s "
                                   "text:c=\"2\"/>\n</text:p>"));
}

TEST(OpenDocument, SpansThatLookEqualAreOneSentence) {
  const std::string styles =
      "<style:style style:name=\"T1\" style:family=\"text\"><style:text-properties "
      "officeooo:rsid=\"001\"/></style:style>"
      "<style:style style:name=\"T2\" style:family=\"text\"><style:text-properties "
      "fo:font-weight=\"bold\" officeooo:rsid=\"002\"/></style:style>"
      "<style:style style:name=\"T3\" style:family=\"text\"><style:text-properties "
      "fo:font-weight=\"bold\"/></style:style>";
  const auto span = [](const std::string& style, const std::string& text) {
    return "<text:span text:style-name=\"" + style + "\">" + text + "</text:span>";
  };
  const Seen seen = Translate("<text:p>One d" + span("T1", "og") + " is " + span("T2", "very ") +
                                  span("T3", "big") + ".</text:p>",
                              styles);
  EXPECT_THAT(seen.texts, ElementsAre("One dog is <g2>very big</g2>."));
  EXPECT_THAT(seen.part, HasSubstr("<text:p>ONE DOG IS " + span("T2", "VERY BIG") + ".</text:p>"));
}

TEST(OpenDocument, NotesAndCommentsAreBlocks) {
  const auto note = [](const std::string& text) {
    return "<text:note text:note-class=\"footnote\"><text:note-citation>1</text:note-citation>"
           "<text:note-body><text:p>" +
           text + "</text:p></text:note-body></text:note>";
  };
  const Seen seen =
      Translate("<text:p>One" + note("A <text:s/>note.") + " dog" + note("End") + "</text:p>");
  EXPECT_THAT(seen.texts, ElementsAre("<p1>One<x2/> dog</p1>\n<p3>A <x4/>note.</p3>", "End"));
  EXPECT_THAT(seen.part,
              HasSubstr("ONE" + note("A <text:s/>NOTE.") + " DOG" + note("END") + "</text:p>"));
}

TEST(OpenDocument, LinksKeepTheirFormats) {
  const Seen seen = Translate(
      "<text:p><text:span text:style-name=\"B\">See <text:a href=\"x\">a dog</text:a></text:span> "
      "there now</text:p>");
  EXPECT_THAT(seen.texts, ElementsAre("<g2>See </g2><g3>a dog</g3> there now"));
  EXPECT_THAT(seen.part,
              HasSubstr("<text:p><text:span text:style-name=\"B\">SEE </text:span><text:a "
                        "href=\"x\"><text:span text:style-name=\"B\">A DOG</text:span></text:a> "
                        "THERE NOW</text:p>"));
}

TEST(OpenDocument, CellsAreTranslatedIfTheyAreText) {
  const Seen seen = Translate(
      "<table:table-cell office:value-type=\"string\"><text:p>one</text:p></table:table-cell>"
      "<table:table-cell><text:p>two</text:p></table:table-cell>"
      "<table:table-cell office:value-type=\"date\"><office:annotation><text:p>three</text:p>"
      "</office:annotation><text:p>May</text:p></table:table-cell><table:table-cell "
      "table:formula=\"of:=A1\" office:value-type=\"string\"><text:p>four</text:p>"
      "</table:table-cell>");
  EXPECT_THAT(seen.texts, ElementsAre("one", "two", "three"));
}

TEST(OpenDocument, WhatWasDeletedAndCodeStay) {
  const Seen seen = Translate(
      "<text:tracked-changes><text:p>gone</text:p></text:tracked-changes><text:p "
      "text:style-name=\"P1\">int x;</text:p><text:p>Call <text:span "
      "text:style-name=\"Source_20_Text\">main</text:span> now</text:p>",
      "<style:style style:name=\"P1\" style:family=\"paragraph\" "
      "style:parent-style-name=\"Preformatted_20_Text\"/>");
  EXPECT_THAT(seen.texts, ElementsAre("Call <g2 translate=\"no\">main</g2> now"));
}

TEST(OpenDocument, TheTitleIsTranslatedAndEncryptedFilesAreRefused) {
  const std::string path = TemporaryPath(".odp");
  const std::string meta =
      "<m xmlns:dc=\"http://purl.org/dc/elements/1.1/\"><dc:title>A dog</dc:title></m>";
  WriteZip(path, {{"content.xml", Content("", "")}, {"meta.xml", meta}});
  const Translated result = TranslateFile(path, Upper);
  EXPECT_THAT(result.texts, ElementsAre("A dog"));
  EXPECT_THAT(ReadMember(result.output, "meta.xml"), HasSubstr("<dc:title>A DOG</dc:title>"));

  WriteZip(path, {{"META-INF/manifest.xml", "<manifest:encryption-data/>"}, {"content.xml", "x"}});
  EXPECT_THAT(TranslateFile(path, Upper).status.message(), HasSubstr("is encrypted"));
}

TEST(OpenDocument, NamesOfPartsAreMadeValidUtf8) {
  const std::string path = TemporaryPath(".odt");
  WriteZip(path, {{"content.xml", Content("", "")}, {"\xff/content.xml", "<a>"}});
  EXPECT_THAT(TranslateFile(path, Upper).status.message(), HasSubstr("\ufffd/content.xml: line 1"));
}

}  // namespace
}  // namespace dragoman::opendocument_file_test
