#include "engine/text/piece_index.h"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dragoman::piece_index_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const std::vector<std::string> kPieces = {"",  "▁Kind", "▁er",   "er", "erkannte", ".",
                                          "▁", "▁(er",  "▁e",    "r",  "▁Meter",   "\xC3",
                                          "é", "\xA9",  "▁Haus", "猫", "x-er"};

// The pieces that may not follow, of those above.
std::set<std::string> Banned(const std::string& phrase, const std::vector<int32_t>& tokens) {
  std::vector<int32_t> banned;
  PieceIndex(kPieces).FindLast(InPieces(phrase), tokens, &banned);
  std::set<std::string> pieces;
  for (const int32_t token : banned) pieces.insert(kPieces[token]);
  return pieces;
}

int32_t Token(const std::string& piece) {
  return static_cast<int32_t>(std::ranges::find(kPieces, piece) - kPieces.begin());
}

TEST(PieceIndex, AWordThatMustNotBeginDoesNotBeginWithoutASpaceEither) {
  const std::vector<std::string> within_a_word = {"▁Kind", "▁Meter", "é"};
  for (const std::string& before : within_a_word) {
    EXPECT_THAT(Banned("er", {Token(before)}), ElementsAre("x-er", "▁(er", "▁er")) << before;
  }
  for (const std::string before : {"", ".", "▁", "猫"}) {
    EXPECT_THAT(Banned("er", {Token("▁Kind"), Token(before)}),
                ElementsAre("er", "erkannte", "x-er", "▁(er", "▁er"))
        << before;
  }
  EXPECT_THAT(Banned("er", {}), ElementsAre("er", "erkannte", "x-er", "▁(er", "▁er"));
  EXPECT_THAT(Banned("er", {-1}), ElementsAre("er", "erkannte", "x-er", "▁(er", "▁er"));
}

TEST(PieceIndex, AWordIsFoundInParts) {
  EXPECT_THAT(Banned("er", {Token("▁e")}), ElementsAre("r", "x-er", "▁(er", "▁er"));
  EXPECT_THAT(Banned("r", {Token("▁e")}), IsEmpty());
  EXPECT_THAT(Banned("er.", {Token("."), Token("er")}), ElementsAre("."));
  EXPECT_THAT(Banned("er.", {Token("▁Kind"), Token("er")}), IsEmpty());
  EXPECT_THAT(Banned("er Haus", {Token("er")}), ElementsAre("▁Haus"));
  EXPECT_THAT(Banned(".", {Token("▁Kind")}), ElementsAre("."));
}

TEST(PieceIndex, ACharacterInBytesIsALetterToo) {
  EXPECT_THAT(Banned("é", {}), ElementsAre("é"));
  EXPECT_THAT(Banned("é", {Token("\xC3")}), ElementsAre("\xA9"));
  EXPECT_THAT(Banned("r", {Token("\xC3")}), IsEmpty());
  EXPECT_THAT(Banned("r", {Token("."), Token("\xC3"), Token("\xA9")}), IsEmpty());
}

}  // namespace
}  // namespace dragoman::piece_index_test
