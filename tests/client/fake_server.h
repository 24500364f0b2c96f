// A server that implements the API over a real socket and "translates" a text to upper case.  A
// text that names a condition (see Answer) gets that error instead.

#ifndef DRAGOMAN_TESTS_CLIENT_FAKE_SERVER_H_
#define DRAGOMAN_TESTS_CLIENT_FAKE_SERVER_H_

#include <grpcpp/grpcpp.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "dragoman/v1/translation.grpc.pb.h"

namespace dragoman {

class FakeServer {
 public:
  FakeServer();
  ~FakeServer();

  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }

  // The requests to Translate so far, in order of arrival.
  std::vector<v1::TranslateRequest> requests() const;

  // Sets what the standard health service reports from now on.
  void SetServing(bool serving);

 private:
  class Translations final : public v1::TranslationService::Service {
   public:
    grpc::Status Translate(grpc::ServerContext* context, const v1::TranslateRequest* request,
                           v1::TranslateResponse* response) override;
    // Answers each request like Translate, except that UNAVAILABLE and "hang up" end the call.
    grpc::Status TranslateBulk(grpc::ServerContext* context,
                               grpc::ServerReaderWriter<v1::TranslateBulkResponse,
                                                        v1::TranslateBulkRequest>* call) override;

    bool hung_up = false;
    mutable absl::Mutex mutex;
    std::vector<v1::TranslateRequest> requests ABSL_GUARDED_BY(mutex);
  };
  class Models final : public v1::ModelService::Service {
   public:
    grpc::Status ListModels(grpc::ServerContext*, const v1::ListModelsRequest*,
                            v1::ListModelsResponse* response) override;
    grpc::Status GetModel(grpc::ServerContext*, const v1::GetModelRequest* request,
                          v1::Model* response) override;
  };

  Translations translations_;
  Models models_;
  int port_ = 0;
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace dragoman

#endif  // DRAGOMAN_TESTS_CLIENT_FAKE_SERVER_H_
