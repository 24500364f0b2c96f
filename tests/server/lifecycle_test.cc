// Calls that do not simply succeed: cancelled, late, too many, or sent to a draining server; and
// what the health service says meanwhile.

#include <gmock/gmock.h>
#include <grpcpp/generic/generic_stub.h>
#include <gtest/gtest.h>

#include <atomic>
#include <sstream>
#include <thread>

#include "grpc/health/v1/health.grpc.pb.h"
#include "tests/server/http_client.h"
#include "tests/server/test_server.h"

namespace dragoman::lifecycle_test {
namespace {

using grpc::health::v1::HealthCheckResponse;

constexpr char kText[] = "The old teacher sees a small house. The cat is old. Anna is here.";
constexpr char kInFlight[] = "dragoman_requests_in_flight";
constexpr char kWaiting[] = "dragoman_queue_requests{priority=\"interactive\"}";

// The status of a service that the server does not have is SERVICE_UNKNOWN.
HealthCheckResponse::ServingStatus Health(TestServer* server, const std::string& service) {
  grpc::ClientContext context;
  grpc::health::v1::HealthCheckRequest request;
  request.set_service(service);
  HealthCheckResponse response;
  const grpc::Status status =
      grpc::health::v1::Health::NewStub(server->channel())->Check(&context, request, &response);
  if (status.error_code() == grpc::StatusCode::NOT_FOUND) {
    return HealthCheckResponse::SERVICE_UNKNOWN;
  }
  EXPECT_TRUE(status.ok()) << status.error_message();
  return response.status();
}

void ExpectNothingIsLeft(const TestServer& server) {
  server.AwaitSample(kInFlight, 0);
  server.AwaitSample("dragoman_kv_cache_bytes", 0);
  EXPECT_EQ(server.Metrics().at(kWaiting), 0);
  EXPECT_EQ(server.Metrics().at("dragoman_queue_tokens{priority=\"interactive\"}"), 0);
  EXPECT_EQ(server.Metrics().at("dragoman_queue_oldest_age_seconds{priority=\"interactive\"}"), 0);
}

double Calls(const TestServer& server, const char* code) {
  // Absent until the first.
  return server.Metrics()[std::string("dragoman_requests_total{code=\"") + code +
                          "\",method=\"Translate\",model=\"en-de\"}"];
}

TEST(Lifecycle, CancelledCallEndsAndLeavesNothingBehind) {
  TestServer server;
  PendingTranslation pending(&server, LongRequest());
  server.AwaitSample(kInFlight, 1);
  pending.Cancel();
  EXPECT_EQ(pending.Await().error_code(), grpc::StatusCode::CANCELLED);
  ExpectNothingIsLeft(server);
  EXPECT_EQ(Calls(server, "CANCELLED"), 1);
  EXPECT_EQ(server.Metrics().at("dragoman_cancelled_total{cause=\"client\"}"), 1);
}

TEST(Lifecycle, DeadlineEndsTheWork) {
  TestServer server;
  PendingTranslation pending(&server, LongRequest(), absl::Seconds(2));
  EXPECT_EQ(pending.Await().error_code(), grpc::StatusCode::DEADLINE_EXCEEDED);
  ExpectNothingIsLeft(server);
  EXPECT_EQ(Calls(server, "DEADLINE_EXCEEDED"), 1);
  // Either the deadline passed, or the server saw in advance that it would.
  const auto metrics = server.Metrics();
  EXPECT_EQ(metrics.at("dragoman_cancelled_total{cause=\"deadline\"}") +
                metrics.at("dragoman_rejected_total{reason=\"cannot_be_met\"}"),
            1);
}

TEST(Lifecycle, FullServerRefusesAndSaysWhenToRetry) {
  ServerOptions options = TestOptions();
  options.pool.workers = 1;
  options.pool.max_batch_rows = 16;  // one sentence of LongRequest fills them; the others wait
  options.pool.max_waiting_requests = 1;
  TestServer server(options);
  PendingTranslation pending(&server, LongRequest());
  server.AwaitSample(kWaiting, 1);

  grpc::ClientContext context;
  v1::TranslateResponse response;
  const grpc::Status status = server.translation().Translate(&context, LongRequest(), &response);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  const auto delay = DetailOf<google::rpc::RetryInfo>(status).retry_delay();
  const int64_t milliseconds = delay.seconds() * 1000 + delay.nanos() / 1000000;
  EXPECT_GE(milliseconds, 100);
  const auto& trailers = context.GetServerTrailingMetadata();
  const auto pushback = trailers.find("grpc-retry-pushback-ms");
  ASSERT_NE(pushback, trailers.end());
  EXPECT_EQ(std::string(pushback->second.data(), pushback->second.size()),
            std::to_string(milliseconds));
  EXPECT_EQ(server.Metrics().at("dragoman_rejected_total{reason=\"queue_full\"}"), 1);

  pending.Cancel();
  EXPECT_EQ(pending.Await().error_code(), grpc::StatusCode::CANCELLED);
  ExpectNothingIsLeft(server);
  EXPECT_EQ(server.Translate("The cat is old."), "Die Katze ist alt.");
}

TEST(Lifecycle, IsHealthyServiceByService) {
  TestServer server;
  EXPECT_EQ(Health(&server, ""), HealthCheckResponse::SERVING);
  EXPECT_EQ(Health(&server, "dragoman.v1.TranslationService"), HealthCheckResponse::SERVING);
  EXPECT_EQ(Health(&server, "dragoman.v1.ModelService"), HealthCheckResponse::SERVING);
  EXPECT_EQ(Health(&server, "liveness"), HealthCheckResponse::SERVING);
  EXPECT_EQ(Health(&server, "no.such.Service"), HealthCheckResponse::SERVICE_UNKNOWN);
  EXPECT_EQ(HttpGet(server.server().http_address(), "/readyz").code, 200);
}

TEST(Lifecycle, DrainingServerFinishesItsCallsAndTakesNoMore) {
  TestServer server;
  const std::string http = server.server().http_address();
  grpc::ClientContext watch_context;
  grpc::health::v1::HealthCheckRequest watched;
  watched.set_service("dragoman.v1.TranslationService");
  const auto watch =
      grpc::health::v1::Health::NewStub(server.channel())->Watch(&watch_context, watched);
  HealthCheckResponse health;
  ASSERT_TRUE(watch->Read(&health));
  EXPECT_EQ(health.status(), HealthCheckResponse::SERVING);

  // Its answer is larger than what HTTP/2 lets a server send unread, so the call lasts until it is
  // read here.
  grpc::ChannelArguments small_window;
  small_window.SetInt(GRPC_ARG_HTTP2_BDP_PROBE, 0);
  const auto stub = v1::TranslationService::NewStub(grpc::CreateCustomChannel(
      server.server().grpc_address(), grpc::InsecureChannelCredentials(), small_window));
  v1::TranslateRequest request = RequestFor(std::vector<std::string>(128, kText));
  request.mutable_options()->set_beam_size(4);
  request.mutable_options()->set_num_hypotheses(4);
  request.mutable_output()->set_tokens(true);
  request.mutable_output()->set_alignments(true);
  request.mutable_output()->set_attention(true);
  grpc::ClientContext context;
  const auto stream = stub->TranslateStream(&context, request);
  v1::TranslateStreamResponse message;
  ASSERT_TRUE(stream->Read(&message));
  std::thread drain([&] { server.server().Drain(); });
  ASSERT_TRUE(watch->Read(&health));
  EXPECT_EQ(health.status(), HealthCheckResponse::NOT_SERVING);
  while (HttpGet(http, "/readyz").code != 503) std::this_thread::yield();
  EXPECT_EQ(HttpGet(http, "/healthz").code, 200);
  EXPECT_EQ(Health(&server, ""), HealthCheckResponse::NOT_SERVING);
  EXPECT_EQ(Health(&server, "liveness"), HealthCheckResponse::SERVING);

  // New calls are refused while the server drains and after that.
  v1::TranslateResponse response;
  grpc::Status late;
  do {
    late = server.Translate(RequestFor({"The cat is old."}), &response);
  } while (late.ok());
  EXPECT_EQ(late.error_code(), grpc::StatusCode::UNAVAILABLE);

  int ended = 0;
  do ended += message.has_translation();
  while (stream->Read(&message));
  EXPECT_EQ(ended, 128);
  const grpc::Status status = stream->Finish();
  EXPECT_TRUE(status.ok()) << status.error_message();
  drain.join();
  EXPECT_FALSE(watch->Read(&health));
  ExpectNothingIsLeft(server);
}

TEST(Lifecycle, DrainTimeoutCancelsWhatIsLeft) {
  ServerOptions options = TestOptions();
  options.config.mutable_drain_timeout()->set_seconds(0);
  options.config.mutable_drain_timeout()->set_nanos(20'000'000);
  TestServer server(options);
  PendingTranslation pending(&server, LongRequest());
  server.AwaitSample(kInFlight, 1);
  server.server().Drain();
  EXPECT_FALSE(pending.Await().ok());
  ExpectNothingIsLeft(server);
  EXPECT_EQ(server.Metrics().at("dragoman_cancelled_total{cause=\"drain\"}"), 1);
}

TEST(Lifecycle, KeepsServingWhileLoadBalancersLearnThatItEnds) {
  ServerOptions options = TestOptions();
  options.config.mutable_drain_delay()->set_seconds(
      4);  // time enough for a call, however busy the machine is
  TestServer server(options);
  std::thread drain([&] { server.server().Drain(); });
  HttpReply ready;
  while (ready.code != 503) ready = HttpGet(server.server().http_address(), "/readyz");
  EXPECT_EQ(ready.body, "not ready: the server is draining\n");
  EXPECT_TRUE(PendingTranslation(&server, RequestFor({"Hello"})).Await().ok());
  drain.join();
  ExpectNothingIsLeft(server);
}

TEST(Lifecycle, ManyClientsThatComeAndGoLeaveNothingBehind) {
  ServerOptions options = TestOptions();
  options.pool.max_waiting_requests = 8;
  TestServer server(options);
  std::vector<std::thread> clients;
  std::atomic<int> answers = 0;
  for (int client = 0; client < 8; ++client) {
    clients.emplace_back([&, client] {
      for (int i = 0; i < 40; ++i) {
        v1::TranslateRequest request = RequestFor({"The cat is old.", "Hello", ""});
        if ((client + i) % 4 == 0) request.mutable_options()->set_min_length(100);
        PendingTranslation pending(
            &server, request,
            (client + i) % 3 == 0 ? absl::Milliseconds(1 + i % 7) : absl::InfiniteDuration());
        if ((client + i) % 5 == 0) pending.Cancel();
        pending.Await();
        ++answers;
      }
    });
  }
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(answers, 8 * 40);
  ExpectNothingIsLeft(server);
  EXPECT_EQ(server.Translate("The cat is old."), "Die Katze ist alt.");
}

TEST(Lifecycle, ReflectionNamesTheServices) {
  TestServer server;
  // A ServerReflectionRequest with list_services (field 7).
  const grpc::Slice slice("\x3a\x01*");
  const grpc::ByteBuffer request(&slice, 1);
  grpc::ByteBuffer response;
  grpc::ClientContext context;
  grpc::CompletionQueue queue;
  grpc::GenericStub stub(server.channel());
  const auto call = stub.PrepareCall(
      &context, "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo", &queue);
  const auto next = [&] {
    void* tag;
    bool ok = false;
    return queue.Next(&tag, &ok) && ok;
  };
  call->StartCall(nullptr);
  ASSERT_TRUE(next());
  call->Write(request, nullptr);
  ASSERT_TRUE(next());
  call->Read(&response, nullptr);
  ASSERT_TRUE(next());
  grpc::Slice answer;
  ASSERT_TRUE(response.DumpToSingleSlice(&answer).ok());
  const std::string services(reinterpret_cast<const char*>(answer.begin()), answer.size());
  for (const char* service :
       {"dragoman.v1.TranslationService", "dragoman.v1.ModelService", "grpc.health.v1.Health"}) {
    EXPECT_THAT(services, testing::HasSubstr(service));
  }
  context.TryCancel();
  grpc::Status status;
  call->Finish(&status, nullptr);
  next();
}

TEST(Lifecycle, PortInUseIsAnErrorThatNamesIt) {
  TestServer first;
  ServerOptions options = TestOptions();
  options.config.set_grpc_address(first.server().grpc_address());
  const auto second = Server::Start(options);
  ASSERT_FALSE(second.ok());
  EXPECT_THAT(std::string(second.status().message()),
              testing::HasSubstr(options.config.grpc_address()));
}

TEST(Lifecycle, ModelThatDoesNotLoadIsAnErrorThatNamesItAndTheFile) {
  ServerOptions options = TestOptions();
  options.models.push_back({"missing", "no/such/model"});
  const auto server = Server::Start(options);
  ASSERT_FALSE(server.ok());
  EXPECT_THAT(std::string(server.status().message()),
              testing::AllOf(testing::HasSubstr("model missing (no/such/model)"),
                             testing::HasSubstr("config.json")));
}

TEST(Lifecycle, LogsNeverHoldTheText) {
  std::ostringstream log;
  InitLogging({.level = "trace", .format = "text"}, &log);
  {
    TestServer server;
    v1::TranslateRequest requests[6];
    for (v1::TranslateRequest& request : requests) request = RequestFor({"Hello sesame"});
    requests[1].set_model("sesame");
    requests[2].set_source_language("sesame");
    requests[3].add_contents("sesame\xff");
    requests[4].add_contents(std::string(31000, 'x') + "sesame");
    for (int i = 0; i < 1000; ++i) *requests[5].mutable_contents(0) += " sesame";
    v1::TranslateResponse response;
    for (const v1::TranslateRequest& request : requests) server.Translate(request, &response);
    server.AwaitSample(kInFlight, 0);
  }
  InitLogging(LogOptions());
  EXPECT_THAT(log.str(),
              testing::HasSubstr("request method=Translate api=grpc model=en-de code=OK texts=1"));
  EXPECT_THAT(log.str(), testing::HasSubstr("code=INVALID_ARGUMENT field=contents[1]"));
  EXPECT_THAT(log.str(), testing::HasSubstr("code=NOT_FOUND"));
  EXPECT_THAT(log.str(), testing::Not(testing::HasSubstr("sesame")));
}

}  // namespace
}  // namespace dragoman::lifecycle_test
