// Texts with markup, read, translated by a script, and written again.

#include <string>
#include <utility>

#include "engine/text/marked_sentence.h"
#include "engine/text/xml_reader.h"
#include "gtest/gtest.h"
#include "tests/request/scripted_translation.h"

namespace dragoman::markup_test {
namespace {

std::string Translate(const std::string& xml, Script script, const MarkupOptions& options = {}) {
  absl::StatusOr<MarkedText> text = ReadXml(xml, options);
  if (!text.ok()) return text.status().ToString();
  return TranslateByScript(*std::move(text), script);
}

std::string Reversed(const std::string& xml, const MarkupOptions& options = {}) {
  return Translate(xml, Script::kReversal, options);
}

TEST(Markup, WhatIsTranslatedToItselfIsTheSameBytes) {
  for (const std::string xml :
       {"", "   ", "A cat.", "A <b>big</b> cat.  <i> The  dog </i>\r\n\tsleeps. ",
        "<?xml version='1.0'?>\n<!DOCTYPE d [<!ENTITY n 'x'>]>\n<d>&n; is <a  b = "
        "'1'>this</a\n>.</d>",
        "\xEF\xBB\xBF<d><!-- c --><p>One &amp; two &#xc4;&#xa0;.</p><?pi?><p/></d><!-- end -->",
        "un<u>der</u>line H<s>2</s>O, <b>two <i>marks</i></b><br/>.",
        "<b>One. Two <i>three.</i> Four</b> five <![CDATA[<six>]]> seven."}) {
    EXPECT_EQ(Translate(xml, Script::kIdentity), xml);
  }
}

TEST(Markup, MarksFollowTheirWords) {
  EXPECT_EQ(Reversed("A <b>big</b> cat sleeps."), "sleeps cat <b>big</b> A.");
  EXPECT_EQ(Reversed("<b>Hello</b> world."), "world <b>Hello</b>.");
  EXPECT_EQ(Reversed("One <b>two <i>three</i> four</b> five."),
            "five <b>four <i>three</i> two</b> One.");
  EXPECT_EQ(Reversed("<i>a b</i> <b>c d</b> e"), "e <b>d c</b> <i>b a</i>");
  EXPECT_EQ(Reversed("\xEF\xBB\xBFone <b>two</b>"), "\xEF\xBB\xBF<b>two</b> one");
}

TEST(Markup, TagsAroundASentenceStayAroundIt) {
  EXPECT_EQ(Reversed("<p><b>Hello world.</b></p>"), "<p><b>world Hello.</b></p>");
  EXPECT_EQ(Reversed("<b>One two. Three four.</b>"), "<b>two One. four Three.</b>");
}

TEST(Markup, AMarkOverTwoSentencesStaysOverBoth) {
  EXPECT_EQ(Reversed("He said <b>hello you. And bye</b> now."),
            "<b>you hello said He. now bye And</b>.");
  EXPECT_EQ(Reversed("one <b>two.</b><i> Three</i> four"), "<b>two</b> one. four <i>Three</i>");
}

TEST(Markup, PunctuationOutsideOfAMarkStaysOutside) {
  EXPECT_EQ(Translate("Click <a>here</a>, or <i>there</i>.", Script::kIdentity),
            "Click <a>here</a>, or <i>there</i>.");
  EXPECT_EQ(Reversed("Go <a>here</a>."), "<a>here</a> Go.");
}

TEST(Markup, MarksWithinWordsStayThere) {
  EXPECT_EQ(Reversed("un<u>der</u>line H<s>2</s>O"), "H<s>2</s>O un<u>der</u>line");
}

TEST(Markup, EmptyElementsKeepTheirNeighbour) {
  EXPECT_EQ(Reversed("one <x/>two three"), "three <x/>two one");
  EXPECT_EQ(Reversed("one two<x/> three"), "three two<x/> one");
  EXPECT_EQ(Reversed("one <x/> two three"), "three <x/> two one");
}

TEST(Markup, AMarkWithoutWordsStays) {
  EXPECT_EQ(Translate("A <b>big</b> cat.", Script::kNothing), "<b></b>");
  EXPECT_EQ(Reversed("one <b></b>two"), "<b></b>two one");
  EXPECT_EQ(Reversed("a <b>one</b> <i></i> <b>two</b>"), "<i></i> <b>two</b> <b>one</b> a");
}

TEST(Markup, IgnoredElementsComeBackAsTheyWere) {
  const MarkupOptions options = {.ignore_tags = {"x"}};
  EXPECT_EQ(Reversed("Hello <x>%{name}</x>, you have <x>%1$s. A</x> files.", options),
            "files <x>%1$s. A</x> have you <x>%{name}</x>, Hello.");
  EXPECT_EQ(Reversed("<x>nothing else</x>", options), "<x>nothing else</x>");
  EXPECT_EQ(Reversed("<p translate='no'>not this, <q translate='yes'>but that</q></p>"),
            "<p translate='no'><q translate='yes'>that but</q> not this,</p>");
}

TEST(Markup, AnotherLanguageIsNotTranslated) {
  const std::string xml = "one <f xml:lang='fr'>deux <e xml:lang='en'>three four</e></f> five";
  EXPECT_EQ(Reversed(xml, {.language = "en"}),
            "five <f xml:lang='fr'><e xml:lang='en'>four three</e> deux</f> one");
  EXPECT_EQ(Reversed("one <f xml:lang='fr'>deux trois</f> two", {.language = "en"}),
            "two <f xml:lang='fr'>deux trois</f> one");
  EXPECT_EQ(Reversed("<f xml:lang='fr' translate='yes'>deux trois</f>", {.language = "en"}),
            "<f xml:lang='fr' translate='yes'>trois deux</f>");
}

TEST(Markup, CharactersAreSpelledAsTheyWere) {
  EXPECT_EQ(Reversed("I &amp; you &lt;3 &#233;té"), "&#233;t&#233; &lt;3 you &amp; I");
}

TEST(Markup, ReferencesOfSymbolsStayAsTheyAre) {
  for (const std::string xml :
       {"One&#xa0;two &#xa9; three&#x2022;four.", "One.&#xa0;Two three.", "&#xa0;One &#x2192;"}) {
    EXPECT_EQ(Translate(xml, Script::kIdentity), xml);
  }
  EXPECT_EQ(Translate("<b>One.</b><i>&#xa0;Two</i> three.", Script::kIdentity),
            "<b>One.</b> <i>&#xa0;Two</i> three.");
  for (const std::string reference : {"&#xa0;", "&#xa9;", "&#x2022;", "&#x2192;"}) {
    for (const std::string& xml : {"one" + reference + "two three", "one " + reference + " two"}) {
      const std::string out = Reversed(xml);
      EXPECT_NE(out.find(reference), out.npos) << out;
      EXPECT_EQ(out.find(reference), out.rfind(reference)) << out;
    }
  }
}

// A model reads them, and may leave them out or say others; they come back once.
TEST(Markup, SignsThatAreNotTranslatedAreReadAsThemselves) {
  for (const std::string sign : {"—", "–", "…"}) {
    const std::string x = "<x translate='no'>" + sign + "</x>";
    for (const std::string& xml :
         {"one " + x + " two", "One" + x + "two.", x + "one two", "One" + x + " Two three."}) {
      EXPECT_EQ(Translate(xml, Script::kIdentity), xml);
      for (const Script script : {Script::kReversal, Script::kNothing}) {
        const std::string out = Translate(xml, script);
        EXPECT_NE(out.find(x), out.npos) << out;
        EXPECT_EQ(out.find(sign), out.rfind(sign)) << out;
      }
    }
    const MarkedText text = *ReadXml("One" + x + " two", {});
    EXPECT_EQ(InputOf(text, FindSentences(text, true)[0]).text, "One" + sign + " two");
  }
}

TEST(Markup, LinesMayBeJoined) {
  EXPECT_EQ(Reversed("one two\n three"), "two one\n three");
  EXPECT_EQ(Reversed("one two\n three", {.join_lines = true}), "three two one");
}

TEST(Markup, TagsMayBeToldWhetherTheyEndASentence) {
  EXPECT_EQ(Reversed("one two<c/>three four"), "four two<c/>three one");
  EXPECT_EQ(Reversed("one two<c/>three four", {.splitting_tags = {"c"}}), "two one<c/>four three");
  EXPECT_EQ(Reversed("<p>one</p><p>two</p>"), "<p>one</p><p>two</p>");
  EXPECT_EQ(Reversed("<p>one</p> <p>two</p>", {.non_splitting_tags = {"p"}}),
            "<p>two</p> <p>one</p>");
  EXPECT_EQ(Reversed("<p>one</p> <p>two</p>", {.outline_detection = false}),
            "<p>two</p> <p>one</p>");
}

TEST(Markup, BrokenXmlIsRefusedWithItsPlace) {
  for (const auto& [xml, place] : {std::pair("<a><b>x</a>", "line 1, column 10: mismatched tag"),
                                   {"one\ntwo </r><r>", "line 2, column 5: mismatched tag"},
                                   {"a < b", "line 1, column 4: not well-formed"},
                                   {"&nbsp;", "line 1, column 1: undefined entity"},
                                   {"<a>", "line 1, column 4: mismatched tag"},
                                   {"<?xml version='1.0'?><a/>x", "column 26: junk after"}}) {
    const absl::Status status = ReadXml(xml, {}).status();
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << xml;
    EXPECT_NE(status.message().find(place), std::string::npos) << status;
  }
  std::string deep;
  for (int i = 0; i < 300; ++i) deep += "<a>";
  EXPECT_TRUE(absl::IsInvalidArgument(ReadXml(deep, {}).status()));
}

}  // namespace
}  // namespace dragoman::markup_test
