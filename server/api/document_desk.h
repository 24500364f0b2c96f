// Where files are translated: how many at a time, and on which threads.  Reading and writing files
// may take long, so it is not done on the threads that serve connections.
//
//   ASSIGN_OR_RETURN(Share place, desk.Enter("alice"));   // RESOURCE_EXHAUSTED if it is full
//   desk.Run([...] { ... });
//
// Places and memory are shared by callers (shared_budget.h), so that nobody keeps others out. Until
// the token, which may follow the file, is read, the holder is an address.
//
// Thread-safe.

#ifndef DRAGOMAN_SERVER_API_DOCUMENT_DESK_H_
#define DRAGOMAN_SERVER_API_DOCUMENT_DESK_H_

#include <array>
#include <functional>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "engine/base/not_copyable.h"
#include "server/base/shared_budget.h"
#include "server/base/spool.h"
#include "server/config/config.h"

namespace dragoman {

class DocumentDesk : private NotCopyable {
 public:
  explicit DocumentDesk(const DocumentLimits& limits = {});
  // Waits until all work is done.
  ~DocumentDesk() { AwaitIdle(); }

  const DocumentLimits& limits() const { return limits_; }

  // A place for a file that is translated.  RESOURCE_EXHAUSTED if there is none for this holder;
  // UNIMPLEMENTED if the server translates no files.
  absl::StatusOr<Share> Enter(const std::string& holder);
  // For a file that arrives or is written.  `expected` as in Spool::New.  Errors as Enter.
  absl::StatusOr<std::shared_ptr<Spool>> NewSpool(const std::string& holder, size_t expected);
  // Memory for a file that is translated.
  absl::StatusOr<Share> TakeMemory(const std::string& holder, size_t bytes) {
    return memory_.Take(holder, bytes);
  }
  std::array<BudgetStats, 3> Stats() const {
    return {places_.Stats(), files_.Stats(), memory_.Stats()};
  }

  // Runs `work` on a thread of its own.
  void Run(std::function<void()> work);
  void AwaitIdle();

 private:
  const DocumentLimits limits_;
  SharedBudget places_, files_, memory_;
  absl::Mutex mutex_;
  int working_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_API_DOCUMENT_DESK_H_
