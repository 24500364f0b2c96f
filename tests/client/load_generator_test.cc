#include "client/load_generator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/client/fake_server.h"

namespace dragoman {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

TEST(LoadReport, PercentilesAreNearestRanks) {
  LoadReport report;
  for (int i = 1; i <= 100; ++i) report.latencies.push_back(i);
  EXPECT_EQ(report.Percentile(0.5), 50);
  EXPECT_EQ(report.Percentile(0.99), 99);
  EXPECT_EQ(report.Percentile(0.999), 100);
  EXPECT_EQ(report.Percentile(1.0), 100);
  EXPECT_EQ(LoadReport().Percentile(0.5), 0);
}

TEST(LoadGenerator, ClosedLoopSendsExactlySoManyRequests) {
  FakeServer server;
  TranslationClient client(server.address());
  const LoadReport report = RunLoad(&client, {}, {"a", "bb", "ccc"},
                                    {.concurrency = 4, .requests = 50, .texts_per_request = 2});
  EXPECT_EQ(report.requests, 50);
  EXPECT_EQ(report.texts, 100);
  EXPECT_EQ(report.latencies.size(), 50u);
  EXPECT_TRUE(std::is_sorted(report.latencies.begin(), report.latencies.end()));
  EXPECT_GT(report.latencies.front(), 0.0);
  EXPECT_THAT(report.codes, ElementsAre(Pair("OK", 50)));
  EXPECT_EQ(server.requests().size(), 50u);
  EXPECT_EQ(report.source_tokens, 33 * (2 + 3 + 4) + 2);  // 33 rounds of all texts, and an "a"
}

TEST(LoadGenerator, OpenLoopKeepsItsRateWhileTheServerIsSlow) {
  FakeServer server;
  TranslationClient client(server.address());
  const LoadReport report =
      RunLoad(&client, {}, {"slow"}, {.rate = 100.0, .duration = absl::Milliseconds(300)});
  EXPECT_GT(report.requests, 10);  // a closed loop of one would have sent one
  EXPECT_LT(report.requests, 70);
  EXPECT_GE(report.latencies.front(), 0.5);
}

TEST(LoadGenerator, CountsErrorsByCode) {
  FakeServer server;
  TranslationClient client(server.address(), {.retry = false});
  const LoadReport report =
      RunLoad(&client, {}, {"a", "bad", "busy"}, {.concurrency = 2, .requests = 30});
  EXPECT_THAT(report.codes, ElementsAre(Pair("INVALID_ARGUMENT", 10), Pair("OK", 10),
                                        Pair("RESOURCE_EXHAUSTED", 10)));
  EXPECT_EQ(report.latencies.size(), 10u);
}

}  // namespace
}  // namespace dragoman
