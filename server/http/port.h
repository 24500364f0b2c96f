// The HTTP port: a few threads that serve all of its connections.
//
//   ASSIGN_OR_RETURN(auto port, HttpPort::Open("0.0.0.0:9464"));  // the port is ours
//   router.Add(...);
//   port->Serve(options, std::move(router), callbacks);
//   port->Drain();   // answers on, and hangs up after each answer
//   port->Cancel();  // what is still being answered
//   port->Stop();
//
// A connection lives on the loop of one thread (connection.h), so that nothing of it needs a lock.
// Over it goes Boost.Beast's parser, which only files of this folder know.

#ifndef DRAGOMAN_SERVER_HTTP_PORT_H_
#define DRAGOMAN_SERVER_HTTP_PORT_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/auth/served_certificates.h"
#include "server/http/options.h"
#include "server/http/router.h"
#include "server/net/listener.h"

namespace dragoman {

// Called on the threads of the port, until it has stopped.
struct HttpCallbacks {
  // The certificates to serve TLS with, asked for at each new connection.  Null: plain text.
  std::function<std::shared_ptr<const ServedCertificates>()> certificates;
  // Told of each answer: the route, null if there was none, and the code.
  std::function<void(const HttpRoute* route, int code)> on_answer;
};

// Thread-safe, but for Serve and Stop.
class HttpPort {
 public:
  // Takes the port; whoever connects is hung up on until Serve.  An error names the address and
  // says why it cannot be had.
  static absl::StatusOr<std::unique_ptr<HttpPort>> Open(const std::string& address);
  // Stops.
  ~HttpPort();
  HttpPort(const HttpPort&) = delete;
  HttpPort& operator=(const HttpPort&) = delete;

  // HOST:PORT, with the port that was picked if it was 0.
  const std::string& address() const { return listener_->address(); }

  // REQUIRES: called once.
  void Serve(const HttpOptions& options, HttpRouter router, HttpCallbacks callbacks);

  void Drain();
  void Cancel();

  // Closes all.  Whoever answers a request afterwards speaks to nobody.  Idempotent.
  void Stop();

  ListenerStats Stats() const { return listener_->Stats(); }

 private:
  struct Loop;
  struct State;

  explicit HttpPort(std::unique_ptr<Listener> listener);
  void Take(int fd);

  const std::unique_ptr<Listener> listener_;
  const std::shared_ptr<State> state_;
  std::vector<std::shared_ptr<Loop>> loops_;
  size_t next_ = 0;  // loop for a connection; the listener's thread's
};

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_HTTP_PORT_H_
