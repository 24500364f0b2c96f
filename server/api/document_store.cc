#include "server/api/document_store.h"

#include <algorithm>
#include <iterator>
#include <random>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "engine/base/status.h"

namespace dragoman {
namespace {

// 128 bits that nobody guesses, in hexadecimal.
std::string NewSecret() {
  std::random_device random;
  std::string secret;
  for (int i = 0; i < 4; ++i) {
    absl::StrAppend(&secret, absl::Hex(static_cast<uint32_t>(random()), absl::kZeroPad8));
  }
  return secret;
}

}  // namespace

StoredDocument::State StoredDocument::state() const {
  absl::MutexLock lock(&mutex_);
  return state_;
}

absl::Duration StoredDocument::TimeLeft(absl::Time now) const {
  absl::MutexLock lock(&mutex_);
  const auto done = static_cast<double>(state_.progress.passages_done());
  const auto known = static_cast<double>(state_.progress.passages_known());
  if (state_.end.has_value()) return absl::ZeroDuration();
  if (done < 1) return absl::Seconds(1);
  return (now - state_.started) * (known - done) / done;
}

// Takes what the exchange has; on its thread, or in Add.
void StoredDocument::Pump() {
  OnEnd on_end;
  std::shared_ptr<DocumentExchange> ended;  // a drain waits until it is gone
  {
    absl::MutexLock lock(&mutex_);
    while (exchange_ != nullptr) {
      DocumentEvent event = exchange_->Next();
      if (event.end.has_value()) {
        state_.end = std::move(event.end);
        on_end = std::exchange(on_end_, nullptr);
        ended = std::exchange(exchange_, nullptr);
      } else if (!event.message.has_value()) {
        return;
      } else if (event.message->has_progress()) {
        state_.progress = event.message->progress();
      } else if (state_.output == nullptr) {  // the result
        state_.report = exchange_->report();
        state_.output = exchange_->TakeOutput();
      }
    }
  }
  if (on_end != nullptr) on_end(this);
}

void StoredDocument::Cancel() {
  std::shared_ptr<DocumentExchange> exchange;
  {
    absl::MutexLock lock(&mutex_);
    exchange = exchange_;
  }
  if (exchange != nullptr) exchange->Cancel();
}

DocumentStore::~DocumentStore() { Tidy(absl::InfiniteFuture()); }

absl::StatusOr<std::shared_ptr<StoredDocument>> DocumentStore::Add(const ServerParts* parts,
                                                                   Caller caller,
                                                                   DocumentExchange::ReadFile read,
                                                                   StoredDocument::OnEnd on_end,
                                                                   absl::Time now) {
  auto document = std::make_shared<StoredDocument>();
  document->id_ = NewSecret();
  document->key_ = NewSecret();
  const auto ready = [weak = std::weak_ptr(document)] {
    if (const auto self = weak.lock()) self->Pump();
  };
  const auto exchange = std::make_shared<DocumentExchange>(parts, std::move(caller), ready);
  exchange->Start();
  document->principal_ = exchange->principal().value_or("");
  {
    absl::MutexLock lock(&document->mutex_);
    document->state_.started = now;
    document->exchange_ = exchange;
  }
  document->Pump();  // the end, if the caller is refused
  if (const auto state = document->state(); state.end.has_value()) return state.end->status;
  Tidy(now);
  absl::Status room;
  {
    absl::MutexLock lock(&mutex_);
    room = MakeRoom(document->principal_);
    if (room.ok()) documents_.push_back(document);
  }
  if (!room.ok()) {
    exchange->NoMore(room);
    return room;
  }
  {
    absl::MutexLock lock(&document->mutex_);
    if (document->exchange_ != nullptr) document->on_end_ = std::exchange(on_end, nullptr);
  }
  if (on_end != nullptr) on_end(document.get());  // a drain has ended it
  exchange->Work(std::move(read));
  document->Pump();
  return document;
}

absl::Status DocumentStore::MakeRoom(const std::string& principal) {
  while (true) {
    size_t bytes = 0, own = 0;
    for (const auto& document : documents_) {
      const StoredDocument::State state = document->state();
      if (state.output != nullptr) bytes += state.output->size();
      own += document->principal() == principal ? 1 : 0;
    }
    if (documents_.size() < limits_.documents && own < limits_.documents_of_principal &&
        bytes < limits_.bytes) {
      return absl::OkStatus();
    }
    if (!DropOldest(principal)) {
      return absl::ResourceExhaustedError(
          "too many translated files wait to be fetched, or are being translated");
    }
  }
}

bool DocumentStore::DropOldest(const std::string& principal) {
  const auto oldest = std::find_if(documents_.begin(), documents_.end(), [&](const auto& document) {
    return document->principal() == principal && document->state().end.has_value();
  });
  if (oldest == documents_.end()) return false;
  documents_.erase(oldest);
  return true;
}

std::shared_ptr<StoredDocument> DocumentStore::Find(const std::string& id, absl::Time now) {
  Tidy(now);
  absl::MutexLock lock(&mutex_);
  for (const auto& document : documents_) {
    if (document->id() == id) return document;
  }
  return nullptr;
}

void DocumentStore::Remove(const std::string& id) {
  const std::shared_ptr<StoredDocument> document = Find(id, absl::InfinitePast());
  if (document == nullptr) return;
  {
    absl::MutexLock lock(&mutex_);
    documents_.remove(document);
  }
  document->Cancel();
}

void DocumentStore::Tidy(absl::Time now) {
  std::vector<std::shared_ptr<StoredDocument>> old;
  {
    absl::MutexLock lock(&mutex_);
    for (auto at = documents_.begin(); at != documents_.end();) {
      const bool keep = now - (*at)->state().started < limits_.keep;
      if (!keep) old.push_back(*at);
      at = keep ? std::next(at) : documents_.erase(at);
    }
  }
  for (const auto& document : old) document->Cancel();
}

}  // namespace dragoman
