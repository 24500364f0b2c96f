// The HTTP port: a few threads that serve all of its connections.
//
//   ASSIGN_OR_RETURN(auto port, HttpPort::Open("0.0.0.0:9464"));  // the port is ours
//   router.Add(...);
//   port->Serve(options, std::move(router), callbacks);
//   port->Drain();   // closes each connection after its next answer
//   port->Cancel();  // cancels the calls that are still being answered
//   port->Stop();
//
// A connection belongs to the loop of one thread (connection.h), so it needs no lock.  The parser
// is Boost.Beast's; only files in this folder know it.

#ifndef DRAGOMAN_SERVER_HTTP_PORT_H_
#define DRAGOMAN_SERVER_HTTP_PORT_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/base/not_copyable.h"
#include "server/auth/served_certificates.h"
#include "server/http/options.h"
#include "server/http/router.h"
#include "server/net/listener.h"

namespace dragoman {

// Called on the threads of the port until it has stopped.
struct HttpCallbacks {
  // The certificates for TLS, requested for each new connection.  Null: plain text.
  std::function<std::shared_ptr<const ServedCertificates>()> certificates;
  // Called for each answer with the route, or null if there was none, and the code.
  std::function<void(const HttpRoute* route, int code)> on_answer;
};

// Thread-safe, except for Serve and Stop.
class HttpPort : private NotCopyable {
 public:
  // Takes the port; connections are closed until Serve.  An error names the address and says why it
  // is not available.  Inherited sockets, if there are any, take the place of the address; those
  // who connect to them wait until Serve.
  static absl::StatusOr<std::unique_ptr<HttpPort>> Open(const std::string& address,
                                                        const std::vector<int>& inherited = {});
  // Calls Stop.
  ~HttpPort();

  // HOST:PORT, with the port that was chosen if it was 0.
  const std::string& address() const { return listener_->address(); }

  // REQUIRES: called once.
  void Serve(const HttpOptions& options, HttpRouter router, HttpCallbacks callbacks);

  void Drain();
  void Cancel();

  // Closes all connections; later answers are dropped.  Idempotent.
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
  size_t next_ = 0;  // the loop of the next connection; used on the listener's thread
};

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_HTTP_PORT_H_
