#include "client/pipeline.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "absl/time/clock.h"
#include "engine/base/status.h"

namespace dragoman {
namespace {

// The interval between retries if the server does not give one.
constexpr absl::Duration kRetryDelay = absl::Seconds(1);

// The error of one text of a request, without reference to the request: the text's index in it
// means nothing to the caller that supplied the texts.
struct TextError {
  size_t index = 0;
  absl::Status status;
};

// The text, out of `texts`, that the server rejected; nothing if it did not say which.
std::optional<TextError> TextErrorOf(const absl::Status& status, size_t texts) {
  for (const FieldViolation& violation : FieldViolationsOf(status)) {
    absl::string_view index = violation.field;
    TextError error;
    if (!absl::ConsumePrefix(&index, "contents[") || !absl::ConsumeSuffix(&index, "]") ||
        !absl::SimpleAtoi(index, &error.index) || error.index >= texts) {
      continue;
    }
    absl::string_view message = violation.description;
    absl::ConsumePrefix(&message, absl::StrCat(violation.field, ": "));
    error.status = absl::Status(status.code(), message);
    return error;
  }
  return std::nullopt;
}

// Whether the error may concern a single text, so that the other texts of its request are worth
// retrying.
bool MayBeOneTexts(const absl::Status& status) {
  return absl::IsInternal(status) || absl::IsDeadlineExceeded(status);
}

}  // namespace

std::string VersionOf(const v1::TranslateResponse& response) {
  return absl::StrCat(response.model_version(), " ", response.isa());
}

TranslationPipeline::TranslationPipeline(TranslationClient* client, v1::TranslateRequest request,
                                         const PipelineOptions& options, Deliver deliver)
    : client_(client),
      request_(std::move(request)),
      options_(options),
      deliver_(std::move(deliver)),
      bulk_(options.bulk ? client->OpenBulk() : nullptr),
      thread_([this] { DeliverAll(); }) {}

TranslationPipeline::~TranslationPipeline() { Finish().IgnoreError(); }

absl::Status TranslationPipeline::Add(std::string text, std::optional<TextForm> form) {
  const bool full = static_cast<int>(gathered_.size()) >= options_.max_texts ||
                    gathered_bytes_ + text.size() > options_.max_bytes || form != gathered_form_;
  if (full) RETURN_IF_ERROR(Flush());
  gathered_form_ = form;
  gathered_bytes_ += text.size();
  gathered_.push_back(std::move(text));
  return absl::OkStatus();
}

absl::Status TranslationPipeline::AddFailed(const std::string& error) {
  RETURN_IF_ERROR(Flush());
  auto batch = std::make_shared<Batch>();
  batch->items.resize(1);
  batch->items[0].place = added_++;
  batch->response = WrongField("contents[0]", error);
  batch->answered = true;
  absl::MutexLock lock(&mutex_);
  RETURN_IF_ERROR(AwaitRoom());
  in_flight_.push_back(std::move(batch));
  return absl::OkStatus();
}

absl::Status TranslationPipeline::Flush() {
  auto batch = std::make_shared<Batch>();
  {
    absl::MutexLock lock(&mutex_);
    RETURN_IF_ERROR(AwaitRoom());
    if (gathered_.empty()) return absl::OkStatus();
    in_flight_.push_back(batch);
  }
  batch->items.resize(gathered_.size());
  for (size_t i = 0; i < gathered_.size(); ++i) {
    batch->items[i].place = added_++;
    batch->items[i].source = std::move(gathered_[i]);
    batch->items[i].form = gathered_form_;
  }
  gathered_.clear();
  gathered_bytes_ = 0;
  Send(batch);
  return absl::OkStatus();
}

// A request lost with a bulk call is sent once more over the next one; after that, it is retried
// when its result is due for delivery.
void TranslationPipeline::Send(std::shared_ptr<Batch> batch) {
  std::vector<Item*> items;
  for (Item& item : batch->items) items.push_back(&item);
  v1::TranslateRequest request = RequestFor(items);
  {
    absl::MutexLock lock(&mutex_);
    batch->sent = absl::Now();
  }
  auto done = [this, batch](Response response) {
    {
      absl::MutexLock lock(&mutex_);
      if (batch->answered) return;  // the answer came too late
      const bool lost = bulk_ != nullptr && absl::IsUnavailable(response.status()) &&
                        !IsUnreachable(response.status());
      if (!lost || std::exchange(batch->sent_again, true)) {
        batch->response = std::move(response);
        batch->answered = true;
        last_answer_ = absl::Now();
        return;
      }
    }
    Send(batch);
  };
  if (bulk_ != nullptr) {
    bulk_->TranslateAsync(std::move(request), std::move(done));
  } else {
    client_->TranslateAsync(std::move(request), std::move(done));
  }
}

absl::Status TranslationPipeline::AwaitDelivered(int64_t texts) {
  RETURN_IF_ERROR(Flush());
  absl::MutexLock lock(&mutex_);
  const auto delivered = [this, texts]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return !failure_.ok() || delivered_ >= texts;
  };
  mutex_.Await(absl::Condition(&delivered));
  return failure_;
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

TranslationPipeline::Failure TranslationPipeline::failure() const {
  absl::MutexLock lock(&mutex_);
  return failed_at_;
}

bool TranslationPipeline::HasRoom() const {
  return !failure_.ok() || static_cast<int>(in_flight_.size()) < options_.max_in_flight;
}

bool TranslationPipeline::HasNews() const {
  return in_flight_.empty() ? finished_ : in_flight_.front()->answered;
}

// Waits until another request may be sent.  Fails once any has failed.
absl::Status TranslationPipeline::AwaitRoom() {
  mutex_.Await(absl::Condition(this, &TranslationPipeline::HasRoom));
  return failure_;
}

// After a failure the remaining answers are still awaited, because they are written into this
// object.
void TranslationPipeline::DeliverAll() {
  while (true) {
    std::shared_ptr<Batch> batch;
    bool failed = false;
    bool flush = false;
    {
      absl::MutexLock lock(&mutex_);
      AwaitNews();
      if (in_flight_.empty()) return;
      batch = in_flight_.front();
      failed = !failure_.ok();
      flush = in_flight_.size() == 1 || !in_flight_[1]->answered;
    }
    Failure failure;
    const absl::Status status =
        failed ? absl::OkStatus() : DeliverBatch(batch.get(), flush, &failure);
    absl::MutexLock lock(&mutex_);
    in_flight_.pop_front();
    if (!failed && status.ok()) delivered_ += static_cast<int64_t>(batch->items.size());
    if (!status.ok()) {
      failure_ = status;
      failed_at_ = failure;
    }
  }
}

// Waits for the next answer. A bulk call has no deadline, so it is enforced here: a request fails
// if for that long neither it nor any other is answered, and the others are sent again over another
// call.
void TranslationPipeline::AwaitNews() {
  const absl::Condition news(this, &TranslationPipeline::HasNews);
  if (bulk_ == nullptr) return mutex_.Await(news);
  while (!mutex_.AwaitWithTimeout(news, absl::Seconds(1))) {
    if (in_flight_.empty()) continue;
    Batch& front = *in_flight_.front();
    if (absl::Now() < std::max(front.sent, last_answer_) + client_->deadline()) continue;
    front.response = absl::DeadlineExceededError("the server has not answered in time");
    front.answered = true;
    mutex_.Unlock();
    bulk_->Cancel(absl::UnavailableError("the server does not answer"));
    mutex_.Lock();
  }
}

absl::Status TranslationPipeline::DeliverBatch(Batch* batch, bool flush, Failure* failure) {
  std::vector<Item*> items;
  for (Item& item : batch->items) items.push_back(&item);
  const absl::Status status = Settle(items, std::move(batch->response), failure);
  for (const Item& item : batch->items) {
    if (!item.settled) break;
    const bool last = flush && &item == &batch->items.back();
    deliver_(
        {item.place, item.source, item.status, item.translation, item.model, item.version, last});
  }
  return status;
}

v1::TranslateRequest TranslationPipeline::RequestFor(const std::vector<Item*>& items) const {
  v1::TranslateRequest request = request_;
  for (const Item* item : items) request.add_contents(item->source);
  if (const std::optional<TextForm>& form = items.front()->form; form.has_value()) {
    request.set_markup(form->markup);
    request.set_literals(form->literals);
  }
  return request;
}

bool TranslationPipeline::WorthWaitingFor(const absl::Status& status) const {
  return absl::IsResourceExhausted(status) || (answered_ && absl::IsUnavailable(status));
}

// Repeats a request for `items` until the server is no longer busy or unreachable, or max_wait has
// passed, and returns the last answer.
TranslationPipeline::Response TranslationPipeline::AfterWaiting(const std::vector<Item*>& items,
                                                                Response response) const {
  const absl::Time give_up = absl::Now() + options_.max_wait;
  if (bulk_ != nullptr && absl::IsUnavailable(response.status()) &&
      !IsUnreachable(response.status())) {
    response = client_->Translate(RequestFor(items));  // gRPC itself retries it
  }
  while (WorthWaitingFor(response.status())) {
    const absl::Duration delay = RetryDelayOf(response.status()).value_or(kRetryDelay);
    if (absl::Now() + delay > give_up) break;
    absl::SleepFor(delay);
    response = client_->Translate(RequestFor(items));
  }
  return response;
}

// Gives each item its translation or, if errors are skipped, its error.  `response` is the first
// answer to a request for them.
absl::Status TranslationPipeline::Settle(std::vector<Item*> items, Response response,
                                         Failure* failure) {
  response = AfterWaiting(items, std::move(response));
  if (response.ok()) {
    answered_ = true;
    if (static_cast<size_t>(response->translations_size()) != items.size()) {
      *failure = {items.front()->place, items.back()->place};
      return InternalError("the server answered ", items.size(), " texts with ",
                           response->translations_size(), " translations");
    }
    for (size_t i = 0; i < items.size(); ++i) {
      items[i]->translation = std::move(*response->mutable_translations(static_cast<int>(i)));
      items[i]->model = response->model();
      items[i]->version = VersionOf(*response);
      items[i]->settled = true;
    }
    return absl::OkStatus();
  }
  std::optional<TextError> error = TextErrorOf(response.status(), items.size());
  if (!error.has_value() && items.size() == 1 && MayBeOneTexts(response.status())) {
    error = {0, response.status()};
  }
  if (error.has_value() && options_.skip_errors) {
    items[error->index]->status = error->status;
    items[error->index]->settled = true;
    items.erase(items.begin() + static_cast<ptrdiff_t>(error->index));
    if (items.empty()) return absl::OkStatus();
    Response rest = client_->Translate(RequestFor(items));
    return Settle(std::move(items), std::move(rest), failure);
  }
  if (options_.skip_errors && items.size() > 1 && MayBeOneTexts(response.status())) {
    for (Item* item : items) {  // one by one, to find out whose error it is
      RETURN_IF_ERROR(Settle({item}, client_->Translate(RequestFor({item})), failure));
    }
    return absl::OkStatus();
  }
  if (error.has_value()) {
    *failure = {items[error->index]->place, items[error->index]->place};
    return error->status;
  }
  *failure = {items.front()->place, items.back()->place};
  return response.status();
}

}  // namespace dragoman
