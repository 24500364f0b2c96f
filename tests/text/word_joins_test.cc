#include "engine/text/word_joins.h"

#include <algorithm>
#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace dragoman::word_joins_test {
namespace {

// Whether the second piece continues the first one's word, in a vocabulary that marks spaces.
bool Joins(const std::string& before, const std::string& next, bool reversed = false) {
  return WordJoins({"▁", before, next}, reversed).Joins(1, 2);
}

TEST(WordJoins, LettersAndDigitsGoOnWithAWord) {
  EXPECT_TRUE(Joins("▁house", "n"));
  EXPECT_TRUE(Joins("hou", "se"));
  EXPECT_TRUE(Joins("▁1", "984"));
  EXPECT_TRUE(Joins("▁Stra", "ße"));
  EXPECT_TRUE(Joins("▁до", "ма"));
  EXPECT_TRUE(Joins("▁Caf", "e\u0301"));
  EXPECT_TRUE(Joins("▁e", "\u0301"));  // a mark over the letter
}

TEST(WordJoins, SpacesAndMarksDoNot) {
  for (const std::string next : {"▁n", "▁", ".", ",", "'", "'s", "’s", "-", "»", "“", "…", "%"}) {
    EXPECT_FALSE(Joins("▁house", next)) << next;
  }
  EXPECT_FALSE(Joins("▁U.S.", "n"));
  EXPECT_FALSE(Joins("▁(", "n"));
  EXPECT_FALSE(Joins("▁", "n"));
}

TEST(WordJoins, ScriptsWithoutSpacesDoNot) {
  EXPECT_FALSE(Joins("▁猫", "が"));
  EXPECT_FALSE(Joins("房子", "很"));
  EXPECT_FALSE(Joins("▁แมว", "ดำ"));
  EXPECT_FALSE(Joins("▁iPhone", "手机"));
  EXPECT_FALSE(Joins("▁手机", "s"));
}

TEST(WordJoins, AKoreanParticleLeavesTheWordWhatItIs) {
  EXPECT_FALSE(Joins("▁서울", "에서"));
  EXPECT_FALSE(Joins("▁Google", "은"));
}

TEST(WordJoins, BytesThatBeginLettersGoOn) {
  EXPECT_TRUE(Joins("▁caf", "<0xC3>"));
  EXPECT_TRUE(Joins("<0xA9>", "s"));
  EXPECT_TRUE(Joins("▁a", "<0x62>"));
  EXPECT_FALSE(Joins("▁a", "<0x2E>"));
  EXPECT_FALSE(Joins("▁a", "<0xC2>"));  // « or §
  EXPECT_FALSE(Joins("▁a", "<0xE2>"));  // € or —
  EXPECT_FALSE(Joins("▁a", "<0xF0>"));  // an emoji
}

TEST(WordJoins, OfAModelThatSaysTheLastTokenFirst) {
  EXPECT_TRUE(Joins("n", "▁house", true));
  EXPECT_FALSE(Joins("▁house", "n", true));
}

TEST(WordJoins, WholeWordsDoNotUnlessTheyAreCut) {
  const WordJoins joins({"hou@@", "se", "n"});
  EXPECT_TRUE(joins.Joins(0, 1));
  EXPECT_FALSE(joins.Joins(1, 2));
}

TEST(WordJoins, WhatWritesNoTextDoesNot) {
  const WordJoins joins({"▁a", "", "b", "\xff"});
  EXPECT_FALSE(joins.Joins(0, 1));
  EXPECT_FALSE(joins.Joins(1, 2));
  EXPECT_FALSE(joins.Joins(0, 3));
  for (const int32_t outside : {-1, 4, 1 << 30}) {
    EXPECT_FALSE(joins.Joins(outside, 2));
    EXPECT_FALSE(joins.Joins(0, outside));
  }
}

}  // namespace
}  // namespace dragoman::word_joins_test
