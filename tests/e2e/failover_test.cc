// Two real servers behind one client: what callers see when a server dies, and during a rolling
// restart.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <map>
#include <memory>
#include <thread>

#include "absl/time/clock.h"
#include "client/load_generator.h"
#include "client/translation_client.h"
#include "tests/e2e/server_process.h"
#include "tests/server/http_client.h"

namespace dragoman::failover_test {
namespace {

using ::testing::ElementsAre;
using ::testing::Key;

constexpr int kCallers = 8;

// How many calls a server has answered.
int Answered(const ServerProcess& server) {
  const std::string text = HttpGet(server.http_address(), "/metrics").body;
  const std::string sample =
      "dragoman_requests_total{code=\"OK\",method=\"Translate\",model=\"en-de\"} ";
  const size_t at = text.find("\n" + sample);
  return at == std::string::npos ? 0 : std::atoi(text.c_str() + at + 1 + sample.size());
}

// Waits until a server has answered more calls than it had: clients call it.
void AwaitCalls(const ServerProcess& server) {
  const int before = Answered(server);
  const absl::Time end = absl::Now() + absl::Minutes(2);
  while (Answered(server) <= before + kCallers && absl::Now() < end) {
    absl::SleepFor(absl::Milliseconds(10));
  }
  EXPECT_GT(Answered(server), before + kCallers) << "nobody calls it";
}

class FailoverTest : public testing::Test {
 protected:
  void SetUp() override {
    for (auto& server : servers_) {
      server = std::make_unique<ServerProcess>();
      ASSERT_NE(server->grpc_address(), "");
    }
  }

  // A client that balances over both.
  std::unique_ptr<TranslationClient> Connect(bool retry) const {
    const std::string target =
        "ipv4:" + servers_[0]->grpc_address() + "," + servers_[1]->grpc_address();
    return std::make_unique<TranslationClient>(target, ClientOptions{.retry = retry});
  }

  // What callers in a closed loop see while `disturb` runs.
  template <typename Disturb>
  std::map<std::string, int64_t> LoadWhile(TranslationClient* client, Disturb disturb) {
    std::map<std::string, int64_t> codes;
    std::atomic<bool> over = false;
    std::thread load([&] {
      while (!over) {
        const LoadReport report =
            RunLoad(client, v1::TranslateRequest(), {"Good morning.", "Where is the station?"},
                    {.concurrency = kCallers, .duration = absl::Milliseconds(500)});
        for (const auto& [code, count] : report.codes) codes[code] += count;
      }
    });
    for (const auto& server : servers_) AwaitCalls(*server);
    disturb();
    over = true;
    load.join();
    return codes;
  }

  void RollingRestart(int i) {
    const std::string address = servers_[i]->grpc_address();
    EXPECT_EQ(servers_[i]->Stop(), 0);
    servers_[i] = std::make_unique<ServerProcess>(address);
    EXPECT_EQ(servers_[i]->grpc_address(), address);
    AwaitCalls(*servers_[i]);  // as with minReadySeconds: clients find the new server
  }

  std::unique_ptr<ServerProcess> servers_[2];
};

TEST_F(FailoverTest, KilledServerFailsOnlyWhatWasInFlightOnIt) {
  const auto client = Connect(/*retry=*/false);
  auto codes = LoadWhile(client.get(), [&] {
    servers_[0]->Kill();
    AwaitCalls(*servers_[1]);
  });
  EXPECT_LE(codes["UNAVAILABLE"], kCallers);
  codes.erase("UNAVAILABLE");
  EXPECT_THAT(codes, ElementsAre(Key("OK")));
}

TEST_F(FailoverTest, KilledServerFailsNothingWithTheRetryPolicy) {
  const auto client = Connect(/*retry=*/true);
  const auto codes = LoadWhile(client.get(), [&] {
    servers_[0]->Kill();
    AwaitCalls(*servers_[1]);
  });
  EXPECT_THAT(codes, ElementsAre(Key("OK")));
}

TEST_F(FailoverTest, RollingRestartFailsNothing) {
  const auto client = Connect(/*retry=*/true);
  const auto codes = LoadWhile(client.get(), [&] {
    RollingRestart(0);
    RollingRestart(1);
  });
  EXPECT_THAT(codes, ElementsAre(Key("OK")));
}

}  // namespace
}  // namespace dragoman::failover_test
