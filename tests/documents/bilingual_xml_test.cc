// XLIFF, TMX and Qt's .ts.

#include <string>

#include "documents/readers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/documents/scripted_reader.h"

namespace dragoman::bilingual_xml_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string First(std::string_view units) {  // XLIFF 1.2
  return "<xliff version=\"1.2\"><file target-language=\"de\"><body>" + std::string(units) +
         "</body></file></xliff>";
}
std::string Second(std::string_view units) {  // XLIFF 2.0
  return "<xliff version=\"2.0\" srcLang=\"en\"><file>" + std::string(units) + "</file></xliff>";
}

TEST(XliffReader, InsertsATargetBehindTheSource) {
  EXPECT_EQ(InUpperCase(ReadXliff, First("<trans-unit id='a'>\n  <source>One &amp; two</source>\n"
                                         "</trans-unit>")),
            First("<trans-unit id='a'>\n  <source>One &amp; two</source>\n"
                  "  <target>ONE &amp; TWO</target>\n</trans-unit>"));
  EXPECT_EQ(InUpperCase(ReadXliff, Second("<unit><segment><source>a</source></segment></unit>")),
            Second("<unit><segment><source>a</source><target>A</target></segment></unit>"));
}

TEST(XliffReader, FillsAnEmptyTargetAndKeepsAFullOne) {
  EXPECT_EQ(InUpperCase(ReadXliff,
                        First("<trans-unit><source>a</source><target state=\"new\"/></trans-unit>"
                              "<trans-unit><source>a</source><target>b</target></trans-unit>"
                              "<trans-unit><source>a</source><target\nstate='needs-translation'>a"
                              "</target></trans-unit>")),
            First("<trans-unit><source>a</source><target state=\"translated\">A</target>"
                  "</trans-unit><trans-unit><source>a</source><target>b</target></trans-unit>"
                  "<trans-unit><source>a</source><target\nstate='translated'>A</target>"
                  "</trans-unit>"));
  EXPECT_EQ(InUpperCase(ReadXliff, Second("<unit><segment id='s' state=\"initial\"><source>a"
                                          "</source><target>a</target></segment></unit>")),
            Second("<unit><segment id='s' state=\"translated\"><source>a</source>"
                   "<target>A</target></segment></unit>"));
}

TEST(XliffReader, InlineElementsAreMarksAndCodeIsCopied) {
  const std::string part = First(
      "<trans-unit><source>Press <g id='1'>O<x id='2'/>K</g> <ph id='3'>&lt;b&gt;</ph>"
      "</source></trans-unit>");
  EXPECT_THAT(TextsOf(ReadXliff, part), ElementsAre("Press <x1>O<x2/>K</x1> <x3/>"));
  EXPECT_EQ(InUpperCase(ReadXliff, part),
            First("<trans-unit><source>Press <g id='1'>O<x id='2'/>K</g> <ph id='3'>&lt;b&gt;</ph>"
                  "</source><target>PRESS <g id='1'>O<x id='2'/>K</g> <ph id='3'>&lt;b&gt;</ph>"
                  "</target></trans-unit>"));
}

TEST(XliffReader, WhatIsNotTranslatedIsNoPassage) {
  EXPECT_THAT(TextsOf(ReadXliff,
                      Second("<unit translate=\"no\"><segment><source>a</source></segment></unit>"
                             "<group translate='no'><unit translate='yes'><segment><source>b"
                             "</source></segment></unit></group>")),
              ElementsAre("b"));
  EXPECT_THAT(TextsOf(ReadXliff, First("<trans-unit translate='no'><source>a</source></trans-unit>"
                                       "<trans-unit approved='yes'><source>a</source></trans-unit>"
                                       "<trans-unit><source>12</source></trans-unit>")),
              IsEmpty());
}

TEST(XliffReader, NamesTheTargetLanguageOnce) {
  const std::string units = "<unit><segment><source>a</source></segment></unit>";
  const DocumentOptions options = {.target_language = "de"};
  EXPECT_THAT(
      InUpperCase(ReadXliff, Second(units + units), options),
      ::testing::StartsWith("<xliff trgLang=\"de\" version=\"2.0\" srcLang=\"en\"><file><unit>"
                            "<segment><source>a</source><target>A</target>"));
  const std::string named = First("<trans-unit><source>a</source></trans-unit>");
  EXPECT_EQ(Unchanged(ReadXliff, named, options),
            First("<trans-unit><source>a</source><target>a</target></trans-unit>"));
}

TEST(XliffReader, WhiteSpaceIsASpaceUnlessItCounts) {
  const std::string source = "<source>One\r\n  two</source>";
  EXPECT_EQ(InUpperCase(ReadXliff, First("<trans-unit>\r\n" + source + "</trans-unit>")),
            First("<trans-unit>\r\n" + source + "\r\n<target>ONE TWO</target></trans-unit>"));
  const std::string kept = "<trans-unit xml:space=\"preserve\">" + source;
  EXPECT_EQ(InUpperCase(ReadXliff, First(kept + "</trans-unit>")),
            First(kept + "<target>ONE\r\n  TWO</target></trans-unit>"));
}

TEST(XliffReader, FillsTheSegmentsThatAreEmpty) {
  const std::string sources =
      "<source>One. Two.</source><seg-source><mrk mtype=\"seg\" mid=\"1\">One.</mrk> "
      "<mrk mtype=\"seg\" mid=\"2\">Two.</mrk></seg-source>";
  const auto unit = [&](std::string_view first, std::string_view second) {
    return First("<trans-unit>" + sources + "<target><mrk mtype=\"seg\" mid=\"1\">" +
                 std::string(first) + "</mrk> <mrk mtype=\"seg\" mid=\"2\"" + std::string(second) +
                 "</target></trans-unit>");
  };
  EXPECT_EQ(InUpperCase(ReadXliff, unit("Eins.", "/>")), unit("Eins.", ">TWO.</mrk>"));
  EXPECT_EQ(InUpperCase(ReadXliff, unit("", "></mrk>")), unit("ONE.", ">TWO.</mrk>"));
  EXPECT_EQ(InUpperCase(ReadXliff, unit("Eins.", ">Zwei.</mrk>")), unit("Eins.", ">Zwei.</mrk>"));
}

TEST(XliffReader, BranchesOfAMessageAreTranslated) {
  const std::string source =
      "<source>{N, plural, =1 {one cat} other {<x id=\"I\"/> cats &amp; dogs}}</source>";
  const std::string part = First("<trans-unit>" + source + "</trans-unit>");
  EXPECT_THAT(TextsOf(ReadXliff, part),
              ElementsAre("<x2/>\none cat\n<x3/>\n<x1/> cats &amp; dogs\n<x4/>"));
  EXPECT_EQ(InUpperCase(ReadXliff, part),
            First("<trans-unit>" + source +
                  "<target>{N, plural, =1 {ONE CAT} other {<x id=\"I\"/> CATS &amp; DOGS}}</target>"
                  "</trans-unit>"));
  // Of a translation that has lost a branch, nothing is used.
  EXPECT_EQ(TranslatedBy([](const Passage&) { return "<x2/>\neine Katze"; }, ReadXliff, part),
            First("<trans-unit>" + source + "<target>" + source.substr(8, source.size() - 17) +
                  "</target></trans-unit>"));
}

// Codes that begin and end something are its tags; others stand between words, but <ph>%s</ph> is
// one.
TEST(XliffReader, CodesAreNoWords) {
  const auto seen = [](const std::string& source) {
    return TextsOf(ReadXliff, First("<trans-unit><source>" + source + "</source></trans-unit>"));
  };
  EXPECT_THAT(seen("a <bpt id='1'>&lt;b></bpt>c <bpt id='2'/>d<ept id='2'/><ept id='1'>x</ept> e"),
              ElementsAre("a <x1>c <x2>d</x2></x1> e"));
  EXPECT_THAT(seen("<bpt id='1'>b</bpt>a<bpt id='2'>i</bpt>b<ept id='1'>c</ept>c<ept id='2'/>"),
              ElementsAre("<x1>a<x2>b</x2>c</x1>"));
  EXPECT_THAT(seen("<g id='1'>a<bpt id='1'>b</bpt></g><ept id='1'>c</ept> <it id='3'>x</it>"),
              ElementsAre("<x1>a<x2/></x1><x3/> <x4/>"));
  EXPECT_THAT(seen("a <ph id='1'>%s</ph> <ph id='2'>&lt;br/></ph> b"),
              ElementsAre("a <x1 translate=\"no\">%s</x1> <x2/> b"));
}

TEST(XliffReader, CodesWithoutContentArePairs) {
  const auto seen = [](const std::string& source) {
    return TextsOf(ReadXliff, First("<trans-unit><source>" + source + "</source></trans-unit>"));
  };
  EXPECT_THAT(seen("a <sc id='1'/>b<ec startRef='1'/> <bx id='2'/>c<ex id='2'/> d"),
              ElementsAre("a <x1>b</x1> <x2>c</x2> d"));
  EXPECT_THAT(
      seen("a <x id='START_LINK'/>b <x id='PH'/><x id='CLOSE_LINK'/> c <x id='CLOSE_LINK'/>"),
      ElementsAre("a <x1>b <x2/></x1> c <x3/>"));
  EXPECT_THAT(seen("a<x id='LINE_BREAK' ctype='lb'/>b"), ElementsAre("a\n<x1/>\nb"));
  EXPECT_EQ(
      InUpperCase(ReadXliff, First("<trans-unit><source>a<x id='1' ctype='lb'/><bx id='2'/>b"
                                   "<ex id='2'/></source></trans-unit>")),
      First("<trans-unit><source>a<x id='1' ctype='lb'/><bx id='2'/>b<ex id='2'/></source>"
            "<target>A<x id='1' ctype='lb'/><bx id='2'/>B<ex id='2'/></target></trans-unit>"));
}

TEST(XliffReader, RefusesOtherFiles) {
  EXPECT_THAT(TextsOf(ReadXliff, "\n<tmx/>"), ElementsAre("line 2: is <tmx>, want <xliff>"));
  EXPECT_THAT(TextsOf(ReadXliff, "<xliff>"), ElementsAre(HasSubstr("line 1: is not well-formed")));
}

TEST(TmxReader, AddsAVariant) {
  constexpr std::string_view kPart =
      "<tmx version=\"1.4\"><header srclang=\"en-US\"/><body>\n<tu>\n  <tuv xml:lang=\"fr\"><seg>f"
      "</seg></tuv>\n  <tuv xml:lang=\"en\"><seg>a <bpt i='1'>&lt;b></bpt>b<ept i='1'/></seg></tuv>"
      "\n</tu><tu><tuv lang='EN-GB'><seg>a</seg></tuv><tuv xml:lang='de-AT'><seg>b</seg></tuv></tu>"
      "</body></tmx>";
  EXPECT_EQ(InUpperCase(ReadTmx, kPart, {.target_language = "de"}),
            "<tmx version=\"1.4\"><header srclang=\"en-US\"/><body>\n<tu>\n  <tuv xml:lang=\"fr\">"
            "<seg>f</seg></tuv>\n  <tuv xml:lang=\"en\"><seg>a <bpt i='1'>&lt;b></bpt>b<ept i='1'/>"
            "</seg></tuv>\n  <tuv xml:lang=\"de\"><seg>A <bpt i='1'>&lt;b></bpt>B<ept i='1'/></seg>"
            "</tuv>\n</tu><tu><tuv lang='EN-GB'><seg>a</seg></tuv><tuv xml:lang='de-AT'><seg>b"
            "</seg></tuv></tu></body></tmx>");
  EXPECT_THAT(TextsOf(ReadTmx, kPart), ElementsAre("TMX needs the target language"));
}

TEST(QtTsReader, FillsUnfinishedMessages) {
  constexpr std::string_view kPart =
      "<!DOCTYPE TS>\n<TS version=\"2.1\" language=\"de\"><context>\n"
      "<message><source>a &lt;b></source><translation type=\"unfinished\"></translation></message>"
      "<message><source>a</source><translation type=\"unfinished\"/></message>"
      "<message><source>a</source><translation>b</translation></message>"
      "<message><source>a</source><translation type=\"obsolete\"></translation></message>"
      "</context></TS>";
  EXPECT_EQ(InUpperCase(ReadQtTs, kPart),
            "<!DOCTYPE TS>\n<TS version=\"2.1\" language=\"de\"><context>\n"
            "<message><source>a &lt;b></source><translation type=\"unfinished\">A &lt;B&gt;"
            "</translation></message>"
            "<message><source>a</source><translation type=\"unfinished\">A</translation></message>"
            "<message><source>a</source><translation>b</translation></message>"
            "<message><source>a</source><translation type=\"obsolete\"></translation></message>"
            "</context></TS>");
}

TEST(QtTsReader, ATabEndsALine) {
  const auto message = [](const std::string& translation) {
    return "<TS><message><source>dog<byte value=\"x9\"/>Ctrl+O<byte value=\"x1b\"/></source>"
           "<translation type=\"unfinished\">" +
           translation + "</translation></message></TS>";
  };
  EXPECT_THAT(TextsOf(ReadQtTs, message("")), ElementsAre("dog\n<x1/>\nCtrl+O<x2/>"));
  EXPECT_EQ(InUpperCase(ReadQtTs, message("")),
            message("DOG<byte value=\"x9\"/>CTRL+O<byte value=\"x1b\"/>"));
}

TEST(QtTsReader, RefusesOtherFiles) {
  EXPECT_THAT(TextsOf(ReadQtTs, "\n<tmx/>"), ElementsAre("line 2: is <tmx>, want <TS>"));
}

TEST(QtTsReader, AllFormsOfAPluralGetTheTranslation) {
  const auto message = [](std::string_view forms) {
    return "<TS language=\"ru\"><message numerus=\"yes\">\n <source>%n dogs</source>\n "
           "<translation type=\"unfinished\">" +
           std::string(forms) + "</translation>\n</message></TS>";
  };
  const std::string two =
      "\n     <numerusform>%N DOGS</numerusform>"
      "\n     <numerusform>%N DOGS</numerusform>";
  EXPECT_EQ(InUpperCase(ReadQtTs, message("<numerusform></numerusform><numerusform/>")),
            message(two + "\n "));
  EXPECT_EQ(InUpperCase(ReadQtTs, message("")),
            message(two + "\n     <numerusform>%N DOGS</numerusform>\n "));
}

}  // namespace
}  // namespace dragoman::bilingual_xml_test
