#include "engine/decode/fair_share.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "tests/decode/test_jobs.h"

namespace dragoman::fair_share_test {
namespace {

std::unique_ptr<Flow> FlowOf(const std::string& principal, int64_t arrival, double expected,
                             Priority priority = Priority::kInteractive) {
  auto flow = std::make_unique<Flow>();
  const auto request =
      std::make_shared<RequestState>(RequestTerms{.principal = principal, .priority = priority});
  flow->request = request;
  flow->arrival = arrival;
  flow->seconds = flow->work = expected;
  flow->most_short = 400;
  flow->kind = expected <= 400;
  flow->urgency = priority == Priority::kBatch ? Urgency::kBatch
                  : flow->kind == 1            ? Urgency::kShort
                                               : Urgency::kLong;
  flow->waiting.push_back(CostOnly({}, request));
  return flow;
}

void CloseAll(FairShare* share, std::initializer_list<Flow*> flows) {
  for (Flow* flow : flows) {
    while (!flow->waiting.empty()) share->Pop(flow);
    share->Close(flow);
  }
}

// Who is served next, of the flows of an account that are not short.
Flow* First(const Flow& flow) { return *flow.account->line(Urgency::kLong).flows.begin(); }

TEST(FairShare, RequestsAreServedInTheOrderInWhichEqualSharesWouldEndThem) {
  FairShare share;
  const auto first = FlowOf("a", 0, 10e3), second = FlowOf("a", 1, 10e3),
             text = FlowOf("a", 2, 1e3);
  share.Open(first.get());
  share.Serve(first.get(), 5e3, 5e3);
  share.Open(second.get());
  share.Serve(first.get(), 1e3, 1e3);
  share.Open(text.get());
  EXPECT_EQ(text->tag, 6.5e3);  // 5 for the first alone, and half of 1; it takes 1
  EXPECT_EQ(First(*text), text.get());
  share.Serve(text.get(), 1e3, 1e3);
  CloseAll(&share, {text.get()});
  EXPECT_EQ(First(*first), first.get());
  CloseAll(&share, {first.get(), second.get()});
}

// When requests of these sizes end that come at these times and share one worker equally.
std::vector<double> EndsWithEqualShares(const std::vector<double>& comes,
                                        std::vector<double> left) {
  std::vector<double> ends(left.size());
  double now = 0;
  while (true) {
    std::vector<size_t> there;
    double next = std::numeric_limits<double>::infinity();
    for (size_t i = 0; i < left.size(); ++i) {
      if (comes[i] > now) next = std::min(next, comes[i]);
      if (comes[i] <= now && left[i] > 0) there.push_back(i);
    }
    if (there.empty() && next == std::numeric_limits<double>::infinity()) return ends;
    if (there.empty()) {
      now = next;
      continue;
    }
    double least = left[there[0]];
    for (const size_t i : there) least = std::min(least, left[i]);
    const double n = static_cast<double>(there.size());
    const double share = std::min(least, (next - now) / n);
    now = share < least ? next : now + share * n;
    for (const size_t i : there) {
      left[i] = left[i] - share < 1e-9 ? 0 : left[i] - share;
      if (left[i] == 0) ends[i] = now;
    }
  }
}

TEST(FairShare, NoRequestEndsLaterThanWithEqualShares) {
  std::mt19937 random(7);
  for (int run = 0; run < 50; ++run) {
    std::vector<double> comes, sizes;
    for (int i = 0; i < 12; ++i) {
      comes.push_back(random() % 60);
      sizes.push_back(1 + random() % (i % 3 == 0 ? 40 : 6));
    }
    std::sort(comes.begin(), comes.end());
    FairShare share;
    std::vector<std::unique_ptr<Flow>> flows;
    const std::vector<double> latest = EndsWithEqualShares(comes, sizes);
    int done = 0;
    for (double now = 0; done < 12; now += 1) {
      while (flows.size() < 12 && comes[flows.size()] <= now) {
        const size_t i = flows.size();
        flows.push_back(FlowOf("a", static_cast<int64_t>(i), 1000 * sizes[i]));
        share.Open(flows.back().get());
      }
      Flow* first = nullptr;
      for (const auto& flow : flows) {
        if (flow->account != nullptr) first = First(*flow);
      }
      if (first == nullptr) continue;
      share.Serve(first, 1000, 1000);
      if (first->left() > 0) continue;
      EXPECT_LE(now + 1, latest[first->arrival] + 1 + 1e-6) << "run " << run;
      CloseAll(&share, {first});
      ++done;
    }
  }
}

TEST(FairShare, ARequestThatNeedsMoreThanExpectedMovesBackOnceItIsTwiceAsLong) {
  FairShare share;
  const auto wrong = FlowOf("a", 0, 1e3), right = FlowOf("a", 1, 1.1e3);
  share.Open(wrong.get());
  share.Open(right.get());
  share.Serve(wrong.get(), 2e3, 2e3);
  EXPECT_EQ(First(*wrong), wrong.get());
  share.Serve(wrong.get(), 1e3, 1e3);
  EXPECT_EQ(First(*wrong), right.get());
  CloseAll(&share, {wrong.get(), right.get()});
}

// The first requests come before anything is known of the machine's speed.
TEST(FairShare, ARequestThatIsOnlySlowerThanExpectedKeepsItsPlace) {
  FairShare share;
  const auto first = FlowOf("a", 0, 1e3), second = FlowOf("a", 1, 1e3);
  share.Open(first.get());
  share.Open(second.get());
  share.Serve(first.get(), 9e3, 0.9e3);
  EXPECT_EQ(First(*first), first.get());
  EXPECT_NEAR(first->left(), 1e3, 1e-9);
  CloseAll(&share, {first.get(), second.get()});
}

TEST(FairShare, APrincipalDoesNotSaveUpByStayingAway) {
  FairShare share;
  const auto a = FlowOf("a", 0, 1e6);
  share.Open(a.get());
  share.Serve(a.get(), 700, 700);
  share.Serve(a.get(), 1, 1);
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
  share.Serve(b.get(), 5, 5);
  for (int i = 0; i < 10; ++i) share.Serve(a.get(), 100, 100);
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
  share.Serve(b.get(), 300, 300);
  CloseAll(&share, {b.get()});
  const auto again = FlowOf("b", 2, 1e6);
  share.Open(again.get());
  EXPECT_EQ(again->account->time, 300);
  CloseAll(&share, {again.get()});
  share.Serve(a.get(), 1000, 1000);  // the others have caught up
  share.Serve(a.get(), 1, 1);
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
  share.Serve(a.get(), 700, 700);
  share.Serve(a.get(), 1, 1);
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
  share.Serve(a.get(), kMost / 2, 1);
  EXPECT_FALSE(share.LagsBehind(*b->account));
  share.Serve(a.get(), kMost / 2, 1);
  EXPECT_TRUE(share.LagsBehind(*b->account));
  EXPECT_FALSE(share.IsAhead(*a->account));
  share.Serve(a.get(), 1, 1);
  EXPECT_TRUE(share.IsAhead(*a->account));
  EXPECT_FALSE(share.IsAhead(*b->account));
  share.Pop(b.get());  // b is not waiting for anything
  EXPECT_FALSE(share.IsAhead(*a->account));
  CloseAll(&share, {a.get(), b.get()});
}

TEST(FairShare, AShortRequestThatTurnsOutNotToBeIsServedWithTheOthers) {
  FairShare share;
  const auto first = FlowOf("a", 0, 10), second = FlowOf("a", 1, 10), big = FlowOf("a", 2, 1e6);
  for (const auto& flow : {first.get(), second.get(), big.get()}) share.Open(flow);
  const Account& account = *first->account;
  EXPECT_EQ(*account.line(Urgency::kShort).flows.begin(), first.get());
  EXPECT_EQ(account.line(Urgency::kShort).waiting, 2);
  EXPECT_EQ(account.line(Urgency::kLong).waiting, 1);
  share.Serve(first.get(), 2 * 400 + 1, 2 * 400 + 1);
  EXPECT_EQ(first->urgency, Urgency::kLong);
  EXPECT_EQ(*account.line(Urgency::kShort).flows.begin(), second.get());
  EXPECT_EQ(account.line(Urgency::kLong).waiting, 2);
  CloseAll(&share, {first.get(), second.get(), big.get()});
}

TEST(FairShare, BatchWorkHasAccountsOfItsOwn) {
  FairShare share;
  const auto a = FlowOf("a", 0, 1e6), b = FlowOf("a", 1, 1e6, Priority::kBatch);
  share.Open(a.get());
  share.Serve(a.get(), 300, 300);
  share.Open(b.get());
  EXPECT_NE(a->account, b->account);
  EXPECT_EQ(b->account->time, 0);
  CloseAll(&share, {a.get(), b.get()});
}

}  // namespace
}  // namespace dragoman::fair_share_test
