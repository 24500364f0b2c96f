#include "server/errors.h"

#include <gmock/gmock.h>
#include <grpcpp/test/server_context_test_spouse.h>
#include <gtest/gtest.h>

#include "engine/base/status.h"
#include "google/rpc/error_details.pb.h"

namespace dragoman {
namespace {

google::rpc::Status Details(const grpc::Status& status) {
  google::rpc::Status details;
  EXPECT_TRUE(details.ParseFromString(status.error_details()));
  return details;
}

TEST(Errors, InvalidFieldBecomesABadRequest) {
  grpc::ServerContext context;
  const grpc::Status status =
      ToGrpcStatus(InvalidField("contents[3]", "is not UTF-8"), absl::ZeroDuration(), &context);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(status.error_message(), "contents[3]: is not UTF-8");
  const google::rpc::Status details = Details(status);
  EXPECT_EQ(details.code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(details.message(), status.error_message());
  ASSERT_EQ(details.details_size(), 1);
  google::rpc::BadRequest bad_request;
  ASSERT_TRUE(details.details(0).UnpackTo(&bad_request));
  ASSERT_EQ(bad_request.field_violations_size(), 1);
  EXPECT_EQ(bad_request.field_violations(0).field(), "contents[3]");
}

TEST(Errors, UnknownModelBecomesAResource) {
  grpc::ServerContext context;
  const grpc::Status status =
      ToGrpcStatus(ModelNotFound("xx", "en-de, en-fr"), absl::ZeroDuration(), &context);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_THAT(status.error_message(), testing::HasSubstr("en-de, en-fr"));
  google::rpc::ResourceInfo resource;
  ASSERT_EQ(Details(status).details_size(), 1);
  ASSERT_TRUE(Details(status).details(0).UnpackTo(&resource));
  EXPECT_EQ(resource.resource_name(), "xx");
}

TEST(Errors, OverloadSaysWhenToComeAgain) {
  grpc::ServerContext context;
  const grpc::Status status =
      ToGrpcStatus(absl::ResourceExhaustedError("full"), absl::Milliseconds(1250), &context);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  google::rpc::RetryInfo retry;
  ASSERT_EQ(Details(status).details_size(), 1);
  ASSERT_TRUE(Details(status).details(0).UnpackTo(&retry));
  EXPECT_EQ(retry.retry_delay().seconds(), 1);
  EXPECT_EQ(retry.retry_delay().nanos(), 250000000);
  EXPECT_THAT(grpc::testing::ServerContextTestSpouse(&context).GetTrailingMetadata(),
              testing::ElementsAre(testing::Pair("grpc-retry-pushback-ms", "1250")));
}

TEST(Errors, WhatIsNotForClientsBecomesInternalWithoutItsMessage) {
  for (const absl::StatusCode code :
       {absl::StatusCode::kInternal, absl::StatusCode::kUnknown, absl::StatusCode::kDataLoss,
        absl::StatusCode::kAborted, absl::StatusCode::kOutOfRange}) {
    EXPECT_EQ(ForClient(absl::Status(code, "secret")), absl::InternalError("internal error"));
  }
  for (const absl::StatusCode code :
       {absl::StatusCode::kOk, absl::StatusCode::kUnavailable, absl::StatusCode::kUnimplemented,
        absl::StatusCode::kFailedPrecondition, absl::StatusCode::kDeadlineExceeded,
        absl::StatusCode::kCancelled}) {
    EXPECT_EQ(ForClient(absl::Status(code, "why")), absl::Status(code, "why"));
  }
}

}  // namespace
}  // namespace dragoman
