#include "tests/server/test_server.h"

#include <chrono>
#include <sstream>

#include "absl/time/clock.h"
#include "tests/server/http_client.h"

namespace dragoman {

ServerOptions TestOptions() {
  ServerOptions options;
  options.models = {{"en-de", kModelDirectory}};
  options.default_model = "en-de";
  options.config.set_grpc_address("127.0.0.1:0");
  options.config.set_http_address("127.0.0.1:0");
  options.precision = Precision::kFloat32;  // as the goldens
  options.pool.workers = 2;
  options.pool.kv_capacity_bytes = size_t{256} << 20;
  return options;
}

Samples ParseMetrics(const std::string& text) {
  Samples samples;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line[0] == '#') continue;
    const size_t space = line.rfind(' ');
    samples[line.substr(0, space)] = std::stod(line.substr(space + 1));
  }
  return samples;
}

v1::TranslateRequest RequestFor(const std::vector<std::string>& texts) {
  v1::TranslateRequest request;
  request.mutable_contents()->Assign(texts.begin(), texts.end());
  return request;
}

v1::TranslateRequest LongRequest() {
  v1::TranslateRequest request = RequestFor(std::vector<std::string>(128, "The cat is old."));
  request.mutable_options()->set_beam_size(16);
  request.mutable_options()->set_min_length(400);
  request.mutable_options()->set_max_length(500);
  return request;
}

TestServer::TestServer(const ServerOptions& options, ReadOptions read_again) {
  absl::StatusOr<std::unique_ptr<Server>> server = Server::Start(options, std::move(read_again));
  if (!server.ok()) {
    ADD_FAILURE() << server.status();
    std::abort();
  }
  server_ = *std::move(server);
  channel_ = grpc::CreateChannel(server_->grpc_address(), grpc::InsecureChannelCredentials());
  // The deadline of a test is meant for the call, not for connecting.
  EXPECT_TRUE(
      channel_->WaitForConnected(std::chrono::system_clock::now() + std::chrono::minutes(1)));
  translation_ = v1::TranslationService::NewStub(channel_);
  models_ = v1::ModelService::NewStub(channel_);
  glossaries_ = v1::GlossaryService::NewStub(channel_);
}

grpc::Status TestServer::Translate(const v1::TranslateRequest& request,
                                   v1::TranslateResponse* response) {
  grpc::ClientContext context;
  return translation_->Translate(&context, request, response);
}

std::string TestServer::Translate(const std::string& text) {
  v1::TranslateResponse response;
  const grpc::Status status = Translate(RequestFor({text}), &response);
  EXPECT_TRUE(status.ok()) << status.error_message();
  return status.ok() ? response.translations(0).hypotheses(0).text() : "";
}

Samples TestServer::Metrics() const {
  return ParseMetrics(HttpGet(server_->http_address(), "/metrics").body);
}

void TestServer::AwaitSample(const std::string& sample, double value) const {
  double last = -1;
  for (const absl::Time end = absl::Now() + absl::Minutes(1); absl::Now() < end;) {
    last = Metrics().at(sample);
    if (last == value) return;
    absl::SleepFor(absl::Milliseconds(2));
  }
  ADD_FAILURE() << sample << " is " << last << ", want " << value;
}

PendingTranslation::PendingTranslation(TestServer* server, const v1::TranslateRequest& request,
                                       absl::Duration timeout)
    : request_(request) {
  if (timeout != absl::InfiniteDuration()) {
    context_.set_deadline(std::chrono::system_clock::now() + absl::ToChronoMilliseconds(timeout));
  }
  server->translation().async()->Translate(&context_, &request_, &response_,
                                           [this](const grpc::Status& status) {
                                             absl::MutexLock lock(&mutex_);
                                             status_ = status;
                                             done_ = true;
                                           });
}

grpc::Status PendingTranslation::Await() {
  absl::MutexLock lock(&mutex_);
  mutex_.Await(absl::Condition(&done_));
  return status_;
}

}  // namespace dragoman
