#include <string>
#include <vector>

#include "documents/readers.h"
#include "documents/subtitle_layout.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/documents/scripted_reader.h"

namespace dragoman::subtitle_reader_test {
namespace {

using ::testing::ElementsAre;

constexpr std::string_view kSentence =
    "1\n00:00:01,000 --> 00:00:02,000\n<i>I went home</i>\n\n"
    "2\n00:00:02,100 --> 00:00:04,000\n<i>because it was</i> late.\n";

TEST(SubtitleReader, ASentenceMayRunOverCues) {
  EXPECT_THAT(TextsOf(ReadSrt, kSentence),
              ElementsAre("<x1>I went home because it was</x1> late."));
  EXPECT_EQ(InUpperCase(ReadSrt, kSentence),
            "1\n00:00:01,000 --> 00:00:02,000\n<i>I WENT HOME</i>\n\n"
            "2\n00:00:02,100 --> 00:00:04,000\n<i>BECAUSE IT WAS</i> LATE.\n");
  EXPECT_EQ(Unchanged(ReadSrt, kSentence), kSentence);
}

TEST(SubtitleReader, SentencesThatEndDoNot) {
  constexpr std::string_view kPart =
      "\xef\xbb\xbf"
      "1\r\n00:00:01,000 --> 00:00:02,000 X1:1\r\n{\\an8}One\r\ntwo.\r\n\r\n\r\n"
      "2\r\n00:00:02,000 --> 00:00:03,000\r\nThree\r\n\r\n"
      "3\r\n00:00:09,000 --> 00:00:10,000\r\nfour";
  EXPECT_THAT(TextsOf(ReadSrt, kPart), ElementsAre("One two.", "Three", "four"));
  EXPECT_EQ(InUpperCase(ReadSrt, kPart),
            "\xef\xbb\xbf"
            "1\r\n00:00:01,000 --> 00:00:02,000 X1:1\r\n{\\an8}ONE TWO.\r\n\r\n\r\n"
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
  EXPECT_THAT(TextsOf(ReadVtt, kPart), ElementsAre("Hi &amp; <x1>you</x1> 1 &lt; 2 <x2>Yes</x2>"));
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

std::vector<std::string> LaidOut(std::string_view text, const std::vector<size_t>& shares) {
  return LayOutSubtitles(SubtitleWords(text), shares, "\n");
}

TEST(SubtitleLayout, CuesGetTheirSharesOfTheWords) {
  EXPECT_THAT(LaidOut("aa bb cc dd ee ff", {1, 1}), ElementsAre("aa bb cc", "dd ee ff"));
  EXPECT_THAT(LaidOut("aa bb cc dd ee ff", {2, 1}), ElementsAre("aa bb cc dd", "ee ff"));
  EXPECT_THAT(LaidOut("aa bb, cc dd ee ff", {1, 1}), ElementsAre("aa bb,", "cc dd ee ff"));
  EXPECT_THAT(LaidOut("aa bb", {9, 1}), ElementsAre("aa", "bb"));
  EXPECT_THAT(LaidOut("aa bb cc", {1, 1, 1}), ElementsAre("aa", "bb", "cc"));
  EXPECT_THAT(LaidOut("aa", {1, 1}), ElementsAre("aa", ""));
  EXPECT_THAT(LaidOut("", {1, 1}), ElementsAre("", ""));
}

TEST(SubtitleLayout, LinesAreShortAndBalanced) {
  EXPECT_THAT(LaidOut("The quick brown fox jumps over it", {1}),
              ElementsAre("The quick brown fox jumps over it"));
  EXPECT_THAT(LaidOut("The quick brown fox jumps over the lazy dog today", {1}),
              ElementsAre("The quick brown fox jumps\nover the lazy dog today"));
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
