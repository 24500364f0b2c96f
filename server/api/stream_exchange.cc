#include "server/api/stream_exchange.h"

#include <utility>

#include "absl/time/clock.h"
#include "engine/base/status.h"

namespace dragoman {

TranslateStreamExchange::TranslateStreamExchange(const ServerParts* parts, Caller caller,
                                                 std::function<void()> ready)
    : Exchange(parts, "TranslateStream", std::move(caller)),
      ready_(std::move(ready)),
      task_(parts) {}

void TranslateStreamExchange::Start(Parse parse) {
  if (const absl::Status status = TryStart(parse); !status.ok()) End(status);
}

// After an error nothing has been started.
absl::Status TranslateStreamExchange::TryStart(Parse parse) {
  RETURN_IF_ERROR(Enter());
  ASSIGN_OR_RETURN(v1::TranslateRequest proto, Begin(parse()));
  const CallWork work = TranslateTask::WorkOf(parts(), proto);
  if (work == CallWork::kShort) return Run(std::move(proto));
  return DoWork(work, parts(), request(),
                [self = shared_from_this(), proto = std::move(proto)](absl::Status status) {
                  if (status.ok()) status = self->Run(proto);
                  if (!status.ok()) self->End(status);
                });
}

absl::Status TranslateStreamExchange::Run(v1::TranslateRequest proto) {
  RETURN_IF_ERROR(Prepare(std::move(proto), &task_));
  task_.Run(
      request(),
      [self = shared_from_this()](TranslateResponse result) { self->OnDone(std::move(result)); },
      [this](TranslateProgress progress) { OnNews(std::move(progress)); });
  return absl::OkStatus();
}

void TranslateStreamExchange::OnNews(TranslateProgress progress) {
  if (!any_text_ && !progress.stable_text.empty()) {
    any_text_ = true;
    parts().metrics->OnFirstText(task_.translator()->model(), call().Elapsed());
  }
  {
    absl::MutexLock lock(&mutex_);
    task_.ToMessages(std::move(progress), [this](v1::TranslateStreamResponse message) {
      mutex_.AssertHeld();
      Add(std::move(message));
    });
  }
  ready_();
}

// Merges stable text with the message before it, if that is text of the same content.
void TranslateStreamExchange::Add(v1::TranslateStreamResponse message) {
  v1::TranslateStreamResponse* const last = outbox_.last();
  if (last != nullptr && last->has_stable_text() && message.has_stable_text() &&
      last->content_index() == message.content_index()) {
    last->mutable_stable_text()->append(message.stable_text());
    return outbox_.Grow(message.stable_text().size());
  }
  const size_t bytes = message.SpaceUsedLong();
  outbox_.Put(std::move(message), bytes, call().Hold());
}

void TranslateStreamExchange::OnDone(TranslateResponse translated) {
  translated.status.Update(request()->Wanted(absl::Now()));  // the caller may have gone
  task_.NoteTimes(translated);
  if (translated.status.ok()) {
    v1::TranslateStreamResponse last;
    StillWanted always;  // there are no translations in it
    *last.mutable_summary() = task_.Answer(translated, call().Elapsed(), &always);
    absl::MutexLock lock(&mutex_);
    Add(std::move(last));
  }
  End(translated.status);
}

void TranslateStreamExchange::End(const absl::Status& status) {
  call().size() = task_.size();
  CallEnd end = call().End(status);
  {
    absl::MutexLock lock(&mutex_);
    if (!status.ok()) outbox_.Clear();
    end_ = std::move(end);
  }
  ready_();
}

StreamEvent TranslateStreamExchange::Next() {
  absl::MutexLock lock(&mutex_);
  StreamEvent event = outbox_.Next();
  if (!event.message.has_value()) event.end = std::exchange(end_, std::nullopt);
  return event;
}

}  // namespace dragoman
