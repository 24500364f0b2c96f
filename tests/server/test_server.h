// A server in this process with a small trained model, and helpers for its tests.

#ifndef DRAGOMAN_TESTS_SERVER_TEST_SERVER_H_
#define DRAGOMAN_TESTS_SERVER_TEST_SERVER_H_

#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "dragoman/v1/translation.grpc.pb.h"
#include "google/rpc/error_details.pb.h"
#include "server/server.h"

namespace dragoman {

inline constexpr char kModelDirectory[] = "tests/golden/models/marian-trained";

// Free ports, two workers, and the trained model as "en-de" in float32.
ServerOptions TestOptions();

// Parses Prometheus text to values by name and labels in their original form, such as
// `dragoman_finish_total{reason="eos"}`.
using Samples = std::map<std::string, double>;
Samples ParseMetrics(const std::string& text);

// A request for texts.
v1::TranslateRequest RequestFor(const std::vector<std::string>& texts);

// A request that takes seconds unless it is cancelled: 128 texts, each forced to 400 tokens.
v1::TranslateRequest LongRequest();

// The detail of type T of an error; fails the test if it is absent.
template <typename T>
T DetailOf(const grpc::Status& status);

class TestServer {
 public:
  explicit TestServer(const ServerOptions& options = TestOptions(),
                      ReadOptions read_again = nullptr);

  Server& server() { return *server_; }
  std::shared_ptr<grpc::Channel> channel() { return channel_; }
  v1::TranslationService::Stub& translation() { return *translation_; }
  v1::ModelService::Stub& models() { return *models_; }
  v1::GlossaryService::Stub& glossaries() { return *glossaries_; }

  grpc::Status Translate(const v1::TranslateRequest& request, v1::TranslateResponse* response);

  // Returns the best translation of one text; fails the test on an error.
  std::string Translate(const std::string& text);

  // The current samples of /metrics.
  Samples Metrics() const;
  // Waits until a sample has a value; fails the test after ten seconds.
  void AwaitSample(const std::string& sample, double value) const;

 private:
  std::unique_ptr<Server> server_;
  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<v1::TranslationService::Stub> translation_;
  std::unique_ptr<v1::ModelService::Stub> models_;
  std::unique_ptr<v1::GlossaryService::Stub> glossaries_;
};

// A call of Translate that runs until Await.
class PendingTranslation {
 public:
  PendingTranslation(TestServer* server, const v1::TranslateRequest& request,
                     absl::Duration timeout = absl::InfiniteDuration());

  void Cancel() { context_.TryCancel(); }
  grpc::Status Await();
  const v1::TranslateResponse& response() const { return response_; }

 private:
  grpc::ClientContext context_;
  const v1::TranslateRequest request_;
  v1::TranslateResponse response_;
  grpc::Status status_;
  absl::Mutex mutex_;
  bool done_ ABSL_GUARDED_BY(mutex_) = false;
};

template <typename T>
T DetailOf(const grpc::Status& status) {
  google::rpc::Status rich;
  T detail;
  if (!rich.ParseFromString(status.error_details()) || rich.details_size() != 1 ||
      !rich.details(0).UnpackTo(&detail)) {
    ADD_FAILURE() << "no " << T::descriptor()->full_name() << " in: " << status.error_message();
  }
  return detail;
}

}  // namespace dragoman

#endif  // DRAGOMAN_TESTS_SERVER_TEST_SERVER_H_
