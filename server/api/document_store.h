// Translations of files that are fetched later, by other calls than the one that brought the file:
// other APIs answer an upload with a name, at which to ask for progress and the result.
//
//   upload ──► translating ──► done ──► fetched, and gone
//                     │          └ after an hour: gone
//                     └► failed: says why until it is an hour old
//
// A document belongs to the principal that brought it, and to who knows its key.  How many there
// are, of all and of one principal, and their bytes are bounded: a new one takes the place of the
// oldest of the same principal that is not in progress, or is refused.  Nothing survives a restart.
//
// Thread-safe.

#ifndef DRAGOMAN_SERVER_API_DOCUMENT_STORE_H_
#define DRAGOMAN_SERVER_API_DOCUMENT_STORE_H_

#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "server/api/document_exchange.h"

namespace dragoman {

// A file on its way.
class StoredDocument : public std::enable_shared_from_this<StoredDocument> {
 public:
  struct State {
    v1::DocumentProgress progress;
    std::optional<CallEnd> end;     // of its translation; nothing: in progress
    v1::DocumentReport report;      // if that is OK
    std::shared_ptr<Spool> output;  // the same
    absl::Time started;
  };

  using OnEnd = std::function<void(StoredDocument* document)>;

  const std::string& id() const { return id_; }
  const std::string& key() const { return key_; }
  const std::string& principal() const { return principal_; }
  State state() const;
  // How long until it is done, as far as is known.
  absl::Duration TimeLeft(absl::Time now) const;

 private:
  friend class DocumentStore;
  void Pump();
  void Cancel();

  std::string id_, key_, principal_;
  mutable absl::Mutex mutex_;
  std::shared_ptr<DocumentExchange> exchange_ ABSL_GUARDED_BY(mutex_);  // null after its end
  State state_ ABSL_GUARDED_BY(mutex_);
  OnEnd on_end_ ABSL_GUARDED_BY(mutex_);
};

struct DocumentStoreLimits {
  size_t documents = 64;
  size_t documents_of_principal = 16;
  size_t bytes = 256 << 20;  // of results
  absl::Duration keep = absl::Hours(1);
};

class DocumentStore {
 public:
  explicit DocumentStore(const DocumentStoreLimits& limits = {}) : limits_(limits) {}
  // Cancels what is in progress.
  ~DocumentStore();
  DocumentStore(const DocumentStore&) = delete;
  DocumentStore& operator=(const DocumentStore&) = delete;

  // Begins the translation of a file.  `on_end` is called when it has ended, on another thread,
  // unless this returns an error: the caller is refused, or there is no room.
  absl::StatusOr<std::shared_ptr<StoredDocument>> Add(const ServerParts* parts, Caller caller,
                                                      DocumentExchange::ReadFile read,
                                                      StoredDocument::OnEnd on_end, absl::Time now);

  // Null: there is none, or it was kept long enough.
  std::shared_ptr<StoredDocument> Find(const std::string& id, absl::Time now);
  // Cancels it if it is in progress.
  void Remove(const std::string& id);

  // Removes what was kept long enough.
  void Tidy(absl::Time now);

 private:
  absl::Status MakeRoom(const std::string& principal) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool DropOldest(const std::string& principal) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const DocumentStoreLimits limits_;
  absl::Mutex mutex_;
  std::list<std::shared_ptr<StoredDocument>> documents_ ABSL_GUARDED_BY(mutex_);  // oldest first
};

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_API_DOCUMENT_STORE_H_
