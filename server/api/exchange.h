// The common part of all calls that use the engine, whatever they ask for and over any transport:
// they pass the gate, are admitted, may be cancelled, and are recorded at their end.
//
//   transport (a gRPC reactor, an HTTP handler)   reads bytes, writes bytes
//     exchange (this and its subclasses)          admission, quota, deadline, metrics, the end
//       engine (engine/translator.h)              text in, text out
//
// translate_exchange.h: Translate. stream_exchange.h: TranslateStream. bulk_exchange.h:
// TranslateBulk. score_exchange.h: Score.

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

  // The caller has gone or its deadline has passed: the engine abandons the request within a
  // decoding step, and the call ends as usual.  REQUIRES: not called before Start has returned.
  void Cancel();

 protected:
  // `parts` must outlive the exchange; `method` is a literal.
  Exchange(const ServerParts* parts, const char* method, Caller caller);
  // Leaves the gate, which a drain waits for.  REQUIRES: the call has ended, or never entered.
  ~Exchange();

  // Whether the call may enter: UNAVAILABLE, UNAUTHENTICATED or RESOURCE_EXHAUSTED if not.
  // REQUIRES: called once, before anything else is done for the call.
  absl::Status Enter();

  // Creates the request's state for the engine, with its principal, quota and priority.  Returns
  // the message that was read, or why there is nothing to do: it cannot be read, the caller has
  // gone (CANCELLED), or its deadline passed before the message arrived.  REQUIRES: entered.
  template <typename Message>
  absl::StatusOr<Message> Begin(absl::StatusOr<Message> message) {
    absl::StatusOr<Priority> priority = message.ok() ? FromProto(message->priority()) : Priority();
    RETURN_IF_ERROR(Begin(message.status(), priority.value_or(Priority::kInteractive)));
    RETURN_IF_ERROR(priority.status());
    return message;
  }

  // The same for a message that was read with this status.
  absl::Status Begin(const absl::Status& read, Priority priority);

  // A state for one of several requests of the call.  REQUIRES: entered.
  std::shared_ptr<RequestState> NewRequest(Priority priority) const;

  // Null before Begin.
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
