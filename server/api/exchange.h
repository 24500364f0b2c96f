// The common part of all calls that use the engine, whatever they ask for and over any transport:
// they pass the gate, are admitted, may be cancelled, and are recorded at their end.
//
//   transport (a gRPC reactor, an HTTP handler)   reads bytes, writes bytes
//     exchange (this and its subclasses)          admission, quota, deadline, metrics, the end
//       engine (engine/request/translator.h)              text in, text out
//
// translate_exchange.h: Translate. stream_exchange.h: TranslateStream. bulk_exchange.h:
// TranslateBulk. score_exchange.h: Score.  Those of one answer are EngineExchanges; from the others
// the transport pulls ExchangeEvents (outbox.h).

#ifndef DRAGOMAN_SERVER_API_EXCHANGE_H_
#define DRAGOMAN_SERVER_API_EXCHANGE_H_

#include <google/protobuf/message.h>

#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/base/not_copyable.h"
#include "engine/base/status.h"
#include "server/api/call.h"
#include "server/api/convert.h"
#include "server/api/translate_task.h"

namespace dragoman {

class Exchange : private NotCopyable {
 public:
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
    absl::StatusOr<Priority> priority = Priority::kInteractive;
    if constexpr (requires { message->priority(); }) {
      if (message.ok()) priority = PriorityOf(message->priority(), Priority::kInteractive);
    }
    RETURN_IF_ERROR(Begin(message.status(), priority.value_or(Priority::kInteractive)));
    RETURN_IF_ERROR(priority.status());
    return message;
  }

  // The priority that a request asks for or, if it asks for none, `otherwise`, but within the
  // caller's rights: PERMISSION_DENIED.
  absl::StatusOr<Priority> PriorityOf(v1::Priority asked, Priority otherwise) const;

  // For a message that was read with this status.
  absl::Status Begin(const absl::Status& read, Priority priority);

  // Prepares a task; the call then has its model and its size.
  absl::Status Prepare(v1::TranslateRequest request, TranslateTask* task);

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

// An exchange of one message for one, whatever the messages are (methods.h).  The transport reads
// the request's bytes and writes the answer's; everything in between is here.
//
//   auto exchange = MethodOf("Score").exchange(parts, "Score", caller, done);
//   exchange->Start(parse);     // returns at once
//   exchange->Cancel();         // if the caller goes away
//   ... done(end, response) is called once: in Start, or later on a worker's thread ...
class UnaryExchange {
 public:
  using Message = google::protobuf::Message;
  // Fills the request, or says why it cannot be read; CANCELLED if the caller went away before it
  // arrived.
  using Parse = absl::FunctionRef<absl::Status(Message* request)>;
  // The response, which may be moved from, is null unless the call succeeded.  Must not block.  May
  // destroy the exchange.
  using Done = std::function<void(const CallEnd& end, Message* response)>;

  // REQUIRES: done has been called, or Start never was.
  virtual ~UnaryExchange() = default;

  // Calls `parse` at once, but only if the caller is admitted.  REQUIRES: called once.
  virtual void Start(Parse parse) = 0;
  // REQUIRES: not called before Start has returned.
  virtual void Cancel() = 0;
};

template <typename Request>
absl::StatusOr<Request> Parsed(UnaryExchange::Parse parse) {
  Request request;
  RETURN_IF_ERROR(parse(&request));
  return request;
}

// One that uses the engine.
template <typename Request, typename Response>
class EngineExchange : public UnaryExchange, public Exchange {
 public:
  // As Exchange.
  EngineExchange(const ServerParts* parts, const char* method, Caller caller, Done done)
      : Exchange(parts, method, std::move(caller)), done_(std::move(done)) {}

  void Start(Parse parse) final {
    if (const absl::Status status = TryStart(parse); !status.ok()) End(status, {});
  }
  void Cancel() final { Exchange::Cancel(); }

 protected:
  // Starts what leads to End.  After an error nothing has been started.
  virtual absl::Status Run(Request request) = 0;

  void End(const absl::Status& status, Response response) {
    const Done done = std::move(done_);  // outlives this exchange, which done may destroy
    done(call().End(status), status.ok() ? &response : nullptr);
  }

 private:
  absl::Status TryStart(Parse parse) {
    RETURN_IF_ERROR(Enter());
    ASSIGN_OR_RETURN(Request message, Begin(Parsed<Request>(parse)));
    CallWork work = CallWork::kShort;
    if constexpr (std::is_same_v<Request, v1::TranslateRequest>) {
      work = TranslateTask::WorkOf(parts(), message);
    }
    if (work == CallWork::kShort) return Run(std::move(message));
    return DoWork(work, parts(), Exchange::request(),
                  [this, message = std::move(message)](absl::Status status) mutable {
                    if (status.ok()) status = Run(std::move(message));
                    if (!status.ok()) End(status, {});
                  });
  }

  Done done_;
};

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_API_EXCHANGE_H_
