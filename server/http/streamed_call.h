// A call whose answer over HTTP is written as it comes: what connects an exchange that sends
// messages (server/api/outbox.h) with an HttpAnswer.

#ifndef DRAGOMAN_SERVER_HTTP_STREAMED_CALL_H_
#define DRAGOMAN_SERVER_HTTP_STREAMED_CALL_H_

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "engine/base/pump.h"
#include "server/api/outbox.h"
#include "server/http/message.h"

namespace dragoman {

// How an API writes what an exchange sends.  Calls follow each other.
template <typename Exchange>
struct StreamFormat {
  using Message = typename decltype(std::declval<Exchange>().Next().message)::value_type;

  // The head of the answer and the first part of its body.  Called before the first event is
  // written or, if none was, before the last one.
  std::function<HttpResponse(const Exchange& exchange)> head;
  // What a message is written as; "": nothing.
  std::function<std::string(const Message& message)> event;
  // What is written last; nothing: the answer is cut off.  An error may come after some events.
  std::function<std::optional<std::string>(const CallEnd& end)> last;
  // The answer if the first event would be an error.
  std::function<HttpResponse(const CallEnd& end)> error;
};

template <typename Exchange>
class StreamedHttpCall : public std::enable_shared_from_this<StreamedHttpCall<Exchange>> {
 public:
  StreamedHttpCall(std::shared_ptr<HttpAnswer> answer, StreamFormat<Exchange> format)
      : answer_(std::move(answer)), format_(std::move(format)) {}

  // What the exchange is to call when it has something to send.
  std::function<void()> Ready() {
    return [weak = this->weak_from_this()] {
      if (const auto call = weak.lock()) call->OnEvent();
    };
  }

  // `exchange` has Ready and has not been started, which `start` does.
  template <typename Start>
  void Run(std::shared_ptr<Exchange> exchange, const Start& start) {
    self_ = this->shared_from_this();
    exchange_ = std::move(exchange);
    start(exchange_.get());
    // The client may go away, and then nothing is written any more.
    answer_->OnGone([weak = this->weak_from_this()] {
      if (const auto call = weak.lock()) {
        call->gone_ = true;
        call->exchange_->Cancel();
        call->OnEvent();
      }
    });
    OnEvent();
  }

 private:
  void OnEvent() {
    const auto self = this->shared_from_this();
    pump_.Run([this] { return Step(); });
  }

  bool Step() {
    if (writing_ || ended_) return false;
    auto event = exchange_->Next();
    if (event.message.has_value()) {
      if (!gone_) Write(format_.event(*event.message), std::move(event.held));
      return true;
    }
    ended_ = event.end.has_value();
    if (ended_) {
      End(*event.end);
      self_ = nullptr;
    }
    return false;
  }

  void Write(std::string text, std::shared_ptr<HeldAnswer> held) {
    if (text.empty()) return;
    if (!std::exchange(begun_, true)) answer_->Begin(format_.head(*exchange_));
    writing_ = true;
    // Called back later, on the connection's thread.
    answer_->Write(std::move(text), [self = this->shared_from_this(), held = std::move(held)] {
      self->writing_ = false;
      self->OnEvent();
    });
  }

  void End(const CallEnd& end) {
    if (!begun_ && !end.status.ok()) return answer_->Send(format_.error(end));
    HttpResponse whole;
    if (!begun_) whole = format_.head(*exchange_);
    std::optional<std::string> last = format_.last(end);
    if (!last.has_value()) return;
    if (!begun_) {
      whole.body += *last;
      return answer_->Send(std::move(whole));
    }
    if (!last->empty()) answer_->Write(*std::move(last), nullptr);
    answer_->End();
  }

  const std::shared_ptr<HttpAnswer> answer_;
  const StreamFormat<Exchange> format_;
  std::shared_ptr<Exchange> exchange_;
  std::shared_ptr<StreamedHttpCall> self_;  // until its end

  Pump pump_;
  std::atomic<bool> writing_ = false, gone_ = false;
  bool begun_ = false, ended_ = false;  // the pump's
};

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_HTTP_STREAMED_CALL_H_
