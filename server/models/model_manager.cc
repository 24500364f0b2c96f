#include "server/models/model_manager.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/time/clock.h"
#include "engine/base/status.h"
#include "server/observe/logging.h"

namespace dragoman {
namespace {

// How soon to check again files that are still changing, and models that did not fit into memory.
constexpr absl::Duration kSettle = absl::Seconds(1);
constexpr absl::Duration kMemoryRetry = absl::Seconds(10);

// The sources that are to be in memory, in the order in which they are loaded: all that are not on
// the shelf.
std::vector<ModelSource> Wanted(const ServerOptions& options) {
  std::vector<ModelSource> wanted;
  for (const ModelSource& model : options.models) {
    if (!model.found || options.model_memory == 0) wanted.push_back(model);
  }
  for (const Canary& canary : options.canaries) {
    for (const ModelSource& model : options.models) {
      if (model.name == canary.model) {
        wanted.push_back({CanaryName(model.name), canary.directory, model.shortlist});
      }
    }
  }
  return wanted;
}

}  // namespace

ModelManager::ModelManager(const ServerOptions& options, ReadOptions read_again, WorkerPool* pool,
                           Metrics* metrics, ModelRegistry* registry)
    : options_(options),
      read_again_(std::move(read_again)),
      loader_(options, pool, metrics,
              [calls = calls_](std::shared_ptr<const Model> model) {
                absl::MutexLock lock(&calls->mutex);
                calls->unused.push_back(std::move(model));
              }),
      shelf_loader_(options, pool, metrics,
                    [calls = calls_](std::shared_ptr<const Model> model) {
                      absl::MutexLock lock(&calls->mutex);
                      calls->evicted.push_back(std::move(model));
                    }),
      metrics_(metrics),
      registry_(registry),
      config_version_(VersionOf(options.config_file)) {
  if (options.model_memory == 0) return;
  keeper_ = std::make_unique<ShelfKeeper>(
      options, &shelf_loader_, metrics, [calls = calls_] { FreeEvicted(calls.get()); },
      [calls = calls_] {
        absl::MutexLock lock(&calls->mutex);
        calls->publish = true;
      });
}

absl::StatusOr<std::unique_ptr<ModelManager>> ModelManager::Start(const ServerOptions& options,
                                                                  ReadOptions read_again,
                                                                  WorkerPool* pool,
                                                                  Metrics* metrics,
                                                                  ModelRegistry* registry) {
  std::unique_ptr<ModelManager> manager(
      new ModelManager(options, std::move(read_again), pool, metrics, registry));
  RETURN_IF_ERROR(manager->LoadAll());
  manager->thread_ = std::thread([manager = manager.get()] { manager->Run(); });
  return manager;
}

ModelManager::~ModelManager() {
  Close();
  if (thread_.joinable()) thread_.join();
  keeper_ = nullptr;
  FreeEvicted(calls_.get());
}

void ModelManager::FreeEvicted(Calls* calls) {
  std::vector<std::shared_ptr<const Model>> evicted;
  {
    absl::MutexLock lock(&calls->mutex);
    evicted.swap(calls->evicted);
  }
}

void ModelManager::Close() {
  absl::MutexLock lock(&calls_->mutex);
  calls_->closing = true;
}

bool ModelManager::closing() const {
  absl::MutexLock lock(&calls_->mutex);
  return calls_->closing;
}

void ModelManager::ReadAgain() {
  absl::MutexLock lock(&calls_->mutex);
  calls_->asked = true;
}

void ModelManager::Turn(const std::string& model, ModelTurn turn) {
  absl::MutexLock lock(&calls_->mutex);
  calls_->turns.emplace_back(model, turn);
}

absl::Status ModelManager::LoadAll() {
  absl::Status failed;
  for (const ModelSource& source : Wanted(options_)) {
    Slot& slot = slots_[source.name];
    slot.source = source;
    const FileVersions files = FilesOf(source);
    LoadResult result = loader_.Load(source);
    if (result.status.ok()) {
      Serve(&slot, files, std::move(result.loaded));
    } else if (source.found) {
      Fail(&slot, files, result);
      failed.Update(result.status);
    } else {
      return result.status;
    }
  }
  if (keeper_ != nullptr) {
    ReserveForSlots();
    keeper_->Keep(options_, /*asked=*/true);
    keeper_->LoadPinned();
    keeper_->shelf()->Start();
  }
  last_look_ = absl::Now();
  Publish();
  if (registry_->Models()->default_model() != nullptr) return absl::OkStatus();
  return failed.ok() ? absl::FailedPreconditionError("no model can be loaded; the log says why")
                     : failed;
}

// What the models that are always in memory take counts as taken from the shelf.
void ModelManager::ReserveForSlots() const {
  double bytes = 0;
  for (const auto& [name, slot] : slots_) {
    if (slot.serving != nullptr)
      bytes += loader_.Estimate(slot.serving_source).value_or(MemoryEstimate()).kept;
  }
  keeper_->shelf()->Reserve(bytes);
}

void ModelManager::Run() {
  Calls* const calls = calls_.get();
  const auto called = [calls]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(calls->mutex) {
    return calls->closing || calls->asked || calls->publish || !calls->turns.empty() ||
           !calls->unused.empty() || !calls->evicted.empty();
  };
  while (true) {
    bool asked = false, publish = false;
    std::vector<std::pair<std::string, ModelTurn>> turns;
    std::vector<std::shared_ptr<const Model>> unused;
    {
      absl::MutexLock lock(&calls->mutex);
      calls->mutex.AwaitWithTimeout(absl::Condition(&called), NextLook(absl::Now()));
      if (calls->closing) return;
      asked = std::exchange(calls->asked, false);
      publish = std::exchange(calls->publish, false);
      turns.swap(calls->turns);
      unused.swap(calls->unused);
    }
    FreeEvicted(calls);
    for (std::shared_ptr<const Model>& model : unused) Free(std::move(model));
    for (const auto& [model, turn] : turns) TurnNow(model, turn);
    if (publish) Publish();
    if (asked || NextLook(absl::Now()) <= absl::ZeroDuration()) Look(asked);
  }
}

// How long until models are checked again, unless somebody asks.
absl::Duration ModelManager::NextLook(absl::Time now) const {
  absl::Duration interval = absl::InfiniteDuration();
  if (options_.model_poll > absl::ZeroDuration()) interval = options_.model_poll;
  if (waits_for_memory_) interval = std::min(interval, kMemoryRetry);
  if (unsettled_) interval = std::min(interval, kSettle);
  return last_look_ + interval - now;
}

void ModelManager::Look(bool asked) {
  unsettled_ = waits_for_memory_ = false;
  ReadConfiguration(asked);
  for (const ModelSource& source : Wanted(options_)) {
    if (closing()) return;
    Slot& slot = slots_[source.name];
    slot.source = source;
    if (!IsUnloaded(source)) LookAt(&slot, asked);
  }
  if (keeper_ != nullptr) unsettled_ |= !keeper_->Keep(options_, asked);
  RemoveUnwanted();
  if (keeper_ != nullptr) ReserveForSlots();
  Publish();
  last_look_ = absl::Now();
}

bool ModelManager::IsUnloaded(const ModelSource& source) const {
  return unloaded_.contains(ParseModelName(source.name).model);
}

void ModelManager::TurnNow(const std::string& model, ModelTurn turn) {
  const bool shelved = keeper_ != nullptr && keeper_->Has(model);
  const bool load = turn == ModelTurn::kLoad;
  if (turn == ModelTurn::kPin || turn == ModelTurn::kUnpin) {
    if (shelved) keeper_->Pin(model, turn == ModelTurn::kPin);
    return;
  }
  if (!load && !registry_->Models()->ServesWithout(model)) {
    return Log(LogLevel::kWarning, "not unloaded: no other model serves", {{"model", model}});
  }
  if (shelved) load ? keeper_->shelf()->Load(model) : keeper_->shelf()->Unload(model);
  if (load) {
    unloaded_.erase(model);
  } else {
    unloaded_.insert(model);
  }
  for (const ModelSource& source : Wanted(options_)) {
    if (ParseModelName(source.name).model != model) continue;
    Slot& slot = slots_[source.name];
    slot.source = source;
    load ? LookAt(&slot, /*asked=*/true) : BidFarewell(&slot);
  }
  Publish();
}

void ModelManager::ReadConfiguration(bool asked) {
  if (read_again_ == nullptr) return;
  const FileVersion version = VersionOf(options_.config_file);
  // A directory of models may have new ones in it even if the file is unchanged.
  const bool changed = version != config_version_ || options_.given.has_models_directory();
  if (!asked && !changed) return;
  config_version_ = version;
  const absl::StatusOr<ServerOptions> options = read_again_();
  metrics_->OnConfigRead(options.status());
  if (options.ok()) {
    TakeOver(*options);
  } else {
    Log(LogLevel::kError, "configuration not reloaded: the old one stays in use",
        {{"error", std::string(options.status().message())}});
  }
}

void ModelManager::TakeOver(const ServerOptions& options) {
  const std::string fixed = NamesOfFixedChanges(options_.given, options.given);
  if (!fixed.empty() && fixed != told_fixed_) {
    Log(LogLevel::kWarning, "settings that changed and need a restart", {{"settings", fixed}});
  }
  told_fixed_ = fixed;
  options_.models = options.models;
  options_.canaries = options.canaries;
  options_.pinned = options.pinned;
  options_.default_model = options.default_model;
  options_.pivot = options.pivot;
  ChangeLogging(options.log);
}

// Removes what the configuration no longer names: last, when the new models have been loaded, and
// only if something is left.
void ModelManager::RemoveUnwanted() {
  std::set<std::string> wanted;
  bool serves = keeper_ != nullptr;  // what is on the shelf may
  for (const ModelSource& source : Wanted(options_)) {
    wanted.insert(source.name);
    serves = serves || slots_[source.name].serving != nullptr;
  }
  if (!serves) {
    Log(LogLevel::kError,
        "no model of the new configuration can be loaded: the old ones stay in use");
    return;
  }
  for (auto slot = slots_.begin(); slot != slots_.end();) {
    if (wanted.contains(slot->first)) {
      ++slot;
      continue;
    }
    Log(LogLevel::kInfo, "removed", {{"model", slot->first}});
    metrics_->OnModelRemoved(slot->first);
    BidFarewell(&slot->second);
    unloaded_.erase(slot->first);
    slot = slots_.erase(slot);
  }
}

}  // namespace dragoman
