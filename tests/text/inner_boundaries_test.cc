#include "engine/text/inner_boundaries.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/ascii.h"
#include "engine/text/words.h"

namespace dragoman::inner_boundaries_test {
namespace {

using ::testing::ElementsAre;

// The parts of a sentence whose tokens are its words and punctuation marks; of an unspaced one,
// its characters.
std::vector<std::string> PartsBy(const std::string& text, size_t most,
                                 const std::string& whole = "", const std::string& mark = "") {
  LongSentence sentence = {.text = text};
  sentence.tokens = SplitWords(text, {});
  if (!absl::ascii_isascii(static_cast<unsigned char>(text[0]))) {
    sentence.tokens.clear();
    for (size_t i = 0; i < text.size(); i += 3) sentence.tokens.push_back({i, i + 3});
  }
  const auto find = [&](const std::string& part, std::vector<TextSpan>* spans) {
    if (!part.empty()) spans->push_back({text.find(part), text.find(part) + part.size()});
  };
  find(whole, &sentence.whole);
  find(mark, &sentence.marks);
  std::vector<std::string> parts;
  for (const TextSpan part : DivideSentence(sentence, most)) {
    parts.push_back(text.substr(part.begin, part.size()));
  }
  return parts;
}

TEST(InnerBoundaries, ASentenceThatIsNotTooLongStaysWhole) {
  EXPECT_THAT(PartsBy("One; two.", 4), ElementsAre("One; two."));
}

TEST(InnerBoundaries, TheBestOneNearTheMiddleWins) {
  EXPECT_THAT(PartsBy("One two, three four; five six, seven.", 8),
              ElementsAre("One two, three four;", "five six, seven."));
  EXPECT_THAT(PartsBy("One two three, four five: six seven.", 7),
              ElementsAre("One two three, four five:", "six seven."));
  EXPECT_THAT(PartsBy("One two three, four and five, but six, seven eight.", 9),
              ElementsAre("One two three, four and five,", "but six, seven eight."));
  EXPECT_THAT(PartsBy("One two three, four five six.", 6),
              ElementsAre("One two three,", "four five six."));
  EXPECT_THAT(PartsBy("One two three four five six", 4),
              ElementsAre("One two three", "four five six"));
  EXPECT_THAT(PartsBy("She cried “No! Never!” and he went – so he did – home.", 10),
              ElementsAre("She cried “No!", "Never!” and he went –", "so he did – home."));
}

TEST(InnerBoundaries, PartsAreDividedAgain) {
  EXPECT_THAT(PartsBy("a b, c d, e f, g h.", 3), ElementsAre("a b,", "c d,", "e f,", "g h."));
}

TEST(InnerBoundaries, AWordOrALiteralStaysWhole) {
  EXPECT_THAT(PartsBy("don't-do.it", 1), ElementsAre("don't-do.it"));
  EXPECT_THAT(PartsBy("Say {a; b; c, d} now", 6, "{a; b; c, d}"),
              ElementsAre("Say", "{a; b; c, d}", "now"));
}

TEST(InnerBoundaries, AMarkIsDividedOnlyIfThereIsNoOtherPlace) {
  EXPECT_THAT(PartsBy("a b c d; e f g h", 8, "", "b c d; e f"), ElementsAre("a b c d; e f", "g h"));
  EXPECT_THAT(PartsBy("a b c d; e f g h", 8, "", "a b c d; e f g h"),
              ElementsAre("a b c d;", "e f g h"));
}

TEST(InnerBoundaries, WithoutSpacesATokenEnds) {
  EXPECT_THAT(PartsBy("我看见了，他也看见了", 6), ElementsAre("我看见了，", "他也看见了"));
  EXPECT_THAT(PartsBy("我看见了他也看见", 4), ElementsAre("我看见了", "他也看见"));
}

TEST(InnerBoundaries, AnAbbreviationIsNoEndAndADashNoBeginning) {
  EXPECT_THAT(PartsBy("It was Mr. Smith who came in", 6),
              ElementsAre("It was Mr. Smith", "who came in"));
  EXPECT_THAT(PartsBy("one two three -a four five", 5),
              ElementsAre("one two", "three -a four five"));
  EXPECT_THAT(PartsBy("a :b :c :d", 4), ElementsAre("a :b", ":c :d"));
}

}  // namespace
}  // namespace dragoman::inner_boundaries_test
