#include <iterator>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "documents/readers.h"
#include "documents/subtitle_cues.h"
#include "documents/subtitle_layout.h"
#include "engine/base/patience.h"
#include "engine/base/utf8.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/documents/scripted_reader.h"

namespace dragoman::subtitle_reader_test {
namespace {

using ::testing::ElementsAre;

constexpr std::string_view kSentence =
    "1\n00:00:01,000 --> 00:00:02,000\n<i>I went home</i>\n\n"
    "2\n00:00:02,100 --> 00:00:04,000\n<i>because it was late.</i>\n";

TEST(SubtitleReader, ASentenceMayRunOverCues) {
  EXPECT_THAT(TextsOf(ReadSrt, kSentence), ElementsAre("I went home because it was late."));
  EXPECT_EQ(InUpperCase(ReadSrt, kSentence),
            "1\n00:00:01,000 --> 00:00:02,000\n<i>I WENT HOME</i>\n\n"
            "2\n00:00:02,100 --> 00:00:04,000\n<i>BECAUSE IT WAS LATE.</i>\n");
  EXPECT_EQ(Unchanged(ReadSrt, kSentence), kSentence);
}

TEST(SubtitleReader, ACapitalLetterBeginsASentence) {
  const auto texts = [](std::string_view second, const std::string& language = "en") {
    const std::string part =
        absl::StrCat("1\n00:00:01,000 --> 00:00:02,000\nCaption text\n\n",
                     "2\n00:00:02,100 --> 00:00:04,000\n", std::string(second), "\n");
    return TextsOf(ReadSrt, part, {.source_language = language}).size();
  };
  EXPECT_EQ(texts("Caption text"), 2u);
  EXPECT_EQ(texts("I said"), 1u);
  EXPECT_EQ(texts("I'm late"), 1u);
  EXPECT_EQ(texts("It is late"), 2u);
  EXPECT_EQ(texts("Haus", "de"), 1u);
  EXPECT_THAT(TextsOf(ReadSrt,
                      "1\n00:00:01,000 --> 00:00:02,000\nTHE OLD\n\n"
                      "2\n00:00:02,100 --> 00:00:04,000\nMAN\n"),
              ElementsAre("THE OLD MAN"));
}

TEST(SubtitleReader, SentencesThatEndDoNot) {
  constexpr std::string_view kPart =
      "1\r\n00:00:01,000 --> 00:00:02,000 X1:1\r\n{\\an8}One\r\ntwo.\r\n\r\n\r\n"
      "2\r\n00:00:02,000 --> 00:00:03,000\r\nThree\r\n\r\n"
      "3\r\n00:00:09,000 --> 00:00:10,000\r\nfour";
  EXPECT_THAT(TextsOf(ReadSrt, kPart), ElementsAre("One two.", "Three", "four"));
  EXPECT_EQ(InUpperCase(ReadSrt, kPart),
            "1\r\n00:00:01,000 --> 00:00:02,000 X1:1\r\n{\\an8}ONE\r\nTWO.\r\n\r\n\r\n"
            "2\r\n00:00:02,000 --> 00:00:03,000\r\nTHREE\r\n\r\n"
            "3\r\n00:00:09,000 --> 00:00:10,000\r\nFOUR");
}

TEST(SubtitleReader, LinesOfADialogueAreApart) {
  constexpr std::string_view kPart = "1\n00:00:01,000 --> 00:00:02,000\n- One\n- Two\n";
  EXPECT_THAT(TextsOf(ReadSrt, kPart), ElementsAre("One", "Two"));
  EXPECT_EQ(InUpperCase(ReadSrt, kPart), "1\n00:00:01,000 --> 00:00:02,000\n- ONE\n- TWO\n");
}

TEST(SubtitleReader, WebVttKeepsNotesStylesAndVoices) {
  constexpr std::string_view kPart =
      "WEBVTT - a title\n\nSTYLE\n::cue { color: red }\n\nNOTE a note\n\nid\n"
      "00:01.000 --> 00:02.000 align:start\n<v Ann>Hi &amp; <c.big>you</c> 1 &lt; 2\n\n"
      "00:02.000 --> 00:03.000\n<v Bob>Yes</v>\n";
  EXPECT_THAT(TextsOf(ReadVtt, kPart), ElementsAre("Hi &amp; <x1>you</x1> 1 &lt; 2", "Yes"));
  EXPECT_EQ(InUpperCase(ReadVtt, kPart),
            "WEBVTT - a title\n\nSTYLE\n::cue { color: red }\n\nNOTE a note\n\nid\n"
            "00:01.000 --> 00:02.000 align:start\n<v Ann>HI &amp; <c.big>YOU</c> 1 &lt; 2\n\n"
            "00:02.000 --> 00:03.000\n<v Bob>YES</v>\n");
}

TEST(SubtitleReader, RefusesWhatHasNoTimes) {
  EXPECT_THAT(TextsOf(ReadSrt, "1\n00:00:01,000 -> 2\nOne\n"),
              ElementsAre("line 2: want a time such as 00:00:01,000 --> 00:00:02,000"));
  EXPECT_THAT(TextsOf(ReadSrt, "1\n\nOne\nTwo\n"),
              ElementsAre("line 1: want a time such as 00:00:01,000 --> 00:00:02,000"));
  EXPECT_THAT(TextsOf(ReadVtt, "\n00:01.000 --> 00:02.000\nOne\n"),
              ElementsAre("line 2: want WEBVTT"));
  EXPECT_THAT(TextsOf(ReadVtt, ""), ElementsAre("line 1: want WEBVTT"));
}

// What comes out if each text is translated so.
std::string SrtAs(std::string_view translation, std::string_view text) {
  const std::string begin = "1\n00:00:01,000 --> 00:00:02,000\n";
  const std::string out = TranslatedBy([&](const Passage&) { return std::string(translation); },
                                       ReadSrt, begin + std::string(text));
  return out.starts_with(begin) ? out.substr(begin.size()) : out;
}

TEST(SubtitleReader, ManyQuotesTakeTimeInProportion) {
  const std::string part = "1\n00:01 --> 00:02\n" + std::string(1 << 18, '"') + "\n";
  EXPECT_EQ(InUpperCase(ReadSrt, part), part);  // 32 KiB took two seconds
}

TEST(SubtitleReader, ADamagedBlockStaysAndIsReported) {
  std::vector<std::string> warnings;
  DocumentOptions options;
  options.warn = [&](const std::string& what) { warnings.push_back(what); };
  const std::string block = "\n2\n00:0x --> 00:02\nkept\n\n3\n";
  EXPECT_EQ(InUpperCase(ReadSrt, "1\n00:01 --> 00:02\none\n" + block, options),
            "1\n00:01 --> 00:02\nONE\n" + block);
  EXPECT_THAT(warnings, ElementsAre("line 6: stays as it is, want a time such as 00:00:01,000 --> "
                                    "00:00:02,000",
                                    "line 9: stays as it is, want a time such as 00:00:01,000 --> "
                                    "00:00:02,000"));
  warnings.clear();
  InUpperCase(ReadVtt, "WEBVTT\n\nNOTE a\n\n00:01.000 --> 00:02.000\none\n", options);
  EXPECT_TRUE(warnings.empty());
}

TEST(SubtitleReader, WhatStandsAroundACueStaysThere) {
  EXPECT_EQ(SrtAs("Ja", "[Yes]"), "[Ja]");
  EXPECT_EQ(SrtAs("Ja", "{\\an8}<i>\u266a Yes \u266a</i>\n"), "{\\an8}<i>\u266a Ja \u266a</i>\n");
  EXPECT_EQ(SrtAs("Ja", "<i>- Yes.</i>"), "<i>- Ja</i>");
  EXPECT_EQ(SrtAs("Ja", "...yes."), "...Ja");
  EXPECT_EQ(SrtAs("Ja", "\"...yes.\"\n<i>“…no.”</i>"), "\"...Ja\"\n<i>“…Ja”</i>");
  EXPECT_EQ(SrtAs("Ja", "- <i>… yes</i>\n... no"), "- <i>… Ja</i>\n... Ja");
  EXPECT_EQ(SrtAs("Ja", "<font color=\"#fff\">---</font>"), "<font color=\"#fff\">---</font>");
}

constexpr char kCue[] = "1\n00:00:01,000 --> 00:00:02,000\n";

TEST(SubtitleReader, ALabelInFrontIsASentenceOfItsOwn) {
  const std::string part = absl::StrCat(kCue, "[door creaks] Come in.\n");
  EXPECT_THAT(TextsOf(ReadSrt, part), ElementsAre("<x1/>\ndoor creaks\n<x2/>\nCome in."));
  EXPECT_EQ(InUpperCase(ReadSrt, part), absl::StrCat(kCue, "[DOOR CREAKS] COME IN.\n"));
  EXPECT_THAT(TextsOf(ReadSrt, absl::StrCat(kCue, "(and) he came")), ElementsAre("(and) he came"));
}

TEST(SubtitleReader, WhatIsSaidByOthersStaysALine) {
  for (const std::string mark : {"<v Bob>", "- ", ">> ", "&gt;&gt; ", "-"}) {
    const std::string text = mark + "I am\n" + mark + "a teacher\n";
    EXPECT_EQ(SrtAs("Ja", text), mark + "Ja\n" + mark + "Ja\n");
  }
  EXPECT_EQ(SrtAs("Ja", "Ann: I am\nBob: a teacher"), "Ann: Ja\nBob: Ja");
  for (const std::string name :
       {"Ann:", "<b>Bob</b>:", "MAN 2:", "Dr. Smith:", "Mrs. Old Woman:", "OLD MAN ON TV:",
        "ANN & BOB:", "(MAN):", "[Ann]:", "ANN (O.S.):", "J. Smith:", "Åsa:", "DR O'NEIL-WEST:"}) {
    EXPECT_EQ(SrtAs("Ja", name + " I am\n" + name + " a teacher"), name + " Ja\n" + name + " Ja");
  }
  for (const std::string none : {"Yes. No: I am", "I see you, Bob: come", "He said this: come"}) {
    EXPECT_EQ(SrtAs("Ja", none), "Ja");
  }
  EXPECT_EQ(SrtAs("Ja", "I am here.\nYou are there."), "Ja\nJa");
  EXPECT_EQ(SrtAs("Ja", "I am\nthere."), "Ja");
}

TEST(SubtitleReader, CuesThatOverlapAreApart) {
  constexpr std::string_view kPart =
      "1\n00:00:01,000 --> 00:00:05,000\nThe old man is here\n\n"
      "2\n00:00:02,000 --> 00:00:03,000\n{\\an8}The school\n\n"
      "3\n00:00:05,000 --> 00:00:06,000\nand he is tired.\n";
  EXPECT_THAT(TextsOf(ReadSrt, kPart),
              ElementsAre("The old man is here", "The school", "and he is tired."));
}

TEST(SubtitleReader, ReadsTimesAsPlayersDo) {
  constexpr std::string_view kPart =
      "00:00:01 --> 00:00:02,50 X1:40\nOne.\n2\n00:00:03,000 --> 00:00:04,000\nTwo.\n\n"
      "a stray line\n\n3\n00:00:05,000 -> 00:00:06,000\nkept\n\n00:07.1 --> 00:08\nThree.\n";
  EXPECT_THAT(TextsOf(ReadSrt, kPart), ElementsAre("One.", "Two.", "Three."));
  EXPECT_EQ(InUpperCase(ReadVtt,
                        "WEBVTT\r\r00:01.000 --> 00:02.000\rOne\r\r"
                        "00:03.000 --> 00:04.000\rtwo.\r"),
            "WEBVTT\r\r00:01.000 --> 00:02.000\rONE\r\r00:03.000 --> 00:04.000\rTWO.\r");
  EXPECT_THAT(TextsOf(ReadVtt,
                      "WEBVTT\n00:01.000 --> 00:02.000\nOne.\n"
                      "00:02.000 --> 00:03.000\nTwo.\n\nSTYLE\na {\n\n b;\n}\n"),
              ElementsAre("One.", "Two."));
}

TEST(SubtitleReader, ReferencesComeBack) {
  EXPECT_EQ(SrtAs("2 < 3 & 4", "2 &lt; 3 &amp; four"), "2 &lt; 3 &amp; 4");
  EXPECT_EQ(SrtAs("R&B --> hier", "R&B here"), "R&B -> hier");
}

TEST(SubtitleReader, ReferencesOfSymbolsAreTags) {
  const std::string part = absl::StrCat(kCue, "&nbsp;It is 10&nbsp;km &rarr; home\n");
  EXPECT_THAT(TextsOf(ReadSrt, part), ElementsAre("It is 10 <x1/>km <x2/> home"));
  EXPECT_EQ(InUpperCase(ReadSrt, part), absl::StrCat(kCue, "&nbsp;IT IS 10&nbsp;KM &rarr; HOME\n"));
}

TEST(SubtitleReader, WhatOnlyEndsInAColonIsNoName) {
  const auto texts = [](const std::string& lines) {
    return TextsOf(ReadSrt, "1\n00:00:01,000 --> 00:00:02,000\n" + lines + "\n");
  };
  EXPECT_THAT(texts("He said: go on."), ElementsAre("He said: go on."));
  EXPECT_THAT(texts("They said:\nlook there."), ElementsAre("They said: look there."));
  EXPECT_THAT(texts("Mr. Who: Go on.\nMAN 2: Yes."), ElementsAre("Go on.", "Yes."));
  EXPECT_THAT(texts("<i>JOHN:</i> Go on.\n<b>Ann</b>: Yes."), ElementsAre("Go on.", "Yes."));
  EXPECT_THAT(texts("<i><b>JOHN</b>: Go on.</i>"), ElementsAre("Go on."));
}

TEST(SubtitleReader, TimesAndTagsOfWordsStayWhereTheyAre) {
  const auto timed = [](const std::string& text, const std::string& translation) {
    const std::string before = "WEBVTT\n\n00:01.000 --> 00:03.000\n";
    const auto translate = [&](const Passage&) { return translation; };
    const std::string out = TranslatedBy(translate, ReadVtt, before + text);
    return out.substr(std::min(before.size(), out.size()));
  };
  EXPECT_EQ(timed("It <00:01.500>is <00:02.000>he", "Er ist es"),
            "Er <00:01.500>ist <00:02.000>es");
  EXPECT_EQ(timed("We<00:01.500><c> are</c><00:02.000><c.a> here</c>", "Wir sind nun hier"),
            "Wir<00:01.500><c> sind</c><00:02.000><c.a> nun hier</c>");
  EXPECT_EQ(timed("We<00:01.500><c> are</c><00:02.000><c> here</c> &amp; now", "Wir sind"),
            "Wir<00:01.500><c> sind</c><00:02.000>");
  EXPECT_EQ(timed("ka<00:01.500>ra<00:02.000>oke", "la la la"), "la<00:01.500> la<00:02.000> la");
  EXPECT_EQ(timed("so it\n<00:01.500>was <b>he</b>", "so war er es"),
            "so war\n<00:01.500>er <b>es</b>");
  EXPECT_EQ(timed("<v Ann><00:01.200>Yes, <00:01.500>he did</v>", "Ja, er"),
            "<v Ann><00:01.200>Ja, <00:01.500>er</v>");
  const std::string text = "It <00:01.500>is <00:02.000>he";
  EXPECT_EQ(timed(text, "It is he"), text);
}

TEST(SubtitleReader, ElementsBesideEachOtherAreTwo) {
  const std::string part = "1\n00:00:01,000 --> 00:00:02,000\n<b>one</b> or <b>two</b>\n";
  const auto beside = [](const Passage&) { return "<x1>eins</x1> <x2>zwei</x2>"; };
  EXPECT_EQ(TranslatedBy(beside, ReadSrt, part),
            "1\n00:00:01,000 --> 00:00:02,000\n<b>eins</b> <b>zwei</b>\n");
}

TEST(SubtitleReader, WhatBeganNoTagBeginsNone) {
  const std::string times = "1\n00:00:01,000 --> 00:00:02,000\n";
  const auto moved = [](const Passage&) { return "&lt;n. kam <x1>vor dem Sturm</x1>"; };
  EXPECT_EQ(TranslatedBy(moved, ReadSrt, times + "<i>before the storm</i> came <n.\n"),
            times + "< n. kam <i>vor dem Sturm</i>\n");
}

TEST(SubtitleReader, AssKeepsFieldsAndOverrides) {
  constexpr std::string_view kPart =
      "[Script Info]\nTitle: kept\n\n[Events]\n"
      "Format: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text\n"
      "Comment: 0,0:00:01.00,0:00:02.00,Default,,0,0,0,,kept\n"
      "Dialogue: 0,0:00:01.00,0:00:02.00,Default,Ann,0,0,0,,{\\an8}One, {\\i1}two{\\i0}\\Nlines.\n"
      "Dialogue: 0,0:00:02.00,0:00:03.00,Default,Ann,0,0,0,,And a\\hsentence\n"
      "Dialogue: 0,0:00:03.00,0:00:04.00,Default,Ann,0,0,0,,that goes on.\n"
      "Dialogue: 0,0:00:05.00,0:00:06.00,Default,,0,0,0,,{\\p1}m 0 0 l 1 1{\\p0}\n";
  EXPECT_THAT(TextsOf(ReadAss, kPart),
              ElementsAre("One, <x1>two</x1> lines.", "And a <x1/>sentence that goes on."));
  EXPECT_EQ(
      InUpperCase(ReadAss, kPart),
      "[Script Info]\nTitle: kept\n\n[Events]\n"
      "Format: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text\n"
      "Comment: 0,0:00:01.00,0:00:02.00,Default,,0,0,0,,kept\n"
      "Dialogue: 0,0:00:01.00,0:00:02.00,Default,Ann,0,0,0,,{\\an8}ONE,\\N{\\i1}TWO{\\i0} LINES.\n"
      "Dialogue: 0,0:00:02.00,0:00:03.00,Default,Ann,0,0,0,,AND A\\hSENTENCE\n"
      "Dialogue: 0,0:00:03.00,0:00:04.00,Default,Ann,0,0,0,,THAT GOES ON.\n"
      "Dialogue: 0,0:00:05.00,0:00:06.00,Default,,0,0,0,,{\\p1}m 0 0 l 1 1{\\p0}\n");
  EXPECT_THAT(TextsOf(ReadAss, "x\n"), ElementsAre("line 1: want [Script Info] and [Events]"));
}

TEST(SubtitleReader, OverridesThatEndWhatTheyBeganAreElements) {
  const auto text = [](const std::string& of) {
    return TextsOf(ReadAss, "[Events]\nDialogue: 0,0:00:01.00,0:00:02.00,D,,0,0,0,," + of + "\n");
  };
  EXPECT_THAT(text("a {\\c&H00FF00&}b {\\fs20}c{\\fs}{\\c} {\\b700}d{\\b0} {\\fnArial}e{\\fn} f"),
              ElementsAre("a <x1>b <x2>c</x2></x1> <x3>d</x3> <x4>e</x4> f"));
  EXPECT_THAT(text("a {\\i1}b {\\u1}c{\\i0}d{\\u0} e {\\be1}f{\\r} g"),
              ElementsAre("a <x1/>b <x2>c<x3/>d</x2> e <x4/>f<x5/> g"));
}

TEST(SubtitleReader, AnElementEndsBeforeTheLineDoes) {
  const std::string part = absl::StrCat(kCue, "<i>one dog</i>\n<b>two</b>\n");
  const auto same = [](const Passage&) { return "<x1>eins</x1> <x2>zwei</x2>"; };
  EXPECT_EQ(TranslatedBy(same, ReadSrt, part), absl::StrCat(kCue, "<i>eins</i>\n<b>zwei</b>\n"));
}

// The tags of a cue, without their order, and whether it has anything else.
std::pair<std::multiset<std::string>, bool> TagsOf(std::string_view part, const SubtitleCue& cue,
                                                   bool braces) {
  std::multiset<std::string> tags;
  bool text = false;
  for (const SubtitleLine& line : cue.lines) {
    for (const SubtitleToken& token :
         SubtitleTokens(part.substr(line.begin, line.end - line.begin), braces)) {
      if (token.kind != SubtitleToken::kText) tags.emplace(token.raw);
      text = text || (token.kind == SubtitleToken::kText && !StripWhiteSpace(token.raw).empty());
    }
  }
  return {tags, text};
}

// How many "..." and "…" a cue has in front of something.
int DotsIn(std::string_view part, const SubtitleCue& cue) {
  const std::string_view text =
      part.substr(cue.lines[0].begin, cue.lines.back().end - cue.lines[0].begin);
  int found = 0;
  for (const std::string_view dots : {"...", "…"}) {
    for (size_t at = text.find(dots); at != text.npos; at = text.find(dots, at + 1)) {
      const size_t next = at + dots.size();
      found += next < text.size() && !absl::ascii_isspace(static_cast<unsigned char>(text[next]));
    }
  }
  return found;
}

// Whatever the translation is, cues keep their times, tags and dots, and none becomes empty.
TEST(SubtitleReader, KeepsItsCuesWhateverTheTranslationIs) {
  constexpr std::string_view kLines[] = {"I went",
                                         "home",
                                         "because it was late.",
                                         "- Yes",
                                         "- No.",
                                         "<i>so it</i> is",
                                         "<i>all</i>",
                                         "[music]",
                                         "[door creaks] Come in.",
                                         "\u266a la la \u266a",
                                         "---",
                                         "<v Ann>Hi",
                                         "{\\an8}The sign",
                                         "2 &lt; 3 &amp; b",
                                         "<00:00:01.500>now <b>then</b>",
                                         "Ann: why?",
                                         ">> who",
                                         "1984",
                                         "...and then",
                                         "- …so it was.",
                                         "a --> b"};
  std::mt19937_64 random(1);
  for (const auto& [syntax, reader, header] : {std::tuple(SubtitleSyntax::kSrt, &ReadSrt, ""),
                                               {SubtitleSyntax::kVtt, &ReadVtt, "WEBVTT\n\n"},
                                               {SubtitleSyntax::kAss, &ReadAss, "[Events]\n"}}) {
    const bool ass = syntax == SubtitleSyntax::kAss;
    for (int i = 0; i < 400; ++i) {
      std::string part = header;
      for (int cue = 0; cue < 6; ++cue) {
        const std::string time = absl::StrFormat("0:00:0%d.%d00", cue, random() % 3);
        absl::StrAppend(&part, ass ? "Dialogue: 0," : "", time, ass ? "," : " --> ", "0:00:0",
                        cue + 1, ".000", ass ? ",D,,0,0,0,," : "\n");
        for (size_t line = 0, lines = 1 + random() % 3; line < lines; ++line) {
          std::string text(kLines[random() % std::size(kLines)]);
          if (syntax == SubtitleSyntax::kVtt && text == "a --> b") text = "a";
          absl::StrAppend(&part, line > 0 && ass ? "\\N" : "", text, ass ? "" : "\n");
        }
        part += "\n";
      }
      const DocumentOptions options;
      Patience patience(options);
      const auto cues = ReadSubtitleCues(part, syntax, options, &patience);
      ASSERT_TRUE(cues.ok()) << cues.status() << part;
      for (const auto& [name, translate] : BadTranslators()) {
        const std::string out = TranslatedBy(translate, reader, part);
        SCOPED_TRACE(absl::StrCat(name, ":\n", part, "\nbecomes\n", out));
        const auto after = ReadSubtitleCues(out, syntax, options, &patience);
        ASSERT_TRUE(after.ok()) << after.status();
        ASSERT_EQ(after->size(), cues->size());
        for (size_t cue = 0; cue < cues->size(); ++cue) {
          EXPECT_EQ((*after)[cue].begin_time, (*cues)[cue].begin_time);
          EXPECT_EQ((*after)[cue].end_time, (*cues)[cue].end_time);
          const auto [tags, text] = TagsOf(part, (*cues)[cue], ass);
          const auto [tags_after, text_after] = TagsOf(out, (*after)[cue], ass);
          EXPECT_EQ(text_after, text);
          EXPECT_GE(DotsIn(out, (*after)[cue]), DotsIn(part, (*cues)[cue]));
          for (const std::string& tag : tags_after) EXPECT_TRUE(tags.contains(tag)) << tag;
        }
      }
    }
  }
}

std::vector<std::string> LaidOut(std::string_view text, const std::vector<size_t>& columns,
                                 size_t width = kSubtitleWidth) {
  std::vector<SubtitleShare> shares;
  for (const size_t of_cue : columns) shares.push_back({of_cue, width});
  return LayOutSubtitles(SubtitleWords(text), shares, "\n");
}

TEST(SubtitleLayout, CuesGetTheirSharesOfTheWords) {
  EXPECT_THAT(LaidOut("aa bb cc dd ee ff", {1, 1}), ElementsAre("aa bb cc", "dd ee ff"));
  EXPECT_THAT(LaidOut("aa bb cc dd ee ff", {2, 1}), ElementsAre("aa bb cc dd", "ee ff"));
  EXPECT_THAT(LaidOut("aa bb, cc dd ee ff", {1, 1}), ElementsAre("aa bb,", "cc dd ee ff"));
  EXPECT_THAT(LaidOut("aa bb", {9, 1}), ElementsAre("aa", "bb"));
  EXPECT_THAT(LaidOut("aa bb cc", {1, 1, 1}), ElementsAre("aa", "bb", "cc"));
  EXPECT_THAT(LaidOut("aa", {1, 1}), ElementsAre("aa", "aa"));
  EXPECT_THAT(LaidOut("", {1, 1}), ElementsAre("", ""));
}

TEST(SubtitleLayout, LinesAreShortAndBalanced) {
  EXPECT_THAT(LaidOut("The quick brown fox jumps over it", {1}),
              ElementsAre("The quick brown fox jumps over it"));
  EXPECT_THAT(LaidOut("The quick brown fox jumps over the lazy dog today", {1}),
              ElementsAre("The quick brown fox jumps\nover the lazy dog today"));
  EXPECT_THAT(LaidOut("aa bb cc dd", {1, 1}, 0), ElementsAre("aa\nbb", "cc\ndd"));
  EXPECT_THAT(LaidOut("aa bb cc", {1, 9}, 0), ElementsAre("aa", "bb\ncc"));
}

TEST(SubtitleReader, TwoLinesStayTwo) {
  EXPECT_EQ(SrtAs("das alte Haus", "the old\nhouse\n"), "das alte\nHaus\n");
}

TEST(SubtitleLayout, ElementsAreClosedAndOpenedAgain) {
  EXPECT_THAT(LaidOut("<i>aa bb</i> cc", {1, 2}), ElementsAre("<i>aa</i>", "<i>bb</i> cc"));
  EXPECT_THAT(LaidOut("aa <b>bb</b>. cc", {3, 1}), ElementsAre("aa <b>bb</b>.", "cc"));
  EXPECT_THAT(LaidOut("aa {\\i1}bb <00:00:01.000>cc", {1}),
              ElementsAre("aa {\\i1}bb <00:00:01.000>cc"));
}

TEST(SubtitleLayout, ChineseBreaksBetweenCharactersButNotBeforePunctuation) {
  EXPECT_THAT(LaidOut("\u6211\u4eec\u56de\u5bb6\u5403\u996d", {1, 1}),
              ElementsAre("\u6211\u4eec\u56de", "\u5bb6\u5403\u996d"));
  EXPECT_THAT(LaidOut("\u6211\u3002\u597d", {1, 9}), ElementsAre("\u6211\u3002", "\u597d"));
}

}  // namespace
}  // namespace dragoman::subtitle_reader_test
