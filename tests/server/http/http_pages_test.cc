#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <atomic>

#include "server/http/pages.h"
#include "server/http/port.h"
#include "tests/server/http_client.h"

namespace dragoman {
namespace {

using ::testing::HasSubstr;

std::string Gunzip(const std::string& packed) {
  z_stream stream = {};
  EXPECT_EQ(inflateInit2(&stream, MAX_WBITS + 16), Z_OK);
  std::string text(1 << 20, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  stream.next_out = reinterpret_cast<Bytef*>(text.data());
  stream.avail_out = static_cast<uInt>(text.size());
  EXPECT_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);
  text.resize(stream.total_out);
  inflateEnd(&stream);
  return text;
}

class HttpPagesTest : public testing::Test {
 protected:
  HttpPagesTest() {
    HttpRouter router;
    AddPages({.metrics = [] { return "up 1\n"; },
              .history = [] { return "{}"; },
              .alive = [this] { return Status(alive_, "a worker hangs"); },
              .ready = [this] { return Status(ready_, "it loads"); },
              .faults = [this] { return std::string(whole_ ? "" : "a file is lost"); }},
             &router);
    auto port = HttpPort::Open("127.0.0.1:0");
    EXPECT_TRUE(port.ok()) << port.status();
    port_ = *std::move(port);
    port_->Serve({.descriptors = {.first = 100, .most = 16}}, std::move(router), {});
  }

  HttpReply Get(const std::string& path, const std::string& method = "GET") {
    return HttpGet(port_->address(), path, method);
  }

  static absl::Status Status(bool ok, const char* error) {
    return ok ? absl::OkStatus() : absl::UnavailableError(error);
  }

  std::atomic<bool> alive_ = true;
  std::atomic<bool> ready_ = false;
  std::atomic<bool> whole_ = true;
  std::unique_ptr<HttpPort> port_;
};

TEST_F(HttpPagesTest, PortZeroPicksAFreeOne) {
  EXPECT_THAT(port_->address(), testing::StartsWith("127.0.0.1:"));
  EXPECT_NE(port_->address(), "127.0.0.1:0");
}

TEST_F(HttpPagesTest, ServesMetricsAsPrometheusText) {
  const HttpReply answer = Get("/metrics");
  EXPECT_EQ(answer.code, 200);
  EXPECT_THAT(answer.headers, HasSubstr("Content-Type: text/plain; version=0.0.4"));
  EXPECT_EQ(answer.body, "up 1\n");
}

TEST_F(HttpPagesTest, ServesTheLastHourAsJson) {
  const HttpReply answer = Get("/metrics/history");
  EXPECT_EQ(answer.code, 200);
  EXPECT_THAT(answer.headers, HasSubstr("Content-Type: application/json"));
  EXPECT_EQ(answer.body, "{}");
}

TEST_F(HttpPagesTest, CompressesMetricsForWhoTakesThat) {
  RawHttpClient client(port_->address());
  client.Send("GET /metrics HTTP/1.1\r\nHost: x\r\nAccept-Encoding: deflate, gzip;q=0.5\r\n\r\n");
  const HttpReply packed = client.Receive();
  EXPECT_THAT(packed.headers, HasSubstr("Content-Encoding: gzip"));
  EXPECT_THAT(packed.headers, HasSubstr("Vary: Accept-Encoding"));
  EXPECT_EQ(Gunzip(packed.body), "up 1\n");
  client.Send("GET /metrics HTTP/1.1\r\nHost: x\r\nAccept-Encoding: gzip;q=0, br\r\n\r\n");
  EXPECT_EQ(client.Receive().body, "up 1\n");
}

TEST_F(HttpPagesTest, IsAliveBeforeItIsReady) {
  EXPECT_EQ(Get("/healthz").code, 200);
  EXPECT_EQ(Get("/readyz").code, 503);
  ready_ = true;
  EXPECT_EQ(Get("/readyz").code, 200);
  ready_ = false;
  EXPECT_EQ(Get("/readyz").code, 503);
  EXPECT_EQ(Get("/readyz").body, "not ready: it loads\n");
  whole_ = false;
  EXPECT_EQ(Get("/readyz").body, "not ready: it loads\n");
  ready_ = true;
  EXPECT_EQ(Get("/readyz").code, 200);
  EXPECT_EQ(Get("/readyz").body, "ready\na file is lost\n");
  alive_ = false;
  EXPECT_EQ(Get("/healthz").code, 503);
  EXPECT_EQ(Get("/healthz").body, "not alive: a worker hangs\n");
}

TEST_F(HttpPagesTest, OtherPathsAndMethodsAreRefused) {
  for (const char* path : {"/", "/metricsx", "/metrics/x", "/../etc/passwd"}) {
    EXPECT_GE(Get(path).code, 400) << path;
    EXPECT_LT(Get(path).code, 500) << path;
  }
  EXPECT_EQ(Get("/metrics", "POST").code, 405);
  EXPECT_EQ(Get("/metrics", "HEAD").code, 200);
  EXPECT_EQ(Get("/metrics", "HEAD").body, "");
}

TEST_F(HttpPagesTest, PortInUseIsAnErrorThatNamesIt) {
  const auto second = HttpPort::Open(port_->address());
  ASSERT_FALSE(second.ok());
  EXPECT_THAT(std::string(second.status().message()),
              HasSubstr(port_->address() + " for HTTP: the port is in use"));
}

}  // namespace
}  // namespace dragoman
