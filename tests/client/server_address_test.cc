#include "client/server_address.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace dragoman {
namespace {

using ::testing::HasSubstr;

std::string Target(const std::string& text) {
  const absl::StatusOr<ServerAddress> address = ParseServerAddress(text);
  return address.ok() ? address->target : "error";
}

TEST(ServerAddress, TakesTheDefaultPort) {
  EXPECT_EQ(Target("127.0.0.1:9000"), "127.0.0.1:9000");
  EXPECT_EQ(Target("127.0.0.1"), "127.0.0.1:50051");
  EXPECT_EQ(Target("mt.example"), "mt.example:50051");
  EXPECT_EQ(Target("[::1]"), "[::1]:50051");
  EXPECT_EQ(Target("[::1]:9000"), "[::1]:9000");
  EXPECT_EQ(Target("::1"), "[::1]:50051");
}

TEST(ServerAddress, UnderstandsUrls) {
  EXPECT_EQ(Target("http://127.0.0.1:50051"), "127.0.0.1:50051");
  EXPECT_EQ(Target("http://mt.example/"), "mt.example:50051");
  EXPECT_FALSE(ParseServerAddress("http://mt.example")->tls);
  EXPECT_EQ(Target("https://mt.example:443"), "mt.example:443");
  EXPECT_TRUE(ParseServerAddress("https://mt.example")->tls);
}

TEST(ServerAddress, LeavesTheTargetsOfGrpcAlone) {
  for (const char* target : {"dns:///mt.example:50051", "unix:/run/dragoman", "unix-abstract:x",
                             "ipv4:10.0.0.1:50051,10.0.0.2:50051", "ipv6:[::1]:1"}) {
    EXPECT_EQ(Target(target), target);
  }
}

TEST(ServerAddress, RefusesAnythingElse) {
  for (const char* text : {"", "http://", "https://", "http://mt.example/v1/translate"}) {
    const absl::Status status = ParseServerAddress(text).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << text;
    EXPECT_THAT(std::string(status.message()), HasSubstr("want HOST:PORT"));
  }
}

TEST(ResolveName, FindsTheAddressesOfANameOnly) {
  EXPECT_THAT(ResolveName("localhost:50051").targets, testing::Contains("ipv4:127.0.0.1:50051"));
  for (const char* target : {"127.0.0.1:50051", "[::1]:50051", "unix:/tmp/x", "dns:///a:1"}) {
    EXPECT_TRUE(ResolveName(target).targets.empty()) << target;
  }
}

TEST(ExplainUnreachable, SaysItInWords) {
  const ClientTls bare, with_certificate = {.cert = "pem", .key = "pem"};
  EXPECT_EQ(ExplainUnreachable("last error: UNKNOWN: Connection refused", nullptr),
            "nothing listens there");
  for (const char* http : {"Failed parsing HTTP/2", "Trying to connect an http1.x server"}) {
    EXPECT_THAT(ExplainUnreachable(http, nullptr), HasSubstr("does not speak gRPC"));
  }
  EXPECT_THAT(ExplainUnreachable("UNAVAILABLE: Socket closed", nullptr), HasSubstr("--tls"));
  EXPECT_THAT(ExplainUnreachable("UNAVAILABLE: Socket closed", &bare), HasSubstr("--tls-cert"));
  EXPECT_EQ(ExplainUnreachable("Socket closed", &with_certificate), "Socket closed");
  EXPECT_THAT(ExplainUnreachable("SSL routines::wrong version number", &bare),
              HasSubstr("does not speak TLS"));
  EXPECT_EQ(ExplainUnreachable("something new", nullptr), "something new");
}

}  // namespace
}  // namespace dragoman
