// What clients learn of the server's load, and operators of its connections, over gRPC.

#include <gmock/gmock.h>
#include <google/protobuf/descriptor.h>
#include <google/protobuf/unknown_field_set.h>
#include <grpcpp/generic/generic_stub.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <memory>
#include <set>
#include <string>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "grpc/reflection/v1/reflection.grpc.pb.h"
#include "tests/server/test_server.h"
#include "xds/service/orca/v3/orca.grpc.pb.h"

namespace dragoman {
namespace {

using xds::data::orca::v3::OrcaLoadReport;
using xds::service::orca::v3::OpenRcaService;

constexpr char kToken[] = "report-token-0123456789";

// A server that wants tokens, and tells which services it has.
ServerOptions OptionsWithTokens() {
  const std::string path = testing::TempDir() + "dragoman_load_tokens_" + std::to_string(getpid());
  std::ofstream(path) << "balancer " << kToken << " methods=none\n";
  ServerOptions options = TestOptions();
  options.auth.tokens = path;
  options.config.set_debug_services(true);
  return options;
}

// How an empty request to a method ends.
grpc::StatusCode CodeOf(const std::shared_ptr<grpc::Channel>& channel, const std::string& method) {
  grpc::TemplatedGenericStub<grpc::ByteBuffer, grpc::ByteBuffer> stub(channel);
  const grpc::Slice slice("");
  const grpc::ByteBuffer request(&slice, 1);
  grpc::ByteBuffer response;
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(10));
  grpc::CompletionQueue queue;
  const auto call = stub.PrepareUnaryCall(&context, method, request, &queue);
  call->StartCall();
  grpc::Status status;
  call->Finish(&response, &status, nullptr);
  void* tag;
  bool ok;
  queue.Next(&tag, &ok);
  return status.error_code();
}

std::set<std::string> ServicesOf(const std::shared_ptr<grpc::Channel>& channel) {
  const auto stub = grpc::reflection::v1::ServerReflection::NewStub(channel);
  grpc::ClientContext context;
  const auto stream = stub->ServerReflectionInfo(&context);
  grpc::reflection::v1::ServerReflectionRequest request;
  request.set_list_services("");
  grpc::reflection::v1::ServerReflectionResponse response;
  EXPECT_TRUE(stream->Write(request) && stream->Read(&response) && stream->WritesDone());
  EXPECT_TRUE(stream->Finish().ok());
  std::set<std::string> names;
  for (const auto& service : response.list_services_response().service()) {
    names.insert(service.name());
  }
  return names;
}

TEST(LoadService, WantsATokenAndNoRight) {
  TestServer server(OptionsWithTokens());
  const auto stub = OpenRcaService::NewStub(server.channel());
  for (const std::string token : {"", "another-token-0123456789", kToken}) {
    grpc::ClientContext context;
    if (!token.empty()) context.AddMetadata("authorization", "Bearer " + token);
    const auto reader = stub->StreamCoreMetrics(&context, {});
    OrcaLoadReport report;
    if (token == kToken) {
      EXPECT_TRUE(reader->Read(&report));
      context.TryCancel();
    } else {
      EXPECT_FALSE(reader->Read(&report)) << token;
      EXPECT_EQ(reader->Finish().error_code(), grpc::StatusCode::UNAUTHENTICATED) << token;
    }
  }
}

TEST(LoadService, LikeAllServicesButThoseForProbesAndDebuggingWantsAToken) {
  TestServer server(OptionsWithTokens());
  std::set<std::string> services = ServicesOf(server.channel());
  for (const char* open :
       {"grpc.health.v1.Health", "grpc.channelz.v1.Channelz", "grpc.reflection.v1.ServerReflection",
        "grpc.reflection.v1alpha.ServerReflection"}) {
    EXPECT_EQ(services.erase(open), 1u) << open;
  }
  EXPECT_TRUE(services.contains("xds.service.orca.v3.OpenRcaService"));
  EXPECT_TRUE(services.contains("dragoman.v1.TranslationService"));
  for (const std::string& name : services) {
    const auto* const service =
        google::protobuf::DescriptorPool::generated_pool()->FindServiceByName(name);
    ASSERT_NE(service, nullptr) << name;
    for (int i = 0; i < service->method_count(); ++i) {
      const std::string method = "/" + name + "/" + service->method(i)->name();
      if (method.starts_with("/inference.GRPCInferenceService/Server")) continue;  // probes, too
      EXPECT_EQ(CodeOf(server.channel(), method), grpc::StatusCode::UNAUTHENTICATED) << method;
    }
  }
}

TEST(LoadService, CallsThatMayLastForHoursKeepNoLargeRequests) {
  TestServer server;
  grpc::ClientContext of_report, of_reflection;
  xds::service::orca::v3::OrcaLoadReportRequest report;
  report.GetReflection()->MutableUnknownFields(&report)->AddLengthDelimited(9,
                                                                            std::string(5000, 'a'));
  OrcaLoadReport answer;
  const auto reports = OpenRcaService::NewStub(server.channel());
  const auto reader = reports->StreamCoreMetrics(&of_report, report);
  EXPECT_FALSE(reader->Read(&answer));
  EXPECT_EQ(reader->Finish().error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);

  grpc::reflection::v1::ServerReflectionRequest symbol;
  symbol.set_file_containing_symbol(std::string(5000, 'a'));
  const auto reflection = grpc::reflection::v1::ServerReflection::NewStub(server.channel());
  const auto stream = reflection->ServerReflectionInfo(&of_reflection);
  EXPECT_TRUE(stream->Write(symbol));
  EXPECT_EQ(stream->Finish().error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
}

TEST(LoadService, ReportsComeUntilTheClientLeaves) {
  TestServer server;
  const auto stub = OpenRcaService::NewStub(server.channel());
  grpc::ClientContext context;
  xds::service::orca::v3::OrcaLoadReportRequest request;
  request.mutable_report_interval()->set_nanos(1);  // at most once a second
  const auto reader = stub->StreamCoreMetrics(&context, request);
  OrcaLoadReport report;
  ASSERT_TRUE(reader->Read(&report));
  const absl::Time first = absl::Now();
  ASSERT_TRUE(reader->Read(&report));
  ASSERT_TRUE(reader->Read(&report));
  EXPECT_GT(absl::Now() - first, absl::Milliseconds(1900));
  // The server looks twice before it has a report; on a busy machine that may take longer.
  for (int more = 0; more < 10 && report.mem_utilization() == 0; ++more) {
    ASSERT_TRUE(reader->Read(&report));
  }
  EXPECT_GT(report.mem_utilization(), 0);
  context.TryCancel();
  EXPECT_EQ(reader->Finish().error_code(), grpc::StatusCode::CANCELLED);
}

TEST(LoadService, AnOpenStreamDoesNotKeepTheServerFromEnding) {
  TestServer server;
  const auto stub = OpenRcaService::NewStub(server.channel());
  grpc::ClientContext context;
  xds::service::orca::v3::OrcaLoadReportRequest request;
  request.mutable_report_interval()->set_seconds(3600);
  const auto reader = stub->StreamCoreMetrics(&context, request);
  OrcaLoadReport report;
  ASSERT_TRUE(reader->Read(&report));
  server.server().Drain();
  EXPECT_FALSE(reader->Read(&report));
  EXPECT_FALSE(reader->Finish().ok());
}

}  // namespace
}  // namespace dragoman
