#include "server/base/shared_budget.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "server/base/errors.h"

namespace dragoman {
namespace {

using ::testing::HasSubstr;

TEST(SharedBudget, OneHolderHasAHalfAndTheNextFindsSomething) {
  SharedBudget places("places", 8);
  std::vector<Share> shares;
  const auto take = [&](const char* who) {
    absl::StatusOr<Share> share = places.Take(who, 1);
    if (share.ok()) shares.push_back(*std::move(share));
    return share.status();
  };
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(take("alice").ok());
  const absl::Status refused = take("alice");
  EXPECT_EQ(refused.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(refused.message()),
              HasSubstr("places may take 8, of which 4 are taken, 4 of them by you; this takes 1"));
  EXPECT_EQ(ReasonOfRefusal(refused, false), "budget");
  EXPECT_TRUE(take("bob").ok());
  EXPECT_TRUE(take("bob").ok());
  EXPECT_FALSE(take("bob").ok());
  EXPECT_TRUE(take("carol").ok());
  EXPECT_TRUE(take("dave").ok());  // the last place, for who has nothing
  EXPECT_FALSE(take("eve").ok());
  EXPECT_EQ(places.Stats().used, 8u);
  EXPECT_EQ(places.Stats().refusals, 3);
  shares.clear();
  EXPECT_EQ(places.Stats().used, 0u);
}

TEST(SharedBudget, OfOneThereIsOne) {
  SharedBudget place("places", 1);
  const absl::StatusOr<Share> share = place.Take("alice", 1);
  EXPECT_TRUE(share.ok());
  EXPECT_FALSE(place.Take("bob", 1).ok());
}

TEST(SharedBudget, ARefusedShareStaysAsItWas) {
  SharedBudget bytes("bytes", 100);
  absl::StatusOr<Share> share = bytes.Take("alice", 30);
  ASSERT_TRUE(share.ok());
  EXPECT_TRUE(share->Raise(20).ok());
  EXPECT_EQ(share->amount(), 30u);
  EXPECT_FALSE(share->Raise(51).ok());
  EXPECT_EQ(share->amount(), 30u);
  EXPECT_TRUE(share->Raise(50).ok());
  EXPECT_EQ(bytes.Stats().used, 50u);
  Share moved = *std::move(share);
  moved = Share();
  EXPECT_EQ(bytes.Stats().used, 0u);
}

// Whatever happens, the sum is right and within the limit, and nobody who has nothing is refused
// what is left of a budget that one holder uses.
TEST(SharedBudget, KeepsItsLawsWhateverHappens) {
  std::mt19937 random(1);
  SharedBudget bytes("bytes", 1000);
  std::vector<std::pair<int, Share>> shares;
  for (int step = 0; step < 20'000; ++step) {
    const int who = static_cast<int>(random() % 5);
    if (random() % 3 == 0 && !shares.empty()) {
      shares.erase(shares.begin() + static_cast<std::ptrdiff_t>(random() % shares.size()));
    } else {
      const size_t amount = 1 + random() % 200;
      size_t held = 0, used = 0;
      for (const auto& [holder, share] : shares) {
        used += share.amount();
        if (holder == who) held += share.amount();
      }
      ASSERT_EQ(bytes.Stats().used, used);
      ASSERT_LE(used, 1000u);
      absl::StatusOr<Share> share = bytes.Take(std::to_string(who), amount);
      ASSERT_EQ(share.ok(), amount + used <= 1000 &&
                                held + amount <= std::max<size_t>(1000 - used - amount, 1));
      if (share.ok()) shares.emplace_back(who, *std::move(share));
    }
  }
}

}  // namespace
}  // namespace dragoman
