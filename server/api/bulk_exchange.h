// One TranslateBulk over any transport: any number of requests with ids, each answered as soon as
// it is done.
//
//   auto exchange = std::make_shared<BulkExchange>(parts, caller, ready);
//   exchange->Start();
//   whenever ready() is called, and whenever a message was read or written:
//     exchange->HasRoom()   then read one more request, and Add it, or NoMore()
//     exchange->Next()      a message to write, or the end, or nothing yet
//
// A request is open from when it is added until its answer is pulled.  The number of open requests
// and their bytes are limited, and so are the bytes of the answers that wait, of this call and of
// its caller (answer_budget.h): beyond that the transport does not read, no request begins, and
// flow control stops the client.  So the memory of a call is bounded, however fast the client
// writes and however slowly it reads.
//
// A request that does not ask for a priority is batch work (scheduler.h): it goes after interactive
// calls, and never fills the queue in which they wait.
//
// The engine may have no room for a request because of others, or the client does not read.  Then
// the request waits here for the answer to another one of this call or, if no event of this call
// can make room, is tried again every 50 ms; and nothing more is read.
//
// When the server drains, the open requests are answered and the call ends with UNAVAILABLE.

#ifndef DRAGOMAN_SERVER_API_BULK_EXCHANGE_H_
#define DRAGOMAN_SERVER_API_BULK_EXCHANGE_H_

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_set>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "dragoman/v1/translation.pb.h"
#include "server/api/exchange.h"
#include "server/api/outbox.h"
#include "server/api/translate_task.h"

namespace dragoman {

// Of a v1::TranslateBulkResponse, serialized: it waits in a fifth of the memory of the message.
using BulkEvent = ExchangeEvent<std::string>;

// The limits of what one call may have open.  Its answers: AnswerLimits.
struct BulkLimits {
  size_t items = 256;
  size_t bytes = 1 << 20;  // of the requests; a single one may be larger
};

// Thread-safe; Next is called by one thread at a time.
class BulkExchange : public Exchange, public std::enable_shared_from_this<BulkExchange> {
 public:
  // A request and its id.  If `request` is an error, that is the answer.
  struct Item {
    std::string id;
    absl::StatusOr<v1::TranslateRequest> request = v1::TranslateRequest();
    // Instead, called when there is memory for it; null: `request` is there.
    std::function<absl::StatusOr<v1::TranslateRequest>()> read = nullptr;
    size_t bytes = 0;                                    // of the message
    size_t more_bytes = 0;                               // of memory, as Caller's
    std::shared_ptr<SharedGlossary> glossary = nullptr;  // as TranslateTask's
  };

  // `ready` is called, in Start or on another thread, whenever the result of HasRoom or Next may
  // have changed.  It must not block, and may be called after the call has ended.  `parts` must
  // outlive the exchange; `method`, a literal, is what the call is recorded as.
  BulkExchange(const ServerParts* parts, Caller caller, std::function<void()> ready,
               const BulkLimits& limits = {}, const char* method = "TranslateBulk");
  ~BulkExchange();

  void Start();

  bool HasRoom();
  // Whether requests may still come, now or later.
  bool reads();
  // Why they may not: the caller has gone, its deadline has passed, or the server drains.
  absl::Status Wanted();

  // Whose call it is; nothing if it was refused.  After Start.
  std::optional<std::string> principal() { return call().principal_if_known(); }

  // REQUIRES: the caller was admitted.
  const Permit& permit() { return call().permit(); }
  // PERMISSION_DENIED if every request with these options would be.  REQUIRES: as permit.
  absl::Status Judge(const v1::TranslateRequest& request);

  // REQUIRES: HasRoom was true, and NoMore was not called.
  void Add(Item item);

  // The client has sent everything or, with an error, nothing more can be read.
  void NoMore(const absl::Status& status = absl::OkStatus());

  BulkEvent Next();

  // The caller has gone or its deadline has passed: gives up everything that is open.
  void Cancel();

 private:
  struct Open;

  bool MayBegin() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool WantsRetry() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Retry();
  void Run(std::shared_ptr<Open> open);
  // Runs one that has begun.
  void Translate(const std::shared_ptr<Open>& open);
  void Answered(const std::shared_ptr<Open>& open, TranslateResponse translated);
  void SetError(const absl::Status& status, v1::Error* error) const;
  TracedPart PartOf(const Open& open, const absl::Status& status) const;
  void Book(const Open& open, const absl::Status& status) const;

  const std::function<void()> ready_;
  const BulkLimits limits_;
  int watch_ = 0, tick_ = 0;  // at the gate, and at the ticker

  absl::Mutex mutex_;
  bool reading_ ABSL_GUARDED_BY(mutex_) = false;   // the client may send more
  bool ended_ ABSL_GUARDED_BY(mutex_) = false;     // the end was pulled
  absl::Status status_ ABSL_GUARDED_BY(mutex_);    // of the call
  size_t unanswered_ ABSL_GUARDED_BY(mutex_) = 0;  // requests
  size_t unanswered_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  bool held_back_ ABSL_GUARDED_BY(mutex_) = false;  // the transport, by answers that wait
  std::unordered_set<std::shared_ptr<Open>> running_ ABSL_GUARDED_BY(mutex_);  // in the engine
  std::deque<std::shared_ptr<Open>> parked_ ABSL_GUARDED_BY(mutex_);           // there was no room
  Outbox<std::string> outbox_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_API_BULK_EXCHANGE_H_
