// The turns of a shelf: each makes room for a model that is asked for, and loads it.
//
//   capacity 4, in memory: a (2, used last), b (1), c (1); d (2) is asked for
//   b and c leave, because a was used after them; d loads; its requests go on
//
// A model is at work while anybody besides the shelf holds it: a request that found it, or a job in
// a worker's batch.  Nobody can get hold of it but through the shelf, under its lock.

#include <algorithm>
#include <optional>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "server/models/shelf.h"
#include "server/observe/logging.h"

namespace dragoman {
namespace {

// How often to look for requests that have waited too long, and for room if there is none.
constexpr absl::Duration kTick = absl::Milliseconds(10);

std::string ShownMegabytes(double bytes) { return absl::StrFormat("%.0f MB", bytes / 1e6); }

}  // namespace

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
  absl::c_sort(idle, [](const Item* a, const Item* b) { return a->last_use < b->last_use; });
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
