// CSV, TSV and DITA.

#include "documents/readers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/documents/scripted_reader.h"

namespace dragoman::table_readers_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(CsvReader, TranslatesTheColumnsThatAreNamed) {
  constexpr std::string_view kPart =
      "id,\"text\",note\r\na,one,x\r\nb,\"two, \"\"three\"\"\nfour\",y\r\nc,,z\r\nd,5\r\n";
  EXPECT_EQ(InUpperCase(ReadCsv, kPart, {.columns = {"text"}}),
            "id,\"text\",note\r\na,ONE,x\r\nb,\"TWO, \"\"THREE\"\"\nFOUR\",y\r\nc,,z\r\nd,5\r\n");
  EXPECT_EQ(InUpperCase(ReadCsv, kPart, {.columns = {"1"}}),
            "ID,\"text\",note\r\nA,one,x\r\nB,\"two, \"\"three\"\"\nfour\",y\r\nC,,z\r\nD,5\r\n");
  const auto translate = [](const Passage&) { return "a,\"b\""; };
  EXPECT_EQ(TranslatedBy(translate, ReadCsv, "t\nx\n", {.columns = {"t"}}), "t\n\"a,\"\"b\"\"\"\n");
  EXPECT_EQ(InUpperCase(ReadCsv, "a;b\nc, d;e\n", {.columns = {"a"}}), "a;b\nC, D;e\n");
}

TEST(CsvReader, TsvHasTabs) {
  EXPECT_EQ(InUpperCase(ReadTsv, "a\tb\nc, d\te\n", {.columns = {"a"}}), "a\tb\nC, D\te\n");
}

TEST(CsvReader, RefusesWhatIsDamaged) {
  EXPECT_THAT(TextsOf(ReadCsv, "a,b\n"),
              ElementsAre("line 1: has no column \"\"; name those to be translated, of: a, b"));
  EXPECT_THAT(TextsOf(ReadCsv, "a,b\n", {.columns = {"c"}}),
              ElementsAre(HasSubstr("has no column \"c\"")));
  EXPECT_THAT(TextsOf(ReadCsv, "a\n\"b\n", {.columns = {"a"}}),
              ElementsAre("line 2: has a cell without its closing quote"));
  EXPECT_THAT(TextsOf(ReadCsv, "a\n\"b\"c\n", {.columns = {"a"}}),
              ElementsAre("line 2: has more behind the closing quote of a cell"));
}

TEST(DitaReader, BlocksArePassagesAndInlineElementsMarks) {
  constexpr std::string_view kPart =
      "<!DOCTYPE topic PUBLIC \"-//OASIS//DTD DITA Topic//EN\" \"topic.dtd\">\n<topic><title>One"
      "</title><prolog><author>kept</author></prolog><body>\n<p>\n  Press <uicontrol>OK</uicontrol>"
      "&nbsp;or&#160;<codeph>x</codeph>:\n  <ul><li>two</li><li translate=\"no\">kept</li></ul> "
      "three\n"
      "</p><codeblock>kept</codeblock></body></topic>";
  EXPECT_THAT(TextsOf(ReadDita, kPart),
              ElementsAre("One", "Press <x1>OK</x1><x2/>or <x3/><x4 translate=\"no\">x</x4>:",
                          "two", "three"));
  EXPECT_EQ(
      InUpperCase(ReadDita, kPart),
      "<!DOCTYPE topic PUBLIC \"-//OASIS//DTD DITA Topic//EN\" \"topic.dtd\">\n<topic><title>ONE"
      "</title><prolog><author>kept</author></prolog><body>\n<p>\n  PRESS <uicontrol>OK"
      "</uicontrol>&nbsp;OR&#160;<codeph>x</codeph>:\n  <ul><li>TWO</li><li translate=\"no\">kept"
      "</li></ul> THREE\n</p><codeblock>kept</codeblock></body></topic>");
  EXPECT_EQ(InUpperCase(ReadDita, "<fig><image href=\"a\"><alt>one</alt></image><image/></fig>"),
            "<fig><image href=\"a\"><alt>ONE</alt></image><image/></fig>");
}

}  // namespace
}  // namespace dragoman::table_readers_test
