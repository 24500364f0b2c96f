#include "client/translation_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>

#include "engine/base/mutex_checks.h"
#include "tests/client/fake_server.h"

namespace dragoman {
namespace {

// In the gRPC of Debian 13 they find a cycle among its own locks.
const bool kWithoutMutexChecks = [] {
  DisableMutexChecks();
  return true;
}();

using ::testing::HasSubstr;

v1::TranslateRequest RequestOf(const std::vector<std::string>& texts) {
  v1::TranslateRequest request;
  for (const std::string& text : texts) request.add_contents(text);
  return request;
}

std::string MessageOf(const absl::Status& status) {
  return std::string(status.message().data(), status.message().size());
}

TEST(TranslationClient, TranslatesInOrder) {
  FakeServer server;
  TranslationClient client(server.address());
  const auto response = client.Translate(RequestOf({"one", "", "two"}));
  ASSERT_TRUE(response.ok()) << response.status();
  ASSERT_EQ(response->translations_size(), 3);
  EXPECT_EQ(response->translations(0).hypotheses(0).text(), "ONE");
  EXPECT_EQ(response->translations(1).hypotheses(0).text(), "");
  EXPECT_EQ(response->translations(2).hypotheses(0).text(), "TWO");
}

TEST(TranslationClient, CallsBackOnce) {
  FakeServer server;
  TranslationClient client(server.address());
  std::promise<absl::StatusOr<v1::TranslateResponse>> promise;  // a second set_value would throw
  client.TranslateAsync(RequestOf({"one"}), [&promise](absl::StatusOr<v1::TranslateResponse> r) {
    promise.set_value(std::move(r));
  });
  const auto response = promise.get_future().get();
  ASSERT_TRUE(response.ok()) << response.status();
  EXPECT_EQ(response->translations(0).hypotheses(0).text(), "ONE");
}

TEST(TranslationClient, WaitsForItsCallsWhenDestroyed) {
  FakeServer server;
  int answers = 0;
  {
    TranslationClient client(server.address());
    client.TranslateAsync(RequestOf({"slow"}),
                          [&answers](const absl::StatusOr<v1::TranslateResponse>&) { ++answers; });
  }
  EXPECT_EQ(answers, 1);
}

TEST(TranslationClient, KeepsTheFieldErrorsOfTheServer) {
  FakeServer server;
  TranslationClient client(server.address());
  const absl::Status status = client.Translate(RequestOf({"good", "bad"})).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(MessageOf(status), "the request is bad");
  const std::vector<FieldViolation> violations = FieldViolationsOf(status);
  ASSERT_EQ(violations.size(), 1u);
  EXPECT_EQ(violations[0].field, "contents[1]");
  EXPECT_EQ(violations[0].description, "is bad");
  EXPECT_EQ(RetryDelayOf(status), std::nullopt);
  EXPECT_FALSE(IsUnreachable(status));
}

TEST(TranslationClient, KeepsTheRetryDelay) {
  FakeServer server;
  TranslationClient client(server.address(), {.retry = false});
  const absl::Status status = client.Translate(RequestOf({"busy"})).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(RetryDelayOf(status), absl::Milliseconds(250));
  EXPECT_EQ(server.requests().size(), 1u);
}

TEST(TranslationClient, TriesAgainWhenTheServerIsUnavailable) {
  FakeServer server;
  TranslationClient client(server.address());
  const auto response = client.Translate(RequestOf({"draining once"}));
  EXPECT_TRUE(response.ok()) << response.status();
  EXPECT_EQ(server.requests().size(), 2u);
}

TEST(TranslationClient, LeavesRetriesOfABusyServerToTheCaller) {
  FakeServer server;
  TranslationClient client(server.address());
  EXPECT_EQ(client.Translate(RequestOf({"busy"})).status().code(),
            absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(server.requests().size(), 1u);
}

TEST(TranslationClient, StopsAtTheDeadline) {
  FakeServer server;
  TranslationClient client(server.address(), {.deadline = absl::Milliseconds(100)});
  while (!client.Translate(RequestOf({"one"})).ok()) continue;  // until it is connected
  const absl::Status status = client.Translate(RequestOf({"never"})).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_FALSE(IsUnreachable(status));
}

TEST(TranslationClient, SaysThatTheServerCannotBeReached) {
  std::string address;
  {
    FakeServer server;
    address = server.address();
  }
  TranslationClient client(address);
  const absl::Status status = client.ListModels().status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_TRUE(IsUnreachable(status));
  EXPECT_THAT(MessageOf(status), HasSubstr("cannot reach " + address));
}

TEST(TranslationClient, AServerThatRefusesIsReachable) {
  FakeServer server;
  TranslationClient client(server.address(), {.retry = false});
  const absl::Status status = client.Translate(RequestOf({"draining"})).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_FALSE(IsUnreachable(status));
}

TEST(TranslationClient, DoesNotSendInvalidUtf8) {
  FakeServer server;
  TranslationClient client(server.address());
  const absl::Status status = client.Translate(RequestOf({"good", "gr\xFC\xDF"})).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(MessageOf(status), "contents[1]: the text is not valid UTF-8");
  ASSERT_EQ(FieldViolationsOf(status).size(), 1u);
  EXPECT_EQ(FieldViolationsOf(status)[0].field, "contents[1]");
  EXPECT_TRUE(server.requests().empty());
}

TEST(TranslationClient, AsksForModelsAndHealth) {
  FakeServer server;
  TranslationClient client(server.address());
  const auto models = client.ListModels();
  ASSERT_TRUE(models.ok()) << models.status();
  EXPECT_EQ(models->models(0).name(), "en-de");
  EXPECT_EQ(client.GetModel("en-de")->architecture(), "MarianMTModel");
  EXPECT_EQ(client.GetModel("fr-de").status().code(), absl::StatusCode::kNotFound);
  EXPECT_TRUE(*client.Serving(""));
  server.SetServing(false);
  EXPECT_FALSE(*client.Serving(""));
  EXPECT_EQ(client.Serving("nobody").status().code(), absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace dragoman
