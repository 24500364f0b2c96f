// A call that one function answers, over any transport and in whatever API's words: it is admitted,
// its request is read, and the answer is made on the thread that its work is for (CallWork).
//
//   AnsweredCall<Request, Response> call(parts, "GetGlossary", caller, {.work = CallWork::kStore},
//                                        answer, done);
//   call.Start(read);     // returns at once
//   call.Cancel();        // if the caller goes away
//   ... done(end, response) is called once: in Start, or later on another thread ...
//
// Not thread-safe; done may be called on another thread than the rest.

#ifndef DRAGOMAN_SERVER_API_ANSWERED_CALL_H_
#define DRAGOMAN_SERVER_API_ANSWERED_CALL_H_

#include <functional>
#include <memory>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/clock.h"
#include "engine/base/status.h"
#include "server/api/exchange.h"
#include "server/api/methods.h"

namespace dragoman {

struct AnswerTerms {
  CallWork work = CallWork::kShort;
  absl::Status (Call::*admit)() = &Call::Admit;  // or AdmitAnybody
};

template <typename Request, typename Response>
class AnsweredCall {
 public:
  using Read = absl::FunctionRef<absl::StatusOr<Request>()>;
  using Answer = std::function<absl::StatusOr<Response>(const Request& request, Call* call)>;
  // As UnaryExchange::Done: the response is null unless the call succeeded.  May destroy the call.
  using Done = std::function<void(const CallEnd& end, Response* response)>;

  AnsweredCall(const ServerParts* parts, const char* method, Caller caller,
               const AnswerTerms& terms, Answer answer, Done done)
      : parts_(parts),
        terms_(terms),
        bytes_(caller.message_bytes),
        call_(parts, method, std::move(caller)),
        answer_(std::move(answer)),
        done_(std::move(done)) {}

  // Calls `read` at once, but only if the caller is admitted.  REQUIRES: called once.
  void Start(Read read) {
    if (const absl::Status status = TryStart(read); !status.ok()) End(status);
  }
  // REQUIRES: not called before Start has returned.
  void Cancel() {
    if (state_ != nullptr) state_->Cancel(absl::Now());
  }

 private:
  absl::Status TryStart(Read read) {
    RETURN_IF_ERROR((call_.*terms_.admit)());
    ASSIGN_OR_RETURN(Request request, read());
    state_ = std::make_shared<RequestState>(
        RequestTerms{.deadline = call_.deadline(), .principal = call_.principal()});
    return DoWork(WorkOf(terms_.work, bytes_), *parts_, state_,
                  [this, request = std::move(request)](absl::Status wanted) {
                    // Others of the caller's may have been answered since, and not been read.
                    wanted.Update(call_.CheckAnswers());
                    End(wanted.ok() ? answer_(request, &call_) : wanted);
                  });
  }

  void End(absl::StatusOr<Response> answered) {
    const Done done = std::move(done_);  // outlives this call, which done may destroy
    done(call_.End(answered.status()), answered.ok() ? &*answered : nullptr);
  }

  const ServerParts* const parts_;
  const AnswerTerms terms_;
  const size_t bytes_;  // of the message
  Call call_;
  std::shared_ptr<RequestState> state_;  // null before it is read
  const Answer answer_;
  Done done_;
};

// The exchange of a method.
template <typename Request, typename Response>
class AnsweredExchange final : public UnaryExchange {
 public:
  AnsweredExchange(AnswerMethod<Request, Response>* answer, const AnswerTerms& terms,
                   const ServerParts* parts, const char* method, Caller caller, Done done)
      : call_(
            parts, method, std::move(caller), terms,
            [=](const Request& request, Call* call) { return answer(request, call); },
            std::move(done)) {}

  void Start(Parse parse) override {
    call_.Start([&] { return Parsed<Request>(parse); });
  }
  void Cancel() override { call_.Cancel(); }

 private:
  AnsweredCall<Request, Response> call_;
};

template <typename Request, typename Response>
Method::Exchange Answered(AnswerMethod<Request, Response>* answer,
                          CallWork work = CallWork::kShort) {
  return [answer, work](const ServerParts* parts, const char* method, Caller caller,
                        UnaryExchange::Done done) {
    return std::make_unique<AnsweredExchange<Request, Response>>(
        answer, AnswerTerms{.work = work}, parts, method, std::move(caller), std::move(done));
  };
}

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_API_ANSWERED_CALL_H_
