// Translates a long row of texts over one connection, in order and in bounded memory.
//
// Texts are gathered into requests, a few of which are under way at a time, so that the server
// always has something to put into its batch; the answers are delivered in the order of the texts.
// The caller's thread gathers and sends, a thread of the pipeline's own delivers.

#ifndef DRAGOMAN_CLIENT_PIPELINE_H_
#define DRAGOMAN_CLIENT_PIPELINE_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "client/translation_client.h"

namespace dragoman {

struct PipelineOptions {
  int max_texts = 32;         // of one request
  size_t max_bytes = 16'000;  // of one request, unless it holds a single text
  int max_in_flight = 4;      // requests that are under way or not delivered yet
};

// Used by one thread.
class TranslationPipeline {
 public:
  // What becomes of one text; `response` is the one that it came in.
  struct Translated {
    const std::string& source;
    const v1::Translation& translation;
    const v1::TranslateResponse& response;
  };
  // Called in the order of the texts, on the pipeline's thread.
  using Deliver = std::function<void(const Translated&)>;

  // Sends copies of `request` with other contents.  The client must outlive the pipeline.
  TranslationPipeline(TranslationClient* client, v1::TranslateRequest request,
                      const PipelineOptions& options, Deliver deliver);
  // Finishes.
  ~TranslationPipeline();
  TranslationPipeline(const TranslationPipeline&) = delete;
  TranslationPipeline& operator=(const TranslationPipeline&) = delete;

  // Takes the next text; waits while too much is in flight.  Fails once any request has failed:
  // what came before that one is delivered, nothing after it.
  absl::Status Add(std::string text);

  // Sends what was gathered, without waiting for a full request.
  absl::Status Flush();

  // Flushes, and waits until all is delivered or a request has failed.  No Add may follow.
  absl::Status Finish();

  // The place among all texts, from 0, of the first text of the request that failed.
  int64_t failed_at() const;

 private:
  struct Batch {
    int64_t first = 0;  // the place of its first text
    v1::TranslateRequest request;
    bool answered = false;
    absl::StatusOr<v1::TranslateResponse> response;
  };

  bool HasRoom() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool HasNews() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void DeliverAll();
  absl::Status DeliverBatch(const Batch& batch) const;

  TranslationClient* const client_;
  const v1::TranslateRequest request_;
  const PipelineOptions options_;
  const Deliver deliver_;

  std::vector<std::string> gathered_;
  size_t gathered_bytes_ = 0;
  int64_t added_ = 0;

  mutable absl::Mutex mutex_;
  std::deque<std::shared_ptr<Batch>> in_flight_ ABSL_GUARDED_BY(mutex_);
  absl::Status failure_ ABSL_GUARDED_BY(mutex_);
  int64_t failed_at_ ABSL_GUARDED_BY(mutex_) = 0;
  bool finished_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace dragoman

#endif  // DRAGOMAN_CLIENT_PIPELINE_H_
