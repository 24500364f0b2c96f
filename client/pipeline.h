// Translates a long sequence of texts over one connection, in order and in bounded memory.
//
// Texts are collected into requests, several of which are in flight at a time, so that the server
// always has something to put into its batch; the answers are delivered in the order of the texts.
// The caller's thread collects and sends; the pipeline's thread delivers.  The latter also resends
// requests that a busy server refused and, if asked to, leaves out the texts that fail:
//
//   a b X d  ->  INVALID_ARGUMENT, contents[2]  ->  a b d  ->  translations of a, b, (error), d

#ifndef DRAGOMAN_CLIENT_PIPELINE_H_
#define DRAGOMAN_CLIENT_PIPELINE_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "client/bulk_call.h"
#include "client/translation_client.h"
#include "engine/base/not_copyable.h"

namespace dragoman {

struct PipelineOptions {
  int max_texts = 32;         // per request
  size_t max_bytes = 16'000;  // per request, unless it holds a single text
  int max_in_flight = 4;      // requests in flight or not delivered yet
  // One call for all requests (bulk_call.h).  Requests can then be short and are answered
  // separately: a slow text does not delay others.
  bool bulk = false;
  // For how long a request is resent, at the intervals that the server asks for, while the server
  // is busy (RESOURCE_EXHAUSTED) or unreachable (UNAVAILABLE) after it has answered before.
  absl::Duration max_wait = absl::ZeroDuration();
  // Whether a text that cannot be translated is delivered with its error; otherwise it ends the
  // pipeline.
  bool skip_errors = false;
};

// What a text is written in, and what of it is no language.
struct TextForm {
  v1::Markup markup = v1::MARKUP_UNSPECIFIED;
  v1::Literals literals = v1::LITERALS_UNSPECIFIED;

  friend bool operator==(const TextForm&, const TextForm&) = default;
};

// Used by one thread.
class TranslationPipeline : private NotCopyable {
 public:
  // The result for one text.
  struct Translated {
    int64_t place;  // index among all texts, from 0
    const std::string& source;
    const absl::Status& status;          // OK unless the text was skipped (skip_errors)
    const v1::Translation& translation;  // empty unless status is OK
    const std::string& model;            // that translated it
    const std::string& version;          // of the model, and how it was computed
    bool last;                           // no further one is ready: a good time to flush
  };
  // Called in the order of the texts, on the pipeline's thread.
  using Deliver = std::function<void(const Translated&)>;

  // Sends copies of `request` with other contents.  The client must outlive the pipeline.
  TranslationPipeline(TranslationClient* client, v1::TranslateRequest request,
                      const PipelineOptions& options, Deliver deliver);
  // Calls Finish.
  ~TranslationPipeline();

  // Adds the next text; waits while too much is in flight.  Fails once any request has failed:
  // everything before it is delivered, nothing after it.  `form`: what it is, instead
  // of that of the request.
  absl::Status Add(std::string text, std::optional<TextForm> form = std::nullopt);

  // Adds a text that cannot be sent: `error` is its result.
  absl::Status AddFailed(const std::string& error);

  // Sends the collected texts without waiting for a full request.
  absl::Status Flush();

  // Flushes, and waits until the first `texts` of all are delivered.  Fails once any request has.
  absl::Status AwaitDelivered(int64_t texts);

  // Flushes, and waits until everything is delivered or a request has failed.  No Add may follow.
  absl::Status Finish();

  // Where the pipeline failed.
  struct Failure {
    int64_t first = 0;  // index, from 0, of the first text that may be the cause
    int64_t last = 0;   // and of the last; equal if the server named the text
  };
  Failure failure() const;

 private:
  using Response = absl::StatusOr<v1::TranslateResponse>;
  // One text of a request, and its state.
  struct Item {
    int64_t place = 0;
    std::string source;
    std::optional<TextForm> form;
    bool settled = false;  // translated, or skipped with its error as status
    absl::Status status;
    v1::Translation translation;
    std::string model, version;
  };
  struct Batch {
    std::vector<Item> items;
    absl::Time sent = absl::InfiniteFuture();
    bool sent_again = false;  // over another call, because the first one ended
    bool answered = false;
    Response response;
  };

  bool HasRoom() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool HasNews() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status AwaitRoom() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  v1::TranslateRequest RequestFor(const std::vector<Item*>& items) const;
  void Send(std::shared_ptr<Batch> batch);
  void AwaitNews() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void DeliverAll();
  absl::Status DeliverBatch(Batch* batch, bool flush, Failure* failure);
  bool WorthWaitingFor(const absl::Status& status) const;
  Response AfterWaiting(const std::vector<Item*>& items, Response response) const;
  absl::Status Settle(std::vector<Item*> items, Response response, Failure* failure);

  TranslationClient* const client_;
  const v1::TranslateRequest request_;  // without texts
  const PipelineOptions options_;
  const Deliver deliver_;

  std::vector<std::string> gathered_;
  std::optional<TextForm> gathered_form_;  // of each of them
  size_t gathered_bytes_ = 0;
  int64_t added_ = 0;

  mutable absl::Mutex mutex_;
  std::deque<std::shared_ptr<Batch>> in_flight_ ABSL_GUARDED_BY(mutex_);
  absl::Status failure_ ABSL_GUARDED_BY(mutex_);
  Failure failed_at_ ABSL_GUARDED_BY(mutex_);
  bool finished_ ABSL_GUARDED_BY(mutex_) = false;
  int64_t delivered_ ABSL_GUARDED_BY(mutex_) = 0;
  bool answered_ = false;  // any request so far; used only on thread_
  absl::Time last_answer_ ABSL_GUARDED_BY(mutex_) = absl::InfinitePast();

  // Null: each request is a call of its own.  Destroyed before all of the above: an answer to a
  // cancelled request may still arrive.
  const std::unique_ptr<BulkCall> bulk_;
  std::thread thread_;
};

// What the bytes of a translation depend on besides the request: the files of the model, and how
// the server computes.
std::string VersionOf(const v1::TranslateResponse& response);

}  // namespace dragoman

#endif  // DRAGOMAN_CLIENT_PIPELINE_H_
