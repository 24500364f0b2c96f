// The guard against translations that repeat themselves without end.

#include "engine/search/runaway.h"

#include <vector>

#include "engine/search/search.h"
#include "gtest/gtest.h"
#include "tests/search/found.h"

namespace dragoman::runaway_test {
namespace {

TEST(Runaway, KeepsOneUnitOfARepetition) {
  std::vector<int32_t> tokens = {1, 2};
  for (int i = 0; i < 9; ++i) tokens.insert(tokens.end(), {3, 4});
  EXPECT_EQ(TokensBeforeRepetition(tokens, 15), 4);
  EXPECT_EQ(TokensBeforeRepetition(tokens, 16), 0);
  tokens.push_back(5);
  EXPECT_EQ(TokensBeforeRepetition(tokens, 15), 0);
}

TEST(Runaway, WhatTheSourceRepeatsIsCounted) {
  EXPECT_EQ(LongestRepetition({1, 2, 3, 4}), 0);
  EXPECT_EQ(LongestRepetition({7, 7, 7, 7, 1}), 3);
  EXPECT_EQ(LongestRepetition({1, 2, 3, 1, 2, 3, 1, 2, 3, 9}), 6);
}

TEST(Runaway, ASearchEndsWhenItsHypothesisRunsAway) {
  // Token 2 follows everything.
  const ConstantLanguage language({0.0f, 0.0f, 9.0f, 0.0f});
  for (const int beam_size : {1, 4}) {
    SearchTask task = TaskOf(Options(beam_size, 200));
    task.options.repetition_guard = true;
    task.source = {3, 3, 0};
    const std::vector<Hypothesis> found = Found(language, task);
    ASSERT_FALSE(found.empty());
    EXPECT_EQ(found[0].finish_reason, FinishReason::kRepetition);
    EXPECT_LT(found[0].tokens.size(), 5u);
    task.options.repetition_guard = false;
    EXPECT_EQ(Found(language, task)[0].tokens.size(), 200u);
  }
}

}  // namespace
}  // namespace dragoman::runaway_test
