// One TranslateStream over any transport: an exchange that delivers results while the translation
// is in progress.  The transport pulls, so that it never gets more than it can write:
//
//   TranslateStreamExchange exchange(parts, caller, ready);
//   exchange.Start(parse);            // returns at once
//   ... ready() is called ...
//   while (true) {
//     StreamEvent event = exchange.Next();
//     if (event.message) { write it, and ask again when it is written }
//     else if (event.end) { report the end; the exchange may now be destroyed }
//     else break;                     // nothing yet: ready() will be called again
//   }
//
// What has not been pulled waits here, and consecutive texts are merged into one message.  So a
// slow reader gets fewer and longer messages, and costs no more memory than the whole answer, which
// counts among those of its caller (answer_budget.h).
//
// The messages are in the order of the contents and of their sentences.  Concatenated, the
// stable_text of a content is the text of its best hypothesis.

#ifndef DRAGOMAN_SERVER_API_STREAM_EXCHANGE_H_
#define DRAGOMAN_SERVER_API_STREAM_EXCHANGE_H_

#include <deque>
#include <functional>
#include <optional>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "dragoman/v1/translation.pb.h"
#include "server/api/exchange.h"
#include "server/api/translate_exchange.h"

namespace dragoman {

using StreamEvent = ExchangeEvent<v1::TranslateStreamResponse>;

// Next may be called on any thread, by one at a time.
class TranslateStreamExchange : public Exchange {
 public:
  // Called when Next has something again, in Start or on a worker's thread, once for each time that
  // Next had nothing.  Must not block.  May call Next, and destroy the exchange at the end.
  using Ready = std::function<void()>;

  using Parse = absl::FunctionRef<absl::StatusOr<v1::TranslateRequest>()>;

  // `parts` must outlive the exchange.  REQUIRES on destruction: the end has been pulled, or Start
  // was never called.
  TranslateStreamExchange(const ServerParts* parts, Caller caller, Ready ready);

  // Calls `parse` at once, but only if the caller is admitted.  REQUIRES: called once.
  void Start(Parse parse);

  StreamEvent Next();

 private:
  absl::Status TryStart(Parse parse);
  absl::Status Run(v1::TranslateRequest proto);
  void OnNews(TranslateProgress progress);
  void OnDone(TranslateResponse translated);
  void Add(v1::TranslateStreamResponse message) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void End(const absl::Status& status);
  void CountWaiting() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  Ready ready_;
  TranslateTask task_;
  bool any_text_ = false;  // whether any was found so far

  absl::Mutex mutex_;
  std::deque<v1::TranslateStreamResponse> messages_ ABSL_GUARDED_BY(mutex_);
  size_t waiting_bytes_ ABSL_GUARDED_BY(mutex_) = 0;  // of messages_
  size_t pulled_bytes_ ABSL_GUARDED_BY(mutex_) = 0;   // of the message that is being written
  std::shared_ptr<HeldAnswer> held_ ABSL_GUARDED_BY(mutex_);  // both; null until admitted
  std::optional<CallEnd> end_ ABSL_GUARDED_BY(mutex_);
  bool waiting_ ABSL_GUARDED_BY(mutex_) = true;  // Next had nothing
};

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_API_STREAM_EXCHANGE_H_
