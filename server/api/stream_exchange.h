// One TranslateStream over any transport: an exchange that delivers results while the translation
// is in progress.  The transport pulls, so that it never gets more than it can write:
//
//   auto exchange = std::make_shared<TranslateStreamExchange>(parts, caller, ready);
//   exchange->Start(parse);           // returns at once
//   whenever ready() is called, and whenever a message was written:
//     exchange->Next()                a message to write, or the end, or nothing yet
//
// What has not been pulled waits in an outbox, and consecutive texts are merged into one message.
// So a slow reader gets fewer and longer messages, and costs no more memory than the whole answer.
//
// The messages are in the order of the contents and of their sentences.  Concatenated, the
// stable_text of a content is the text of its best hypothesis.

#ifndef DRAGOMAN_SERVER_API_STREAM_EXCHANGE_H_
#define DRAGOMAN_SERVER_API_STREAM_EXCHANGE_H_

#include <functional>
#include <memory>
#include <optional>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "dragoman/v1/translation.pb.h"
#include "server/api/exchange.h"
#include "server/api/outbox.h"
#include "server/api/translate_task.h"

namespace dragoman {

using StreamEvent = ExchangeEvent<v1::TranslateStreamResponse>;

// Next may be called on any thread, by one at a time.
class TranslateStreamExchange : public Exchange,
                                public std::enable_shared_from_this<TranslateStreamExchange> {
 public:
  using Parse = absl::FunctionRef<absl::StatusOr<v1::TranslateRequest>()>;

  // `ready` is called, in Start or on a worker's thread, when Next may have something again.  It
  // must not block, and may be called after the end.  `parts` must outlive the exchange.
  TranslateStreamExchange(const ServerParts* parts, Caller caller, std::function<void()> ready);

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

  const std::function<void()> ready_;
  TranslateTask task_;
  bool any_text_ = false;  // whether any was found so far

  absl::Mutex mutex_;
  Outbox<v1::TranslateStreamResponse> outbox_ ABSL_GUARDED_BY(mutex_);
  std::optional<CallEnd> end_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_API_STREAM_EXCHANGE_H_
