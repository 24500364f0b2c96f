#include "server/glossaries/glossary_text.h"

#include <string>

#include "engine/base/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dragoman {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr char kText[] =
    "# name: Weather\n"
    "# owner: alice\n"
    "# shared: yes\n"
    "# version: 3\n"
    "# created: 2026-01-31T12:00:00+00:00\n"
    "# languages: en de\n"
    "weather\tWetter\tWetters\n"
    "# case: ignore\n"
    "Gore-Tex\n"
    "# languages: * fr\n"
    "# case: match\n"
    "\\#1\tnuméro un\n"
    "\\\\n\tretour\n"
    "# forms: endings\n"
    "house\tmaison\n";

TEST(GlossaryText, IsReadAsItIsWritten) {
  const absl::StatusOr<GlossaryText> glossary = ParseGlossary(kText);
  ASSERT_TRUE(glossary.ok()) << glossary.status();
  EXPECT_EQ(glossary->name, "Weather");
  EXPECT_EQ(glossary->owner, "alice");
  EXPECT_TRUE(glossary->shared);
  EXPECT_EQ(glossary->version, 3);
  ASSERT_THAT(glossary->dictionaries, SizeIs(2));
  const GlossaryDictionary& german = glossary->dictionaries[0];
  EXPECT_EQ(german.languages, (LanguagePair{"en", "de"}));
  ASSERT_THAT(german.entries, SizeIs(2));
  EXPECT_EQ(german.entries[0].source, "weather");
  EXPECT_THAT(german.entries[0].targets, ElementsAre("Wetter", "Wetters"));
  EXPECT_FALSE(german.entries[0].ignore_case);
  EXPECT_EQ(german.entries[1].source, "Gore-Tex");
  EXPECT_THAT(german.entries[1].targets, IsEmpty());
  EXPECT_TRUE(german.entries[1].ignore_case);
  const GlossaryDictionary& french = glossary->dictionaries[1];
  EXPECT_EQ(french.languages, (LanguagePair{"", "fr"}));
  EXPECT_EQ(french.entries[0].source, "#1");
  EXPECT_EQ(french.entries[1].source, "\\n");
  EXPECT_FALSE(french.entries[1].inflect);
  EXPECT_TRUE(french.entries[2].inflect);
  for (const GlossaryDictionary& each : glossary->dictionaries) {
    EXPECT_EQ(*ReadEntries(WriteEntries(each.entries)), each.entries);
  }
  EXPECT_THAT(*ReadEntries(""), IsEmpty());
}

TEST(GlossaryText, MayHaveCommas) {
  const absl::StatusOr<GlossaryText> glossary = ParseGlossary(
      "# languages: en de\r\nhouse, Haus ,Hauses\r\n\"a, \"\"b\"\"\",c\r\n\n\\d\n", ',');
  ASSERT_TRUE(glossary.ok()) << glossary.status();
  ASSERT_THAT(glossary->dictionaries, SizeIs(1));
  const std::vector<GlossaryEntry>& entries = glossary->dictionaries[0].entries;
  ASSERT_THAT(entries, SizeIs(3));
  EXPECT_THAT(entries[0].targets, ElementsAre("Haus", "Hauses"));
  EXPECT_EQ(entries[1].source, "a, \"b\"");
  EXPECT_EQ(entries[2].source, "\\d");
  EXPECT_FALSE(ParseGlossary("\"a\nb\",c", ',').ok());
  EXPECT_TRUE(ParseGlossary("\"a", ',').ok());  // the end of the file is that of the quotes
}

TEST(GlossaryText, APlainTableIsAGlossary) {
  const absl::StatusOr<GlossaryText> glossary =
      ParseGlossary("\xEF\xBB\xBFhouse\tHaus\r\n\r\n  cat \t Katze \t\r\n# mine\nUSB");
  ASSERT_TRUE(glossary.ok()) << glossary.status();
  ASSERT_THAT(glossary->dictionaries, SizeIs(1));
  const GlossaryDictionary& all = glossary->dictionaries[0];
  EXPECT_EQ(all.languages, LanguagePair());
  ASSERT_THAT(all.entries, SizeIs(3));
  EXPECT_THAT(all.entries[0].targets, ElementsAre("Haus"));
  EXPECT_EQ(all.entries[1].source, "cat");
  EXPECT_THAT(all.entries[1].targets, ElementsAre("Katze"));
  EXPECT_THAT(all.entries[2].targets, IsEmpty());
}

TEST(GlossaryText, ErrorsNameTheLine) {
  const auto error = [](const std::string& text) {
    return std::string(ParseGlossary(text).status().message());
  };
  EXPECT_THAT(error("a\tb\n\tb\n"), HasSubstr("line 2: "));
  EXPECT_THAT(error("a\tb\n\nx\t" + std::string(2000, 'x')), HasSubstr("line 3: "));
  EXPECT_THAT(error("# version: x"), HasSubstr("line 1: version"));
  EXPECT_THAT(error("# created: yesterday"), HasSubstr("line 1: created"));
  EXPECT_THAT(error("# languages: a b c"), HasSubstr("line 1: languages"));
  EXPECT_THAT(error("# languages: en 12\na\tb"), HasSubstr("target_language"));
  EXPECT_THAT(error("a\tb\n\xff"), HasSubstr("UTF-8"));
}

TEST(GlossaryText, ErrorsNameTheField) {
  const auto field = [](const GlossaryText& glossary) { return FieldOf(CheckGlossary(glossary)); };
  const auto with = [](GlossaryEntry entry, LanguagePair languages = {"en", "de"}) {
    return GlossaryText{{}, {{languages, {{"a", {"b"}}, std::move(entry)}}}};
  };
  const std::string entry = "glossary.dictionaries[0].entries[1]";
  EXPECT_EQ(field(with({"x", {"y"}})), "");
  EXPECT_EQ(field(with({"", {"y"}})), entry + ".source");
  EXPECT_EQ(field(with({"x\ny", {"y"}})), entry + ".source");
  EXPECT_EQ(field(with({"\xff", {"y"}})), entry + ".source");
  EXPECT_EQ(field(with({"x", {"y", "a\tb"}})), entry + ".targets");
  EXPECT_EQ(field(with({"x", {" "}})), entry + ".targets");
  EXPECT_EQ(field(with({"x", std::vector<std::string>(33, "y")})), entry + ".targets");
  EXPECT_EQ(field(with({"x"}, {"german?", ""})), "glossary.dictionaries[0].source_language");
  GlossaryText twice = with({"x"});
  twice.dictionaries.push_back(twice.dictionaries[0]);
  EXPECT_EQ(field(twice), "glossary.dictionaries[1]");
  GlossaryText many = with({"x"});
  many.dictionaries[0].entries.resize(kMaxGlossaryEntries + 1, {"x"});
  EXPECT_EQ(field(many), "glossary.dictionaries[0].entries");
  EXPECT_EQ(field({{.name = "a\nb"}}), "glossary.name");
  EXPECT_EQ(field({{.owner = "a\nb"}}), "principal");
}

}  // namespace
}  // namespace dragoman
