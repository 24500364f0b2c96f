// Bounds the calls that gRPC holds, also those that their clients have reset.
//
// HTTP/2 limits the open streams of a connection, and one that was reset is not open.  But gRPC
// 1.51 keeps its call, which takes 19 kB, until a handler has seen it, and reads on meanwhile: four
// connections that begin calls and reset them at once ("rapid reset", CVE-2023-44487) made 290,000
// in a second.  So the guard counts calls, as the allocator of their contexts, also those of
// unknown methods.  When there are many, its thread asks channelz whose they are, and resets
//
//   a connection with more than twice the calls that it may have open: as many as are open, and as
//     many that it has cancelled; a sixteenth of that while all calls take more memory than they
//     may, and if it came in the second after another one was reset;
//   those with most calls, if the others still have too many.
//
// Until the calls of these have been worked off, new connections wait.
//
// It also looks what arrives of messages (arrivals.h).

#ifndef DRAGOMAN_SERVER_GRPC_CALL_GUARD_H_
#define DRAGOMAN_SERVER_GRPC_CALL_GUARD_H_

#include <grpcpp/grpcpp.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "absl/time/time.h"
#include "server/net/listener.h"

namespace dragoman {

// Thread-safe, except for Start.  It belongs to the server whose calls it counts.
class CallGuard final : public grpc::ContextAllocator {
 public:
  // The connections are those of this listener, which must outlive the guard.  `memory`: of all
  // calls; 0: any.
  CallGuard(Listener* listener, int most_open, size_t memory);
  ~CallGuard() override;

  // Watches the server that was built last.  REQUIRES: called once.
  void Start();

  // Null: gRPC makes the context itself.
  grpc::CallbackServerContext* NewCallbackServerContext() override {
    Add();
    return nullptr;
  }
  grpc::GenericCallbackServerContext* NewGenericCallbackServerContext() override {
    Add();
    return nullptr;
  }
  void Release(grpc::CallbackServerContext*) override { calls_.fetch_sub(1); }
  void Release(grpc::GenericCallbackServerContext*) override { calls_.fetch_sub(1); }

 private:
  struct Connection {
    intptr_t id = 0;  // channelz's: later ones have greater ones
    int64_t calls = 0;
    std::string peer;
  };

  void Add() {
    if (calls_.fetch_add(1) >= unlooked_.load(std::memory_order_relaxed) && !awake_) Wake();
  }
  void Wake();
  void Run();
  void Look();
  std::vector<Connection> Connections() const;

  Listener* const listener_;
  const int64_t memory_, most_of_one_, most_of_all_;
  intptr_t server_ = 0;         // channelz's id
  absl::Time attacked_;         // when a connection was reset,
  intptr_t newest_before_ = 0;  // and the last one that was there before
  std::atomic<int64_t> calls_ = 0;
  std::atomic<int64_t> unlooked_;  // the calls that there may be before the next look
  std::atomic<bool> awake_ = false, stopped_ = false;
  std::thread thread_;
};

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_GRPC_CALL_GUARD_H_
