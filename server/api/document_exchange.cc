#include "server/api/document_exchange.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "engine/base/status.h"
#include "server/base/errors.h"

namespace dragoman {

DocumentExchange::DocumentExchange(const ServerParts* parts, Caller caller,
                                   std::function<void()> ready)
    : parts_(parts), caller_(std::move(caller)), ready_(std::move(ready)) {}

DocumentExchange::~DocumentExchange() {
  if (tick_ != 0) parts_->ticker->Unwatch(tick_);
}

void DocumentExchange::Start() {
  {
    absl::MutexLock lock(&mutex_);
    heard_ = absl::Now();
  }
  const auto on_news = [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->OnNews();
  };
  const std::string peer = caller_.peer;
  bulk_ = std::make_shared<BulkExchange>(parts_, std::move(caller_), on_news, kDocumentInFlight,
                                         "TranslateDocument");
  translator_.emplace(parts_, bulk_.get(),
                      [this](const v1::DocumentProgress& progress) { OnProgress(progress); });
  tick_ = parts_->ticker->Watch([weak = weak_from_this()](absl::Time now) {
    if (const auto self = weak.lock()) self->EndIfSilent(now);
  });
  bulk_->Start();
  holder_ = HolderOf(bulk_->principal().value_or(""), peer);
}

void DocumentExchange::OnNews() {
  bool working = false;
  {
    absl::MutexLock lock(&mutex_);
    working = stage_ == Stage::kWorking;
  }
  if (working) return translator_->Wake();
  ready_();
}

// ---- Receiving ---------------------------------------------------------------------------------

bool DocumentExchange::HasRoom() {
  absl::MutexLock lock(&mutex_);
  return stage_ == Stage::kReceiving && bulk_->reads();
}

void DocumentExchange::Add(size_t memory,
                           absl::FunctionRef<absl::StatusOr<v1::TranslateDocumentRequest>()> read) {
  const absl::Status status = [&]() -> absl::Status {
    ASSIGN_OR_RETURN(const Share room, parts_->documents->TakeMemory(holder_, memory));
    ASSIGN_OR_RETURN(const v1::TranslateDocumentRequest message, read());
    return Receive(message);
  }();
  if (!status.ok()) bulk_->NoMore(status);
}

absl::Status DocumentExchange::Receive(const v1::TranslateDocumentRequest& message) {
  if (message.has_header() || !message.chunk().empty()) {
    absl::MutexLock lock(&mutex_);
    heard_ = absl::Now();
  }
  if (message.has_header()) {
    if (std::exchange(has_header_, true)) return InvalidField("header", "came twice");
    RETURN_IF_ERROR(CheckHeader(message.header()).status());
    ASSIGN_OR_RETURN(place_, parts_->documents->Enter(holder_));
    RETURN_IF_ERROR(CountHeader(message.header()));
    header_ = message.header();
    ASSIGN_OR_RETURN(input_, parts_->documents->NewSpool(holder_, 0));
    return absl::OkStatus();
  }
  if (!has_header_) return InvalidField("header", "is missing: it is the first message");
  const size_t most = parts_->documents->limits().max_bytes;
  if (const size_t size = input_->size() + message.chunk().size(); size > most) {
    return MessageTooLarge(size, most);
  }
  return input_->Append(message.chunk());
}

absl::Status DocumentExchange::CountHeader(const v1::DocumentHeader& header) {
  // Or what it takes as it is; and the same for the passage that is sent with it.
  const size_t bytes = std::max(kMemoryPerByte * header.ByteSizeLong(), header.SpaceUsedLong());
  ASSIGN_OR_RETURN(memory_, parts_->documents->TakeMemory(holder_, 2 * bytes));
  return absl::OkStatus();
}

void DocumentExchange::EndIfSilent(absl::Time now) {
  if (!bulk_->reads()) return;  // it has not started, or has ended
  const absl::Duration patience = parts_->documents->limits().patience;
  {
    absl::MutexLock lock(&mutex_);
    if (stage_ != Stage::kReceiving || now - heard_ < patience) return;
  }
  bulk_->NoMore(absl::DeadlineExceededError(
      absl::StrCat("nothing of the file has come for ", absl::FormatDuration(patience))));
}

void DocumentExchange::NoMore(const absl::Status& status) {
  if (status.ok() && has_header_) return BeginWork(nullptr, {});
  bulk_->NoMore(status.ok() ? InvalidField("header", "is missing") : status);
}

void DocumentExchange::Work(ReadFile read, PassageJournal journal) {
  BeginWork(std::move(read), std::move(journal));
}

std::optional<std::string> DocumentExchange::principal() const { return bulk_->principal(); }

void DocumentExchange::BeginWork(ReadFile read, PassageJournal journal) {
  if (!bulk_->reads()) return;  // Next tells why
  {
    absl::MutexLock lock(&mutex_);
    stage_ = Stage::kWorking;
  }
  parts_->documents->Run([self = shared_from_this(), act = std::move(read),
                          known = std::move(journal)] { self->DoWork(act, known); });
}

// ---- Working -----------------------------------------------------------------------------------

void DocumentExchange::DoWork(const ReadFile& read, const PassageJournal& journal) {
  const absl::StatusOr<std::shared_ptr<Spool>> output = TranslateFile(read, journal);
  input_ = nullptr;
  place_.Return();  // before the answer: who has it may send the next file
  CallEnd end = translator_->Finish(output.status());
  if (end.status.ok()) output_ = *output;
  {
    absl::MutexLock lock(&mutex_);
    stage_ = end.status.ok() ? Stage::kSending : Stage::kEnded;
    if (stage_ == Stage::kEnded) progress_.reset();
    end_ = std::move(end);
  }
  ready_();
}

absl::StatusOr<std::shared_ptr<Spool>> DocumentExchange::TranslateFile(
    const ReadFile& read, const PassageJournal& journal) {
  if (read != nullptr) {
    ASSIGN_OR_RETURN(place_, parts_->documents->Enter(holder_));
    ASSIGN_OR_RETURN(input_, read(&header_));
    RETURN_IF_ERROR(CountHeader(header_));
  }
  return translator_->Translate(std::move(header_), *input_, holder_, journal);
}

void DocumentExchange::OnProgress(const v1::DocumentProgress& progress) {
  {
    absl::MutexLock lock(&mutex_);
    progress_ = progress;
  }
  ready_();
}

// ---- Sending -----------------------------------------------------------------------------------

DocumentEvent DocumentExchange::Next() {
  DocumentEvent event;
  Stage stage;
  {
    absl::MutexLock lock(&mutex_);
    stage = stage_;
    if (progress_.has_value()) {
      *event.message.emplace().mutable_progress() = *std::exchange(progress_, std::nullopt);
      return event;
    }
    if (cancelled_ && stage == Stage::kSending) stage = stage_ = Stage::kEnded;
    if (stage == Stage::kEnded) event.end = std::exchange(end_, std::nullopt);
    // It was refused, cancelled or cut off by a drain.  Not once the work has begun.
    if (stage == Stage::kReceiving) event.end = bulk_->Next().end;
  }
  if (stage != Stage::kSending) return event;
  if (output_ != nullptr && sent_ < output_->size()) {
    absl::StatusOr<std::string> chunk = output_->Read(sent_, kChunkBytes);
    if (chunk.ok()) {
      sent_ += chunk->size();
      event.message.emplace().set_chunk(*std::move(chunk));
      return event;
    }
    absl::MutexLock lock(&mutex_);
    end_->status = chunk.status();
  } else if (!std::exchange(reported_, true)) {
    *event.message.emplace().mutable_report() = report();
    return event;
  }
  absl::MutexLock lock(&mutex_);
  stage_ = Stage::kEnded;
  event.end = std::exchange(end_, std::nullopt);
  return event;
}

void DocumentExchange::Cancel() {
  {
    absl::MutexLock lock(&mutex_);
    cancelled_ = true;
  }
  bulk_->Cancel();
}

}  // namespace dragoman
