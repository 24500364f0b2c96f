#include "server/api/bulk_exchange.h"

#include <google/protobuf/util/time_util.h>

#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "engine/base/status.h"
#include "server/api/convert_alignment.h"
#include "server/base/errors.h"
#include "server/base/ticker.h"

namespace dragoman {

// A request in progress.
struct BulkExchange::Open {
  Open(const ServerParts* parts, Item its_item)
      : id(std::move(its_item.id)),
        request(std::move(its_item.request)),
        read(std::move(its_item.read)),
        bytes(its_item.bytes + id.size()),
        more_bytes(its_item.more_bytes),
        came(absl::Now()),
        task(parts, std::move(its_item.glossary)) {}

  void Fail(const absl::Status& status) {
    request = status;
    read = nullptr;
  }

  const std::string id;
  absl::StatusOr<v1::TranslateRequest> request;                // kept until it is answered
  std::function<absl::StatusOr<v1::TranslateRequest>()> read;  // null when it was called
  absl::StatusOr<Priority> priority = Priority::kBatch;
  const size_t bytes, more_bytes;
  const absl::Time came;
  TranslateTask task;
  std::shared_ptr<RequestState> state;  // of this attempt; null until it was read
  bool counted = false;                 // as a call that its principal has in flight
  Share memory;
};

BulkExchange::BulkExchange(const ServerParts* parts, Caller caller, std::function<void()> ready,
                           const BulkLimits& limits, const char* method)
    : Exchange(parts, method, std::move(caller)), ready_(std::move(ready)), limits_(limits) {}

BulkExchange::~BulkExchange() {
  if (watch_ != 0) parts().gate->Unwatch(watch_);
  if (tick_ != 0) parts().ticker->Unwatch(tick_);
}

void BulkExchange::Start() {
  absl::Status status = Enter();
  if (status.ok()) status = Begin(absl::OkStatus(), Priority::kInteractive);
  {
    absl::MutexLock lock(&mutex_);
    reading_ = status.ok();
    status_ = status;
  }
  if (status.ok()) {
    watch_ = parts().gate->Watch([weak = weak_from_this()] {
      if (const auto self = weak.lock()) {
        self->NoMore(absl::UnavailableError(
            "the server is draining; send what it has not answered to another one"));
      }
    });
    tick_ = parts().ticker->Watch([weak = weak_from_this()](absl::Time) {
      if (const auto self = weak.lock()) self->Retry();
    });
  }
  ready_();
}

bool BulkExchange::HasRoom() {
  absl::MutexLock lock(&mutex_);
  const bool fits = reading_ && parked_.empty() && unanswered_ + outbox_.size() < limits_.items &&
                    unanswered_bytes_ < limits_.bytes;
  held_back_ = fits && !MayBegin();
  return fits && !held_back_;
}

bool BulkExchange::reads() {
  absl::MutexLock lock(&mutex_);
  return reading_;
}

absl::Status BulkExchange::Wanted() {
  absl::MutexLock lock(&mutex_);
  return reading_ ? request()->Wanted(absl::Now()) : status_;
}

// Whether so few answers wait that another request may begin.
bool BulkExchange::MayBegin() {
  if (outbox_.bytes() >= parts().answers->limits().bulk_call) return false;
  const bool waits = outbox_.sending() || outbox_.size() > 0 || !running_.empty();
  return call().CheckAnswers(/*reads=*/!waits).ok();
}

void BulkExchange::Add(Item item) {
  auto open = std::make_shared<Open>(&parts(), std::move(item));
  {
    absl::MutexLock lock(&mutex_);
    ++unanswered_;
    unanswered_bytes_ += open->bytes;
    ++call().size().texts;
    if (!parked_.empty()) return parked_.push_back(std::move(open));
  }
  Run(std::move(open));
}

absl::Status BulkExchange::Judge(const v1::TranslateRequest& request) {
  absl::Status status = PriorityOf(request.priority(), Priority::kBatch).status();
  if (status.ok() && !IsAuto(request.source_language())) {
    StillWanted always;
    status = TranslateTask(&parts()).Prepare(request, permit(), call().deadline(), &always);
  }
  return absl::IsPermissionDenied(status) ? status : absl::OkStatus();
}

// Passes a request to the engine.  An error becomes its answer.
void BulkExchange::Run(std::shared_ptr<Open> open) {
  const bool wanted = request()->Wanted(absl::Now()).ok();  // or it ends at once
  {
    absl::MutexLock lock(&mutex_);
    if (wanted && !MayBegin()) return parked_.push_front(std::move(open));
    // The call itself accounts for one of its requests; each further one counts as a call.
    if (!running_.empty() && !open->counted) {
      open->counted = parts().principals->Enter(call().principal()).ok();
      if (!open->counted) return parked_.push_front(std::move(open));
    }
    if (open->memory.amount() == 0) {
      absl::StatusOr<Share> memory = call().TakeMemory(open->bytes, open->more_bytes);
      const bool never = IsMessageTooLarge(memory.status());
      if (!memory.ok() && !never) return parked_.push_front(std::move(open));
      if (never) open->Fail(memory.status());
      if (memory.ok()) open->memory = *std::move(memory);
    }
    running_.insert(open);
  }
  if (open->read != nullptr) open->request = std::exchange(open->read, nullptr)();
  if (open->request.ok()) open->priority = PriorityOf(open->request->priority(), Priority::kBatch);
  {
    auto state = NewRequest(open->priority.value_or(Priority::kBatch));
    absl::MutexLock lock(&mutex_);
    open->state = std::move(state);
  }
  if (!request()->Wanted(absl::Now()).ok()) open->state->Cancel(absl::Now());
  TranslateResponse failed;
  failed.status = open->request.status();
  failed.status.Update(open->priority.status());
  if (failed.status.ok()) {
    failed.status = DoWork(TranslateTask::WorkOf(parts(), *open->request), parts(), open->state,
                           [self = shared_from_this(), open](const absl::Status& status) {
                             if (status.ok()) return self->Translate(open);
                             self->Answered(open, {.status = status});
                           });
  }
  if (!failed.status.ok()) Answered(open, std::move(failed));
}

void BulkExchange::Translate(const std::shared_ptr<Open>& open) {
  TranslateResponse failed;
  StillWanted wanted = WantedBy(open->state.get());
  const size_t insight = MemoryOfInsight(open->request->output());
  failed.status = open->memory.Raise(open->memory.amount() + insight);
  if (failed.status.ok()) {
    failed.status = open->task.Prepare(*open->request, permit(), call().deadline(), &wanted);
  }
  if (!failed.status.ok()) return Answered(open, std::move(failed));
  open->task.Run(open->state, [self = shared_from_this(), open](TranslateResponse translated) {
    self->Answered(open, std::move(translated));
  });
}

void BulkExchange::Answered(const std::shared_ptr<Open>& open, TranslateResponse translated) {
  absl::Status& status = translated.status;
  const bool no_room =
      open->request.ok() && absl::IsResourceExhausted(status) && !RetryAfterOf(status).has_value();
  status.Update(open->state->Wanted(absl::Now()));
  status = OrLate(status, call().deadline());
  if (std::exchange(open->counted, false)) parts().principals->Leave(call().principal());
  std::vector<std::shared_ptr<Open>> next;
  if (no_room && absl::IsResourceExhausted(status)) {
    absl::MutexLock lock(&mutex_);
    running_.erase(open);
    parked_.push_front(open);
  } else {
    v1::TranslateBulkResponse message;
    message.set_id(open->id);
    if (status.ok()) {
      StillWanted wanted = WantedBy(open->state.get());
      *message.mutable_response() =
          open->task.Answer(translated, absl::Now() - open->came, &wanted);
      status = wanted.status();
    }
    Book(*open, status);
    if (!status.ok()) SetError(status, message.mutable_error());
    std::string answer = message.SerializeAsString();
    absl::MutexLock lock(&mutex_);
    running_.erase(open);
    --unanswered_;
    unanswered_bytes_ -= open->bytes;
    call().AddPart(PartOf(*open, status));
    CallSize& size = call().size();
    size.source_tokens += open->task.size().source_tokens;
    size.target_tokens += open->task.size().target_tokens;
    size.queue = std::max(size.queue, translated.times.queue);
    const size_t bytes = answer.size();
    outbox_.Put(std::move(answer), bytes, call().Hold());
    // Starts up to two for each that has ended, because there may be more room than before.
    while (next.size() < 2 && !parked_.empty() && MayBegin()) {
      next.push_back(std::move(parked_.front()));
      parked_.pop_front();
    }
  }
  for (std::shared_ptr<Open>& waiting : next) Run(std::move(waiting));
  ready_();
}

void BulkExchange::SetError(const absl::Status& status, v1::Error* error) const {
  const absl::Status told = ForClient(status);
  error->set_code(static_cast<int>(told.code()));  // absl's codes are gRPC's
  error->set_message(std::string(told.message()));
  error->set_field(FieldOf(told));
  if (!absl::IsResourceExhausted(told)) return;
  *error->mutable_retry_delay() = google::protobuf::util::TimeUtil::MillisecondsToDuration(
      absl::ToInt64Milliseconds(RetryAfterOf(status).value_or(absl::Seconds(1))));
}

void BulkExchange::Book(const Open& open, const absl::Status& status) const {
  const std::shared_ptr<const Translator> translator = open.task.translator();
  parts().metrics->OnBulkItemEnded(
      {.method = "TranslateBulkItem",
       .model = translator == nullptr ? std::string_view() : translator->name(),
       .status = ForClient(status),
       .duration = absl::Now() - open.came,
       .draining = parts().gate->shut()});
}

TracedPart BulkExchange::PartOf(const Open& open, const absl::Status& status) const {
  const std::shared_ptr<const Translator> translator = open.task.translator();
  return {.model = translator == nullptr ? "" : translator->name(),
          .code = ForClient(status).code(),
          .source_tokens = open.task.size().source_tokens,
          .target_tokens = open.task.size().target_tokens,
          .start = open.came,
          .end = absl::Now()};
}

void BulkExchange::NoMore(const absl::Status& status) {
  {
    absl::MutexLock lock(&mutex_);
    if (reading_) status_ = status;
    reading_ = false;
  }
  ready_();
}

// Whether something waits for room that no event of this call will make: an answer to a running
// request is one, and so is the client's taking one of many.
bool BulkExchange::WantsRetry() {
  if (!running_.empty() || outbox_.bytes() >= parts().answers->limits().bulk_call) return false;
  return !parked_.empty() || held_back_;
}

void BulkExchange::Retry() {
  std::shared_ptr<Open> next;
  {
    absl::MutexLock lock(&mutex_);
    if (!WantsRetry()) return;
    if (!parked_.empty()) {
      next = std::move(parked_.front());
      parked_.pop_front();
    }
  }
  if (next != nullptr) Run(std::move(next));
  ready_();
}

BulkEvent BulkExchange::Next() {
  absl::Status status;
  {
    absl::MutexLock lock(&mutex_);
    BulkEvent event = outbox_.Next();
    if (event.message.has_value() || reading_ || unanswered_ > 0 || ended_) return event;
    ended_ = true;
    status = status_;
  }
  return {.end = call().End(status)};
}

void BulkExchange::Cancel() {
  {
    absl::MutexLock lock(&mutex_);
    if (request() == nullptr || ended_) return;
    Exchange::Cancel();
    reading_ = false;
    status_ = request()->Wanted(absl::Now());
    for (const std::shared_ptr<Open>& open : running_) {
      if (open->state != nullptr) open->state->Cancel(absl::Now());
    }
    // Nobody will read the answers.
    unanswered_ -= parked_.size();
    for (const std::shared_ptr<Open>& open : parked_) unanswered_bytes_ -= open->bytes;
    parked_.clear();
    outbox_.Clear();
  }
  ready_();
}

}  // namespace dragoman
