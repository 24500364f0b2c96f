// Translations of files that are fetched later, by other calls than the one that brought the file:
// other APIs answer an upload with a name, at which to ask for progress and the result.
//
//   upload ──► translating ──► done ──► fetched, and gone
//                     │          └ after an hour: gone
//                     └► failed: says why until it is an hour old
//
// Each is a row of the store, with its file and then its result, so that any server that shares the
// store answers for it.  A server that translates one holds a lease on it, which it renews every
// few seconds together with the progress and the passages that are done.  When a lease has run out,
// because its server has ended or cannot reach the store, another server takes the document and
// goes on from there.  So the result is the same, and nothing is translated twice but what was done
// since the last renewal.
//
// A document belongs to the principal that brought it, and to who knows its key.  How many there
// are and their bytes are bounded, and no principal has more than is left for others
// (shared_budget.h): a new one takes the place of the oldest of the same principal that is not in
// progress, or is refused.
//
// Thread-safe.  Its functions wait for the store, so they are not for the threads that serve
// connections.

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
#include "engine/base/not_copyable.h"
#include "server/api/document_exchange.h"
#include "store/database.h"

namespace dragoman {

// A document as it was when the store was asked.
struct StoredDocument {
  std::string id, key, principal;
  v1::DocumentProgress progress;
  std::optional<absl::Status> end;  // of its translation; nothing: in progress
  v1::DocumentReport report;        // if that is OK
  absl::Time started;

  bool done() const { return end.has_value() && end->ok(); }
  // How long until it is done, as far as is known.
  absl::Duration TimeLeft(absl::Time now) const;
};

struct DocumentStoreLimits {
  int64_t documents = 64;
  int64_t bytes = int64_t{256} << 20;  // of files and results
  absl::Duration keep = absl::Hours(1);
  absl::Duration lease = absl::Seconds(10);
  absl::Duration renew = absl::Seconds(2);
};

class DocumentStore : private NotCopyable {
 public:
  // Called when a translation that this server was asked for has ended, on another thread.
  using OnEnd = std::function<void(const StoredDocument& document)>;

  // `parts` and `database` must outlive it.
  DocumentStore(const ServerParts* parts, Database* database,
                const DocumentStoreLimits& limits = {});

  // Stores a file and begins its translation.  An error if the caller is refused, there is no room,
  // or the store cannot be reached; then `on_end` is not called.
  absl::StatusOr<StoredDocument> Add(Caller caller, const v1::DocumentHeader& header,
                                     std::shared_ptr<Spool> file, OnEnd on_end);

  // NOT_FOUND: there is none, or it was kept long enough.
  absl::StatusOr<StoredDocument> Find(const std::string& id) const;
  // The translated file.  REQUIRES: it is done.
  absl::StatusOr<std::shared_ptr<Spool>> Output(const StoredDocument& document) const;
  // Whichever server translates it, that ends.
  absl::Status Remove(const std::string& id) const;

  // Renews the leases of what is translated here, removes what was kept long enough, and takes what
  // other servers have left.  To be called about once a second.
  void Look(absl::Time now);

  // Ends what is in progress here, for other servers to go on with.  Nothing is taken any more.
  void Close();

 private:
  struct Work;

  absl::Status Insert(const Work& work, const v1::DocumentHeader& header, const Spool& file) const;
  // For a document of so many bytes, or for what one that is there has become.
  absl::Status MakeRoom(Connection* connection, const std::string& principal, int64_t bytes,
                        bool of_result) const;
  std::shared_ptr<DocumentExchange> StartExchange(const std::shared_ptr<Work>& work, Caller caller);
  void Begin(const std::shared_ptr<Work>& work, std::shared_ptr<DocumentExchange> exchange,
             v1::DocumentHeader header, std::shared_ptr<Spool> file);
  void Pump(const std::shared_ptr<Work>& work);
  void Finish(const std::shared_ptr<Work>& work);
  absl::Status WriteEnd(Work* work) const;
  absl::Status Renew(Work* work) const;
  void Release(const Work& work, absl::Time then) const;
  void TakeOne(absl::Time now);

  const ServerParts* const parts_;
  Database* const database_;
  const DocumentStoreLimits limits_;
  const std::string server_;  // this process, in leases
  absl::Mutex mutex_;
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
  absl::Time renewed_ ABSL_GUARDED_BY(mutex_) = absl::InfinitePast();
  std::list<std::shared_ptr<Work>> works_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_API_DOCUMENT_STORE_H_
