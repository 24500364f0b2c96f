// The sockets of a HOST:PORT, and the thread that accepts from them.
//
// gRPC could listen by itself, but its listener closes for good when accept runs out of
// descriptors, takes connections until there are none left for anything else, and has one error for
// a port that is in use, an address of another machine and a name that nobody knows.
//
//   ASSIGN_OR_RETURN(auto listener, Listener::Open("0.0.0.0:50051"));  // the port is ours
//   ...                                     // whoever connects meanwhile is hung up on
//   listener->Serve(limits, [](int fd) { ... });
//   listener->Stop();
//
// The kernel gives each new descriptor the lowest free number.  Connections are moved up to the
// numbers [first, first + most): a free one there is all that must be counted, and the numbers
// below stay free for the rest of the server.

#ifndef DRAGOMAN_SERVER_NET_LISTENER_H_
#define DRAGOMAN_SERVER_NET_LISTENER_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "server/observe/listener_stats.h"

namespace dragoman {

// The descriptors that connections may have.
struct ConnectionRange {
  int first = 0;
  int most = 0;
};

// Thread-safe.
class Listener {
 public:
  // Takes a connection and owns its descriptor from now on; on the listener's thread.
  using Take = std::function<void(int fd)>;

  // Listens on all addresses that HOST means, "0.0.0.0" and "[::]" meaning all of the machine.
  // INVALID_ARGUMENT: there is no such name, or the address is not of this machine; UNAVAILABLE:
  // the port is in use or may not be had.
  static absl::StatusOr<std::unique_ptr<Listener>> Open(const std::string& address);
  // Stops.
  ~Listener();
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  // HOST:PORT, with the port that was picked if it was 0.
  const std::string& address() const { return address_; }

  // Gives connections to `take` from now on, as many at a time as the range has room for; more are
  // closed.
  void Serve(const ConnectionRange& range, Take take);

  // Closes the port; `take` is not called any more.  Idempotent.
  void Stop();

  // Whether somebody who connects now is accepted, or would be if there were not too many: knocks
  // at the port and waits for the door.
  absl::Status Probe(absl::Duration timeout);

  ListenerStats Stats() const;

 private:
  Listener(std::string address, std::vector<int> sockets, int wake);
  void Run();
  void Accept(int socket);
  void Place(int fd);
  void Refuse(int socket);
  bool IsKnock(int fd);

  const std::string address_;
  const std::vector<int> sockets_;
  const int wake_;  // an eventfd that ends the thread
  int spare_;       // given up to accept and close one when there is no descriptor left

  mutable absl::Mutex mutex_;
  ConnectionRange range_ ABSL_GUARDED_BY(mutex_);
  Take take_ ABSL_GUARDED_BY(mutex_);                // null until Serve
  std::vector<int> knocks_ ABSL_GUARDED_BY(mutex_);  // local ports of Probe's connections
  int highest_ ABSL_GUARDED_BY(mutex_) = 0;          // descriptor of a connection so far
  std::atomic<int64_t> accepted_ = 0, over_limit_ = 0, no_descriptors_ = 0;
  std::thread thread_;
};

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_NET_LISTENER_H_
