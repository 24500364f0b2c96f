#include "engine/text/words.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dragoman::words_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> Words(const std::string& text, std::vector<TextSpan> tokens = {}) {
  std::vector<std::string> words;
  for (const TextSpan& word : SplitWords(text, tokens)) {
    words.push_back(text.substr(word.begin, word.size()));
  }
  return words;
}

TEST(Words, AreRunsOfLettersAndDigits) {
  EXPECT_THAT(Words("Die alte Katze schläft."),
              ElementsAre("Die", "alte", "Katze", "schläft", "."));
  EXPECT_THAT(Words("B2B in 1984"), ElementsAre("B2B", "in", "1984"));
  EXPECT_THAT(Words("Žižek, \"Ελλάδα\""), ElementsAre("Žižek", ",", "\"", "Ελλάδα", "\""));
}

TEST(Words, SomeMarksAreInsideWords) {
  EXPECT_THAT(Words("O'Neill's well-known l’homme"),
              ElementsAre("O'Neill's", "well-known", "l’homme"));
  EXPECT_THAT(Words("3.50 1,000 a.b 'tis -5"),
              ElementsAre("3.50", "1,000", "a", ".", "b", "'", "tis", "-", "5"));
}

TEST(Words, ARepeatedMarkIsOneWord) {
  EXPECT_THAT(Words("What?! ... ---"), ElementsAre("What", "?", "!", "...", "---"));
}

TEST(Words, WhiteSpaceIsNotAWord) {
  EXPECT_THAT(Words(" \t\n\u00A0\u3000"), IsEmpty());
  EXPECT_THAT(Words(""), IsEmpty());
}

TEST(Words, WithoutSpacesTokensAreWords) {
  // Each character has three bytes.
  EXPECT_THAT(Words("我喜欢猫。", {{0, 3}, {3, 9}, {9, 12}, {12, 15}}),
              ElementsAre("我", "喜欢", "猫", "。"));
  EXPECT_THAT(Words("iPhone手机", {{0, 6}, {6, 12}}), ElementsAre("iPhone", "手机"));
  EXPECT_THAT(Words("แมวดำ"), ElementsAre("แมวดำ"));
}

TEST(Words, CoverEveryCharacterExceptWhiteSpaceOnce) {
  const std::string text = "„Hé!“ 漢字kana かな – 5€ (😀👍) ٤٥ x²\u200D";
  size_t end = 0;
  for (const TextSpan& word : SplitWords(text, {})) {
    EXPECT_LE(end, word.begin);
    EXPECT_LT(word.begin, word.end);
    for (size_t i = end; i < word.begin; ++i) EXPECT_EQ(text[i], ' ');
    end = word.end;
  }
  EXPECT_EQ(end, text.size());
}

TEST(Words, BracketsBelongTogether) {
  const std::string text = "a (b（c）) d";
  const std::vector<TextSpan> brackets = FindBrackets(text);
  EXPECT_EQ(brackets, (std::vector<TextSpan>{{2, 3}, {4, 7}, {8, 11}, {11, 12}}));
  for (const std::string none : {"a", "1) a", "(a", ")(", "a :) (b)"}) {
    EXPECT_TRUE(FindBrackets(none).empty()) << none;
  }
  EXPECT_TRUE(HasSameBrackets(text, brackets, "((x)y)"));
  for (const std::string other : {"(x)(y)", "(x)", "((x)y", "x(y())", ""}) {
    EXPECT_FALSE(HasSameBrackets(text, brackets, other)) << other;
  }
}

}  // namespace
}  // namespace dragoman::words_test
