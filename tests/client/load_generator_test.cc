#include "client/load_generator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/client/fake_server.h"

namespace dragoman {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

TEST(Percentile, IsTheNearestRank) {
  Latencies latencies;
  for (int i = 1; i <= 100; ++i) latencies.push_back(i);
  EXPECT_EQ(Percentile(latencies, 0.5), 50);
  EXPECT_EQ(Percentile(latencies, 0.99), 99);
  EXPECT_EQ(Percentile(latencies, 0.999), 100);
  EXPECT_EQ(Percentile(latencies, 1.0), 100);
  EXPECT_EQ(Percentile({}, 0.5), 0);
}

TEST(LoadGenerator, ClosedLoopSendsTheGivenNumberOfRequests) {
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
  EXPECT_GT(report.requests, 10);  // a closed loop of one request would have sent one
  EXPECT_LT(report.requests, 70);
  EXPECT_GE(report.latencies.front(), 0.5);
  EXPECT_EQ(report.good,
            static_cast<int64_t>(std::count_if(report.latencies.begin(), report.latencies.end(),
                                               [](double seconds) { return seconds <= 1.0; })));
}

TEST(LoadGenerator, MixesInDocuments) {
  FakeServer server;
  TranslationClient client(server.address());
  const LoadReport report =
      RunLoad(&client, {}, {"a"}, {.requests = 200, .document_share = 0.25, .document_texts = 7});
  const int64_t documents = static_cast<int64_t>(report.document_latencies.size());
  EXPECT_GT(documents, 20);
  EXPECT_LT(documents, 80);
  EXPECT_EQ(documents + static_cast<int64_t>(report.latencies.size()), 200);
  EXPECT_EQ(report.texts, 7 * documents + (200 - documents));
}

TEST(LoadGenerator, MixesInBatchWork) {
  FakeServer server;
  TranslationClient client(server.address());
  const LoadReport report = RunLoad(&client, {}, {"a"}, {.requests = 200, .batch_share = 0.25});
  const int64_t batch = static_cast<int64_t>(report.batch_latencies.size());
  EXPECT_GT(batch, 20);
  EXPECT_LT(batch, 80);
  EXPECT_EQ(batch + static_cast<int64_t>(report.latencies.size()), 200);
}

TEST(LoadGenerator, GivesUpSomeRequests) {
  FakeServer server;
  TranslationClient client(server.address());
  const LoadReport report = RunLoad(&client, {}, {"never"},
                                    {.concurrency = 20,
                                     .requests = 20,
                                     .cancel_share = 1.0,
                                     .cancel_after = absl::Milliseconds(10)});
  EXPECT_THAT(report.codes, ElementsAre(Pair("CANCELLED", 20)));
  EXPECT_EQ(report.good, 0);
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
