// A shelf for two models, by an example.  Each line is what happens at one time:
//
//   request for a     a loads; the request waits                 queue: a
//   request for b     b waits for its turn                       queue: b
//   a is loaded       its request goes on                        in memory: a
//   b is loaded                                                  in memory: a, b
//   request for c     a was used least recently, but its request still runs: b leaves
//   c is broken       its request is refused, and so are all others in the next second
//
// This file is about the models on the shelf and the requests for them; the turns of loading are in
// shelf_turns.cc.

#include "server/models/shelf.h"

#include "absl/algorithm/container.h"
#include "engine/base/limit.h"
#include "engine/base/status.h"

namespace dragoman {
namespace {

using Found = absl::StatusOr<std::shared_ptr<const Translator>>;

absl::Status NotServed(const std::string& name) {
  return UnavailableError("model ", name, " is no longer served");
}

}  // namespace

Shelf::Shelf(ShelfOptions options, Metrics* metrics)
    : options_(std::move(options)), metrics_(metrics) {}

Shelf::~Shelf() { Close(); }

void Shelf::Put(const ModelSource& source, absl::StatusOr<ModelProfile> profile, double bytes) {
  Answers answers;
  std::shared_ptr<const Translator> leaving;
  {
    absl::MutexLock lock(&mutex_);
    Item& item = items_[source.name];
    leaving = LetGo(&item);
    if (item.failure != LoadFailure::kNone) metrics_->OnModelSettled(source.name);
    item.source = source;
    item.profile = std::make_shared<const ModelProfile>(profile.ok() ? *std::move(profile)
                                                                     : ModelProfile(source.name));
    item.bytes = bytes;
    ++item.puts;
    item.failure = LoadFailure::kNone;
    item.pause = kFirstPause;
    if (!profile.ok()) {
      Fail(&item, LoadFailure::kBroken, std::string(profile.status().message()), options_.clock(),
           &answers);
    } else if (item.pinned) {
      item.wanted = true;
      Ask(source.name);
    }
    CountMemory();
  }
  Tell(std::move(answers));
}

void Shelf::Remove(const std::string& name) {
  Answers answers;
  std::shared_ptr<const Translator> leaving;
  {
    absl::MutexLock lock(&mutex_);
    const auto item = items_.find(name);
    if (item == items_.end()) return;
    leaving = LetGo(&item->second);
    AnswerAll(&item->second, NotServed(name), &answers);
    items_.erase(item);
    CountMemory();
  }
  Tell(std::move(answers));
}

void Shelf::Reserve(double bytes) {
  absl::MutexLock lock(&mutex_);
  reserved_ = bytes;
  CountMemory();
}

std::shared_ptr<const Translator> Shelf::Find(const std::string& name) {
  std::shared_ptr<const ModelProfile> profile;
  std::shared_ptr<const Translator> damaged;
  {
    absl::MutexLock lock(&mutex_);
    const auto item = items_.find(name);
    if (item != items_.end()) {
      const auto& loaded = item->second.loaded;
      if (loaded != nullptr && !loaded->model().whole()) damaged = LetGo(&item->second);
      if (item->second.loaded != nullptr && !item->second.unloaded) {
        item->second.last_use = ++uses_;
        return item->second.loaded;
      }
      profile = item->second.profile;
    }
  }
  if (profile == nullptr) profile = std::make_shared<const ModelProfile>(name);
  return std::make_shared<const Translator>(
      std::move(profile),
      [self = shared_from_this(), name](std::shared_ptr<RequestState> state, Fetched then) {
        self->FetchOne(name, std::move(state), std::move(then));
      },
      options_.limits);
}

std::shared_ptr<const ModelProfile> Shelf::ProfileOf(const std::string& name) const {
  absl::MutexLock lock(&mutex_);
  const auto item = items_.find(name);
  return item == items_.end() ? nullptr : item->second.profile;
}

ShelfView Shelf::Look(const std::string& name) const {
  absl::MutexLock lock(&mutex_);
  const auto found = items_.find(name);
  if (found == items_.end()) return {};
  const Item& item = found->second;
  return {.in_memory = item.unloaded ? nullptr : item.loaded,
          .loading = item.loading,
          .unloaded = item.unloaded,
          .pinned = item.pinned,
          .failure = item.failure};
}

void Shelf::Load(const std::string& name) {
  absl::MutexLock lock(&mutex_);
  const auto item = items_.find(name);
  if (item == items_.end()) return;
  item->second.unloaded = false;
  item->second.retry_at = absl::InfinitePast();
  item->second.wanted = true;
  Ask(name);
}

void Shelf::Unload(const std::string& name) {
  std::shared_ptr<const Translator> leaving;
  absl::MutexLock lock(&mutex_);
  const auto item = items_.find(name);
  if (item == items_.end()) return;
  item->second.unloaded = true;
  item->second.wanted = false;
  leaving = LetGo(&item->second);
  CountMemory();
}

void Shelf::Pin(const std::string& name, bool pinned) {
  absl::MutexLock lock(&mutex_);
  const auto item = items_.find(name);
  if (item == items_.end() || item->second.pinned == pinned) return;
  item->second.pinned = pinned;
  item->second.wanted = pinned;
  if (pinned) Ask(name);
}

// Puts a model that is not in memory at the end of the queue.
void Shelf::Ask(const std::string& name) {
  const Item& item = items_[name];
  if (item.loaded != nullptr || item.loading) return;
  if (!absl::c_linear_search(queue_, name)) queue_.push_back(name);
}

// Why a model that is not in memory is not going to be loaded for a request now.
absl::Status Shelf::Refusal(const Item& item, absl::Time now) const {
  const std::string& name = item.source.name;
  if (item.unloaded) return UnavailableError("model ", name, " is not loaded");
  if (item.failure != LoadFailure::kNone && now < item.retry_at) {
    return UnavailableError("model ", name, " cannot be loaded (", NameOf(item.failure),
                            "); it is tried again after ",
                            absl::FormatDuration(item.retry_at - now));
  }
  if (waiting_ < options_.max_waiting_requests) return absl::OkStatus();
  return OverLimit(ResourceExhaustedError(waiting_, " requests wait for models that are loading"),
                   "max_waiting_requests");
}

void Shelf::FetchOne(const std::string& name, std::shared_ptr<RequestState> state, Fetched then) {
  const absl::Time now = options_.clock();
  Found found = absl::UnavailableError("the server is draining");
  {
    absl::MutexLock lock(&mutex_);
    const auto item = items_.find(name);
    if (item == items_.end()) {
      found = NotServed(name);
    } else if (item->second.loaded != nullptr && !item->second.unloaded) {
      item->second.last_use = ++uses_;
      found = item->second.loaded;
    } else if (!closing_) {
      const absl::Status refusal = Refusal(item->second, now);
      if (refusal.ok()) {
        item->second.waiters.push_back({std::move(state), std::move(then), now});
        ++waiting_;
        return Ask(name);
      }
      found = refusal;
    }
  }
  then(std::move(found));
}

void Shelf::AnswerAll(Item* item, const Found& answer, Answers* answers) {
  for (Waiter& waiter : item->waiters) answers->emplace_back(std::move(waiter), answer);
  waiting_ -= static_cast<int>(item->waiters.size());
  item->waiters.clear();
}

void Shelf::Tell(Answers answers) {
  for (auto& [waiter, answer] : answers) {
    metrics_->OnColdWait(options_.clock() - waiter.since);
    waiter.then(std::move(answer));
  }
}

void Shelf::RefuseLate(absl::Time now) {
  Answers answers;
  {
    absl::MutexLock lock(&mutex_);
    for (auto& [name, item] : items_) {
      const auto late = [&](Waiter& waiter) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
        absl::Status status = waiter.state->Wanted(now);
        if (status.ok() && full_ && now - waiter.since > kPatience) {
          status = OverLimit(
              ResourceExhaustedError("no room for model ", name, ": all others are at work"),
              "model_memory");
        }
        if (status.ok()) return false;
        answers.emplace_back(std::move(waiter), std::move(status));
        --waiting_;
        return true;
      };
      std::erase_if(item.waiters, late);
    }
  }
  Tell(std::move(answers));
}

}  // namespace dragoman
