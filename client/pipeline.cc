#include "client/pipeline.h"

#include <utility>

#include "engine/base/status.h"

namespace dragoman {

TranslationPipeline::TranslationPipeline(TranslationClient* client, v1::TranslateRequest request,
                                         const PipelineOptions& options, Deliver deliver)
    : client_(client),
      request_(std::move(request)),
      options_(options),
      deliver_(std::move(deliver)),
      thread_([this] { DeliverAll(); }) {}

TranslationPipeline::~TranslationPipeline() { Finish().IgnoreError(); }

absl::Status TranslationPipeline::Add(std::string text) {
  const bool full = static_cast<int>(gathered_.size()) >= options_.max_texts ||
                    gathered_bytes_ + text.size() > options_.max_bytes;
  if (full) RETURN_IF_ERROR(Flush());
  gathered_bytes_ += text.size();
  gathered_.push_back(std::move(text));
  return absl::OkStatus();
}

absl::Status TranslationPipeline::Flush() {
  auto batch = std::make_shared<Batch>();
  {
    absl::MutexLock lock(&mutex_);
    mutex_.Await(absl::Condition(this, &TranslationPipeline::HasRoom));
    RETURN_IF_ERROR(failure_);
    if (gathered_.empty()) return absl::OkStatus();
    in_flight_.push_back(batch);
  }
  batch->first = added_;
  added_ += static_cast<int64_t>(gathered_.size());
  batch->request = request_;
  for (std::string& text : gathered_) batch->request.add_contents(std::move(text));
  gathered_.clear();
  gathered_bytes_ = 0;
  client_->TranslateAsync(batch->request,
                          [this, batch](absl::StatusOr<v1::TranslateResponse> response) {
                            absl::MutexLock lock(&mutex_);
                            batch->response = std::move(response);
                            batch->answered = true;
                          });
  return absl::OkStatus();
}

absl::Status TranslationPipeline::Finish() {
  Flush().IgnoreError();  // failure_ keeps the error
  {
    absl::MutexLock lock(&mutex_);
    finished_ = true;
  }
  if (thread_.joinable()) thread_.join();
  absl::MutexLock lock(&mutex_);
  return failure_;
}

int64_t TranslationPipeline::failed_at() const {
  absl::MutexLock lock(&mutex_);
  return failed_at_;
}

bool TranslationPipeline::HasRoom() const {
  return !failure_.ok() || static_cast<int>(in_flight_.size()) < options_.max_in_flight;
}

bool TranslationPipeline::HasNews() const {
  return in_flight_.empty() ? finished_ : in_flight_.front()->answered;
}

// After a failure the rest is still waited for: its answers are written into this object.
void TranslationPipeline::DeliverAll() {
  while (true) {
    std::shared_ptr<Batch> batch;
    bool failed = false;
    {
      absl::MutexLock lock(&mutex_);
      mutex_.Await(absl::Condition(this, &TranslationPipeline::HasNews));
      if (in_flight_.empty()) return;
      batch = in_flight_.front();
      failed = !failure_.ok();
    }
    const absl::Status status = failed ? absl::OkStatus() : DeliverBatch(*batch);
    absl::MutexLock lock(&mutex_);
    in_flight_.pop_front();
    if (!status.ok()) {
      failure_ = status;
      failed_at_ = batch->first;
    }
  }
}

absl::Status TranslationPipeline::DeliverBatch(const Batch& batch) const {
  RETURN_IF_ERROR(batch.response.status());
  const v1::TranslateResponse& response = *batch.response;
  const int texts = batch.request.contents_size();
  if (response.translations_size() != texts) {
    return absl::InternalError("the server answered " + std::to_string(texts) + " texts with " +
                               std::to_string(response.translations_size()) + " translations");
  }
  for (int i = 0; i < texts; ++i) {
    deliver_({batch.request.contents(i), response.translations(i), response});
  }
  return absl::OkStatus();
}

}  // namespace dragoman
