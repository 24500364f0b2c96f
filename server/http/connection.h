// One connection of the HTTP port, from the first byte to the last: one request after another.
//
//   idle ──byte──► header ──whole──► body ──whole──► answering ──sent──► idle ...
//     │              │                │                  │
//     └─ too long: close      too long: 408       the client goes away: the handler is told
//
// Everything runs on the single thread of its loop; handlers' answers are posted there.  A deadline
// covers each stage as a whole, so bytes that trickle in do not extend it.  Nothing is read while a
// request is being answered: a client that sends more (pipelining) is served in turn, and the
// amount kept of it is bounded.

#ifndef DRAGOMAN_SERVER_HTTP_CONNECTION_H_
#define DRAGOMAN_SERVER_HTTP_CONNECTION_H_

#include <atomic>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "server/http/options.h"
#include "server/http/router.h"
#include "server/http/stream.h"

namespace dragoman {

// What the connections of a port share.  Must outlive them.
struct HttpShared {
  HttpOptions options;
  const HttpRouter* router = nullptr;
  // The current TLS context; null: the port serves plain text.
  std::function<std::shared_ptr<boost::asio::ssl::context>()> tls_context;
  std::function<void(const HttpRoute* route, int code)> on_answer;
  std::atomic<bool> draining = false;
};

class HttpConnection : public std::enable_shared_from_this<HttpConnection> {
 public:
  HttpConnection(HttpStream::Socket socket, std::shared_ptr<const HttpShared> shared,
                 std::function<void(HttpConnection*)> on_close);
  ~HttpConnection();

  // All of these are called on the thread of the loop.
  void Start();
  // Closes the connection now if it is idle, otherwise after the answer.
  void Drain();
  // Cancels the call that is being answered; its handler ends the answer.
  void Cancel();
  // Closes it now.
  void Close();

 private:
  class Answer;
  using Error = boost::system::error_code;
  using Clock = std::chrono::steady_clock;
  using Parser = boost::beast::http::request_parser<boost::beast::http::string_body>;
  enum class Stage { kHandshake, kIdle, kHeader, kBody, kAnswering, kClosing };

  // A callback that goes on with `then` and the number of bytes, unless the connection was closed
  // meanwhile; an error goes to `fail`.
  template <typename Then>
  auto Next(Then then, void (HttpConnection::*fail)(const Error& error) = &HttpConnection::Fail) {
    return [self = shared_from_this(), then, fail](const Error& error, size_t size = 0) {
      if (self->closed_) return;
      if (error) return (self.get()->*fail)(error);
      then(size);
    };
  }
  void Fail(const Error&) { Close(); }

  void Enter(Stage stage, absl::Duration limit);
  void AwaitTimer();
  void OnTimer();
  bool PeerIsGone();

  void Sniff();
  void Handshake();
  void AwaitRequest();
  void ReadHeader();
  void OnHeader();
  // Whether the body may be read; if not, it is refused.
  bool PrepareBody();
  // Memory for a body, its own or that of its answer; if there is none, the answer that says so.
  std::optional<HttpResponse> Reserve(const std::string& holder, size_t bytes);
  void ReadBody();
  void ReadFile();
  void OnRefusedBody();
  void OnBody();
  void OnReadError(const Error& error);
  void Refuse(HttpResponse response);

  void SendWhole(HttpResponse response);
  void BeginStream(HttpResponse head);
  void WritePart(std::string part, std::function<void()> sent);
  void EndStream();
  void TellSent();
  void Flush();
  void OnFlushed();
  void Finish();
  void Linger();
  std::string Head(const HttpResponse& response, std::optional<size_t> length);

  const std::function<void(HttpConnection*)>
      on_close_;  // the last thing called, with what it needs
  HttpStream stream_;
  const std::shared_ptr<const HttpShared> shared_;
  const Clock::time_point opened_ = Clock::now();
  boost::asio::steady_timer timer_;
  Clock::time_point deadline_;
  Stage stage_ = Stage::kIdle;
  bool closed_ = false;
  bool timed_out_ = false;
  bool first_ = true;  // no request has arrived yet

  const std::string peer_;
  boost::beast::flat_buffer buffer_;  // read but not yet parsed
  std::optional<Parser> parser_;      // of the request that is being read
  HttpRequest request_;               // complete, until it is passed on
  HttpHeaders cors_;                  // of the answer
  absl::StatusOr<std::string> certificate_name_ = std::string();
  std::shared_ptr<boost::asio::ssl::context> tls_context_;  // until the handshake
  const HttpRoute* route_ = nullptr;
  size_t received_ = 0;  // of a file, since the time limit was set
  bool is_head_ = false;
  bool old_ = false;               // HTTP/1.0
  bool keep_alive_ = false;        // after this answer
  std::function<void()> on_gone_;  // the handler's, while it answers

  std::string outbox_;                          // to be sent
  std::string sending_;                         // being sent
  Share body_;                                  // memory, until the answer was sent
  std::shared_ptr<const void> held_;            // as long as the answer is in outbox_ or sending_
  std::vector<std::function<void()>> on_sent_;  // of the parts in outbox_ or sending_
  bool chunked_ = false;
  bool answered_ = false;  // the whole answer is in outbox_ or sent
};

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_HTTP_CONNECTION_H_
