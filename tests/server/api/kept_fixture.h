// A server that keeps things of principals, and two of these.

#ifndef DRAGOMAN_TESTS_SERVER_API_KEPT_FIXTURE_H_
#define DRAGOMAN_TESTS_SERVER_API_KEPT_FIXTURE_H_

#include <grpcpp/grpcpp.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/server/ram_directory.h"
#include "tests/server/test_server.h"

namespace dragoman {

inline constexpr char kAlice[] = "alice-0123456789";  // tokens
inline constexpr char kBob[] = "bob-0123456789abc";

// Of v1::GlossaryService or v1::MemoryService, whose files are in the directory of this option.
template <typename Service, std::string* (v1::ServerConfig::*kDirectory)()>
class KeptTest : public testing::Test {
 protected:
  using Stub = typename Service::Stub;

  KeptTest() {
    options_ = TestOptions();
    options_.pool.cache_bytes = size_t{1} << 20;
  }
  void Start() {
    server_ = std::make_unique<TestServer>(options_);
    stub_ = Service::NewStub(server_->channel());
  }
  void StartWithTokens() {
    options_.auth.tokens = root_ + "/tokens";
    std::ofstream(options_.auth.tokens) << "alice " << kAlice << "\nbob " << kBob << "\n";
    Start();
  }
  // A file that somebody has put there before the start.
  void PutFile(const std::string& name, const std::string& text) {
    std::string& directory = *(options_.config.*kDirectory)();
    directory = root_ + "/things";
    std::filesystem::create_directories(directory);
    std::ofstream(directory + "/" + name) << text;
  }
  static void UseByDefault(const std::string& model, const std::vector<std::string>& ids,
                           google::protobuf::RepeatedPtrField<v1::DefaultIds>* defaults) {
    v1::DefaultIds& added = *defaults->Add();
    added.set_model(model);
    added.mutable_ids()->Assign(ids.begin(), ids.end());
  }

  // Calls a method of the service.
  template <typename Method, typename Request, typename Response>
  grpc::Status Call(Method method, const Request& request, Response* response,
                    const std::string& token = "") {
    grpc::ClientContext context;
    if (!token.empty()) context.AddMetadata("authorization", "Bearer " + token);
    return (stub_.get()->*method)(&context, request, response);
  }
  grpc::Status Translate(const v1::TranslateRequest& request, v1::TranslateResponse* response,
                         const std::string& token = "") {
    grpc::ClientContext context;
    if (!token.empty()) context.AddMetadata("authorization", "Bearer " + token);
    return server_->translation().Translate(&context, request, response);
  }
  v1::Translation Translated(const v1::TranslateRequest& request, const std::string& token = "") {
    v1::TranslateResponse response;
    const grpc::Status status = Translate(request, &response, token);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return status.ok() ? response.translations(0) : v1::Translation();
  }
  std::string TextOf(const v1::TranslateRequest& request, const std::string& token = "") {
    const v1::Translation translation = Translated(request, token);
    return translation.hypotheses().empty() ? "" : translation.hypotheses(0).text();
  }

  const RamDirectory ram_;
  const std::string root_ = ram_.path();
  ServerOptions options_;
  std::unique_ptr<TestServer> server_;
  std::unique_ptr<Stub> stub_;
};

}  // namespace dragoman

#endif  // DRAGOMAN_TESTS_SERVER_API_KEPT_FIXTURE_H_
