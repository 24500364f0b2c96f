#include "server/http/port.h"

#include <sys/socket.h>
#include <unistd.h>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <thread>
#include <unordered_set>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "engine/base/status.h"
#include "server/http/connection.h"
#include "server/http/tls_context.h"
#include "server/observe/logging.h"

namespace dragoman {

namespace asio = boost::asio;

// A thread and its connections, which keep it alive.
struct HttpPort::Loop {
  asio::io_context io{1};
  asio::executor_work_guard<asio::io_context::executor_type> work{io.get_executor()};
  std::unordered_set<HttpConnection*> connections;  // used only on the thread
  std::thread thread;

  template <typename Do>
  void ForEach(Do act) {
    asio::post(io, [this, act] {
      const auto all = connections;  // a copy, because some may close
      for (HttpConnection* const connection : all) {
        if (connections.contains(connection)) act(connection);
      }
    });
  }
};

struct HttpPort::State {
  // The TLS context for a new connection; null: the port serves plain text.
  std::shared_ptr<asio::ssl::context> TlsContext() {
    if (callbacks.certificates == nullptr) return nullptr;
    std::shared_ptr<const ServedCertificates> now = callbacks.certificates();
    absl::MutexLock lock(&mutex);
    if (now == nullptr || now == certificates) return context;
    certificates = std::move(now);
    if (auto made = MakeTlsContext(*certificates); made.ok()) {
      context = *std::move(made);
    } else {
      Log(LogLevel::kError, "HTTP keeps using its old certificates",
          {{"error", std::string(made.status().message())}});
    }
    return context;
  }

  HttpRouter router;
  HttpCallbacks callbacks;
  std::shared_ptr<HttpShared> shared = std::make_shared<HttpShared>();
  absl::Mutex mutex;
  std::shared_ptr<const ServedCertificates> certificates ABSL_GUARDED_BY(mutex);
  std::shared_ptr<asio::ssl::context> context ABSL_GUARDED_BY(mutex);  // made of them
};

HttpPort::HttpPort(std::unique_ptr<Listener> listener)
    : listener_(std::move(listener)), state_(std::make_shared<State>()) {}

absl::StatusOr<std::unique_ptr<HttpPort>> HttpPort::Open(const std::string& address,
                                                         const std::vector<int>& inherited) {
  ASSIGN_OR_RETURN(std::unique_ptr<Listener> listener,
                   Listener::OpenFor("HTTP", address, inherited));
  return std::unique_ptr<HttpPort>(new HttpPort(std::move(listener)));
}

HttpPort::~HttpPort() { Stop(); }

void HttpPort::Serve(const HttpOptions& options, HttpRouter router, HttpCallbacks callbacks) {
  state_->router = std::move(router);
  state_->callbacks = std::move(callbacks);
  HttpShared& shared = *state_->shared;
  shared.options = options;
  shared.router = &state_->router;
  shared.tls_context = [state = state_.get()] { return state->TlsContext(); };
  shared.on_answer = state_->callbacks.on_answer;
  for (int i = 0; i < options.threads; ++i) {
    loops_.push_back(std::make_shared<Loop>());
    loops_.back()->thread = std::thread([loop = loops_.back().get()] { loop->io.run(); });
  }
  listener_->Serve(options.descriptors, [this](int fd) { Take(fd); });
}

// Called on the listener's thread.
void HttpPort::Take(int fd) {
  const std::shared_ptr<Loop> loop = loops_[next_++ % loops_.size()];
  asio::post(loop->io, [loop, state = state_, fd] {
    int family = AF_INET;
    socklen_t size = sizeof(family);
    getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &family, &size);
    HttpStream::Socket socket(loop->io);
    boost::system::error_code error;
    socket.assign(family == AF_INET6 ? asio::ip::tcp::v6() : asio::ip::tcp::v4(), fd, error);
    if (error) {
      close(fd);
      return;
    }
    const auto connection = std::make_shared<HttpConnection>(
        std::move(socket), state->shared,
        [loop, state](HttpConnection* closed) { loop->connections.erase(closed); });
    loop->connections.insert(connection.get());
    connection->Start();
  });
}

void HttpPort::Drain() {
  state_->shared->draining = true;
  for (const auto& loop : loops_) loop->ForEach([](HttpConnection* c) { c->Drain(); });
}

void HttpPort::Cancel() {
  for (const auto& loop : loops_) loop->ForEach([](HttpConnection* c) { c->Cancel(); });
}

void HttpPort::Stop() {
  listener_->Stop();
  for (const auto& loop : loops_) loop->ForEach([](HttpConnection* c) { c->Close(); });
  for (const auto& loop : loops_) {
    loop->work.reset();
    if (loop->thread.joinable()) loop->thread.join();
  }
}

}  // namespace dragoman
