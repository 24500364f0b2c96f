#include "server/grpc/grpc_caller.h"

#include <gmock/gmock.h>
#include <grpcpp/test/server_context_test_spouse.h>
#include <gtest/gtest.h>

#include "engine/base/status.h"
#include "google/rpc/error_details.pb.h"

namespace dragoman {
namespace {

using testing::Pair;
using testing::UnorderedElementsAre;

TEST(GrpcCaller, ReadsTheCallerFromTheMetadata) {
  grpc::ServerContext context;
  grpc::testing::ServerContextTestSpouse spouse(&context);
  spouse.AddClientMetadata("authorization", "bearer secret");
  spouse.AddClientMetadata("x-request-id", "r1");
  spouse.AddClientMetadata("traceparent", "00-a-b-01");
  const Caller caller = CallerOf(context);
  EXPECT_EQ(caller.token, "secret");
  EXPECT_EQ(*caller.certificate_name, "");
  EXPECT_EQ(caller.request_id, "r1");
  EXPECT_EQ(caller.trace_parent, "00-a-b-01");
}

TEST(GrpcCaller, OfTwoTokensNoneCounts) {
  grpc::ServerContext context;
  grpc::testing::ServerContextTestSpouse spouse(&context);
  spouse.AddClientMetadata("authorization", "Bearer one");
  spouse.AddClientMetadata("authorization", "Bearer other");
  const std::string token = CallerOf(context).token;
  EXPECT_NE(token, "one");
  EXPECT_NE(token, "other");
  EXPECT_NE(token, "");  // so that the call is refused, and not taken for one without a token
}

TEST(GrpcCaller, AnotherSchemeThanBearerIsNoToken) {
  EXPECT_EQ(BearerToken("Bearer x y"), "x y");
  EXPECT_EQ(BearerToken("Basic abcdefg"), "");
  EXPECT_EQ(BearerToken("Bearer "), "");
  EXPECT_EQ(BearerToken(""), "");
}

TEST(GrpcCaller, AnOverloadedServerSaysWhenToRetry) {
  grpc::ServerContext context;
  const grpc::Status status = ToGrpcStatus({.status = absl::ResourceExhaustedError("full"),
                                            .retry_delay = absl::Milliseconds(1250),
                                            .request_id = "r1"},
                                           &context);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_EQ(status.error_message(), "full");
  EXPECT_THAT(
      grpc::testing::ServerContextTestSpouse(&context).GetTrailingMetadata(),
      UnorderedElementsAre(Pair("grpc-retry-pushback-ms", "1250"), Pair("x-request-id", "r1")));
  google::rpc::Status details;
  ASSERT_TRUE(details.ParseFromString(status.error_details()));
  google::rpc::RetryInfo retry;
  ASSERT_EQ(details.details_size(), 1);
  ASSERT_TRUE(details.details(0).UnpackTo(&retry));
  EXPECT_EQ(retry.retry_delay().seconds(), 1);
}

// gRPC's own C++ client does not show this trailer to programs, only to its balancers.
TEST(GrpcCaller, ACallThatIsOkStillTellsItsRequestIdAndTheLoad) {
  grpc::ServerContext context;
  EXPECT_TRUE(ToGrpcStatus({.request_id = "r1", .load = "report"}, &context).ok());
  EXPECT_THAT(grpc::testing::ServerContextTestSpouse(&context).GetTrailingMetadata(),
              UnorderedElementsAre(Pair("x-request-id", "r1"),
                                   Pair("endpoint-load-metrics-bin", "report")));
}

}  // namespace
}  // namespace dragoman
