// Whether the server does its work, looked at every second on a thread of its own: every worker is
// asked for a turn, if only an empty one, and a client knocks at the gRPC port.  The probes' pages
// tell what was found.
//
//   alive   no worker has owed a turn for 30 seconds
//   well    nor for 10 seconds, and the gRPC port answered a moment ago
//
// A server that is not alive is to be restarted; one that is not well, to be left alone for a
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

namespace dragoman {

struct VitalsOptions {
  absl::Duration interval = absl::Seconds(1);
  absl::Duration dead_after = absl::Seconds(30);  // without a turn
  absl::Duration unwell_after = absl::Seconds(10);
  // Asks every worker for a turn; for how long one has owed another that it was asked for before.
  std::function<absl::Duration()> silence;
  // Whether a new client would be served.  Takes a few seconds at the most.
  std::function<absl::Status()> port;
  // Told when it changes whether the server is alive.
  std::function<void(bool alive)> on_alive;
};

// Thread-safe.
class Vitals {
 public:
  // Looks at once, and then every interval.
  explicit Vitals(VitalsOptions options);
  ~Vitals();
  Vitals(const Vitals&) = delete;
  Vitals& operator=(const Vitals&) = delete;

  // Looks once more, now.
  void Look();

  // Looks no more.  Idempotent.
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
