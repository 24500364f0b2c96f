// Where files are translated: how many at a time, and on which threads.  Reading and writing files
// may take long, so it is not done on the threads that serve connections.
//
//   ASSIGN_OR_RETURN(DocumentTicket ticket, desk.Enter());   // RESOURCE_EXHAUSTED if it is full
//   desk.Run([...] { ... });
//
// Thread-safe.

#ifndef DRAGOMAN_SERVER_API_DOCUMENT_DESK_H_
#define DRAGOMAN_SERVER_API_DOCUMENT_DESK_H_

#include <atomic>
#include <functional>
#include <memory>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
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
  // A place for a file that arrives as a whole before anybody looks at it; four times as many.
  absl::StatusOr<DocumentTicket> Receive();

  // Runs `work` on a thread of its own.
  void Run(std::function<void()> work);
  void AwaitIdle();

 private:
  using Places = std::atomic<int>;  // that are taken
  absl::StatusOr<DocumentTicket> Take(const std::shared_ptr<Places>& places, int most) const;

  const DocumentLimits limits_;
  const std::shared_ptr<Places> inside_ = std::make_shared<Places>(0);
  const std::shared_ptr<Places> arriving_ = std::make_shared<Places>(0);
  absl::Mutex mutex_;
  int working_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_API_DOCUMENT_DESK_H_
