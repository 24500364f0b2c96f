// JSON, ARB, .properties, YAML, Android's strings.xml, Apple's .strings and .stringsdict.

#include <filesystem>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_replace.h"
#include "documents/icu_message.h"
#include "documents/program_text.h"
#include "documents/readers.h"
#include "engine/base/json.h"
#include "engine/base/utf8.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/documents/scripted_reader.h"
#include "tests/documents/zip_of.h"

namespace dragoman::string_files_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string With(std::string_view translation, PassageReader reader, std::string_view part,
                 const DocumentOptions& options = {}) {
  return TranslatedBy([&](const Passage&) { return std::string(translation); }, reader, part,
                      options);
}

// The reader, and what is done with its passages as strings of a program.
template <PassageReader reader>
Passages AsStrings(std::string_view part, const DocumentOptions& options) {
  Passages passages = reader(part, options);
  if (!passages.ok()) return passages;
  Patience patience(options);
  for (Passage& passage : *passages) passage = ProgramText(std::move(passage), &patience);
  return passages;
}

TEST(JsonReader, StringsAreTranslatedAndKeysKept) {
  constexpr std::string_view kPart =
      "{\"a\": \"One {{count}} \\\"x\\\"\",\n \"b\": [\"two\", 3, null, true, \"4\", "
      "{\"c\" : \"$t(key) three\"}] , \"d\":\"\"}\n";
  EXPECT_THAT(TextsOf(ReadJson, kPart), ElementsAre("One {{count}} \"x\"", "two", "$t(key) three"));
  EXPECT_EQ(InUpperCase(ReadJson, kPart),
            "{\"a\": \"ONE {{count}} \\\"X\\\"\",\n \"b\": [\"TWO\", 3, null, true, \"4\", "
            "{\"c\" : \"$T(KEY) THREE\"}] , \"d\":\"\"}\n");
}

TEST(JsonReader, EscapesAsTheFileDoes) {
  EXPECT_EQ(With("\u00e9/\U0001f600\n", ReadJson, "[\"a\"]"), "[\"\u00e9/\U0001f600\\n\"]");
  EXPECT_EQ(With("\u00e9/\U0001f600", ReadJson, "[\"a\", \"\\u00e8 \\/\"]"),
            "[\"\\u00e9\\/\\ud83d\\ude00\", \"\\u00e9\\/\\ud83d\\ude00\"]");
  EXPECT_THAT(TextsOf(ReadJson, "[\"\\ud83d\\ude00 a\"]"), ElementsAre("\U0001f600 a"));
}

TEST(JsonReader, BranchesOfAMessageAreTextsOfTheirOwn) {
  constexpr std::string_view kPart =
      "[\"{n, plural, =0 {No \\u00e9} one {# dog of {name}} other{# {g, select, a {cats} other "
      "{birds}} here}}\"]";
  EXPECT_THAT(
      TextsOf(AsStrings<ReadJson>, kPart),
      ElementsAre("<x1/>\nNo \u00e9\n<x2/>\n{#} dog of {name}\n<x3/>\ncats\n<x4/>\nbirds\n<x5/>"
                  "\nhere\n<x6/>"));
  EXPECT_EQ(
      InUpperCase(AsStrings<ReadJson>, kPart),
      "[\"{n, plural, =0 {NO \\u00e9} one {# DOG OF {name}} other{# {g, select, a {CATS} other "
      "{BIRDS}} HERE}}\"]");
  EXPECT_EQ(Unchanged(AsStrings<ReadJson>, kPart), kPart);
  EXPECT_THAT(TextsOf(AsStrings<ReadJson>, "[\"{when, date, short} or {a, b\"]"),
              ElementsAre("{when, date, short} or {a, b"));
}

// Every passage, written with its own text, is the string that it was.
TEST(JsonReader, WhatIsWrittenMeansTheText) {
  constexpr std::string_view kPieces[] = {"$t(", "a", ")", "\"", "\\", "{", "}",      "[", "]",
                                          ",",   ":", "(", "\n", "<",  "&", "\u00e9", "/", "$",
                                          " b ", ">", "%", "\t", ";",  "|", "\u2028", "#", "="};
  std::mt19937_64 random(1);
  for (int i = 0; i < 5000; ++i) {
    std::string text;
    for (size_t size = 1 + random() % 12; size > 0; --size) {
      text += kPieces[random() % std::size(kPieces)];
    }
    const std::string part =
        nlohmann::json::array({text}).dump(-1, ' ', /*ensure_ascii=*/i % 2 == 0);
    const auto passages = ReadJson(part, {});
    ASSERT_TRUE(passages.ok()) << passages.status() << part;
    std::string written;
    size_t end = 0;
    for (const Passage& passage : *passages) {
      written += part.substr(end, passage.begin - end) + passage.write(passage.text);
      end = passage.end;
    }
    written += part.substr(end);
    EXPECT_EQ(nlohmann::json::parse(written, nullptr, /*allow_exceptions=*/false),
              nlohmann::json::array({text}))
        << written;
  }
}

TEST(JsonReader, WhatCannotBeReadIsNotWritten) {
  DocumentFormat format = *FindDocumentFormat("json");
  format.reader = [](std::string_view part, const DocumentOptions& options) {
    Passages passages = ReadJson(part, options);
    if (!passages.ok()) return passages;
    for (Passage& passage : *passages) passage.write = [](auto) { return std::string("\""); };
    return passages;
  };
  const std::string input = TemporaryPath(".json"), output = TemporaryPath(".json");
  WriteBytes(input, "[\n\"dog\"]");
  const auto document = OpenDocument(format, input, output, {});
  ASSERT_TRUE(document.ok());
  ASSERT_TRUE((*document)->Next().ok());
  const absl::Status status = (*document)->Write({"Hund"});
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
  EXPECT_THAT(status.message(),
              HasSubstr("the translation is not json that can be read: line 2: is not JSON: "));
  EXPECT_FALSE(std::filesystem::exists(output));
}

TEST(JsonReader, ApostrophesDoNotQuoteBraces) {
  EXPECT_EQ(With("l'{name} d'or", AsStrings<ReadJson>, "[\"the {name}\"]"),
            "[\"l\u2019{name} d'or\"]");
}

TEST(JsonReader, RefusesWhatIsDamaged) {
  EXPECT_THAT(TextsOf(ReadJson, "{\"a\":\n\"b}"), ElementsAre(HasSubstr("line 2: is not JSON: ")));
  EXPECT_THAT(TextsOf(ReadJson, "[\"\\ud83d\"]"), ElementsAre(HasSubstr("line 1: is not JSON: ")));
  EXPECT_THAT(TextsOf(ReadJson, ""), ElementsAre(HasSubstr("line 1: is not JSON: ")));
  EXPECT_THAT(TextsOf(ReadJson, std::string(100000, '[')), ElementsAre(HasSubstr("is not JSON")));
}

TEST(ArbReader, RemarksAreKeptAndTheLocaleFollows) {
  constexpr std::string_view kPart =
      "{\"@@locale\": \"en\", \"a\": \"one\",\n\"@a\": {\"description\": \"kept\", \"x\": "
      "[\"kept\"]},"
      " \"b\": \"two\"}";
  EXPECT_EQ(InUpperCase(ReadArb, kPart, {.target_language = "de"}),
            "{\"@@locale\": \"de\", \"a\": \"ONE\",\n\"@a\": {\"description\": \"kept\", \"x\": "
            "[\"kept\"]}, \"b\": \"TWO\"}");
  EXPECT_EQ(Unchanged(ReadArb, kPart), kPart);
  EXPECT_EQ(With("ist '{'da'}'", ReadArb, "{\"a\": \"is '{'there'}'\"}"),
            "{\"a\": \"ist '{'da'}'\"}");
  EXPECT_EQ(With("l'{name} da", AsStrings<ReadArb>, "{\"a\": \"the {name}\"}"),
            "{\"a\": \"l\u2019{name} da\"}");
}

TEST(IcuMessage, FindsBranches) {
  const auto texts = [](std::string_view message) {
    std::vector<std::string> found;
    Patience patience{DocumentOptions()};
    for (const IcuText& text : FindIcuTexts(message, &patience)) {
      found.emplace_back(message.substr(text.begin, text.end - text.begin));
    }
    return found;
  };
  EXPECT_THAT(texts("a {n, plural, offset:1 one{b} other{c '{'}} d"),
              ElementsAre("a ", "b", "c '{'", " d"));
  EXPECT_THAT(texts("a {0,choice,0#b|1#c {1}|1<{0,number} d}"),
              ElementsAre("a ", "b", "c {1}", "{0,number} d"));
  EXPECT_THAT(texts("{0,choice,0#b|c}"), IsEmpty());
  EXPECT_THAT(texts("{a} {b}"), IsEmpty());
  EXPECT_THAT(texts("{n, plural, one{a} other{b}"), IsEmpty());
  EXPECT_THAT(texts("{n, plural, one}"), IsEmpty());
}

// What a message says, in all its branches, as ICU reads it.
std::string Said(std::string_view message, size_t* at, bool plural) {
  std::string said;
  const auto peek = [&] { return *at < message.size() ? message[*at] : '}'; };
  while (peek() != '}') {
    const char c = message[(*at)++];
    if (c == '\'' && peek() == '\'') {
      said += message[(*at)++];
    } else if (c == '\'' && (peek() == '{' || peek() == '}' || (plural && peek() == '#'))) {
      for (; *at < message.size(); ++*at) {
        if (message[*at] == '\'' && message.substr(*at + 1, 1) != "'") break;
        *at += message[*at] == '\'';
        said += message[*at];
      }
      ++*at;
    } else if (c == '#' && plural) {
      said += "<>";
    } else if (c == '{') {
      const size_t begin = *at, comma = message.find_first_of(",}", begin);
      const std::string_view type = message.substr(comma + 1);
      const bool branches = type.starts_with(" plural,") || type.starts_with(" select,");
      for (int depth = 1; depth > 0; ++*at) {
        if (branches && peek() == '{') {
          said += "(" + Said(message, &++*at, plural || type.starts_with(" plural,")) + ")";
        } else if (peek() == '{') {
          ++depth;
        } else if (peek() == '}') {
          --depth;
        } else if (peek() == '\'' && !branches) {
          *at = message.find('\'', *at + 1);
        }
      }
      const std::string_view argument = message.substr(begin, *at - begin);
      if (!branches) absl::StrAppend(&said, "<", std::hash<std::string_view>()(argument), ">");
    } else {
      said += c;
    }
  }
  return said;
}

std::string RandomMessage(std::mt19937_64* random, int depth, bool branches) {
  constexpr std::string_view kPieces[] = {"dog", " a dog ", "don't",
                                          "'' ", "'{1}'",   "'{'1'}' ",
                                          "{0}", "{n}",     "{2, date, 'o''clock }' y}",
                                          "#",   "'#' ",    "{3, number, ::percent}",
                                          " "};
  std::string text;
  for (size_t size = 1 + (*random)() % 4; size > 0; --size) {
    text += kPieces[(*random)() % std::size(kPieces)];
  }
  if (!branches && (depth == 3 || (*random)() % 3 > 0)) return text;
  const bool plural = (*random)() % 2 == 0;
  text += plural ? "{5, plural, offset:1 =0 {" : "{6, select, 7 {";
  text += RandomMessage(random, depth + 1, false) + "}\n other{";
  text += RandomMessage(random, depth + 1, false) + "}}";
  return text.append(kPieces[(*random)() % std::size(kPieces)]);
}

TEST(IcuMessage, SaysWhatTheTranslationDoes) {
  const auto translate = [](std::string_view text, PassageMarkup markup) {
    return absl::StrReplaceAll(UpperCase(text, markup), {{"O", "'"}});
  };
  std::mt19937_64 random(1);
  for (int i = 0; i < 3000; ++i) {
    const std::string message = RandomMessage(&random, 0, true);
    const std::string part = nlohmann::json::array({message}).dump();
    const std::string out = TranslatedBy(
        [&](const Passage& passage) { return translate(passage.text, passage.markup); },
        AsStrings<ReadJson>, part);
    const auto json = nlohmann::json::parse(out, nullptr, /*allow_exceptions=*/false);
    ASSERT_TRUE(json.is_array()) << out;
    size_t at = 0, translated_at = 0;
    const std::string translated = json[0];
    const std::string want = translate(Said(message, &at, false), PassageMarkup::kNone);
    EXPECT_EQ(absl::StrReplaceAll(Said(translated, &translated_at, false), {{"\u2019", "'"}}), want)
        << message << "\n"
        << translated;
    EXPECT_EQ(translated_at, translated.size()) << translated;
    const auto branches = [](std::string_view of) {
      size_t read = 0;
      const std::string said = Said(of, &read, false);
      EXPECT_EQ(read, of.size()) << of;
      return std::count(said.begin(), said.end(), '(');
    };
    for (const auto& [name, bad] : BadTranslators()) {
      const auto badly =
          nlohmann::json::parse(TranslatedBy(bad, AsStrings<ReadJson>, part), nullptr,
                                /*allow_exceptions=*/false);
      ASSERT_TRUE(badly.is_array()) << name;
      EXPECT_EQ(branches(badly[0].get<std::string>()), branches(message)) << name << badly;
    }
  }
}

TEST(IcuMessage, TagsAroundAnArgumentAreNoPartOfTheTexts) {
  EXPECT_THAT(TextsOf(AsStrings<ReadJson>, "[\"a <b>{n, plural, other {<i>c</i> d}}</b> e <i>\"]"),
              ElementsAre("<x1/>\na\n<x2/>\n&lt;i&gt;c&lt;/i&gt; d\n<x3/>\ne\n<x4/>"));
}

TEST(StringReaders, AllTranslateTheBranchesOfMessages) {
  constexpr std::string_view kMessage = "{n, plural, one {a '{b}'} other {# it''s}}";
  constexpr std::string_view kTranslated = "{n, plural, one {A '{b}'} other {# IT''S}}";
  const auto in = [](const std::string& before, std::string_view message, std::string after) {
    return before + std::string(message) + after;
  };
  EXPECT_EQ(InUpperCase(AsStrings<ReadYaml>, in("k: \"", kMessage, "\"")),
            in("k: \"", kTranslated, "\""));
  EXPECT_EQ(InUpperCase(AsStrings<ReadPo>, in("msgid \"", kMessage, "\"\nmsgstr \"\"\n")),
            in("msgid \"", kMessage, "\"\nmsgstr \"") + in("", kTranslated, "\"\n"));
  EXPECT_EQ(InUpperCase(AsStrings<ReadPhp>, in("<?php return [\"", kMessage, "\"];")),
            in("<?php return [\"", kTranslated, "\"];"));
  EXPECT_EQ(InUpperCase(AsStrings<ReadProperties>, in("a=", kMessage, "\n")),
            in("a=", kTranslated, "\n"));
}

TEST(PropertiesReader, ValuesAreTranslated) {
  constexpr std::string_view kPart =
      "# kept\n! kept\na = One \\\n    two \\u00e9\nb:three\\n\n c\\ d  four\nempty\n\ne = 12\n";
  EXPECT_THAT(TextsOf(ReadProperties, kPart), ElementsAre("One two \u00e9", "three", "four"));
  EXPECT_EQ(InUpperCase(ReadProperties, kPart),
            "# kept\n! kept\na = ONE TWO \\u00e9\nb:THREE\\n\n c\\ d  FOUR\nempty\n\ne = 12\n");
  EXPECT_EQ(Unchanged(ReadProperties, kPart), kPart);
}

TEST(PropertiesReader, CharactersAreWrittenInTheEncodingOfTheFile) {
  EXPECT_EQ(With("\u00e9\u4e2d\U0001f600", ReadProperties, "a=b"),
            "a=\\u00e9\\u4e2d\\ud83d\\ude00");
  EXPECT_EQ(InUpperCase(ReadProperties, "a=b\\u0000"), "a=B\\u0000");
  EXPECT_EQ(With("\u00e9\u4e2d", ReadProperties, "a=\u00e8"), "a=\u00e9\u4e2d");
  EXPECT_EQ(With("\u00e9\u4e2d", ReadProperties, "a=\xe8 b"), "a=\xe9\\u4e2d");
  EXPECT_THAT(TextsOf(ReadProperties, "a=\xe8 b"), ElementsAre("\u00e8 b"));
}

TEST(PropertiesReader, TheTextsOfAChoiceAreTranslated) {
  constexpr std::string_view kPart =
      "a={0,choice,0#no cats|1#one cat|1<{0,number,integer} cats} here\nb=don''t '{'0'}' it\n";
  EXPECT_EQ(InUpperCase(AsStrings<ReadProperties>, kPart),
            "a={0,choice,0#NO CATS|1#ONE CAT|1<{0,number,integer} CATS} HERE\n"
            "b=DON''T '{'0'}' IT\n");
  EXPECT_EQ(Unchanged(AsStrings<ReadProperties>, kPart), kPart);
  EXPECT_EQ(InUpperCase(AsStrings<ReadProperties>, "a={0,choice,0#a|1#b} in ''{1}'' or ''c''"),
            "a={0,choice,0#A|1#B} IN ''{1}'' OR \\u2019C\\u2019");
  // It is read twice if it has an argument.
  EXPECT_EQ(InUpperCase(AsStrings<ReadProperties>, "a={0,choice,0#it''s|1#it''''s {0}}"),
            "a={0,choice,0#IT\\u2019S|1#IT\\u2019S {0}}");
}

TEST(PropertiesReader, AValueDoesNotBeginWithASeparator) {
  EXPECT_EQ(With("= b", ReadProperties, "a b"), "a \\= b");
  EXPECT_EQ(With(": b=c", ReadProperties, "a=b"), "a=\\: b=c");
  EXPECT_THAT(TextsOf(ReadProperties, "a \\= b"), ElementsAre("= b"));
}

TEST(PropertiesReader, ApostrophesOfMessagesAreDoubled) {
  EXPECT_THAT(TextsOf(ReadProperties, "a=it''s {0}"), ElementsAre("it's {0}"));
  EXPECT_EQ(With("l'or {0}", ReadProperties, "a=the {0}"), "a=l''or {0}");
  EXPECT_EQ(With("l'or", ReadProperties, "a=the"), "a=l'or");
}

TEST(PropertiesReader, QuotedArgumentsOfMessagesComeBackWhole) {
  EXPECT_THAT(TextsOf(ReadProperties, "a=The water ''{0}'' is cold."),
              ElementsAre("The water <x1 translate=\"no\">'{0}'</x1> is cold."));
  EXPECT_EQ(With("L'eau <x1 translate=\"no\">'{0}'</x1> d'ici", ReadProperties,
                 "a=The water ''{0}'' is cold."),
            "a=L''eau ''{0}'' d''ici");
  EXPECT_EQ(With("l'or <x1 translate=\"no\">{</x1> {0}", ReadProperties, "a=the '{' {0}"),
            "a=l''or '{' {0}");
  EXPECT_EQ(With("l'or", ReadProperties, "a=the '{0}'"), "a=l'or");
  EXPECT_EQ(InUpperCase(ReadProperties, "a={0,number,#.##} of {1}"), "a={0,number,#.##} OF {1}");
}

TEST(PropertiesReader, WhatHasNotTheBranchesIsNotUsed) {
  constexpr std::string_view kPart = "a={n, plural, one {# dog} other {# dogs of {name}}}";
  EXPECT_THAT(TextsOf(AsStrings<ReadProperties>, kPart),
              ElementsAre("<x1/>\n{#} dog\n<x2/>\n{#} dogs of {name}\n<x3/>"));
  EXPECT_EQ(With("<x2/> Hund", AsStrings<ReadProperties>, kPart), kPart);
}

TEST(PropertiesReader, RefusesWhatIsDamaged) {
  EXPECT_THAT(TextsOf(ReadProperties, "a=b\nc=\\u12x4"),
              ElementsAre("line 2: want four hexadecimal digits behind \\u"));
  EXPECT_THAT(TextsOf(ReadProperties, "a=\\ud83d"),
              ElementsAre("line 1: has half of a surrogate pair"));
}

TEST(YamlReader, ScalarsKeepTheirStyle) {
  constexpr std::string_view kPart =
      "en: # kept\n  a: One %{n}\n  'b': 'it''s'\n  c: \"two\\n\"\n  d:\n  - three # kept\n"
      "  - [four, 5, true]\n  e: |\n    six\n\n    seven\n  f: >-\n    eight\n    nine\n"
      "  g: a b\n    c\n  h: :symbol\n  i: &x ten\n  j: *x\n";
  EXPECT_EQ(InUpperCase(ReadYaml, kPart),
            "en: # kept\n  a: ONE %{n}\n  'b': 'IT''S'\n  c: \"TWO\\n\"\n  d:\n  - THREE # kept\n"
            "  - [FOUR, 5, true]\n  e: |\n    SIX\n\n    SEVEN\n  f: >-\n    EIGHT NINE\n"
            "  g: A B C\n  h: :symbol\n  i: &x TEN\n  j: *x\n");
  EXPECT_EQ(Unchanged(ReadYaml, kPart), kPart);
}

TEST(YamlReader, WhatWouldMeanSomethingElseIsQuoted) {
  EXPECT_EQ(With("a: b", ReadYaml, "k: v"), "k: 'a: b'");
  EXPECT_EQ(With("yes", ReadYaml, "k: v"), "k: 'yes'");
  EXPECT_EQ(With("it's\n", ReadYaml, "k: v"), "k: \"it's\\n\"");
  EXPECT_EQ(With("\"a\" \\", ReadYaml, "k: \"v\""), "k: \"\\\"a\\\" \\\\\"");
  EXPECT_EQ(With("it's", ReadYaml, "k: 'v'"), "k: 'it''s'");
}

// Escapes of YAML that yaml-cpp 0.7 reads as bytes which are not UTF-8.
TEST(YamlReader, EscapesOfSpacesAndLineBreaksAreRead) {
  EXPECT_THAT(TextsOf(ReadYaml, "h: \"Are you sure\\_?\"\n"), ElementsAre("Are you sure\u00a0?"));
  EXPECT_THAT(TextsOf(ReadYaml, "h: \"\u00e9\\_a\\Nb\\Lc\\Pd \\xe9 \ufffd\"\n"),
              ElementsAre("\u00e9\u00a0a\u0085b\u2028c\u2029d \u00e9 \ufffd"));
  EXPECT_EQ(Unchanged(ReadYaml, "h: \"\\_ dog\\_?\\N\"\n"), "h: \"\\_ dog\\_?\\N\"\n");
  EXPECT_EQ(InUpperCase(ReadYaml, "h: \"dog\\_\"\n"), "h: \"DOG\u00a0\"\n");
}

// Other readers of YAML take U+0085, U+2028 and U+2029 for line breaks.
TEST(YamlReader, WhatIsNotShownIsEscaped) {
  EXPECT_EQ(With("a\u0085b\u2028\u2029\x01\x7f\ufeff\u00a0c", ReadYaml, "k: \"v\""),
            "k: \"a\\u0085b\\u2028\\u2029\\u0001\\u007f\\ufeff\u00a0c\"");
  EXPECT_EQ(With("a\u2028b", ReadYaml, "k: 'v'"), "k: \"a\\u2028b\"");
  EXPECT_EQ(With("a\tb", ReadYaml, "k: v"), "k: \"a\\tb\"");
}

TEST(YamlReader, WhatIsWrittenMeansTheTranslation) {
  constexpr char32_t kCharacters[] = {1,    '\t', '\n', ' ',    '"',    '\'',   '\\',    '%',
                                      'N',  '_',  0x7f, 0x85,   0xa0,   0xe9,   0x2028,  0x2029,
                                      ':',  '#',  '-',  0x1680, 0xd7ff, 0xe000, 0xfeff,  0xfffd,
                                      '\r', '[',  ',',  0x3000, 0x4e2d, '?',    0x1f600, 0x10ffff};
  std::mt19937_64 random(1);
  for (const std::string file :
       {"k: dog", "k: 'dog'", "k: \"dog\"", "k: [dog]", "k: {a: \"dog\"}"}) {
    for (int i = 0; i < 300; ++i) {
      std::string text = "a";
      for (size_t size = random() % 8; size > 0; --size) {
        AppendUtf8(kCharacters[random() % std::size(kCharacters)], &text);
      }
      text += "b";
      const std::string written = With(text, ReadYaml, file);
      EXPECT_THAT(TextsOf(ReadYaml, written), ElementsAre(text)) << written;
    }
  }
}

TEST(YamlReader, TagsOfStringsStay) {
  EXPECT_EQ(InUpperCase(ReadYaml, "a: ! 'one'\nb: ! \"two\"\nc: !!str three\nd: !x four\n"),
            "a: ! 'ONE'\nb: ! \"TWO\"\nc: !!str THREE\nd: !x four\n");
}

TEST(YamlReader, FlowScalarsAreQuotedForOtherReaders) {
  EXPECT_EQ(With("Wohin?", ReadYaml, "[Where, a]"), "['Wohin?', 'Wohin?']");
  EXPECT_EQ(With("a:b", ReadYaml, "{k: Where}"), "{k: 'a:b'}");
}

TEST(YamlReader, TheLanguageAtTheTopFollows) {
  EXPECT_EQ(
      InUpperCase(ReadYaml, "en:\n  a: b\n", {.source_language = "en", .target_language = "de"}),
      "de:\n  a: B\n");
  EXPECT_EQ(
      InUpperCase(ReadYaml, "en:\n  a: b\n", {.source_language = "en", .target_language = "no"}),
      "'no':\n  a: B\n");  // else it is a truth value
  const DocumentOptions options = {.source_language = "en", .target_language = "de"};
  for (const std::string key : {"en-US", "en_GB", "en-001", "EN"}) {
    EXPECT_EQ(InUpperCase(ReadYaml, key + ":\n  a: b\n", options), "de:\n  a: B\n") << key;
  }
  for (const std::string key : {"en-us-key", "enter", "en-", "de"}) {
    EXPECT_EQ(InUpperCase(ReadYaml, key + ":\n  a: b\n", options), key + ":\n  a: B\n");
  }
}

TEST(YamlReader, RefusesWhatIsDamaged) {
  EXPECT_THAT(TextsOf(ReadYaml, "a: b\n c: d\n"), ElementsAre(HasSubstr("line 2: is not YAML: ")));
  EXPECT_THAT(TextsOf(ReadYaml, "a: b\n]\n"), ElementsAre(HasSubstr("line 2: is not YAML")));
  EXPECT_THAT(TextsOf(ReadYaml, std::string(200, '[')),
              ElementsAre(HasSubstr("nests deeper than 100")));
}

TEST(AndroidReader, StringsPluralsAndArrays) {
  constexpr std::string_view kPart =
      "<?xml version=\"1.0\"?>\n<resources xmlns:xliff=\"u\">\n"
      "<string name=\"a\">Don\\'t <b>wait</b>, <xliff:g id=\"n\">%1$s</xliff:g>!\\n</string>\n"
      "<string name=\"b\" translatable=\"false\">kept</string>\n<string "
      "name=\"c\">@string/a</string>\n"
      "<plurals name=\"d\"><item quantity=\"one\">one dog</item><item quantity=\"other\">%d\n   "
      "dogs"
      "</item></plurals>\n<string-array name=\"e\"><item>x</item></string-array>\n"
      "<string name=\"f\"><![CDATA[<p>a</p>]]></string>\n<string name=\"g\"/>\n</resources>\n";
  EXPECT_THAT(TextsOf(ReadAndroid, kPart),
              ElementsAre("Don't <x1>wait</x1>, <x2 translate=\"no\">%1$s</x2>!", "one dog",
                          "%d dogs", "x", "<p>a</p>"));
  EXPECT_EQ(
      InUpperCase(ReadAndroid, kPart),
      "<?xml version=\"1.0\"?>\n<resources xmlns:xliff=\"u\">\n"
      "<string name=\"a\">DON\\'T <b>WAIT</b>, <xliff:g id=\"n\">%1$s</xliff:g>!\\n</string>\n"
      "<string name=\"b\" translatable=\"false\">kept</string>\n<string name=\"c\">@string/a"
      "</string>\n"
      "<plurals name=\"d\"><item quantity=\"one\">ONE DOG</item><item quantity=\"other\">%D DOGS"
      "</item></plurals>\n<string-array name=\"e\"><item>X</item></string-array>\n"
      "<string name=\"f\"><![CDATA[<p>A</p>]]></string>\n<string name=\"g\"/>\n</resources>\n");
  EXPECT_EQ(With("l'\"@ & <", ReadAndroid, "<resources><string>a</string></resources>"),
            "<resources><string>l\\'\\\"@ &amp; &lt;</string></resources>");
}

TEST(AndroidReader, OtherItemsStay) {
  constexpr std::string_view kPart =
      "<resources><style name=\"a\"><item name=\"b\">true</item></style>"
      "<item name=\"c\" type=\"dimen\">wide</item><array name=\"d\"><item>first</item></array>"
      "<string-array name=\"e\"><item>Monday</item></string-array></resources>";
  EXPECT_THAT(TextsOf(ReadAndroid, kPart), ElementsAre("Monday"));
}

TEST(AndroidReader, EndsOfAValueStay) {
  const auto value = [](const std::string& text) { return "<string>" + text + "</string>"; };
  EXPECT_EQ(With("ja", ReadAndroid, value("\\u0020yes:\\u0020\\n")), value("\\u0020ja\\u0020\\n"));
  EXPECT_EQ(With("d'ja", ReadAndroid, value("\"it is  \"")), value("\"d\\'ja  \""));
  EXPECT_EQ(With("ja", ReadAndroid, value("\\\"yes\\\"")), value("ja"));
}

TEST(AndroidReader, LineBreaksOfCdataStay) {
  EXPECT_EQ(
      InUpperCase(ReadAndroid, "<string><![CDATA[\n  The cat<br/>\n  \"it\".\\n\n]]></string>"),
      "<string><![CDATA[\n  THE CAT<br/>\n  \"IT\".\\n\n]]></string>");
}

TEST(ResxReader, ValuesOfStringsAreTranslated) {
  constexpr std::string_view kPart =
      "<root>\r\n<resheader name=\"a\"><value>kept</value></resheader>\r\n"
      "<data name=\"b\" xml:space=\"preserve\"><value> one &amp;\r\ntwo </value><comment>kept"
      "</comment></data><data name=\"c\" type=\"System.Drawing.Size\"><value>kept</value></data>"
      "<data name=\">>d.Name\"><value>kept</value></data><data name=\"e\"><value/></data></root>";
  EXPECT_EQ(
      InUpperCase(ReadResx, kPart),
      "<root>\r\n<resheader name=\"a\"><value>kept</value></resheader>\r\n"
      "<data name=\"b\" xml:space=\"preserve\"><value> ONE &amp;\r\nTWO </value><comment>kept"
      "</comment></data><data name=\"c\" type=\"System.Drawing.Size\"><value>kept</value></data>"
      "<data name=\">>d.Name\"><value>kept</value></data><data name=\"e\"><value/></data></root>");
  EXPECT_THAT(TextsOf(ReadResx, "<a/>"), ElementsAre("line 1: is <a>, want <root>"));
}

TEST(XcstringsReader, AddsWhatIsMissing) {
  constexpr std::string_view kPart =
      "{\"sourceLanguage\":\"en\",\"strings\":{\"Close\":{},\"a\":{\"localizations\":{\"en\":"
      "{\"stringUnit\":{\"state\":\"new\",\"value\":\"One \\\"x\\\"\"}}}},"
      "\"b\":{\"localizations\":{\"de\":{\"stringUnit\":{\"value\":\"kept\"}}}},"
      "\"c\":{\"shouldTranslate\":false},\"d\":{\"localizations\":{\"en\":{\"variations\":{}}}}}}";
  const DocumentOptions options = {.target_language = "de"};
  EXPECT_THAT(TextsOf(ReadXcstrings, kPart, options), ElementsAre("Close", "One \"x\""));
  const auto written = nlohmann::json::parse(InUpperCase(ReadXcstrings, kPart, options));
  auto want = nlohmann::json::parse(kPart);
  const auto unit = [](const std::string& value) {
    return nlohmann::json{{"stringUnit", {{"state", "needs_review"}, {"value", value}}}};
  };
  want["strings"]["Close"]["localizations"]["de"] = unit("CLOSE");
  want["strings"]["a"]["localizations"]["de"] = unit("ONE \"X\"");
  EXPECT_EQ(written, want);
}

TEST(XcstringsReader, VariationsAreTranslated) {
  constexpr std::string_view kPart =
      "{\"sourceLanguage\":\"en\",\"strings\":{\"%lld "
      "dogs\":{\"localizations\":{\"en\":{\"variations\":{"
      "\"plural\":{\"one\":{\"stringUnit\":{\"state\":\"translated\",\"value\":\"a\\ndog\"}},"
      "\"other\":{\"stringUnit\":{\"state\":\"new\",\"value\":\"%lld \\\"dogs\\\"\"}}}}}}}}}";
  const DocumentOptions options = {.target_language = "de"};
  EXPECT_THAT(TextsOf(ReadXcstrings, kPart, options), ElementsAre("a\ndog\n%lld \"dogs\""));
  const auto variations = [&](const std::string& translation) {
    const auto written = nlohmann::json::parse(With(translation, ReadXcstrings, kPart, options));
    return written["strings"]["%lld dogs"]["localizations"]["de"]["variations"]["plural"];
  };
  const auto unit = [](const std::string& value) {
    return nlohmann::json{{"stringUnit", {{"state", "needs_review"}, {"value", value}}}};
  };
  EXPECT_EQ(variations("ein\nHund\n%lld \"Hunde\""),
            (nlohmann::json{{"one", unit("ein\nHund")}, {"other", unit("%lld \"Hunde\"")}}));
  EXPECT_EQ(variations("ein Hund"),
            (nlohmann::json{{"one", unit("a\ndog")}, {"other", unit("%lld \"dogs\"")}}));
}

TEST(FluentReader, PatternsAreTranslated) {
  constexpr std::string_view kPart =
      "# kept\nhello = Hello, { $name }!\n    .title = A \"title\"\n-brand = kept\n    .a = kept\n"
      "long =\n    one\n    two\n\n    three\ndogs = { $n ->\n    [one] One dog\n"
      "   *[other] { $n } dogs { -brand(case: \"}\") }\n}\nboth = I have { $n ->\n   *[other] "
      "dogs\n"
      "  }\n";
  EXPECT_EQ(
      InUpperCase(ReadFluent, kPart),
      "# kept\nhello = HELLO, { $name }!\n    .title = A \"TITLE\"\n-brand = kept\n    .a = kept\n"
      "long =\n    ONE TWO\n\n    THREE\ndogs = { $n ->\n    [one] ONE DOG\n"
      "   *[other] { $n } DOGS { -brand(case: \"}\") }\n}\nboth = I HAVE { $n ->\n   *[other] "
      "DOGS\n  }\n");
  EXPECT_EQ(InUpperCase(ReadFluent,
                        "a = The { $x ->\n   *[b] { $y ->\n       *[c] one\n    } dog\n} of { $z } "
                        "has { $n ->\n   *[other] cats\n}\n    and more\n"),
            "a = THE { $x ->\n   *[b] { $y ->\n       *[c] ONE\n    } DOG\n} OF { $z } "
            "HAS { $n ->\n   *[other] CATS\n}\n    AND MORE\n");
  EXPECT_EQ(With("{ x\n.y", ReadFluent, "a = b\n"), "a = {\"{\"} x\n        {\".\"}y\n");
}

TEST(PhpReader, ValuesOfArraysAreTranslated) {
  constexpr std::string_view kPart =
      "<?php // kept\nreturn [\n  'a' => 'It\\'s :name', # kept\n  \"b\" => array('x' => \"two "
      "$n\\n\"),\n"
      "  'c' => ['three', 'four'], 'd' => f('kept'), 'e' => 'kept' . 'kept', 'f' => "
      "X['kept'],\n];\n";
  EXPECT_EQ(InUpperCase(ReadPhp, kPart),
            "<?php // kept\nreturn [\n  'a' => 'IT\\'S :NAME', # kept\n  \"b\" => array('x' => "
            "\"TWO $n\\n\"),\n"
            "  'c' => ['THREE', 'FOUR'], 'd' => f('kept'), 'e' => 'kept' . 'kept', 'f' => "
            "X['kept'],\n];\n");
  EXPECT_EQ(InUpperCase(ReadPhp, "<?php\n$lang['a'] = 'one';\n$b = 'kept';\n"),
            "<?php\n$lang['a'] = 'ONE';\n$b = 'kept';\n");
  EXPECT_EQ(
      InUpperCase(ReadPhp, "<?php\ndefine('kept', 'one', f('kept'));\ndefine('kept', \"two\");"),
      "<?php\ndefine('kept', 'ONE', f('kept'));\ndefine('kept', \"TWO\");");
  EXPECT_EQ(InUpperCase(ReadPhp, "<?php\n$lang['a'] = 'kept' . SITE;\n$lang['b'] = 'one';\n"),
            "<?php\n$lang['a'] = 'kept' . SITE;\n$lang['b'] = 'ONE';\n");
  EXPECT_EQ(With("'$x\\", ReadPhp, "<?php return ['a', \"b\"];"),
            "<?php return ['\\'$x\\\\', \"'\\$x\\\\\"];");
  constexpr std::string_view kHeredocs =
      "<?php return ['a' => <<<EOT\n  a 'cat [\n  EOTS\n  EOT, 'b' => <<<'X'\nX\n, 'c' => 'one'];";
  EXPECT_EQ(InUpperCase(ReadPhp, kHeredocs),
            "<?php return ['a' => <<<EOT\n  A 'CAT [\n  EOTS\n  EOT, 'b' => <<<'X'\nX\n, 'c' => "
            "'ONE'];");
  EXPECT_THAT(TextsOf(ReadPhp, "<?php\nclass A {}\n"),
              ElementsAre("line 2: has class, want an array of strings"));
  EXPECT_TRUE(FindDocumentFormat("a.php")->begins("<?php\n/* x */ return array("));
  EXPECT_FALSE(FindDocumentFormat("a.php")->begins("<?php\nnamespace A;"));
  EXPECT_FALSE(FindDocumentFormat("a.ts")->begins("export const a = 1;"));
}

TEST(PhpReader, LinesOfHeredocsAreTranslated) {
  const auto in = [](const std::string& open, const std::string& body) {
    return "<?php return ['a' => <<<" + open + body + "];\n";
  };
  EXPECT_EQ(InUpperCase(ReadPhp,
                        in("EOT", "\n    one $n\n      \"two\" {$a->b}\n\n    three\\t\n    EOT")),
            in("EOT", "\n    ONE $n\n      \"TWO\" {$a->b}\n    \n    THREE\t\n    EOT"));
  EXPECT_EQ(InUpperCase(ReadPhp, in("'EOT'", "\r\n one $n\\n\r\n two\r\n EOT, 'b'")),
            in("'EOT'", "\r\n ONE $N\\N\r\n TWO\r\n EOT, 'B'"));
  EXPECT_EQ(With("$a \\\nb", ReadPhp, in("\"X\"", "\none\nX")), in("\"X\"", "\n\\$a \\\\\nb\nX"));
  for (const std::string end : {"X", "a\n X;", "X.\nb"}) {
    EXPECT_EQ(With(end, ReadPhp, in("X", "\n one\n X")), in("X", "\n one\n X"));
  }
  EXPECT_EQ(Unchanged(ReadPhp, in("X", "\n\n one\n\n X")), in("X", "\n\n one\n\n X"));
}

// What is written means the translation.
TEST(StringReaders, ReadWhatTheyWrite) {
  constexpr std::string_view kPieces[] = {"a",  "'", "\"", "\\", "{",  "}",  "$", " b ",
                                          "\n", "[", "]",  "<",  "&",  "#",  "=", "\u00e9",
                                          ".",  "*", "%",  ";",  "?>", "{0}"};
  const std::vector<std::pair<PassageReader, std::string>> files = {
      {ReadResx, "<root><data name=\"a\"><value>x</value></data></root>"},
      {ReadFluent, "a = x\n"},
      {ReadPhp, "<?php return ['a' => 'x', 'b' => \"x\", 'c' => <<<q\nx\n  q];"},
      {ReadProperties, "a = x"},
      {ReadPo, "msgid \"x\"\nmsgstr \"\"\n"},
      {ReadAndroid, "<resources><string>x</string></resources>"},
      {ReadAppleStrings, "\"a\" = \"x\";"}};
  std::mt19937_64 random(1);
  for (const auto& [reader, file] : files) {
    for (int i = 0; i < 500; ++i) {
      std::string text = "q";
      for (size_t size = random() % 8; size > 0; --size) {
        text += kPieces[random() % std::size(kPieces)];
      }
      text += "q";
      const std::string written = With(text, reader, file);
      const auto again = reader(written, {});
      ASSERT_TRUE(again.ok()) << again.status() << written;
    }
  }
}

TEST(AndroidReader, EntitiesOfTheFileStay) {
  constexpr std::string_view kPart =
      "<!DOCTYPE resources [<!ENTITY APP \"Tea\">]>\n"
      "<resources><string name=\"a\">Use &APP; now.</string></resources>\n";
  EXPECT_THAT(TextsOf(ReadAndroid, kPart), ElementsAre("Use <x1 translate=\"no\"></x1> now."));
  EXPECT_EQ(InUpperCase(ReadAndroid, kPart),
            "<!DOCTYPE resources [<!ENTITY APP \"Tea\">]>\n"
            "<resources><string name=\"a\">USE &APP; NOW.</string></resources>\n");
}

TEST(XcstringsReader, WhatIsNewIsTranslated) {
  const DocumentOptions options = {.source_language = "en", .target_language = "de"};
  const auto part = [](const std::string& more) {
    return "{\"sourceLanguage\": \"en\", \"strings\": {\"a b\": {" + more +
           "\"localizations\": {\"de\": {\"stringUnit\": {\"state\": \"new\", \"value\": "
           "\"\"}}}}}}";
  };
  EXPECT_EQ(InUpperCase(ReadXcstrings, part(""), options),
            absl::StrReplaceAll(part(""), {{"new", "needs_review"}, {"\"\"", "\"A B\""}}));
  EXPECT_THAT(TextsOf(ReadXcstrings, part("\"shouldTranslate\": false, "), options), IsEmpty());
}

TEST(AppleReader, StringsMayHaveSingleQuotes) {
  constexpr std::string_view kPart = "'a' = 'it\\'s \"x\"';\n\"b\" = \"it's\";\n";
  EXPECT_THAT(TextsOf(ReadAppleStrings, kPart), ElementsAre("it's \"x\"", "it's"));
  EXPECT_EQ(InUpperCase(ReadAppleStrings, kPart), "'a' = 'IT\\'S \"X\"';\n\"b\" = \"IT'S\";\n");
}

TEST(AppleReader, StringsKeepKeysAndComments) {
  constexpr std::string_view kPart =
      "/* a \"comment\" */\n\"key\" = \"One %@\\n\\\"x\\\"\"; // kept\nkey2 = "
      "\"two\";\n\"only\";\n";
  EXPECT_THAT(TextsOf(ReadAppleStrings, kPart), ElementsAre("One %@\n\"x\"", "two"));
  EXPECT_EQ(InUpperCase(ReadAppleStrings, kPart),
            "/* a \"comment\" */\n\"key\" = \"ONE %@\\n\\\"X\\\"\"; // kept\nkey2 = \"TWO\";\n"
            "\"only\";\n");
  EXPECT_THAT(TextsOf(ReadAppleStrings, "\"a\" = \"b\"\n\"c\" = \"d\";"),
              ElementsAre("line 2: want \";\""));
  EXPECT_THAT(TextsOf(ReadAppleStrings, "\n\"a\" = \"b"),
              ElementsAre("line 2: has a string without its closing quote"));
  EXPECT_THAT(TextsOf(ReadAppleStrings, "/* a"),
              ElementsAre("line 1: has a comment without its end"));
}

TEST(AppleReader, StringsdictKeepsVariables) {
  constexpr std::string_view kPart =
      "<plist><dict><key>dogs</key><dict><key>NSStringLocalizedFormatKey</key>"
      "<string>You have %#@n@ here</string><key>n</key><dict><key>NSStringFormatSpecTypeKey</key>"
      "<string>NSStringPluralRuleType</string><key>NSStringFormatValueTypeKey</key><string>d</"
      "string>"
      "<key>one</key><string>%d dog</string></dict></dict></dict></plist>";
  EXPECT_THAT(TextsOf(ReadStringsdict, kPart), ElementsAre("You have <x1/> here", "%d dog"));
  EXPECT_THAT(InUpperCase(ReadStringsdict, kPart),
              HasSubstr("<string>YOU HAVE %#@n@ HERE</string>"));
}

}  // namespace
}  // namespace dragoman::string_files_test
