// Where files are translated: how many at a time, and on which threads.  Reading and writing files
// may take long, so it is not done on the threads that serve connections.
//
//   ASSIGN_OR_RETURN(DocumentTicket ticket, desk.Enter());   // RESOURCE_EXHAUSTED if it is full
//   desk.Run([...] { ... });
//
// A place is for a caller who is known.  Files of others may begin to arrive, because their tokens
// may be behind them, but these have places of their own, so that they keep nobody else out.
//
// Thread-safe.

#ifndef DRAGOMAN_SERVER_API_DOCUMENT_DESK_H_
#define DRAGOMAN_SERVER_API_DOCUMENT_DESK_H_

#include <atomic>
#include <functional>
#include <map>
#include <memory>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "server/config/config.h"

namespace dragoman {

// A place at the desk; free again when it is destroyed.  May outlive the desk.
using DocumentTicket = std::shared_ptr<const void>;

class DocumentDesk {
 public:
  explicit DocumentDesk(const DocumentLimits& limits = {}) : limits_(limits) {}
  // Waits until all work is done.
  ~DocumentDesk() { AwaitIdle(); }
  DocumentDesk(const DocumentDesk&) = delete;
  DocumentDesk& operator=(const DocumentDesk&) = delete;

  const DocumentLimits& limits() const { return limits_; }

  // RESOURCE_EXHAUSTED if as many files as allowed are being translated already.
  absl::StatusOr<DocumentTicket> Enter();
  // A place for a file that arrives as a whole before anybody looks at it; four times as many, and
  // as many again for callers who are not known yet.
  absl::StatusOr<DocumentTicket> Receive(bool known);

  // Calls `look`, which must not block, in each Tidy.  Returns a number for Unwatch.
  int Watch(std::function<void(absl::Time now)> look);
  void Unwatch(int watch);
  // Lets all watchers see what has waited for too long.
  void Tidy(absl::Time now);

  // Runs `work` on a thread of its own.
  void Run(std::function<void()> work);
  void AwaitIdle();

 private:
  using Places = std::atomic<int>;  // that are taken
  absl::StatusOr<DocumentTicket> Take(const std::shared_ptr<Places>& places, int most,
                                      const char* does) const;

  const DocumentLimits limits_;
  const std::shared_ptr<Places> inside_ = std::make_shared<Places>(0);
  const std::shared_ptr<Places> arriving_ = std::make_shared<Places>(0);
  const std::shared_ptr<Places> arriving_unknown_ = std::make_shared<Places>(0);
  absl::Mutex mutex_;
  int working_ ABSL_GUARDED_BY(mutex_) = 0;
  int watches_ ABSL_GUARDED_BY(mutex_) = 0;  // so far
  std::map<int, std::function<void(absl::Time now)>> looks_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_API_DOCUMENT_DESK_H_
