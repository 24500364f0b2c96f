// Calls who wants to look at something again and again, on a thread of its own: whether a client is
// silent, whether there is room again.
//
// Thread-safe.

#ifndef DRAGOMAN_SERVER_BASE_TICKER_H_
#define DRAGOMAN_SERVER_BASE_TICKER_H_

#include <functional>
#include <map>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "engine/base/not_copyable.h"

namespace dragoman {

class Ticker : private NotCopyable {
 public:
  static constexpr absl::Duration kInterval = absl::Milliseconds(50);

  using Look = std::function<void(absl::Time now)>;

  Ticker();
  ~Ticker();

  // Calls `look`, which must not block, every interval.  Returns a number for Unwatch, after which
  // it may be called once more.
  int Watch(Look look);
  void Unwatch(int watch);

  // Lets everyone look now, as if it were `now`.
  void Tick(absl::Time now);

 private:
  void Run();

  absl::Mutex mutex_;
  bool ends_ ABSL_GUARDED_BY(mutex_) = false;
  int watches_ ABSL_GUARDED_BY(mutex_) = 0;  // so far
  std::map<int, Look> looks_ ABSL_GUARDED_BY(mutex_);
  std::thread thread_;
};

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_BASE_TICKER_H_
