// The sockets of a HOST:PORT or a unix:PATH, and the thread that accepts connections from them.
//
// gRPC could listen by itself.  But its listener stops for good when accept runs out of
// descriptors, takes connections until no descriptors are left for anything else, and reports the
// same error for a port in use, an address of another machine and an unknown name.
//
//   ASSIGN_OR_RETURN(auto listener, Listener::Open("0.0.0.0:50051"));  // the port is ours
//   ...                                     // connections are closed until Serve
//   listener->Serve(limits, [](int fd) { ... });
//   listener->Stop();
//
// A service manager may have opened the sockets already (inherited_sockets.h).  Those who connected
// to them are not turned away: they wait until Serve.
//
// The kernel gives each new descriptor the lowest free number.  Connections are moved up to the
// numbers [first, first + most): it suffices to count the free ones there, and the lower numbers
// stay free for the rest of the server.

#ifndef DRAGOMAN_SERVER_NET_LISTENER_H_
#define DRAGOMAN_SERVER_NET_LISTENER_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "engine/base/not_copyable.h"
#include "server/observe/listener_stats.h"

namespace dragoman {

// The descriptor numbers reserved for connections.
struct ConnectionRange {
  int first = 0;
  int most = 0;
};

// Thread-safe.
class Listener : private NotCopyable {
 public:
  // Takes ownership of a connection's descriptor.  Called on the listener's thread.
  using Take = std::function<void(int fd)>;

  // Listens on all addresses of HOST; "0.0.0.0" and "[::]" mean all addresses of the machine.
  // INVALID_ARGUMENT: the name does not exist, or the address is not of this machine; UNAVAILABLE:
  // the port is in use or not permitted.  The socket at a PATH is for the owner of this process
  // alone; it takes the place of one that a process has left behind, and goes with Stop.
  static absl::StatusOr<std::unique_ptr<Listener>> Open(const std::string& address);
  // Listens at these sockets, of which it takes ownership and which do not block.
  // FAILED_PRECONDITION: one has a PATH that is not for its owner alone.  REQUIRES: not empty.
  static absl::StatusOr<std::unique_ptr<Listener>> Adopt(const std::vector<int>& sockets);
  // The one or, unless there are none, the other; an error says for what.
  static absl::StatusOr<std::unique_ptr<Listener>> OpenFor(const char* what,
                                                           const std::string& address,
                                                           const std::vector<int>& inherited);
  // HOST:PORT or unix:PATH of a socket.
  static std::string AddressOf(int socket);
  // Calls Stop.
  ~Listener();

  // As it was given, but with the port that was chosen if it was 0; that of the first socket that
  // was adopted.
  const std::string& address() const { return address_; }

  // Passes connections to `take` from now on, at most as many at a time as the range has room for;
  // others are closed.
  void Serve(const ConnectionRange& range, Take take);

  // Closes the port; `take` is not called any more.  Idempotent.
  void Stop();

  // Whether a new connection would be accepted, apart from the limit: connects to the port and
  // waits until the listener has closed the connection.  REQUIRES: it has a port.
  absl::Status Probe(absl::Duration timeout);

  // Lets those who connect wait, or no more.
  void Hold(bool held) { held_ = held; }

  // A client at this IP address (4 or 16 bytes) and port, as gRPC names it: "ipv4:192.0.2.1:50000".
  static std::string PeerAt(const std::string& ip, int port);
  // Resets the connection with this client, if there is one; what it has sent and was not read is
  // dropped.
  void Abort(const std::string& peer);
  // The clients that are connected, and how many bytes each has sent so far.
  std::vector<std::pair<std::string, int64_t>> Received() const;

  ListenerStats Stats() const;

 private:
  Listener(std::string address, std::vector<int> sockets, int wake, bool adopted);
  void Run();
  void Accept(int socket);
  void Place(int fd);
  void Refuse(int socket);
  bool IsKnock(int fd);

  const std::string address_;
  const std::vector<int> sockets_;
  const int wake_;  // an eventfd that ends the thread
  const bool adopted_;
  bool stopped_ = false;
  int spare_;  // used to accept and close a connection when no descriptor is left

  mutable absl::Mutex mutex_;
  ConnectionRange range_ ABSL_GUARDED_BY(mutex_);
  Take take_ ABSL_GUARDED_BY(mutex_);                // null until Serve
  std::vector<int> knocks_ ABSL_GUARDED_BY(mutex_);  // local ports of Probe's connections
  int highest_ ABSL_GUARDED_BY(mutex_) = 0;  // the highest descriptor of a connection so far
  std::atomic<bool> held_ = false;
  std::atomic<int64_t> accepted_ = 0, over_limit_ = 0, no_descriptors_ = 0, aborted_ = 0;
  std::thread thread_;
};

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_NET_LISTENER_H_
