// Whether the server is working, checked every second on a separate thread: every worker is asked
// to take a turn, possibly an empty one, and a client connects to the gRPC port.  The pages for
// probes report the result.
//
//   alive   every worker has responded within the last 30 seconds
//   well    within the last 10 seconds, and the gRPC port answered a moment ago
//
// A server that is not alive should be restarted; one that is not well should get no traffic for a
// while.

#ifndef DRAGOMAN_SERVER_OBSERVE_VITALS_H_
#define DRAGOMAN_SERVER_OBSERVE_VITALS_H_

#include <functional>
#include <string>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "engine/base/not_copyable.h"

namespace dragoman {

struct VitalsOptions {
  absl::Duration interval = absl::Seconds(1);
  absl::Duration dead_after = absl::Seconds(30);  // without a turn
  absl::Duration unwell_after = absl::Seconds(10);
  // Done each time, before the checks; may be null.
  std::function<void()> tidy;
  // Asks every worker to take a turn; returns how long the slowest one has not responded.
  std::function<absl::Duration()> silence;
  // Whether a new client would be served.  Takes a few seconds at most.
  std::function<absl::Status()> port;
  // Called when the server becomes alive or ceases to be.
  std::function<void(bool alive)> on_alive;
};

// Thread-safe.
class Vitals : private NotCopyable {
 public:
  // Checks at once, and then every interval.
  explicit Vitals(VitalsOptions options);
  ~Vitals();

  // Checks once more, now.
  void Look();

  // Stops checking.  Idempotent.
  void Stop();

  // OK, or what is wrong.
  absl::Status alive() const;
  absl::Status well() const;

 private:
  void Run();

  const VitalsOptions options_;
  mutable absl::Mutex mutex_;
  absl::Status alive_ ABSL_GUARDED_BY(mutex_);
  absl::Status well_ ABSL_GUARDED_BY(mutex_);
  absl::Time looked_ ABSL_GUARDED_BY(mutex_);
  bool ending_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_OBSERVE_VITALS_H_
