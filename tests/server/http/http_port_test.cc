// How the HTTP port answers well-formed and malformed bytes.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "server/http/port.h"
#include "tests/server/http_client.h"

namespace dragoman {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kRequest[] = "POST /echo HTTP/1.1\r\nHost: x\r\n";

class HttpPortTest : public testing::Test {
 protected:
  // A limit for slow clients is for the tests of it: any client may be kept waiting.
  explicit HttpPortTest(absl::Duration patience = absl::Minutes(1)) {
    HttpRouter router;
    router.Add({.method = "POST",
                .path = "/echo",
                .handler =
                    [](HttpRequest request, const std::shared_ptr<HttpAnswer>& answer) {
                      answer->Send({.content_type = "text/plain", .body = request.body});
                    },
                .body_types = {"text/plain"}});
    router.Add({.method = "GET",
                .path = "/query",
                .handler = [](HttpRequest request, const std::shared_ptr<HttpAnswer>& answer) {
                  answer->Send({.content_type = "text/plain", .body = request.query});
                }});
    router.Add({.method = "GET",
                .path = "/forget",
                .handler = [](const HttpRequest&, const std::shared_ptr<HttpAnswer>&) {}});
    router.Add({.method = "GET",
                .path = "/wait",
                .handler = [this](const HttpRequest&, std::shared_ptr<HttpAnswer> answer) {
                  answer->OnGone([this] { gone_.Notify(); });
                  waiting_ = std::move(answer);
                  waits_.Notify();
                }});
    router.Add({.method = "GET",
                .path = "/stream",
                .handler = [](const HttpRequest&, const std::shared_ptr<HttpAnswer>& answer) {
                  answer->Begin({.content_type = "text/plain"});
                  answer->Write("one", [answer] {
                    answer->Write("two", nullptr);
                    answer->End();
                  });
                }});
    router.AllowOrigins({"https://good.example"});
    port_ = *HttpPort::Open("127.0.0.1:0");
    port_->Serve({.descriptors = {.first = 200, .most = 8},
                  .max_header_bytes = 1024,
                  .max_body_bytes = 1000,
                  .header_timeout = patience,
                  .body_timeout = patience,
                  .idle_timeout = absl::Minutes(1)},
                 std::move(router), {});
  }

  // The response to bytes that are sent over a connection of their own.
  HttpReply Say(const std::string& bytes) {
    RawHttpClient client(port_->address());
    client.Send(bytes);
    return client.Receive();
  }

  std::unique_ptr<HttpPort> port_;
  absl::Notification waits_, gone_;
  std::shared_ptr<HttpAnswer> waiting_;
};

class ImpatientHttpPortTest : public HttpPortTest {
 protected:
  static constexpr absl::Duration kPatience = absl::Seconds(1);
  ImpatientHttpPortTest() : HttpPortTest(kPatience) {}
};

TEST_F(HttpPortTest, ServesOneRequestAfterAnother) {
  RawHttpClient client(port_->address());
  for (const char* body : {"a", "bb", ""}) {
    client.Send(std::string(kRequest) + "Content-Type: text/plain\r\nContent-Length: " +
                std::to_string(std::string(body).size()) + "\r\n\r\n" + body);
    const HttpReply answer = client.Receive();
    EXPECT_EQ(answer.code, 200);
    EXPECT_EQ(answer.body, body);
    EXPECT_THAT(answer.headers, Not(HasSubstr("Connection: close")));
  }
}

TEST_F(HttpPortTest, AnswersAPipelineInItsOrder) {
  RawHttpClient client(port_->address());
  std::string requests;
  for (int i = 0; i < 50; ++i) {
    requests += "GET /query?" + std::to_string(i) + " HTTP/1.1\r\nHost: x\r\n\r\n";
  }
  client.Send(requests);
  for (int i = 0; i < 50; ++i) EXPECT_EQ(client.Receive().body, std::to_string(i));
}

TEST_F(HttpPortTest, TakesBodiesInChunks) {
  EXPECT_EQ(
      Say(std::string(kRequest) + "Content-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n"
                                  "3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\n")
          .body,
      "abcde");
}

TEST_F(HttpPortTest, SendsStreamsInChunksOrUntilTheEnd) {
  RawHttpClient client(port_->address());
  client.Send("GET /stream HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  const HttpReply answer = client.Receive();
  EXPECT_THAT(answer.headers, HasSubstr("Transfer-Encoding: chunked"));
  EXPECT_EQ(answer.body, "3\r\none\r\n3\r\ntwo\r\n0\r\n\r\n");
  EXPECT_EQ(HttpGet(port_->address(), "/stream").body, "onetwo");
}

TEST_F(HttpPortTest, AnswersExpect100Continue) {
  RawHttpClient client(port_->address());
  client.Send(std::string(kRequest) +
              "Content-Type: text/plain\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_EQ(client.Receive().code, 100);
  client.Send("ok");
  EXPECT_EQ(client.Receive().body, "ok");
  // A request to an unknown path is not asked for its body.
  RawHttpClient other(port_->address());
  other.Send("POST /no HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_EQ(other.Receive().code, 404);
}

TEST_F(HttpPortTest, MethodsAndPathsAreChecked) {
  EXPECT_EQ(Say("GET /echo HTTP/1.1\r\nHost: x\r\n\r\n").code, 405);
  EXPECT_THAT(Say("GET /echo HTTP/1.1\r\nHost: x\r\n\r\n").headers, HasSubstr("Allow: POST"));
  const HttpReply options = Say("OPTIONS /query HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_EQ(options.code, 204);
  EXPECT_THAT(options.headers, HasSubstr("Allow: GET, HEAD, OPTIONS"));
  EXPECT_EQ(HttpGet(port_->address(), "/query?abc", "HEAD").code, 200);
  EXPECT_THAT(HttpGet(port_->address(), "/query?abc", "HEAD").headers,
              HasSubstr("Content-Length: 3"));
  EXPECT_EQ(Say("GET http://x/query?q HTTP/1.1\r\nHost: x\r\n\r\n").body, "q");
  EXPECT_EQ(Say("GET /%71uery?q HTTP/1.1\r\nHost: x\r\n\r\n").body, "q");
}

TEST_F(HttpPortTest, MalformedRequestsAreRefused) {
  const std::string text = "Content-Type: text/plain\r\n";
  for (const auto& [bytes, code] : std::initializer_list<std::pair<std::string, int>>{
           {"hello\r\n\r\n", 400},
           {"GET /query HTTP/1.1\r\n\r\n", 400},  // no Host
           {"GET /query HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400},
           {"GET /query HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer a\r\n"
            "authorization: Bearer b\r\n\r\n",
            400},
           {"GET query HTTP/1.1\r\nHost: x\r\n\r\n", 400},
           {"GET /query#q HTTP/1.1\r\nHost: x\r\n\r\n", 400},
           {"GET /query?q#q HTTP/1.1\r\nHost: x\r\n\r\n", 400},
           {"GET /%zz HTTP/1.1\r\nHost: x\r\n\r\n", 400},
           {"GET /%00 HTTP/1.1\r\nHost: x\r\n\r\n", 400},
           {"GET /%ff HTTP/1.1\r\nHost: x\r\n\r\n", 400},
           {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505},
           {"GET /query HTTP/1.1\r\nHost : x\r\n\r\n", 400},
           {kRequest + text + "Content-Length: 3, 3\r\n\r\nabc", 400},
           {kRequest + text + "Content-Length: +3\r\n\r\nabc", 400},
           {kRequest + text + "Content-Length: 3\r\nContent-Length: 3\r\n\r\nabc", 400},
           {kRequest + text + "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            400},
           {kRequest + text + "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", 501},
           {kRequest + text + "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n", 501},
           {kRequest + text + "Transfer-Encoding: chunked\r\n\r\nzz\r\n", 400},
           {kRequest + text + "Content-Length: 3\r\nContent-Encoding: gzip\r\n\r\nabc", 415},
           {kRequest + std::string("Content-Length: 3\r\n\r\nabc"), 415},
           {kRequest + text + "Content-Length: 3\r\nExpect: more\r\n\r\nabc", 417},
           {kRequest + text + "Content-Length: 5000\r\n\r\n", 413},
           {kRequest + text + "Transfer-Encoding: chunked\r\n\r\n5000\r\n" + std::string(3000, 'x'),
            413},
           {"GET /query HTTP/1.1\r\nX: " + std::string(3000, 'x') + "\r\n\r\n", 431},
       }) {
    const HttpReply answer = Say(bytes);
    EXPECT_EQ(answer.code, code) << bytes.substr(0, 120) << "\n" << answer.headers;
  }
}

TEST_F(HttpPortTest, TheBodyOfARefusedRequestIsNotParsedAsARequest) {
  RawHttpClient client(port_->address());
  const std::string inner = "GET /query?smuggled HTTP/1.1\r\nHost: x\r\n\r\n";
  client.Send("POST /no HTTP/1.1\r\nHost: x\r\nContent-Length: " + std::to_string(inner.size()) +
              "\r\n\r\n" + inner);
  const HttpReply answer = client.Receive();
  EXPECT_EQ(answer.code, 404);
  EXPECT_THAT(answer.headers, HasSubstr("Connection: close"));
  EXPECT_TRUE(client.IsClosed());
}

TEST_F(ImpatientHttpPortTest, SlowClientsAreDisconnected) {
  RawHttpClient silent(port_->address());
  RawHttpClient header(port_->address());
  header.Send("GET /query");
  RawHttpClient body(port_->address());
  body.Send(std::string(kRequest) + "Content-Type: text/plain\r\nContent-Length: 5\r\n\r\na");
  EXPECT_EQ(header.Receive().code, 408);
  EXPECT_EQ(body.Receive().code, 408);
  EXPECT_TRUE(silent.IsClosed());
}

TEST_F(ImpatientHttpPortTest, AnIdleConnectionIsKeptAndOthersAreServedMeanwhile) {
  RawHttpClient idle(port_->address());
  idle.Send("GET /query?1 HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_EQ(idle.Receive().body, "1");
  // Longer than a client may take for a request that it has begun.
  absl::SleepFor(1.2 * kPatience);
  idle.Send("GET /query?2 HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_EQ(idle.Receive().body, "2");
}

TEST_F(HttpPortTest, TheHandlerLearnsThatItsClientHasGone) {
  {
    RawHttpClient client(port_->address());
    client.Send("GET /wait HTTP/1.1\r\nHost: x\r\n\r\n");
    waits_.WaitForNotification();
  }
  EXPECT_TRUE(gone_.WaitForNotificationWithTimeout(absl::Seconds(10)));
  absl::Notification told;
  waiting_->Write("x", [&] { told.Notify(); });
  told.WaitForNotification();  // or who writes the parts of a stream would never end
  waiting_ = nullptr;
}

// The parts of a stream are made as fast as the client reads them.
TEST_F(HttpPortTest, AStreamWaitsForItsClientAndLosesNothing) {
  constexpr size_t kParts = 64;
  const std::string part(1 << 20, 'x');  // the kernel takes a few of them
  std::atomic<size_t> sent = 0;
  RawHttpClient slow(port_->address());
  slow.Send("GET /wait HTTP/1.0\r\n\r\n");
  waits_.WaitForNotification();
  const std::shared_ptr<HttpAnswer> answer = std::move(waiting_);
  absl::Notification ended;
  const std::function<void()> write = [&] {
    if (sent == kParts) {
      answer->End();
      return ended.Notify();
    }
    answer->Write(part, [&] {
      ++sent;
      write();
    });
  };
  answer->Begin({.content_type = "text/plain"});
  write();
  // The port has two threads, and each gets one connection after another: each of these gives the
  // stream's a turn to go on.
  for (size_t i = 0; i < 4 * kParts; ++i) {
    EXPECT_EQ(HttpGet(port_->address(), "/query?other").body, "other");
  }
  EXPECT_LT(sent, kParts / 2);
  EXPECT_EQ(slow.Receive().body.size(), kParts * part.size());
  EXPECT_EQ(sent, kParts);
  ended.WaitForNotification();  // this thread gives the answer up
}

// An answer counts as unread until it is sent.
TEST_F(HttpPortTest, HoldsAnAnswerUntilTheClientHasReadIt) {
  RawHttpClient slow(port_->address());
  slow.Send("GET /wait HTTP/1.1\r\nHost: x\r\n\r\n");
  waits_.WaitForNotification();
  absl::Notification let_go;
  const std::string body(64 << 20, 'x');
  std::exchange(waiting_, nullptr)
      ->Send({.content_type = "text/plain",
              .body = body,
              .held = std::shared_ptr<void>(nullptr, [&](void*) { let_go.Notify(); })});
  EXPECT_EQ(HttpGet(port_->address(), "/query?other").body, "other");
  EXPECT_FALSE(let_go.HasBeenNotified());
  EXPECT_EQ(slow.Receive().body.size(), body.size());
  let_go.WaitForNotification();
}

TEST_F(HttpPortTest, AHandlerThatForgetsIsAnInternalError) {
  EXPECT_EQ(Say("GET /forget HTTP/1.1\r\nHost: x\r\n\r\n").code, 500);
}

TEST_F(HttpPortTest, OnlyTheOriginsThatMayCallAreAllowed) {
  const std::string get = "GET /query HTTP/1.1\r\nHost: x\r\nOrigin: ";
  EXPECT_THAT(Say(get + "https://good.example\r\n\r\n").headers,
              HasSubstr("Access-Control-Allow-Origin: https://good.example"));
  EXPECT_THAT(Say(get + "https://bad.example\r\n\r\n").headers,
              Not(HasSubstr("Access-Control-Allow-Origin")));
  const HttpReply preflight =
      Say("OPTIONS /echo HTTP/1.1\r\nHost: x\r\nOrigin: https://good.example\r\n"
          "Access-Control-Request-Method: POST\r\n\r\n");
  EXPECT_EQ(preflight.code, 204);
  EXPECT_THAT(preflight.headers, HasSubstr("Access-Control-Allow-Methods: POST"));
}

TEST_F(HttpPortTest, ConnectionsOverTheLimitAreClosed) {
  std::vector<std::unique_ptr<RawHttpClient>> clients;
  for (int i = 0; i < 8; ++i) {
    clients.push_back(std::make_unique<RawHttpClient>(port_->address()));
    clients.back()->Send("GET /query?a HTTP/1.1\r\nHost: x\r\n\r\n");
    EXPECT_EQ(clients.back()->Receive().body, "a");
  }
  EXPECT_TRUE(RawHttpClient(port_->address()).IsClosed());
  EXPECT_EQ(port_->Stats().over_limit, 1);
}

TEST_F(HttpPortTest, DrainsByClosingAfterTheAnswer) {
  RawHttpClient idle(port_->address());
  idle.Send("GET /query?1 HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_EQ(idle.Receive().body, "1");
  RawHttpClient busy(port_->address());
  busy.Send("GET /wait HTTP/1.1\r\nHost: x\r\n\r\n");
  waits_.WaitForNotification();
  port_->Drain();
  EXPECT_TRUE(idle.IsClosed());
  std::exchange(waiting_, nullptr)->Send({.content_type = "text/plain", .body = "done"});
  const HttpReply answer = busy.Receive();
  EXPECT_EQ(answer.body, "done");
  EXPECT_THAT(answer.headers, HasSubstr("Connection: close"));
  // During a drain, probes are still answered.
  EXPECT_EQ(Say("GET /query?new HTTP/1.1\r\nHost: x\r\n\r\n").body, "new");
}

}  // namespace
}  // namespace dragoman
