#include "server/http/connection.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/http/read.hpp>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/http/api_context.h"
#include "server/http/document_form.h"
#include "server/http/request_head.h"
#include "server/http/response_head.h"
#include "server/http/tls_context.h"

namespace dragoman {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;

// How often to check whether the client of a running handler has gone.
constexpr absl::Duration kWatchInterval = absl::Milliseconds(100);
// How long a client may take to read the last answer and close the connection.
constexpr absl::Duration kLinger = absl::Seconds(2);
constexpr absl::Duration kHandshakeTimeout = absl::Seconds(10);
constexpr size_t kReadAtOnce = 16 << 10;
// What an idle connection keeps of the memory of its last answer.
constexpr size_t kKept = 16 << 10;
// Of a file, so many bytes may take as long as the body of another request.
constexpr size_t kFileStep = 1 << 20;
constexpr char kTooLarge[] = "the body is too large; send fewer texts at a time";

std::string AddressOf(const HttpStream::Socket& socket) {
  boost::system::error_code error;
  const auto peer = socket.remote_endpoint(error);
  return error ? "" : absl::StrCat(peer.address().to_string(), ":", peer.port());
}

}  // namespace

// Passes a handler's answer to the connection's thread.
class HttpConnection::Answer final : public HttpAnswer {
 public:
  explicit Answer(std::shared_ptr<HttpConnection> connection)
      : connection_(std::move(connection)) {}

  ~Answer() override {
    if (ended_) return;
    if (begun_) {
      Post([](HttpConnection* c) { c->Close(); });
    } else {
      Send(RpcStatusBody(500, "internal error"));
    }
  }

  void Send(HttpResponse response) override {
    ended_ = true;
    Post([response = std::move(response)](HttpConnection* c) mutable {
      c->SendWhole(std::move(response));
    });
  }

  void Begin(HttpResponse head) override {
    begun_ = true;
    Post([head = std::move(head)](HttpConnection* c) mutable { c->BeginStream(std::move(head)); });
  }

  void Write(std::string part, std::function<void()> sent) override {
    Post([part = std::move(part), sent = std::move(sent)](HttpConnection* c) mutable {
      c->WritePart(std::move(part), std::move(sent));
    });
  }

  void End() override {
    ended_ = true;
    Post([](HttpConnection* c) { c->EndStream(); });
  }

  void OnGone(std::function<void()> gone) override {
    Post([gone = std::move(gone)](HttpConnection* c) {
      if (c->closed_) return gone();
      if (!c->answered_) c->on_gone_ = gone;
    });
  }

 private:
  template <typename Do>
  void Post(Do act) {
    asio::dispatch(
        connection_->stream_.get_executor(),
        [connection = connection_, act = std::move(act)]() mutable { act(connection.get()); });
  }

  const std::shared_ptr<HttpConnection> connection_;
  bool begun_ = false;
  bool ended_ = false;
};

HttpConnection::HttpConnection(HttpStream::Socket socket, std::shared_ptr<const HttpShared> shared,
                               std::function<void(HttpConnection*)> on_close)
    : on_close_(std::move(on_close)),
      stream_(std::move(socket)),
      shared_(std::move(shared)),
      timer_(stream_.get_executor()),
      peer_(AddressOf(stream_.socket())),
      buffer_(std::max<size_t>(shared_->options.max_header_bytes, kReadAtOnce) * 2) {}

HttpConnection::~HttpConnection() = default;

void HttpConnection::Start() {
  if (shared_->tls_context != nullptr) tls_context_ = shared_->tls_context();
  if (tls_context_ == nullptr) return AwaitRequest();
  Sniff();
}

void HttpConnection::Drain() {
  // A new connection gets an answer to its first request.
  if (stage_ == Stage::kIdle && !first_) return Close();
  keep_alive_ = false;
}

void HttpConnection::Cancel() {
  if (on_gone_ != nullptr) std::exchange(on_gone_, nullptr)();
}

void HttpConnection::Close() {
  if (std::exchange(closed_, true)) return;
  Error ignored;
  stream_.socket().close(ignored);
  timer_.cancel();
  held_ = nullptr;
  body_.Return();
  Cancel();
  TellSent();
  on_close_(this);
}

// ---- Deadlines -------------------------------------------------------------------------------

void HttpConnection::Enter(Stage stage, absl::Duration limit) {
  stage_ = stage;
  deadline_ = limit == absl::InfiniteDuration() ? Clock::time_point::max()
                                                : Clock::now() + absl::ToChronoNanoseconds(limit);
  AwaitTimer();
}

void HttpConnection::AwaitTimer() {
  Clock::time_point wake = deadline_;
  if (stage_ == Stage::kAnswering) {
    wake = std::min(wake, Clock::now() + absl::ToChronoNanoseconds(kWatchInterval));
  }
  timer_.expires_at(wake);
  timer_.async_wait([self = shared_from_this()](const Error& error) {
    if (!error && !self->closed_) self->OnTimer();
  });
}

void HttpConnection::OnTimer() {
  if (timer_.expiry() > Clock::now()) return;  // it was set again while this callback was pending
  if (stage_ == Stage::kAnswering && PeerIsGone()) return Close();
  if (Clock::now() < deadline_) return AwaitTimer();
  if (stage_ != Stage::kHeader && stage_ != Stage::kBody) return Close();
  timed_out_ = true;
  Error ignored;
  stream_.socket().cancel(ignored);  // ends the pending read with an error
}

// Whether the client has closed its end, even if it sent something before.
bool HttpConnection::PeerIsGone() {
  pollfd end = {.fd = stream_.socket().native_handle(), .events = POLLRDHUP, .revents = 0};
  return poll(&end, 1, 0) == 1;
}

// ---- TLS -------------------------------------------------------------------------------------

// The port speaks both: the first byte of TLS cannot start an HTTP request.
void HttpConnection::Sniff() {
  Enter(Stage::kIdle, shared_->options.header_timeout);
  stream_.socket().async_wait(HttpStream::Socket::wait_read, Next([this](size_t) {
                                constexpr char kTlsHandshake = 0x16;
                                char first = 0;
                                const int fd = stream_.socket().native_handle();
                                if (recv(fd, &first, 1, MSG_PEEK | MSG_DONTWAIT) != 1)
                                  return Close();
                                if (first == kTlsHandshake) return Handshake();
                                AwaitRequest();
                              }));
}

void HttpConnection::Handshake() {
  Enter(Stage::kHandshake, kHandshakeTimeout);
  stream_.Handshake(std::move(tls_context_), Next([this](size_t) {
                      certificate_name_ = NameInCertificate(stream_.tls());
                      AwaitRequest();
                    }));
}

// ---- Reading ---------------------------------------------------------------------------------

void HttpConnection::AwaitRequest() {
  if (!first_ && shared_->draining) return Close();
  if (buffer_.size() > 0) return ReadHeader();
  Enter(Stage::kIdle, first_ ? shared_->options.header_timeout : shared_->options.idle_timeout);
  stream_.async_read_some(buffer_.prepare(kReadAtOnce), Next([this](size_t size) {
                            buffer_.commit(size);
                            ReadHeader();
                          }));
}

void HttpConnection::ReadHeader() {
  Enter(Stage::kHeader, shared_->options.header_timeout);
  first_ = false;
  request_ = {};
  cors_.clear();
  route_ = nullptr;
  is_head_ = old_ = keep_alive_ = chunked_ = answered_ = false;
  parser_.emplace();
  parser_->header_limit(static_cast<uint32_t>(shared_->options.max_header_bytes));
  // That of the route is known only when the header is there (PrepareBody).
  parser_->body_limit(std::max(shared_->options.max_body_bytes, shared_->router->max_file_bytes()));
  http::async_read_header(stream_, buffer_, *parser_,
                          Next([this](size_t) { OnHeader(); }, &HttpConnection::OnReadError));
}

void HttpConnection::OnReadError(const Error& error) {
  keep_alive_ = false;
  if (timed_out_) return Refuse(RpcStatusBody(408, "the request did not arrive in time"));
  HttpResponse refusal = ExplainReadError(error);
  if (refusal.code == 0) return Close();
  // In the error format of the API that is being used, if it is known already.
  if (route_ != nullptr && refusal.code == 413) {
    refusal = route_->error(413, kTooLarge);
  }
  Refuse(std::move(refusal));
}

void HttpConnection::OnHeader() {
  old_ = parser_->get().version() < 11;
  request_.peer = peer_;
  request_.encrypted = stream_.encrypted();
  request_.certificate_name = certificate_name_;
  std::optional<HttpResponse> refusal = ReadRequestHead(parser_->get(), &request_);
  if (refusal.has_value()) return Refuse(*std::move(refusal));
  const auto age = absl::FromChrono(Clock::now() - opened_);
  keep_alive_ = parser_->keep_alive() && !shared_->draining && age < shared_->options.max_age;
  is_head_ = request_.method == "HEAD";
  shared_->router->AddCorsHeaders(request_, &cors_);
  HttpRouter::Match match = shared_->router->Find(request_);
  route_ = match.route;
  if (match.refusal.has_value()) {
    if (!parser_->is_done()) keep_alive_ = false;  // its body will not be read
    return Refuse(*std::move(match.refusal));
  }
  if (is_head_) request_.method = "GET";
  if (parser_->is_done()) return OnBody();
  if (!PrepareBody()) return;
  if (request_.Header("expect").empty() || old_ || buffer_.size() > 0) return ReadBody();
  Enter(Stage::kBody, shared_->options.body_timeout);
  static constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
  asio::async_write(stream_, asio::buffer(kContinue.data(), kContinue.size()),
                    Next([this](size_t) { ReadBody(); }));
}

bool HttpConnection::PrepareBody() {
  const bool is_file = route_->receive != nullptr;
  const size_t limit = is_file ? route_->max_file_bytes : shared_->options.max_body_bytes;
  std::optional<HttpResponse> refusal;
  if (parser_->content_length().value_or(0) > limit) {
    refusal = is_file ? route_->error(413, absl::StrCat("the file is too large, want at most ",
                                                        limit, " bytes with its form"))
                      : RpcStatusBody(413, kTooLarge);
  } else if (is_file) {
    request_.upload = route_->receive(request_);
    if (!request_.upload->refusal().ok()) {
      OnRefusedBody();
      return false;
    }
  }
  if (!refusal.has_value() && !is_file) {
    refusal = Reserve(HolderOf("", peer_), parser_->content_length().value_or(limit));
  }
  if (refusal.has_value()) {
    keep_alive_ = false;  // the body will not be read
    Refuse(*std::move(refusal));
    return false;
  }
  parser_->body_limit(limit);
  return true;
}

std::optional<HttpResponse> HttpConnection::Reserve(const std::string& holder, size_t bytes) {
  if (shared_->options.bodies == nullptr) return std::nullopt;
  absl::StatusOr<Share> share = shared_->options.bodies->Take(holder, bytes);
  if (share.ok()) {
    body_ = *std::move(share);
    return std::nullopt;
  }
  HttpResponse refusal = route_->error(429, std::string(share.status().message()));
  refusal.headers.emplace_back("Retry-After", "1");
  return refusal;
}

// The handler answers without the rest of the body.
void HttpConnection::OnRefusedBody() {
  keep_alive_ = false;
  OnBody();
}

// Passes the body on, piece by piece.
void HttpConnection::ReadFile() {
  const auto take = [this](size_t size) {
    std::string& piece = parser_->get().body();
    request_.upload->Add(piece);
    piece.clear();
    if (!request_.upload->refusal().ok()) return OnRefusedBody();
    if (parser_->is_done()) return OnBody();
    received_ += size;
    if (received_ >= kFileStep) return ReadBody();
    ReadFile();
  };
  http::async_read_some(stream_, buffer_, *parser_, Next(take, &HttpConnection::OnReadError));
}

void HttpConnection::ReadBody() {
  Enter(Stage::kBody, shared_->options.body_timeout);
  received_ = 0;
  if (request_.upload != nullptr) return ReadFile();
  const auto take = [this](size_t) {
    request_.body = std::move(parser_->get().body());
    OnBody();
  };
  http::async_read(stream_, buffer_, *parser_, Next(take, &HttpConnection::OnReadError));
}

void HttpConnection::OnBody() {
  Enter(Stage::kAnswering, absl::InfiniteDuration());
  request_.route = route_->path;
  route_->handler(std::move(request_), std::make_shared<Answer>(shared_from_this()));
}

// ---- Writing ---------------------------------------------------------------------------------

void HttpConnection::Refuse(HttpResponse response) {
  request_.upload = nullptr;  // whether or not the client reads the answer
  Enter(Stage::kAnswering, absl::InfiniteDuration());
  SendWhole(std::move(response));
}

std::string HttpConnection::Head(const HttpResponse& response, std::optional<size_t> length) {
  return ResponseHead(
      response, cors_,
      {.length = length, .chunked = chunked_, .keep_alive = keep_alive_, .old = old_});
}

void HttpConnection::SendWhole(HttpResponse response) {
  if (closed_) return;
  on_gone_ = nullptr;
  // A page is not the answer to a call, and its client may not read it.  Who sends too many bodies
  // still gets pages, such as /metrics.
  if (response.held == nullptr && body_.amount() == 0 && response.body.size() > kKept) {
    auto refusal = Reserve(HolderOf("", peer_) + " pages", response.body.size());
    if (refusal.has_value()) response = *std::move(refusal);
  }
  if (response.close || shared_->draining) keep_alive_ = false;
  if (shared_->on_answer != nullptr) shared_->on_answer(route_, response.code);
  held_ = std::move(response.held);
  outbox_ += Head(response, response.body.size());
  if (!is_head_) outbox_ += response.body;
  answered_ = true;
  Flush();
}

void HttpConnection::BeginStream(HttpResponse head) {
  if (closed_) return;
  chunked_ = !old_;
  if (old_ || shared_->draining) keep_alive_ = false;
  if (shared_->on_answer != nullptr) shared_->on_answer(route_, head.code);
  outbox_ += Head(head, std::nullopt);
  WritePart(std::move(head.body), nullptr);
}

void HttpConnection::WritePart(std::string part, std::function<void()> sent) {
  if (sent != nullptr) on_sent_.push_back(std::move(sent));
  if (closed_) return TellSent();
  if (!part.empty() && !is_head_) {
    if (chunked_) absl::StrAppend(&outbox_, absl::Hex(part.size()), "\r\n");
    outbox_ += part;
    if (chunked_) outbox_ += "\r\n";
  }
  Flush();
}

void HttpConnection::EndStream() {
  if (closed_) return;
  on_gone_ = nullptr;
  if (chunked_ && !is_head_) outbox_ += "0\r\n\r\n";
  answered_ = true;
  Flush();
}

void HttpConnection::Flush() {
  if (!sending_.empty()) return;  // OnFlushed continues
  if (outbox_.empty()) {
    TellSent();
    if (answered_) Finish();
    return;
  }
  sending_.swap(outbox_);
  Enter(Stage::kAnswering, shared_->options.write_timeout);
  asio::async_write(stream_, asio::buffer(sending_), Next([this](size_t) { OnFlushed(); }));
}

void HttpConnection::OnFlushed() {
  sending_.clear();
  if (sending_.capacity() > kKept) sending_.shrink_to_fit();
  deadline_ = Clock::time_point::max();
  Flush();
}

// Not at once: who is told may write more.
void HttpConnection::TellSent() {
  for (std::function<void()>& sent : std::exchange(on_sent_, {})) {
    asio::post(stream_.get_executor(), std::move(sent));
  }
}

void HttpConnection::Finish() {
  request_ = {};
  held_ = nullptr;
  body_.Return();
  if (keep_alive_) return AwaitRequest();
  Enter(Stage::kClosing, kLinger);
  stream_.Shutdown([self = shared_from_this()](const Error&) {
    if (!self->closed_) self->Linger();
  });
}

// Keeps reading, and discards it, until the client has closed its end: if it sent to a closed
// socket, it would lose the answer.
void HttpConnection::Linger() {
  buffer_.clear();
  stream_.socket().async_read_some(buffer_.prepare(kReadAtOnce),
                                   Next([this](size_t) { Linger(); }));
}

}  // namespace dragoman
