// What all calls that use the engine have in common, whatever they ask for and whatever transport
// they came by: they pass the gate, are admitted, may be cancelled, and are booked at their end.
//
//   transport (a gRPC reactor, an HTTP handler)   reads bytes, writes bytes; a thin door
//     exchange (this and its subclasses)          admission, quota, deadline, metrics, the end
//       engine (engine/translator.h)              text in, text out
//
// translate_exchange.h: Translate and TranslateStream.  bulk_exchange.h: TranslateBulk.
// score_exchange.h: Score.

#ifndef DRAGOMAN_SERVER_API_EXCHANGE_H_
#define DRAGOMAN_SERVER_API_EXCHANGE_H_

#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/base/status.h"
#include "server/api/call.h"
#include "server/api/convert.h"

namespace dragoman {

class Exchange {
 public:
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  // The caller has gone or its deadline has passed: the engine gives the request up within a
  // decoding step, and the call ends as ever.  REQUIRES: not called before Start has returned.
  void Cancel();

 protected:
  // `parts` must outlive the exchange; `method` is a literal.
  Exchange(const ServerParts* parts, const char* method, Caller caller);
  // Leaves the gate, by which a drain waits.  REQUIRES: the call was ended, or never entered.
  ~Exchange();

  // Whether the call may come in: UNAVAILABLE, UNAUTHENTICATED or RESOURCE_EXHAUSTED if not.
  // REQUIRES: called once, before anything is done for the call.
  absl::Status Enter();

  // Makes the state by which the engine knows the request, of its principal, quota and priority.
  // Returns the message that was read, or why there is nothing to do: it cannot be read, or the
  // caller went away (CANCELLED) or its deadline passed before it came.  REQUIRES: entered.
  template <typename Message>
  absl::StatusOr<Message> Begin(absl::StatusOr<Message> message) {
    absl::StatusOr<Priority> priority = message.ok() ? FromProto(message->priority()) : Priority();
    RETURN_IF_ERROR(Begin(message.status(), priority.value_or(Priority::kInteractive)));
    RETURN_IF_ERROR(priority.status());
    return message;
  }

  // The same of a message that was `read` so.
  absl::Status Begin(const absl::Status& read, Priority priority);

  // A state for one of several requests of the call.  REQUIRES: entered.
  std::shared_ptr<RequestState> NewRequest(Priority priority) const;

  // Null until begun.
  const std::shared_ptr<RequestState>& request() const { return request_; }

  const ServerParts& parts() const { return *parts_; }
  Call& call() { return call_; }

 private:
  const ServerParts* const parts_;
  Call call_;
  bool inside_ = false;
  std::shared_ptr<RequestState> request_;
};

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_API_EXCHANGE_H_
