#include "engine/model/vector_states.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace dragoman::vector_states_test {
namespace {

constexpr int kLength = 3;

TEST(VectorStates, BeginWithOneEmptyHypothesisOfZeros) {
  KvPool pool;
  VectorStates states(kLength, 4, &pool);
  EXPECT_EQ(std::vector<float>(states.first(), states.first() + kLength),
            std::vector<float>(kLength, 0.0f));
  const VectorStates::Step step = states.Extend(0);
  EXPECT_EQ(step.last, states.first());
  EXPECT_NE(step.next, step.last);
  EXPECT_EQ(step.position, 0);
}

// Folds a token into a hypothesis's vector, so the vector shows the list of its tokens.
std::vector<float> Fold(const float* last, int token) {
  std::vector<float> next(kLength);
  for (int i = 0; i < kLength; ++i) next[i] = 0.5f * last[i] + static_cast<float>(token + i);
  return next;
}

TEST(VectorStates, EveryHypothesisReadsWhatItsOwnAncestorsWrote) {
  constexpr int kMost = 5;
  std::mt19937 random(7);
  KvPool pool;
  for (int round = 0; round < 20; ++round) {
    VectorStates states(kLength, kMost, &pool);
    std::vector<std::vector<float>> want(1, std::vector<float>(kLength, 0.0f));
    for (int position = 0; position < 12; ++position) {
      for (size_t h = 0; h < want.size(); ++h) {
        const int token = static_cast<int>(random() % 100);
        const VectorStates::Step step = states.Extend(static_cast<int>(h));
        EXPECT_EQ(step.position, position);
        ASSERT_EQ(std::vector<float>(step.last, step.last + kLength), want[h]);
        want[h] = Fold(want[h].data(), token);
        const std::vector<float> next = Fold(step.last, token);
        std::copy(next.begin(), next.end(), step.next);
      }
      // Some hypotheses die, some have several children, in any order.
      std::vector<int> parents(1 + random() % kMost);
      for (int& parent : parents) parent = static_cast<int>(random() % want.size());
      states.Fork(parents);
      std::vector<std::vector<float>> children;
      for (const int parent : parents) children.push_back(want[parent]);
      want = std::move(children);
    }
  }
}

TEST(VectorStates, TakeFromThePoolWhatTheySayAndGiveItBack) {
  KvPool pool;
  const size_t before = pool.taken_bytes();
  {
    VectorStates states(512, 8, &pool);
    EXPECT_LE(pool.taken_bytes() - before, VectorStates::Bytes(512, 8));
  }
  EXPECT_EQ(pool.taken_bytes(), before);
}

}  // namespace
}  // namespace dragoman::vector_states_test
