#include "engine/decode/fair_share.h"

#include <memory>
#include <string>
#include <utility>

#include "gtest/gtest.h"
#include "tests/decode/test_jobs.h"

namespace dragoman {
namespace {

std::unique_ptr<Flow> FlowOf(const std::string& principal, int64_t arrival, double expected,
                             Priority priority = Priority::kInteractive) {
  auto flow = std::make_unique<Flow>();
  const auto request =
      std::make_shared<RequestState>(RequestTerms{.principal = principal, .priority = priority});
  flow->request = request;
  flow->arrival = arrival;
  flow->expected = expected;
  flow->waiting.push_back(CostOnly({}, request));
  return flow;
}

void CloseAll(FairShare* share, std::initializer_list<Flow*> flows) {
  for (Flow* flow : flows) {
    while (!flow->waiting.empty()) share->Pop(flow);
    share->Close(flow);
  }
}

TEST(FairShare, ANewcomerStartsLevelWithThoseBeingServed) {
  FairShare share;
  const auto old = FlowOf("a", 0, 1e6);
  share.Open(old.get());
  share.Serve(old.get(), 5000);
  share.Serve(old.get(), 8);
  const auto fresh = FlowOf("a", 1, 1e6);
  share.Open(fresh.get());
  EXPECT_EQ(fresh->time, 5000);  // where the last row began
  EXPECT_EQ(*old->account->long_waiting.begin(), fresh.get());
  share.Serve(fresh.get(), 100);
  EXPECT_EQ(*old->account->long_waiting.begin(), old.get());
  CloseAll(&share, {old.get(), fresh.get()});
}

TEST(FairShare, APrincipalDoesNotSaveUpByStayingAway) {
  FairShare share;
  const auto a = FlowOf("a", 0, 1e6);
  share.Open(a.get());
  share.Serve(a.get(), 700);
  share.Serve(a.get(), 1);
  const auto b = FlowOf("b", 1, 1e6);
  share.Open(b.get());
  EXPECT_EQ(b->account->time, 701);
  CloseAll(&share, {a.get(), b.get()});
}

TEST(FairShare, NorByAskingForLittle) {
  FairShare share;
  const auto a = FlowOf("a", 0, 1e6), b = FlowOf("b", 1, 1e6), c = FlowOf("c", 3, 1e6);
  share.Open(a.get());
  share.Open(b.get());
  share.Pop(b.get());  // all of its work has started
  share.Serve(b.get(), 5);
  for (int i = 0; i < 10; ++i) share.Serve(a.get(), 100);
  const auto more = FlowOf("b", 2, 1e6);
  share.Open(more.get());
  EXPECT_EQ(more->account->time, 1000);
  share.Open(c.get());
  EXPECT_EQ(c->account->time, 1000);
  CloseAll(&share, {a.get(), b.get(), c.get(), more.get()});
}

TEST(FairShare, NorDoesItLoseItsDebtsByLeavingForAMoment) {
  FairShare share;
  const auto a = FlowOf("a", 0, 1e6), b = FlowOf("b", 1, 1e6);
  share.Open(a.get());
  share.Open(b.get());
  share.Serve(b.get(), 300);
  CloseAll(&share, {b.get()});
  const auto again = FlowOf("b", 2, 1e6);
  share.Open(again.get());
  EXPECT_EQ(again->account->time, 300);
  CloseAll(&share, {again.get()});
  share.Serve(a.get(), 1000);  // the others have caught up
  share.Serve(a.get(), 1);
  const auto later = FlowOf("b", 3, 1e6);
  share.Open(later.get());
  EXPECT_EQ(later->account->time, 1001);
  CloseAll(&share, {a.get(), later.get()});
  EXPECT_TRUE(share.accounts(Priority::kInteractive).empty());
}

TEST(FairShare, TheFirstAfterAPauseStartsWhereTheLastOneWasServed) {
  FairShare share;
  const auto a = FlowOf("a", 0, 1e6), b = FlowOf("b", 1, 1e6);
  share.Open(a.get());
  share.Pop(a.get());  // nothing is waiting any more
  share.Serve(a.get(), 700);
  share.Serve(a.get(), 1);
  share.Open(b.get());
  EXPECT_EQ(b->account->time, 700);
  CloseAll(&share, {a.get(), b.get()});
}

TEST(FairShare, ComparesWithThoseWhoWait) {
  constexpr double kMost = FairShare::kMostLead;
  FairShare share;
  const auto a = FlowOf("a", 0, 1e6), b = FlowOf("b", 1, 1e6);
  share.Open(a.get());
  share.Open(b.get());
  share.Serve(a.get(), kMost / 2);
  EXPECT_FALSE(share.LagsBehind(*b->account));
  share.Serve(a.get(), kMost / 2);
  EXPECT_TRUE(share.LagsBehind(*b->account));
  EXPECT_FALSE(share.IsAhead(*a->account));
  share.Serve(a.get(), 1);
  EXPECT_TRUE(share.IsAhead(*a->account));
  EXPECT_FALSE(share.IsAhead(*b->account));
  share.Pop(b.get());  // b is not waiting for anything
  EXPECT_FALSE(share.IsAhead(*a->account));
  CloseAll(&share, {a.get(), b.get()});
}

TEST(FairShare, ShortRequestsStandInTheOrderOfArrival) {
  FairShare share;
  const auto first = FlowOf("a", 0, 10), second = FlowOf("a", 1, 10), big = FlowOf("a", 2, 1e6);
  for (const auto& flow : {first.get(), second.get(), big.get()}) share.Open(flow);
  share.Serve(first.get(), 50);
  const Account& account = *first->account;
  EXPECT_EQ(*account.short_waiting.begin(), first.get());
  EXPECT_EQ(account.short_waiting.size(), 2u);
  EXPECT_EQ(account.long_waiting.size(), 1u);
  share.Serve(first.get(), 2 * Flow::kShort);  // it turns out not to be short
  EXPECT_EQ(*account.short_waiting.begin(), second.get());
  EXPECT_EQ(account.long_waiting.size(), 2u);
  CloseAll(&share, {first.get(), second.get(), big.get()});
}

TEST(FairShare, BatchWorkHasAccountsOfItsOwn) {
  FairShare share;
  const auto a = FlowOf("a", 0, 1e6), b = FlowOf("a", 1, 1e6, Priority::kBatch);
  share.Open(a.get());
  share.Serve(a.get(), 300);
  share.Open(b.get());
  EXPECT_NE(a->account, b->account);
  EXPECT_EQ(b->account->time, 0);
  CloseAll(&share, {a.get(), b.get()});
}

}  // namespace
}  // namespace dragoman
