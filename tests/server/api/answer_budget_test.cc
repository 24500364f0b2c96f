#include "server/api/answer_budget.h"

#include <gtest/gtest.h>

#include <memory>

#include "server/base/errors.h"

namespace dragoman {
namespace {

constexpr AnswerLimits kLimits = {.all = 1000, .holder = 400, .little = 10};

// Who has one connection.
AnswerReader Reader(const std::string& holder) { return {holder, holder + ":1"}; }

std::unique_ptr<HeldAnswer> Hold(AnswerBudget* budget, const std::string& holder, size_t bytes) {
  auto held = std::make_unique<HeldAnswer>(budget, Reader(holder));
  held->Set(bytes);
  return held;
}

TEST(AnswerBudget, WhoDoesNotReadGetsNoMoreWorkUntilItDoes) {
  AnswerBudget budget(kLimits);
  auto first = Hold(&budget, "slow", 399);
  EXPECT_TRUE(budget.Check(Reader("slow")).ok());
  const auto second = Hold(&budget, "slow", 1);
  const absl::Status full = budget.Check(Reader("slow"));
  EXPECT_TRUE(absl::IsResourceExhausted(full));
  EXPECT_TRUE(IsPrincipalLimit(full));
  EXPECT_TRUE(budget.Check(Reader("other")).ok());
  first = nullptr;
  EXPECT_TRUE(budget.Check(Reader("slow")).ok());
}

TEST(AnswerBudget, WhereAllIsFullOnlyThoseWhoReadGetMoreWork) {
  AnswerBudget budget(kLimits);
  const auto a = Hold(&budget, "a", 390), b = Hold(&budget, "b", 390);
  auto c = Hold(&budget, "c", 210), d = Hold(&budget, "d", 10);
  EXPECT_EQ(budget.Stats().used, 1000u);
  EXPECT_FALSE(budget.Check(Reader("a")).ok());
  EXPECT_FALSE(budget.Check(Reader("c")).ok());
  EXPECT_TRUE(budget.Check(Reader("d")).ok());
  EXPECT_TRUE(budget.Check(Reader("new")).ok());
  c = nullptr;
  EXPECT_TRUE(budget.Check(Reader("a")).ok());
}

TEST(AnswerBudget, ACallThatReadsHasAReserve) {
  AnswerBudget budget(kLimits);
  const auto others = Hold(&budget, "a", 799);
  EXPECT_FALSE(budget.Check(Reader("a")).ok());
  EXPECT_TRUE(budget.Check(Reader("a"), /*reads=*/true).ok());
  const auto more = Hold(&budget, "a", 1);
  EXPECT_FALSE(budget.Check(Reader("a"), /*reads=*/true).ok());
}

TEST(AnswerBudget, AConnectionOnWhichNothingWaitsHasASecondShare) {
  AnswerBudget budget(kLimits);
  const auto slow = Hold(&budget, "proxy", 799);
  EXPECT_FALSE(budget.Check(Reader("proxy")).ok());
  EXPECT_TRUE(budget.Check({"proxy", "proxy:2"}).ok());
  const auto more = Hold(&budget, "proxy", 1);
  EXPECT_FALSE(budget.Check({"proxy", "proxy:2"}).ok());
}

TEST(AnswerBudget, AnAnswerCountsAsMuchAsItNowHas) {
  AnswerBudget budget(kLimits);
  HeldAnswer held(&budget, Reader("a"));
  held.Set(500);
  held.Set(100);
  EXPECT_EQ(budget.Stats().used, 100u);
  held.Set(0);
  EXPECT_EQ(budget.Stats().used, 0u);
}

}  // namespace
}  // namespace dragoman
