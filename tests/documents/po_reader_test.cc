#include <string>

#include "documents/readers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/documents/scripted_reader.h"

namespace dragoman::po_reader_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(PoReader, FillsEntriesWithoutTranslation) {
  constexpr std::string_view kPart =
      "# a comment\nmsgid \"\"\nmsgstr \"\"\n\"Content-Type: text/plain; charset=UTF-8\\n\"\n\n"
      "#: a.c:1\n#, c-format\nmsgctxt \"menu\"\nmsgid \"One \\\"%s\\\"\\n\"\nmsgstr \"\"\n\n"
      "#, fuzzy\n#| msgid \"old\"\nmsgid \"two\"\nmsgstr \"zwei\"\n\n"
      "msgid \"\"\n\"thr\"\n\"ee\"\nmsgstr \"\"\n\n#~ msgid \"kept\"\n#~ msgstr \"\"\n";
  EXPECT_THAT(TextsOf(ReadPo, kPart), ElementsAre("One \"%s\"", "three"));
  EXPECT_EQ(
      InUpperCase(ReadPo, kPart),
      "# a comment\nmsgid \"\"\nmsgstr \"\"\n\"Content-Type: text/plain; charset=UTF-8\\n\"\n\n"
      "#: a.c:1\n#, c-format\nmsgctxt \"menu\"\nmsgid \"One \\\"%s\\\"\\n\"\nmsgstr \"ONE "
      "\\\"%S\\\"\\n\"\n\n"
      "#, fuzzy\n#| msgid \"old\"\nmsgid \"two\"\nmsgstr \"zwei\"\n\n"
      "msgid \"\"\n\"thr\"\n\"ee\"\nmsgstr \"THREE\"\n\n#~ msgid \"kept\"\n#~ msgstr \"\"\n");
}

// gettext counts words, not lines.
TEST(PoReader, StringsMayBeginInALaterLine) {
  EXPECT_EQ(InUpperCase(ReadPo,
                        "msgid\r\n\r\n\"a\"\r\n\r\nmsgid_plural \"as\"\r\nmsgstr[0]\r\n\"\"\r\n"
                        "msgstr[1]\r\n\"bs\"\r\n\r\n\"!\"\r\n"),
            "msgid\r\n\r\n\"a\"\r\n\r\nmsgid_plural \"as\"\r\nmsgstr[0]\r\n\"A\"\r\n"
            "msgstr[1]\r\n\"bs\"\r\n\r\n\"!\"\r\n");
  EXPECT_THAT(TextsOf(ReadPo, "msgid \"a\"\nmsgstr\nmsgid \"b\"\n"),
              ElementsAre("line 2: want a string in quotes"));
}

constexpr std::string_view kPlural =
    "msgid \"one dog\"\nmsgid_plural \"%d dogs\"\nmsgstr[0] \"\"\nmsgstr[1] \"\"\n";

std::string WithHeader(std::string_view forms) {
  return "msgid \"\"\nmsgstr \"Plural-Forms: nplurals=" + std::string(forms) +
         "; plural=0;\\n\"\n\n" + std::string(kPlural);
}

TEST(PoReader, PluralsHaveAsManyFormsAsTheHeaderSays) {
  EXPECT_THAT(InUpperCase(ReadPo, WithHeader("2")),
              ::testing::EndsWith("msgstr[0] \"ONE DOG\"\nmsgstr[1] \"%D DOGS\"\n"));
  EXPECT_THAT(
      InUpperCase(ReadPo, WithHeader("3")),
      ::testing::EndsWith("msgstr[0] \"ONE DOG\"\nmsgstr[1] \"%D DOGS\"\nmsgstr[2] \"%D DOGS\"\n"));
  EXPECT_THAT(InUpperCase(ReadPo, WithHeader("1")),
              ::testing::EndsWith("msgid_plural \"%d dogs\"\nmsgstr[0] \"%D DOGS\"\n"));
  EXPECT_THAT(Unchanged(ReadPo, WithHeader("3")),
              ::testing::EndsWith("msgstr[0] \"one dog\"\nmsgstr[1] \"%d dogs\"\n"
                                  "msgstr[2] \"%d dogs\"\n"));
}

TEST(PoReader, PluralsOfATemplateHaveTheUsualForms) {
  EXPECT_THAT(TextsOf(ReadPo, kPlural, {.target_language = "ru"}),
              ElementsAre("%d dogs", "%d dogs", "%d dogs"));
  EXPECT_THAT(TextsOf(ReadPo, kPlural, {.target_language = "pl"}),
              ElementsAre("one dog", "%d dogs", "%d dogs"));
  EXPECT_THAT(TextsOf(ReadPo, WithHeader("INTEGER"), {.target_language = "ja-JP"}),
              ElementsAre("%d dogs"));
  EXPECT_THAT(TextsOf(ReadPo, kPlural, {.target_language = "de"}),
              ElementsAre("one dog", "%d dogs"));
}

TEST(PoReader, FillsWhatTheHeaderLacks) {
  constexpr std::string_view kTemplate =
      "msgid \"\"\nmsgstr \"\"\n\"Language: \\n\"\n\"Content-Type: text/plain; "
      "charset=CHARSET\\n\"\n";
  const DocumentOptions options = {.target_language = "pt-BR"};
  EXPECT_EQ(InUpperCase(ReadPo, std::string(kTemplate) + "\n" + std::string(kPlural), options),
            "msgid \"\"\nmsgstr \"\"\n\"Language: pt_BR\\n\"\n"
            "\"Content-Type: text/plain; charset=UTF-8\\n\"\n"
            "\"Plural-Forms: nplurals=2; plural=(n > 1);\\n\"\n\n"
            "msgid \"one dog\"\nmsgid_plural \"%d dogs\"\nmsgstr[0] \"ONE DOG\"\nmsgstr[1] \"%D "
            "DOGS\"\n");
  EXPECT_EQ(
      InUpperCase(ReadPo, "# kept\r\nmsgid \"a\"\r\nmsgstr \"\"\r\n", {.target_language = "de"}),
      "msgid \"\"\r\nmsgstr \"\"\r\n\"Language: de\\n\"\r\n\"MIME-Version: 1.0\\n\"\r\n"
      "\"Content-Type: text/plain; charset=UTF-8\\n\"\r\n"
      "\"Content-Transfer-Encoding: 8bit\\n\"\r\n\r\n# kept\r\nmsgid \"a\"\r\nmsgstr \"A\"\r\n");
  EXPECT_EQ(InUpperCase(ReadPo, "msgid \"a\"\nmsgstr \"b\"\n", {.target_language = "de"}),
            "msgid \"a\"\nmsgstr \"b\"\n");
}

TEST(PoReader, AHeaderOfTheSourceLanguageBecomesThatOfTheTranslation) {
  const auto header = [](const std::string& language, const std::string& forms) {
    return "msgid \"\"\nmsgstr \"\"\n\"Language: " + language +
           "\\n\"\n\"Content-Type: text/plain; charset=UTF-8\\n\"\n\"Plural-Forms: " + forms +
           ";\\n\"\n\nmsgid \"a\"\nmsgstr \"";
  };
  const std::string english = header("en_US", "nplurals=2; plural=(n != 1)");
  EXPECT_EQ(
      InUpperCase(ReadPo, english + "\"\n", {.source_language = "en", .target_language = "ja"}),
      header("ja", "nplurals=1; plural=0") + "A\"\n");
  for (const std::string source : {"fr", ""}) {
    EXPECT_EQ(
        InUpperCase(ReadPo, english + "\"\n", {.source_language = source, .target_language = "ja"}),
        english + "A\"\n");
  }
}

TEST(PoReader, FuzzyEntriesWithoutTranslationAreTranslatedAndStayFuzzy) {
  EXPECT_EQ(InUpperCase(ReadPo, "#, fuzzy\nmsgid \"a\"\nmsgstr \"\"\n"),
            "#, fuzzy\nmsgid \"a\"\nmsgstr \"A\"\n");
}

TEST(PoReader, ApostrophesOfJavaAreDoubled) {
  const auto entry = [](const std::string& flags, const std::string& id, const std::string& text) {
    return "#, " + flags + "\nmsgctxt \"a\"\nmsgid \"" + id + "\"\nmsgstr \"" + text + "\"\n";
  };
  const auto with = [&](const std::string& flags, const std::string& id,
                        const std::string& translation) {
    const auto translate = [&](const Passage&) { return translation; };
    return TranslatedBy(translate, ReadPo, entry(flags, id, ""));
  };
  EXPECT_EQ(with("java-format", "It''s {0}", "C'est {0}"),
            entry("java-format", "It''s {0}", "C''est {0}"));
  EXPECT_EQ(with("fuzzy, java-format", "dog", "l'eau"),
            entry("fuzzy, java-format", "dog", "l''eau"));
  for (const std::string other : {"no-java-format", "java-printf-format", "python-brace-format"}) {
    EXPECT_EQ(with(other, "It {0}", "C'est {0}"), entry(other, "It {0}", "C'est {0}"));
  }
  // An argument that one apostrophe quotes is none.
  EXPECT_EQ(with("java-format", "can't {0}, isn't {1}", "n'a <x1 translate=\"no\">{0}</x1> {1}"),
            entry("java-format", "can't {0}, isn't {1}", "n''a '{0}' {1}"));
  EXPECT_EQ(InUpperCase(ReadPo, entry("java-format", "a", "") + entry("c-format", "it''s", "")),
            entry("java-format", "a", "A") + entry("c-format", "it''s", "IT''S"));
}

TEST(PoReader, LongTranslationsAreLines) {
  const std::string word(30, 'w');
  const auto translate = [&](const Passage&) { return word + " " + word + " " + word + "\nend\n"; };
  EXPECT_EQ(TranslatedBy(translate, ReadPo, "msgid \"a\"\nmsgstr \"\"\n"),
            "msgid \"a\"\nmsgstr \"\"\n\"" + word + " " + word + " \"\n\"" + word +
                "\\n\"\n\"end\\n\"\n");
}

TEST(PoReader, RefusesWhatIsDamaged) {
  EXPECT_THAT(TextsOf(ReadPo, "msgid \"a\n"),
              ElementsAre("line 1: has a string without its closing quote"));
  EXPECT_THAT(TextsOf(ReadPo, "msgid \"a\"\n\nmsgid \"b\"\n"),
              ElementsAre("line 1: has no msgstr"));
  EXPECT_THAT(TextsOf(ReadPo, "\n\"a\"\n"),
              ElementsAre("line 2: want a keyword in front of the string"));
  EXPECT_THAT(TextsOf(ReadPo, "msgid \"a\"\nmsgstr[1] \"\"\n"),
              ElementsAre("line 2: want msgid_plural first"));
  EXPECT_THAT(TextsOf(ReadPo, "msgid \"a\"\nmsgtext \"\"\n"),
              ElementsAre("line 2: unknown keyword msgtext"));
  EXPECT_THAT(TextsOf(ReadPo, "msgid \"\"\nmsgstr \"charset=ISO-8859-1\\n\"\n"),
              ElementsAre("line 1: is encoded in ISO-8859-1, want UTF-8"));
  EXPECT_THAT(TextsOf(ReadPo, ""), IsEmpty());
}

}  // namespace
}  // namespace dragoman::po_reader_test
