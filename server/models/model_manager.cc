#include "server/models/model_manager.h"

#include <malloc.h>

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "engine/base/status.h"
#include "server/observe/logging.h"
#include "server/observe/process_stats.h"

namespace dragoman {
namespace {

// How soon to check again files that are still changing, and models that did not fit into memory.
constexpr absl::Duration kSettle = absl::Seconds(1);
constexpr absl::Duration kMemoryRetry = absl::Seconds(10);
// How often to check whether the last sentence of a model has ended.
constexpr absl::Duration kLeavingInterval = absl::Milliseconds(50);

std::string CanaryName(const std::string& model) { return model + "@canary"; }

// The wanted sources, in the order in which they are loaded.
std::vector<ModelSource> Wanted(const ServerOptions& options) {
  std::vector<ModelSource> wanted = options.models;
  for (const Canary& canary : options.canaries) {
    for (const ModelSource& model : options.models) {
      if (model.name == canary.model) {
        wanted.push_back({CanaryName(model.name), canary.directory, model.shortlist});
      }
    }
  }
  return wanted;
}

FileVersions FilesOf(const ModelSource& source) {
  FileVersions files = VersionsIn(source.directory);
  if (!source.shortlist.file.empty()) files["the shortlist"] = VersionOf(source.shortlist.file);
  return files;
}

// Whether only the manager and the model's own translator still hold it.
bool IsForgotten(const LoadedModel& loaded) {
  return loaded.translator.use_count() == 1 && loaded.model.use_count() == 2;
}

}  // namespace

ModelManager::ModelManager(const ServerOptions& options, ReadOptions read_again, WorkerPool* pool,
                           Metrics* metrics, ModelRegistry* registry)
    : options_(options),
      read_again_(std::move(read_again)),
      loader_(options, pool, metrics),
      metrics_(metrics),
      registry_(registry),
      config_version_(VersionOf(options.config_file)) {}

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
}

void ModelManager::Close() {
  absl::MutexLock lock(&mutex_);
  closing_ = true;
}

bool ModelManager::closing() const {
  absl::MutexLock lock(&mutex_);
  return closing_;
}

void ModelManager::ReadAgain() {
  absl::MutexLock lock(&mutex_);
  asked_ = true;
}

absl::Status ModelManager::LoadAll() {
  absl::Status failed;
  for (const ModelSource& source : Wanted(options_)) {
    Slot& slot = slots_[source.name];
    slot.source = source;
    const FileVersions files = FilesOf(source);
    LoadResult result = loader_.Load(source, nullptr);
    if (result.status.ok()) {
      Serve(&slot, files, std::move(result.loaded));
    } else if (source.found) {
      Fail(&slot, files, result);
      failed.Update(result.status);
    } else {
      return result.status;
    }
  }
  const auto serves = [](const auto& slot) {
    return slot.second.serving.model != nullptr && ParseModelName(slot.first).label.empty();
  };
  if (std::none_of(slots_.begin(), slots_.end(), serves)) return failed;
  last_look_ = absl::Now();
  Publish();
  return absl::OkStatus();
}

void ModelManager::Run() {
  const auto called = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return closing_ || asked_; };
  while (true) {
    bool asked = false;
    {
      absl::MutexLock lock(&mutex_);
      const absl::Duration wait = leaving_.empty() ? NextLook(absl::Now()) : kLeavingInterval;
      mutex_.AwaitWithTimeout(absl::Condition(&called), wait);
      if (closing_) return;
      asked = std::exchange(asked_, false);
    }
    LetGo();
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
    LookAt(&slot, asked);
  }
  RemoveUnwanted();
  Publish();
  last_look_ = absl::Now();
}

void ModelManager::ReadConfiguration(bool asked) {
  if (read_again_ == nullptr) return;
  const FileVersion version = VersionOf(options_.config_file);
  // A directory of models may have new ones in it even if the file is unchanged.
  const bool changed = version != config_version_ || options_.config.has_models_directory();
  if (!asked && !changed) return;
  config_version_ = version;
  const absl::StatusOr<ServerOptions> options = read_again_();
  metrics_->OnConfigRead(options.status());
  if (options.ok()) {
    TakeOver(*options);
  } else {
    Log(LogLevel::kError, "configuration not reloaded: the old one stays in use",
        {{"error",
          std::string_view(options.status().message().data(), options.status().message().size())}});
  }
}

void ModelManager::TakeOver(const ServerOptions& options) {
  const std::string fixed = NamesOfFixedChanges(options_.config, options.config);
  if (!fixed.empty() && fixed != told_fixed_) {
    Log(LogLevel::kWarning, "settings that changed and need a restart", {{"settings", fixed}});
  }
  told_fixed_ = fixed;
  options_.models = options.models;
  options_.canaries = options.canaries;
  options_.default_model = options.default_model;
  options_.pivot = options.pivot;
  ChangeLogging(options.log);
}

// Removes what the configuration no longer names: last, when the new models have been loaded, and
// only if something is left.
void ModelManager::RemoveUnwanted() {
  std::set<std::string> wanted;
  bool serves = false;
  for (const ModelSource& source : Wanted(options_)) {
    wanted.insert(source.name);
    serves = serves || slots_[source.name].serving.model != nullptr;
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
    slot = slots_.erase(slot);
  }
}

void ModelManager::LookAt(Slot* slot, bool asked) {
  const FileVersions files = FilesOf(slot->source);
  const bool at_rest = std::exchange(slot->seen, files) == files;
  const bool serves = slot->serving.model != nullptr;
  if (serves && slot->serving_source == slot->source && slot->serving_files == files) {
    if (!slot->failure.empty()) metrics_->OnModelSettled(slot->source.name);
    slot->failure.clear();  // the change that failed to load was reverted
    return;
  }
  const bool failed =
      !slot->failure.empty() && slot->failed_source == slot->source && slot->failed_files == files;
  if (failed && !asked && slot->failure != "memory") return;
  if (!at_rest && !asked) {
    unsettled_ = true;
    return;
  }
  loading_ = slot;
  Publish();
  LoadResult result = loader_.Load(slot->source, &slot->serving);
  loading_ = nullptr;
  if (FilesOf(slot->source) != files) {
    // The files may be half of one version and half of another.
    Log(LogLevel::kInfo, "the files of a model are changing: checking them again soon",
        {{"model", slot->source.name}});
    unsettled_ = true;
  } else if (result.status.ok()) {
    Serve(slot, files, std::move(result.loaded));
  } else {
    Fail(slot, files, result);
  }
  Publish();
}

// `files` are the versions of the files that the model was loaded from.
void ModelManager::Serve(Slot* slot, const FileVersions& files, LoadedModel loaded) {
  if (slot->serving.model != loaded.model) BidFarewell(slot);
  slot->serving = std::move(loaded);
  slot->serving_source = slot->source;
  slot->serving_files = slot->seen = files;
  slot->failure.clear();
  metrics_->OnModelLoaded(slot->source.name, slot->serving.model->version());
}

void ModelManager::Fail(Slot* slot, const FileVersions& files, const LoadResult& result) {
  const bool known = slot->failure == result.failure && slot->failed_source == slot->source &&
                     slot->failed_files == files;
  slot->failure = result.failure;
  slot->failed_source = slot->source;
  slot->failed_files = files;
  if (result.failure == "memory") waits_for_memory_ = true;
  if (known) return;  // do not repeat the same line
  metrics_->OnModelFailed(slot->source.name, result.failure);
  Log(LogLevel::kError,
      slot->serving.model == nullptr ? "model not loaded"
                                     : "model not reloaded: the old version stays in use",
      {{"model", slot->source.name},
       {"reason", result.failure},
       {"error",
        std::string_view(result.status.message().data(), result.status.message().size())}});
}

void ModelManager::BidFarewell(Slot* slot) {
  if (slot->serving.model == nullptr) return;
  leaving_.push_back({slot->source.name, std::move(slot->serving)});
  slot->serving = {};
}

// Whether that version is in memory, served or leaving: it may have come back.
bool ModelManager::Holds(const std::string& name, const std::string& version) const {
  const auto slot = slots_.find(name);
  if (slot != slots_.end() && slot->second.serving.model != nullptr &&
      slot->second.serving.model->version() == version) {
    return true;
  }
  return std::any_of(leaving_.begin(), leaving_.end(), [&](const Leaving& leaving) {
    return leaving.name == name && leaving.loaded.model->version() == version;
  });
}

// Frees the memory of models whose last sentence has ended: here rather than on a worker's thread,
// which has others to serve.
void ModelManager::LetGo() {
  const size_t before = leaving_.size();
  std::vector<Leaving> gone;
  for (Leaving& leaving : leaving_) {
    if (IsForgotten(leaving.loaded)) gone.push_back(std::move(leaving));
  }
  if (gone.empty()) return;
  std::erase_if(leaving_, [](const Leaving& leaving) { return leaving.loaded.model == nullptr; });
  for (Leaving& leaving : gone) {
    const std::string version = leaving.loaded.model->version();
    leaving.loaded = {};
#ifdef __GLIBC__
    malloc_trim(0);
#endif
    if (!Holds(leaving.name, version)) metrics_->OnModelLeft(leaving.name, version);
    Log(LogLevel::kInfo, "left",
        {{"model", leaving.name},
         {"version", version},
         {"resident_bytes", ReadProcessStats().resident_bytes}});
  }
  if (before != leaving_.size()) Publish();
  if (waits_for_memory_) last_look_ = absl::InfinitePast();
}

void ModelManager::Publish() const {
  std::vector<ServedModel> models;
  for (const ModelSource& model : options_.models) models.push_back(Describe(model));
  if (std::none_of(models.begin(), models.end(),
                   [](const ServedModel& model) { return model.stable != nullptr; })) {
    // None of the new configuration's models is available, yet or at all.
    for (const auto& [name, slot] : slots_) {
      if (ParseModelName(name).label.empty() && slot.serving.model != nullptr) {
        models.push_back(Describe(slot.serving_source));
      }
    }
  }
  registry_->Publish(
      std::make_shared<const ModelSet>(std::move(models), options_.default_model, options_.pivot));
}

ServedModel ModelManager::Describe(const ModelSource& model) const {
  ServedModel served{.name = model.name};
  for (const Canary& canary : options_.canaries) {
    if (canary.model == model.name) served.canary_percent = canary.percent;
  }
  const auto canary = slots_.find(CanaryName(model.name));
  if (canary != slots_.end()) served.canary = canary->second.serving.translator;
  if (served.canary == nullptr) served.canary_percent = 0;
  if (const auto slot = slots_.find(model.name); slot != slots_.end()) {
    served.stable = slot->second.serving.translator;
    DescribeSlot(slot->second, "stable", 100 - served.canary_percent, &served);
  }
  if (canary != slots_.end()) {
    DescribeSlot(canary->second, "canary", served.canary_percent, &served);
  }
  for (const Leaving& leaving : leaving_) {
    const ModelName name = ParseModelName(leaving.name);
    if (name.model != model.name) continue;
    served.versions.push_back({.label = name.label.empty() ? "stable" : name.label,
                               .version = leaving.loaded.model->version(),
                               .state = VersionState::kDraining});
  }
  return served;
}

void ModelManager::DescribeSlot(const Slot& slot, const std::string& label, double percent,
                                ServedModel* served) const {
  if (slot.serving.model != nullptr) {
    served->versions.push_back({.label = label,
                                .version = slot.serving.model->version(),
                                .state = VersionState::kReady,
                                .percent = percent});
  }
  if (&slot == loading_) {
    served->versions.push_back({.label = label, .state = VersionState::kLoading});
  } else if (!slot.failure.empty()) {
    served->versions.push_back(
        {.label = label, .state = VersionState::kFailed, .failure = slot.failure});
  }
}

}  // namespace dragoman
