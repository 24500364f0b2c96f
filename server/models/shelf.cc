// A shelf for two models, by an example.  Each line is what happens at one time:
//
//   request for a     a loads; the request waits                 queue: a
//   request for b     b waits for its turn                       queue: b
//   a is loaded       its request goes on                        in memory: a
//   b is loaded                                                  in memory: a, b
//   request for c     a was used least recently, but its request still runs: b leaves
//   c is broken       its request is refused, and so are all others in the next second
//
// A model is at work while anybody besides the shelf holds it: a request that found it, or a job in
// a worker's batch.  Nobody can get hold of it but through the shelf, under its lock.

#include "server/models/shelf.h"

#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "engine/base/limit.h"
#include "engine/base/status.h"
#include "server/observe/logging.h"

namespace dragoman {
namespace {

// How often to look for requests that have waited too long, and for room if there is none.
constexpr absl::Duration kTick = absl::Milliseconds(10);

using Found = absl::StatusOr<std::shared_ptr<const Translator>>;

absl::Status NotServed(const std::string& name) {
  return absl::UnavailableError(absl::StrCat("model ", name, " is no longer served"));
}

std::string ShownMegabytes(double bytes) { return absl::StrFormat("%.0f MB", bytes / 1e6); }

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
  if (std::find(queue_.begin(), queue_.end(), name) == queue_.end()) queue_.push_back(name);
}

// Why a model that is not in memory is not going to be loaded for a request now.
absl::Status Shelf::Refusal(const Item& item, absl::Time now) const {
  const std::string& name = item.source.name;
  if (item.unloaded) return absl::UnavailableError(absl::StrCat("model ", name, " is not loaded"));
  if (item.failure != LoadFailure::kNone && now < item.retry_at) {
    return absl::UnavailableError(absl::StrCat("model ", name, " cannot be loaded (",
                                               NameOf(item.failure), "); it is tried again after ",
                                               absl::FormatDuration(item.retry_at - now)));
  }
  if (waiting_ < options_.max_waiting_requests) return absl::OkStatus();
  return OverLimit(absl::ResourceExhaustedError(
                       absl::StrCat(waiting_, " requests wait for models that are loading")),
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
          status = OverLimit(absl::ResourceExhaustedError(absl::StrCat("no room for model ", name,
                                                                       ": all others are at work")),
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

double Shelf::UsedBytes() const {
  double bytes = reserved_;
  for (const auto& [name, item] : items_) {
    if (item.loaded != nullptr || item.loading) bytes += item.bytes;
  }
  return bytes;
}

void Shelf::CountMemory() const { metrics_->SetModelMemory(UsedBytes(), options_.capacity_bytes); }

// Takes a model out of memory.  What is returned must be destroyed without the lock.
std::shared_ptr<const Translator> Shelf::LetGo(Item* item) {
  if (item->loaded != nullptr) {
    metrics_->OnModelLeft(item->source.name, item->loaded->model().version());
  }
  return std::exchange(item->loaded, nullptr);
}

// The first of the queue that is still asked for; null if there is none.
Shelf::Item* Shelf::NextWanted() {
  while (!queue_.empty()) {
    const auto item = items_.find(queue_.front());
    if (item != items_.end() && (!item->second.waiters.empty() || item->second.wanted)) {
      return &item->second;
    }
    queue_.pop_front();
  }
  return nullptr;
}

// Takes the models that were used least recently out of memory until there is room for `item`; none
// if that is not enough.
bool Shelf::MakeRoom(const Item& item, std::vector<std::shared_ptr<const Translator>>* leaving) {
  std::vector<Item*> idle;
  for (auto& [name, other] : items_) {
    const bool at_work =
        other.loaded == nullptr || other.loaded.use_count() > 1 || !other.loaded->idle();
    if (!at_work && !other.pinned) idle.push_back(&other);
  }
  std::sort(idle.begin(), idle.end(),
            [](const Item* a, const Item* b) { return a->last_use < b->last_use; });
  double needed = UsedBytes() + item.bytes - options_.capacity_bytes;
  size_t count = 0;
  for (; count < idle.size() && needed > 0; ++count) needed -= idle[count]->bytes;
  if (needed > 0) return false;
  for (size_t i = 0; i < count; ++i) {
    Log(LogLevel::kInfo, "evicted", {{"model", idle[i]->source.name}});
    leaving->push_back(LetGo(idle[i]));
    metrics_->OnModelEvicted(idle[i]->source.name);
  }
  return true;
}

bool Shelf::Turn(absl::Time now) {
  RefuseLate(now);
  std::optional<ModelSource> source;
  uint64_t puts = 0;
  std::vector<std::shared_ptr<const Translator>> leaving;
  Answers answers;
  {
    absl::MutexLock lock(&mutex_);
    full_ = false;
    Item* const item = NextWanted();
    if (item == nullptr) return false;
    double fixed = reserved_;
    for (const auto& [name, other] : items_) {
      if (other.pinned && &other != item && other.loaded != nullptr) fixed += other.bytes;
    }
    if (fixed + item->bytes > options_.capacity_bytes) {
      queue_.pop_front();
      Fail(item, LoadFailure::kMemory,
           absl::StrCat("takes about ", ShownMegabytes(item->bytes), ", and --model-memory leaves ",
                        ShownMegabytes(std::max(0.0, options_.capacity_bytes - fixed))),
           now, &answers);
    } else if (!MakeRoom(*item, &leaving)) {
      full_ = true;
      return false;
    } else {
      queue_.pop_front();
      item->loading = true;
      source = item->source;
      puts = item->puts;
    }
    CountMemory();
  }
  leaving.clear();
  options_.free();
  Tell(std::move(answers));
  if (source.has_value()) LoadOne(*source, puts);
  return true;
}

// `puts` tells whether the model is still the same when it is loaded.
void Shelf::LoadOne(const ModelSource& source, uint64_t puts) {
  LoadResult result = options_.load(source);
  const absl::Time now = options_.clock();
  bool known_now = false;
  Answers answers;
  {
    absl::MutexLock lock(&mutex_);
    const auto found = items_.find(source.name);
    if (found == items_.end()) return;
    Item* const item = &found->second;
    item->loading = false;
    if (item->puts != puts || item->unloaded) {  // that was another version, or nobody wants it
      if (item->unloaded) AnswerAll(item, Refusal(*item, now), &answers);
      if (!item->waiters.empty() || item->wanted) Ask(source.name);
    } else if (!result.status.ok()) {
      Fail(item, result.failure, std::string(result.status.message()), now, &answers);
    } else {
      known_now = !item->profile->known;
      Settle(item, result, &answers);
    }
    CountMemory();
  }
  Tell(std::move(answers));
  if (known_now) options_.on_known();
}

// Keeps a model that was loaded.
void Shelf::Settle(Item* item, const LoadResult& result, Answers* answers) {
  item->loaded = result.loaded;
  if (result.bytes > 0) item->bytes = result.bytes;
  item->last_use = ++uses_;
  item->wanted = item->pinned;
  item->failure = LoadFailure::kNone;
  item->pause = kFirstPause;
  const Model& model = result.loaded->model();
  if (!item->profile->known) {
    auto profile = std::make_shared<ModelProfile>(item->source.name);
    profile->config = {.spec = model.spec(), .generation = model.generation()};
    profile->languages = model.tokenizer().languages();
    profile->known = true;
    item->profile = std::move(profile);
  }
  metrics_->OnModelLoaded(item->source.name, model.version());
  AnswerAll(item, item->loaded, answers);
}

void Shelf::Fail(Item* item, LoadFailure failure, const std::string& why, absl::Time now,
                 Answers* answers) {
  const std::string& name = item->source.name;
  if (item->failure != failure || item->why != why) {  // do not repeat the same line
    Log(LogLevel::kError, "model not loaded",
        {{"model", name}, {"reason", NameOf(failure)}, {"error", why}});
  }
  metrics_->OnModelFailed(name, failure);
  item->failure = failure;
  item->why = why;
  item->retry_at = now + item->pause;
  item->pause = std::min(2 * item->pause, kLastPause);
  item->wanted = false;
  AnswerAll(item, Refusal(*item, now), answers);
}

void Shelf::Start() {
  loader_ = std::thread([this] {
    const auto called = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
      return closing_ || (!queue_.empty() && !full_);
    };
    while (true) {
      {
        absl::MutexLock lock(&mutex_);
        mutex_.AwaitWithTimeout(absl::Condition(&called), full_ ? kTick : absl::InfiniteDuration());
        if (closing_) return;
      }
      Turn(options_.clock());
    }
  });
  refuser_ = std::thread([this] {
    const auto called = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
      return closing_ || waiting_ > 0;
    };
    while (true) {
      {
        absl::MutexLock lock(&mutex_);
        mutex_.Await(absl::Condition(&called));
        mutex_.AwaitWithTimeout(absl::Condition(&closing_), kTick);
        if (closing_) return;
      }
      RefuseLate(options_.clock());
    }
  });
}

void Shelf::Close() {
  Answers answers;
  {
    absl::MutexLock lock(&mutex_);
    closing_ = true;
  }
  if (loader_.joinable()) loader_.join();
  if (refuser_.joinable()) refuser_.join();
  {
    absl::MutexLock lock(&mutex_);
    for (auto& [name, item] : items_) {
      AnswerAll(&item, absl::UnavailableError("the server is draining"), &answers);
    }
  }
  Tell(std::move(answers));
}

}  // namespace dragoman
