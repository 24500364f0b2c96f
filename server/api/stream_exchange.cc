#include "server/api/stream_exchange.h"

#include <algorithm>
#include <utility>

#include "absl/time/clock.h"
#include "engine/base/status.h"

namespace dragoman {

TranslateStreamExchange::TranslateStreamExchange(const ServerParts* parts, Caller caller,
                                                 Ready ready)
    : Exchange(parts, "TranslateStream", std::move(caller)),
      ready_(std::move(ready)),
      task_(parts) {}

void TranslateStreamExchange::Start(Parse parse) {
  if (const absl::Status status = TryStart(parse); !status.ok()) End(status);
}

// After an error nothing has been started.
absl::Status TranslateStreamExchange::TryStart(Parse parse) {
  RETURN_IF_ERROR(Enter());
  {
    absl::MutexLock lock(&mutex_);
    held_ = call().Hold();
  }
  ASSIGN_OR_RETURN(v1::TranslateRequest proto, Begin(parse()));
  if (TranslateTask::AsksStore(parts(), proto)) {
    return RunWithStore(request(), [this, proto = std::move(proto)](absl::Status status) {
      if (status.ok()) status = Run(proto);
      if (!status.ok()) End(status);
    });
  }
  return Run(std::move(proto));
}

absl::Status TranslateStreamExchange::Run(v1::TranslateRequest proto) {
  RETURN_IF_ERROR(Prepare(std::move(proto), &task_));
  task_.Run(
      request(), [this](TranslateResponse result) { OnDone(std::move(result)); },
      [this](TranslateProgress progress) { OnNews(std::move(progress)); });
  return absl::OkStatus();
}

void TranslateStreamExchange::OnNews(TranslateProgress progress) {
  if (!any_text_ && !progress.stable_text.empty()) {
    any_text_ = true;
    parts().metrics->OnFirstText(task_.translator()->model(), call().Elapsed());
  }
  bool tell = false;
  {
    absl::MutexLock lock(&mutex_);
    task_.ToMessages(std::move(progress), [this](v1::TranslateStreamResponse message) {
      mutex_.AssertHeld();
      Add(std::move(message));
    });
    CountWaiting();
    tell = waiting_ && !messages_.empty();
    if (tell) waiting_ = false;
  }
  if (tell) ready_();
}

// Merges stable text with the message before it, if that is text of the same content.
void TranslateStreamExchange::Add(v1::TranslateStreamResponse message) {
  if (!messages_.empty() && message.has_stable_text()) {
    v1::TranslateStreamResponse& last = messages_.back();
    if (last.has_stable_text() && last.content_index() == message.content_index()) {
      last.mutable_stable_text()->append(message.stable_text());
      waiting_bytes_ += message.stable_text().size();
      return;
    }
  }
  waiting_bytes_ += message.SpaceUsedLong();
  messages_.push_back(std::move(message));
}

void TranslateStreamExchange::CountWaiting() {
  if (held_ != nullptr) held_->Set(waiting_bytes_ + pulled_bytes_);
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
    CountWaiting();
  }
  End(translated.status);
}

void TranslateStreamExchange::End(const absl::Status& status) {
  call().size() = task_.size();
  CallEnd end = call().End(status);
  const Ready ready = std::move(ready_);  // outlives this exchange, which ready may destroy
  {
    absl::MutexLock lock(&mutex_);
    if (!status.ok()) {
      messages_.clear();
      waiting_bytes_ = 0;
    }
    end_ = std::move(end);
    if (!std::exchange(waiting_, false)) return;
  }
  ready();
}

StreamEvent TranslateStreamExchange::Next() {
  absl::MutexLock lock(&mutex_);
  StreamEvent event;
  pulled_bytes_ = 0;  // that was written
  if (!messages_.empty()) {
    pulled_bytes_ = messages_.front().SpaceUsedLong();
    waiting_bytes_ -= std::min(waiting_bytes_, pulled_bytes_);
    event.message = std::move(messages_.front());
    messages_.pop_front();
  } else if (end_.has_value()) {
    event.end = std::move(end_);
  } else {
    waiting_ = true;
  }
  CountWaiting();
  return event;
}

}  // namespace dragoman
