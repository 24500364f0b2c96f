#include "server/glossaries/tbx.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dragoman {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(Tbx, HasAnEntryForEachTermIntoEachOtherLanguage) {
  const absl::StatusOr<GlossaryText> glossary = ParseTbx(R"(<?xml version="1.0"?>
<martif type="TBX"><text><body><termEntry id="1">
  <langSet xml:lang="en"><tig><term>house &amp; home</term></tig></langSet>
  <langSet xml:lang="de"><tig><term>Haus</term></tig>
    <ntig><termGrp><term>Ge<hi>bäu</hi>de</term></termGrp></ntig></langSet>
</termEntry></body></text></martif>)");
  ASSERT_TRUE(glossary.ok()) << glossary.status();
  ASSERT_THAT(glossary->dictionaries, SizeIs(2));
  const GlossaryDictionary& german = glossary->dictionaries[0];
  EXPECT_EQ(german.languages, (LanguagePair{"de", "en"}));
  ASSERT_THAT(german.entries, SizeIs(2));
  EXPECT_EQ(german.entries[1].source, "Gebäude");
  EXPECT_THAT(german.entries[1].targets, ElementsAre("house & home"));
  const GlossaryDictionary& english = glossary->dictionaries[1];
  EXPECT_EQ(english.entries[0].source, "house & home");
  EXPECT_THAT(english.entries[0].targets, ElementsAre("Haus", "Gebäude"));
}

TEST(Tbx, WhatIsNoTermBaseHasNoEntries) {
  EXPECT_THAT(ParseTbx("<html><term>a</term></html>")->dictionaries, IsEmpty());
  EXPECT_FALSE(ParseTbx("house,Haus").ok());
  EXPECT_FALSE(ParseTbx("<tbx>\xFF</tbx>").ok());
}

TEST(Tbx, AConceptIsSmall) {
  std::string languages, terms;
  for (int i = 0; i < 32; ++i) {
    const std::string number(1, static_cast<char>('a' + i % 26));
    languages +=
        "<langSec xml:lang='" + number + (i < 26 ? "a" : "b") + "'><term>x</term></langSec>";
    terms += "<term>x</term>";
  }
  const auto error = [](const std::string& content) {
    return std::string(
        ParseTbx("<tbx><conceptEntry>" + content + "</conceptEntry></tbx>").status().message());
  };
  EXPECT_THAT(error(languages), HasSubstr("32 languages"));
  EXPECT_THAT(error("<langSec xml:lang='en'>" + terms + "</langSec>"), HasSubstr("32 terms in en"));
}

}  // namespace
}  // namespace dragoman
