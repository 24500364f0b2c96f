#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/time/clock.h"
#include "server/base/errors.h"
#include "server/http/api_context.h"

namespace dragoman {
namespace {

absl::StatusOr<absl::Duration> Timeout(const char* header, const char* value) {
  return TimeoutOf({.headers = {{header, value}}});
}

TEST(ApiContext, ReadsTimeoutsOfBothHeaders) {
  EXPECT_EQ(TimeoutOf({}).value(), absl::InfiniteDuration());
  EXPECT_EQ(Timeout("x-request-timeout", "2.5").value(), absl::Milliseconds(2500));
  EXPECT_EQ(Timeout("x-request-timeout", "500ms").value(), absl::Milliseconds(500));
  EXPECT_EQ(Timeout("x-request-timeout", "2m").value(), absl::Minutes(2));
  EXPECT_EQ(Timeout("grpc-timeout", "250m").value(), absl::Milliseconds(250));
  EXPECT_EQ(Timeout("grpc-timeout", "3S").value(), absl::Seconds(3));
  EXPECT_EQ(Timeout("grpc-timeout", "1H").value(), absl::Hours(1));
  for (const char* bad : {"0", "-1", "x", "nan", "-inf", "5 apples"}) {
    EXPECT_FALSE(Timeout("x-request-timeout", bad).ok()) << bad;
  }
  for (const char* bad : {"5", "S", "-5S", "123456789S", "5s"}) {
    EXPECT_FALSE(Timeout("grpc-timeout", bad).ok()) << bad;
  }
}

TEST(ApiContext, TheCallerIsWhoTheHeadersSay) {
  const Caller caller = CallerOf({.headers = {{"authorization", "Bearer abc"},
                                              {"x-request-id", "id-7"},
                                              {"traceparent", "00-x"},
                                              {"x-request-timeout", "10"}},
                                  .certificate_name = "shop"},
                                 "http");
  EXPECT_TRUE(caller.wrong.ok());
  EXPECT_EQ(caller.token, "abc");
  EXPECT_EQ(caller.request_id, "id-7");
  EXPECT_EQ(caller.trace_parent, "00-x");
  EXPECT_EQ(*caller.certificate_name, "shop");
  EXPECT_LT(caller.deadline, absl::Now() + absl::Seconds(11));
  EXPECT_STREQ(caller.api, "http");
}

TEST(ApiContext, ACallerWithABadHeaderIsStillKnown) {
  const Caller caller = CallerOf(
      {.headers = {{"authorization", "Bearer abc"}, {"x-request-timeout", "soon"}}}, "http");
  EXPECT_EQ(caller.token, "abc");
  EXPECT_TRUE(absl::IsInvalidArgument(caller.wrong));
}

TEST(ApiContext, CodesAreThoseOfGoogle) {
  for (const auto& [status, code] : std::initializer_list<std::pair<absl::Status, int>>{
           {absl::OkStatus(), 200},
           {absl::InvalidArgumentError("x"), 400},
           {absl::FailedPreconditionError("x"), 400},
           {absl::UnauthenticatedError("x"), 401},
           {absl::NotFoundError("x"), 404},
           {MessageTooLarge(2, 1), 413},
           {absl::ResourceExhaustedError("x"), 429},
           {absl::CancelledError("x"), 499},
           {absl::InternalError("x"), 500},
           {absl::UnimplementedError("x"), 501},
           {absl::UnavailableError("x"), 503},
           {absl::DeadlineExceededError("x"), 504}}) {
    EXPECT_EQ(HttpCodeOf(status), code) << status;
  }
}

TEST(ApiContext, AnErrorSaysWhenToRetry) {
  const HttpResponse response = ToHttpError({.status = absl::ResourceExhaustedError("full"),
                                             .retry_delay = absl::Milliseconds(1200),
                                             .request_id = "id"});
  EXPECT_EQ(response.code, 429);
  EXPECT_THAT(response.headers, testing::Contains(testing::Pair("Retry-After", "2")));
  EXPECT_THAT(response.headers, testing::Contains(testing::Pair("X-Request-Id", "id")));
  EXPECT_THAT(response.body, testing::HasSubstr("\"retryDelay\":\"1.200s\""));
}

}  // namespace
}  // namespace dragoman
