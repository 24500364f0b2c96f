// What clients learn of the server's load, and operators of its connections, over gRPC.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "tests/server/test_server.h"
#include "xds/service/orca/v3/orca.grpc.pb.h"

namespace dragoman {
namespace {

using xds::data::orca::v3::OrcaLoadReport;
using xds::service::orca::v3::OpenRcaService;

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
