// Two real servers behind one client: what callers see when a server dies, and during a rolling
// restart.

#include <gtest/gtest.h>

#include <memory>
#include <thread>

#include "absl/time/clock.h"
#include "client/load_generator.h"
#include "client/translation_client.h"
#include "tests/e2e/server_process.h"

namespace dragoman {
namespace {

constexpr int kCallers = 8;

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
    auto client = std::make_unique<TranslationClient>(target, ClientOptions{.retry = retry});
    // Sends requests until both have answered, so that both are connected.
    v1::TranslateRequest request;
    request.add_contents("Hello");
    for (int i = 0; i < 20; ++i) {
      EXPECT_TRUE(client->Translate(request).ok());
      absl::SleepFor(absl::Milliseconds(10));
    }
    return client;
  }

  // What callers in a closed loop see while `disturb` runs.
  template <typename Disturb>
  LoadReport LoadWhile(TranslationClient* client, absl::Duration duration, Disturb disturb) {
    LoadReport report;
    std::thread load([&] {
      report = RunLoad(client, v1::TranslateRequest(), {"Good morning.", "Where is the station?"},
                       {.concurrency = kCallers, .duration = duration});
    });
    disturb();
    load.join();
    EXPECT_GT(report.codes["OK"], 2 * kCallers) << "calls flowed, however slow the machine is";
    return report;
  }

  void RollingRestart(int i) {
    const std::string address = servers_[i]->grpc_address();
    EXPECT_EQ(servers_[i]->Stop(), 0);
    servers_[i] = std::make_unique<ServerProcess>(address);
    EXPECT_EQ(servers_[i]->grpc_address(), address);
  }

  std::unique_ptr<ServerProcess> servers_[2];
};

TEST_F(FailoverTest, KilledServerFailsOnlyWhatWasInFlightOnIt) {
  const auto client = Connect(/*retry=*/false);
  LoadReport report = LoadWhile(client.get(), absl::Seconds(2), [&] {
    absl::SleepFor(absl::Milliseconds(700));
    servers_[0]->Kill();
  });
  EXPECT_LE(report.codes["UNAVAILABLE"], kCallers);
  EXPECT_EQ(report.codes["UNAVAILABLE"] + report.codes["OK"], report.requests);
}

TEST_F(FailoverTest, KilledServerFailsNothingWithTheRetryPolicy) {
  const auto client = Connect(/*retry=*/true);
  LoadReport report = LoadWhile(client.get(), absl::Seconds(2), [&] {
    absl::SleepFor(absl::Milliseconds(700));
    servers_[0]->Kill();
  });
  EXPECT_EQ(report.codes["OK"], report.requests);
}

TEST_F(FailoverTest, RollingRestartFailsNothing) {
  const auto client = Connect(/*retry=*/true);
  LoadReport report = LoadWhile(client.get(), absl::Seconds(6), [&] {
    absl::SleepFor(absl::Milliseconds(500));
    RollingRestart(0);
    absl::SleepFor(
        absl::Milliseconds(2500));  // as with minReadySeconds: clients find the new server
    RollingRestart(1);
  });
  EXPECT_EQ(report.codes["OK"], report.requests);
}

}  // namespace
}  // namespace dragoman
