#include "server/base/errors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/base/status.h"

namespace dragoman {
namespace {

TEST(Errors, InvalidFieldBecomesABadRequest) {
  const google::rpc::Status status =
      ToRpcStatus(InvalidField("contents[3]", "is not UTF-8"), absl::ZeroDuration());
  EXPECT_EQ(status.code(), static_cast<int>(absl::StatusCode::kInvalidArgument));
  EXPECT_EQ(status.message(), "contents[3]: is not UTF-8");
  ASSERT_EQ(status.details_size(), 1);
  google::rpc::BadRequest bad_request;
  ASSERT_TRUE(status.details(0).UnpackTo(&bad_request));
  ASSERT_EQ(bad_request.field_violations_size(), 1);
  EXPECT_EQ(bad_request.field_violations(0).field(), "contents[3]");
}

TEST(Errors, UnknownModelBecomesAResource) {
  const google::rpc::Status status =
      ToRpcStatus(ModelNotFound("xx", "en-de, en-fr"), absl::ZeroDuration());
  EXPECT_EQ(status.code(), static_cast<int>(absl::StatusCode::kNotFound));
  EXPECT_THAT(status.message(), testing::HasSubstr("en-de, en-fr"));
  google::rpc::ResourceInfo resource;
  ASSERT_EQ(status.details_size(), 1);
  ASSERT_TRUE(status.details(0).UnpackTo(&resource));
  EXPECT_EQ(resource.resource_name(), "xx");
}

TEST(Errors, OverloadSaysWhenToRetry) {
  const google::rpc::Status status =
      ToRpcStatus(absl::ResourceExhaustedError("full"), absl::Milliseconds(1250));
  EXPECT_EQ(status.code(), static_cast<int>(absl::StatusCode::kResourceExhausted));
  google::rpc::RetryInfo retry;
  ASSERT_EQ(status.details_size(), 1);
  ASSERT_TRUE(status.details(0).UnpackTo(&retry));
  EXPECT_EQ(retry.retry_delay().seconds(), 1);
  EXPECT_EQ(retry.retry_delay().nanos(), 250000000);
}

TEST(Errors, ErrorsNotMeantForClientsBecomeInternalWithoutAMessage) {
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

TEST(Errors, LongMessagesAreCutBetweenCharacters) {
  std::string text = "x";
  for (int i = 0; i < 1000; ++i) text += "\xc3\xa4";
  const absl::Status status = ForClient(InvalidField("target_language", text));
  EXPECT_LE(status.message().size(), 1024u + 3);
  EXPECT_EQ(FieldOf(status), "target_language");
  EXPECT_THAT(std::string(status.message()), testing::EndsWith("\xc3\xa4..."));
  EXPECT_LE(ModelNotFound(std::string(1 << 20, 'x'), "en-de").message().size(), 256u);
}

TEST(Errors, InternalOnesAreShownOnlyIfTheyMayBe) {
  EXPECT_EQ(ForClient(absl::InternalError("why")).message(), "internal error");
  const absl::Status shown = ShownToClients(absl::InternalError("a.json: is not JSON"));
  EXPECT_EQ(ForClient(shown).message(), "a.json: is not JSON");
  EXPECT_EQ(HttpCodeOf(ForClient(shown)), 500);
}

TEST(Errors, AMessageThatIsTooLargeIsExplained) {
  const absl::Status status = MessageTooLarge(2000, 1024);
  EXPECT_TRUE(absl::IsResourceExhausted(status));
  EXPECT_TRUE(IsMessageTooLarge(ForClient(status)));
  EXPECT_FALSE(IsMessageTooLarge(PrincipalLimit(1)));
  EXPECT_EQ(HttpCodeOf(ForClient(DocumentTooLarge(absl::ResourceExhaustedError("why")))), 413);
}

}  // namespace
}  // namespace dragoman
