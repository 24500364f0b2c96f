// Bounds what arrives of messages that are not there yet.
//
// gRPC takes a message of any size, compares it with the limit when all of it has come, and ends
// anybody's calls when it has too much.  So of clients of whom a message is waited for, what the
// kernel has received from them is compared with what has come of it: the messages that were read.
// If gRPC keeps too much, those are reset for whom it keeps most.
//
//   Arrivals::Get().Begin(peer);            // a message of this client is waited for,
//   Arrivals::Get().Add(peer, bytes);       // one of its messages has come
//   Arrivals::Get().End(peer);              // and no more
//   Arrivals::Get().Look(most, listener);   // every now and then (Await)
//
// A message counts with what may be around it (headers, frames, TLS), so that a client that sends
// millions of messages for hours is never reset for that.
//
// Thread-safe.

#ifndef DRAGOMAN_SERVER_NET_ARRIVALS_H_
#define DRAGOMAN_SERVER_NET_ARRIVALS_H_

#include <atomic>
#include <cstdint>
#include <map>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "engine/base/not_copyable.h"
#include "server/net/listener.h"

namespace dragoman {

class Arrivals : private NotCopyable {
 public:
  // Of all listeners of the process.
  static Arrivals& Get();

  void Begin(const std::string& peer);
  void Add(const std::string& peer, size_t bytes);
  void End(const std::string& peer);
  // Whether any message is waited for: if not, nobody has to Add.
  bool any() const { return any_.load(std::memory_order_relaxed); }

  // Waits so long and, if it may sleep, until a message is waited for; less if `woken` is set.
  void Await(const std::atomic<bool>& woken, absl::Duration time, bool may_sleep);
  // Sets it.
  void Wake(std::atomic<bool>* woken);

  // While gRPC keeps more than `most` bytes, resets the connection of this listener that has sent
  // most of them.
  void Look(int64_t most, Listener* listener);

 private:
  struct Client {
    int waits = 0;
    int64_t before = -1;  // received until the first look
    int64_t came = 0;     // since then
  };

  std::atomic<bool> any_ = false;
  absl::Mutex mutex_;
  std::map<std::string, Client> clients_ ABSL_GUARDED_BY(mutex_);  // with messages waited for
};

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_NET_ARRIVALS_H_
