#include "engine/decode/quota.h"

#include "engine/base/limit.h"
#include "engine/base/status.h"
#include "engine/decode/work_text.h"
#include "gtest/gtest.h"

namespace dragoman::quota_test {
namespace {

const absl::Time kNow = absl::UnixEpoch() + absl::Hours(1);
constexpr Quota kQuota = {.per_minute = 600, .burst = 100};

TEST(Quota, AllowsABurstAndThenTheRate) {
  QuotaBook book;
  ASSERT_TRUE(book.Check("a", kQuota, kNow).ok());
  book.Spend("a", kQuota, 100, kNow);
  const absl::Status status = book.Check("a", kQuota, kNow);
  EXPECT_TRUE(absl::IsResourceExhausted(status)) << status;
  EXPECT_EQ(status.message(),
            "your quota for a minute is used up: 600 rows of work (about 92 words with a beam of "
            "4)");
  EXPECT_EQ(LimitOf(status), "quota_per_minute");
  EXPECT_TRUE(book.Check("a", kQuota, kNow + absl::Milliseconds(100)).ok());
  EXPECT_TRUE(book.Check("b", kQuota, kNow).ok());
}

TEST(Quota, WorkIsWrittenInWords) {
  EXPECT_EQ(DescribeWork(0), "0 rows of work (about 1 words with a beam of 4)");
  EXPECT_EQ(DescribeWork(6000), "6000 rows of work (about 920 words with a beam of 4)");
  EXPECT_EQ(DescribeWork(1 << 22), "4194304 rows of work (about 650000 words with a beam of 4)");
}

TEST(Quota, SaysWhenToRetry) {
  QuotaBook book;
  book.Spend("a", kQuota, 400, kNow);  // a debt of 300: half a minute
  const std::optional<absl::Duration> after = RetryAfterOf(book.Check("a", kQuota, kNow));
  ASSERT_TRUE(after.has_value());
  EXPECT_NEAR(absl::ToDoubleSeconds(*after), 30.1, 0.01);
  EXPECT_FALSE(book.Check("a", kQuota, kNow + *after - absl::Milliseconds(200)).ok());
  EXPECT_TRUE(book.Check("a", kQuota, kNow + *after).ok());
}

TEST(Quota, TellsWhatIsLeft) {
  QuotaBook book;
  EXPECT_EQ(book.Left("a", kQuota, kNow), 100);
  book.Spend("a", kQuota, 130, kNow);
  EXPECT_EQ(book.Left("a", kQuota, kNow), -30);
  EXPECT_EQ(book.Left("a", kQuota, kNow + absl::Seconds(6)), 30);
  EXPECT_EQ(book.Left("a", kQuota, kNow + absl::Hours(1)), 100);
}

TEST(Quota, DoesNotSaveUpMoreThanABurst) {
  QuotaBook book;
  book.Spend("a", kQuota, 10, kNow);
  book.Spend("a", kQuota, 100, kNow + absl::Hours(1));
  EXPECT_FALSE(book.Check("a", kQuota, kNow + absl::Hours(1)).ok());
}

TEST(Quota, HoldsOverAnyMinuteExceptForOneRequest) {
  QuotaBook book;
  double spent = 0;
  for (int ms = 0; ms < 60'000; ms += 10) {
    const absl::Time now = kNow + absl::Milliseconds(ms);
    if (!book.Check("a", kQuota, now).ok()) continue;
    book.Spend("a", kQuota, 70, now);
    spent += 70;
  }
  EXPECT_GE(spent, 600);
  EXPECT_LE(spent, 600 + 100 + 70);
}

TEST(Quota, WhatIsReturnedCanBeSpentAgain) {
  QuotaBook book;
  book.Spend("a", kQuota, 150, kNow);
  EXPECT_FALSE(book.Check("a", kQuota, kNow).ok());
  book.Return("a", kQuota, 150, kNow);
  EXPECT_TRUE(book.Check("a", kQuota, kNow).ok());
  book.Return("a", kQuota, 1000, kNow);  // no more than a burst
  book.Spend("a", kQuota, 100, kNow);
  EXPECT_FALSE(book.Check("a", kQuota, kNow).ok());
  book.Return("a", {}, 100, kNow);  // its quota was lifted
}

TEST(Quota, WithoutAQuotaAnyNumberIsAllowed) {
  QuotaBook book;
  book.Spend("a", {}, 1e12, kNow);
  EXPECT_TRUE(book.Check("a", {}, kNow).ok());
  EXPECT_EQ(book.size(), 0u);
}

TEST(Quota, ForgetsPrincipalsThatHaveBeenAwayLongEnough) {
  QuotaBook book;
  for (int i = 0; i < 5000; ++i) {
    book.Spend(std::to_string(i), kQuota, 50, kNow + absl::Seconds(i));
  }
  EXPECT_LE(book.size(), 1100u);
}

}  // namespace
}  // namespace dragoman::quota_test
