// What clients learn of the server's load, and operators of its connections, over gRPC.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "dragoman/v1/translation.grpc.pb.h"
#include "tests/server/test_server.h"
#include "xds/service/orca/v3/orca.grpc.pb.h"

namespace dragoman {
namespace {

using xds::data::orca::v3::OrcaLoadReport;
using xds::service::orca::v3::OpenRcaService;

// Returns when the server has looked at its load.
void AwaitReports(TestServer* server) {
  const auto stub = OpenRcaService::NewStub(server->channel());
  grpc::ClientContext context;
  const auto reader = stub->StreamCoreMetrics(&context, {});
  OrcaLoadReport report;
  while (reader->Read(&report) && report.mem_utilization() == 0) {
  }
  context.TryCancel();
}

TEST(LoadService, EveryCallEndsWithAReport) {
  TestServer server;
  AwaitReports(&server);
  grpc::ClientContext context;
  v1::TranslateResponse response;
  const grpc::Status status =
      server.translation().Translate(&context, RequestFor({"a b c"}), &response);
  ASSERT_TRUE(status.ok()) << status.error_message();
  const auto& trailers = context.GetServerTrailingMetadata();
  const auto found = trailers.find("endpoint-load-metrics-bin");
  ASSERT_NE(found, trailers.end());
  OrcaLoadReport report;
  ASSERT_TRUE(report.ParseFromArray(found->second.data(), static_cast<int>(found->second.size())));
  EXPECT_GT(report.mem_utilization(), 0);
  EXPECT_LE(report.mem_utilization(), 1);
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
