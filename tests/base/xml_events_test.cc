#include "engine/base/xml_events.h"

#include <string>
#include <string_view>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dragoman::xml_events_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Each event as its kind and bytes: "s<b>".
std::vector<std::string> Events(std::string_view part) {
  const auto events = ReadXmlEvents(part);
  if (!events.ok()) return {std::string(events.status().message())};
  std::vector<std::string> seen;
  for (const XmlEvent& event : *events) {
    seen.push_back("setcro"[event.kind] +
                   std::string(part.substr(event.begin, event.end - event.begin)));
  }
  return seen;
}

TEST(XmlEvents, AreTheBytesOfThePart) {
  EXPECT_THAT(Events("<?xml version=\"1.0\"?>\n<p a='>'>x &amp;\r\ny<br/><!-- c --><?i?></p>\n"),
              ElementsAre("o<?xml version=\"1.0\"?>", "s<p a='>'>", "tx &amp;\r\ny", "s<br/>", "e",
                          "o<!-- c -->", "o<?i?>", "e</p>"));
  EXPECT_THAT(Events("\xef\xbb\xbf<p>\xc3\xa9<![CDATA[<b>&]]>&#xe9;</p>"),
              ElementsAre("s<p>", "t\xc3\xa9", "c<![CDATA[<b>&]]>", "t&#xe9;", "e</p>"));
}

TEST(XmlEvents, KnowTheirPartnersNamesAndLines) {
  const auto events = ReadXmlEvents("<w:p\nx='1'>\n<b/></w:p >");
  ASSERT_TRUE(events.ok());
  ASSERT_EQ(events->size(), 5);
  const XmlEvent &start = (*events)[0], &end = (*events)[4];
  EXPECT_EQ(start.name, "w:p");
  EXPECT_EQ(LocalXmlName(start.name), "p");
  EXPECT_EQ(end.name, "w:p");
  EXPECT_EQ(start.partner, 4);
  EXPECT_EQ(end.partner, 0);
  EXPECT_EQ(start.line, 1);
  EXPECT_EQ(end.line, 3);
  EXPECT_EQ((*events)[2].name, "b");
  EXPECT_EQ((*events)[2].partner, 3);
}

TEST(XmlEvents, ReadTheCharactersOfTextAndAttributes) {
  EXPECT_EQ(XmlText("&lt;&amp;amp;&#233;&#x1F600;&nbsp;\r\n<![CDATA[&lt;]]>&#xD800;"),
            "<&amp;\xc3\xa9\xf0\x9f\x98\x80&nbsp;\n&lt;&#xD800;");
  const std::string_view tag = "<a:b x = '1>' y:z=\"&quot;\"\n c=''/>";
  const auto attributes = XmlAttributes(tag);
  ASSERT_EQ(attributes.size(), 3);
  EXPECT_EQ(attributes[0].name, "x");
  EXPECT_EQ(attributes[0].value.data() - tag.data(), 10);
  EXPECT_EQ(XmlAttributeOr(tag, "x"), "1>");
  EXPECT_EQ(XmlAttributeOr(tag, "y:z"), "\"");
  EXPECT_EQ(XmlAttributeOr(tag, "c", "missing"), "");
  EXPECT_EQ(XmlAttributeOr(tag, "d", "missing"), "missing");
  EXPECT_TRUE(XmlAttributes("<br/>").empty());
  EXPECT_EQ(EscapeXml("a<b>&\"\x01\n"), "a&lt;b&gt;&amp;\"\n");
  EXPECT_EQ(EscapeXmlAttribute("'\"\n"), "&apos;&quot;&#10;");
}

TEST(XmlEvents, KeepEntitiesOfAnExternalDocumentType) {
  EXPECT_THAT(Events("<!DOCTYPE h PUBLIC \"x\" \"y\"><h>a&nbsp;b</h>"),
              ElementsAre("s<h>", "ta", "r&nbsp;", "tb", "e</h>"));
}

TEST(XmlEvents, EntitiesAreNotExpanded) {
  EXPECT_THAT(Events("<!DOCTYPE a [<!ENTITY e '<b>x</b>'><!ENTITY f '&e;&e;'>]><a>&f;</a>"),
              ElementsAre("s<a>", "r&f;", "e</a>"));
}

TEST(XmlEvents, RefuseWhatIsDamagedOrExpands) {
  EXPECT_THAT(Events("<a>\n<b></a>"),
              ElementsAre("line 2: is not well-formed XML: mismatched tag"));
  EXPECT_THAT(Events(""), ElementsAre(HasSubstr("line 1: is not well-formed XML")));
  EXPECT_THAT(Events("<a>\n\xff</a>"), ElementsAre(HasSubstr("line 2: is not well-formed XML")));
  EXPECT_THAT(Events("<!DOCTYPE a [\n<!ENTITY e SYSTEM 'x'>]><a>&e;</a>"),
              ElementsAre("line 2: declares the external entity \"e\", want none"));
  EXPECT_THAT(Events("<!DOCTYPE a [<!ENTITY % e SYSTEM 'x'>]><a/>"),
              ElementsAre("line 1: declares the parameter entity \"e\", want none"));
  EXPECT_THAT(Events("<?xml version='1.0' encoding='ISO-8859-1'?><a/>"),
              ElementsAre("line 1: is encoded in ISO-8859-1, want UTF-8"));
  std::string deep;
  for (int i = 0; i < 257; ++i) deep += "<a>";
  EXPECT_THAT(Events(deep), ElementsAre("line 1: elements are nested deeper than 256"));
}

}  // namespace
}  // namespace dragoman::xml_events_test
