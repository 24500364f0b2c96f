// The slots of the manager: each holds the version of a model that serves.
//
//   files changed   the new version loads beside the serving one, and takes its place
//   it is broken    the old one goes on serving, and this version is not tried again
//   it was replaced, or is not wanted   it bids farewell, and is freed when its last request ends
//
// After each of these the set of models is published anew.

#include <utility>

#include "absl/algorithm/container.h"
#include "engine/base/heap.h"
#include "server/models/model_manager.h"
#include "server/observe/logging.h"
#include "server/observe/process_stats.h"

namespace dragoman {

void ModelManager::LookAt(Slot* slot, bool asked) {
  const FileVersions files = FilesOf(slot->source);
  const bool at_rest = std::exchange(slot->seen, files) == files;
  const bool serves = slot->serving != nullptr && slot->serving->model().whole();
  if (serves && slot->serving_source == slot->source && slot->serving_files == files) {
    if (slot->failure != LoadFailure::kNone) metrics_->OnModelSettled(slot->source.name);
    slot->failure = LoadFailure::kNone;  // the change that failed to load was reverted
    return;
  }
  const bool failed = slot->failure != LoadFailure::kNone && slot->failed_source == slot->source &&
                      slot->failed_files == files;
  if (failed && !asked && slot->failure != LoadFailure::kMemory) return;
  if (!at_rest && !asked) {
    unsettled_ = true;
    return;
  }
  loading_ = slot;
  Publish();
  LoadResult result = loader_.LoadBeside(slot->source, serves ? slot->serving : nullptr);
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
void ModelManager::Serve(Slot* slot, const FileVersions& files,
                         std::shared_ptr<const Translator> loaded) {
  if (slot->serving != loaded) BidFarewell(slot);
  slot->serving = std::move(loaded);
  slot->serving_source = slot->source;
  slot->serving_files = slot->seen = files;
  slot->failure = LoadFailure::kNone;
  metrics_->OnModelLoaded(slot->source.name, slot->serving->model().version());
}

void ModelManager::Fail(Slot* slot, const FileVersions& files, const LoadResult& result) {
  const bool known = slot->failure == result.failure && slot->failed_source == slot->source &&
                     slot->failed_files == files;
  slot->failure = result.failure;
  slot->failed_source = slot->source;
  slot->failed_files = files;
  if (result.failure == LoadFailure::kMemory) waits_for_memory_ = true;
  if (known) return;  // do not repeat the same line
  metrics_->OnModelFailed(slot->source.name, result.failure);
  Log(LogLevel::kError,
      slot->serving == nullptr ? "model not loaded"
                               : "model not reloaded: the old version stays in use",
      {{"model", slot->source.name},
       {"reason", NameOf(result.failure)},
       {"error", std::string(result.status.message())}});
}

void ModelManager::BidFarewell(Slot* slot) {
  if (slot->serving == nullptr) return;
  const Model& model = slot->serving->model();
  leaving_.push_back({&model, slot->source.name, model.version()});
  slot->serving = nullptr;
}

// Whether that version is in memory, served or leaving: it may have come back.
bool ModelManager::Holds(const std::string& name, const std::string& version) const {
  const auto slot = slots_.find(name);
  if (slot != slots_.end() && slot->second.serving != nullptr &&
      slot->second.serving->model().version() == version) {
    return true;
  }
  return absl::c_any_of(leaving_, [&](const Leaving& leaving) {
    return leaving.name == name && leaving.version == version;
  });
}

// Frees the memory of a model that nobody uses any more.
void ModelManager::Free(std::shared_ptr<const Model> model) {
  const auto found = absl::c_find_if(
      leaving_, [&](const Leaving& leaving) { return leaving.model == model.get(); });
  model = nullptr;
  GiveBackHeap();
  if (found == leaving_.end()) return;  // it was never served
  const Leaving left = *found;
  leaving_.erase(found);
  if (!Holds(left.name, left.version)) metrics_->OnModelLeft(left.name, left.version);
  Log(LogLevel::kInfo, "left",
      {{"model", left.name},
       {"version", left.version},
       {"resident_bytes", ReadProcessStats().resident_bytes}});
  Publish();
  if (waits_for_memory_) last_look_ = absl::InfinitePast();
}

void ModelManager::Publish() const {
  std::vector<ServedModel> models;
  for (const ModelSource& model : options_.models) models.push_back(Describe(model));
  if (absl::c_none_of(models, [](const ServedModel& model) { return model.serves(); })) {
    // None of the new configuration's models is available, yet or at all.
    for (const auto& [name, slot] : slots_) {
      if (ParseModelName(name).label.empty() && slot.serving != nullptr) {
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
  if (canary != slots_.end()) served.canary = canary->second.serving;
  if (served.canary == nullptr) served.canary_percent = 0;
  if (keeper_ != nullptr && keeper_->Has(model.name)) {
    served.shelf = keeper_->shelf();
    served.profile = served.shelf->ProfileOf(model.name);
  }
  if (const auto slot = slots_.find(model.name); slot != slots_.end()) {
    served.stable = slot->second.serving;
    DescribeSlot(slot->second, "stable", 100 - served.canary_percent, &served);
  }
  if (canary != slots_.end()) {
    DescribeSlot(canary->second, "canary", served.canary_percent, &served);
  }
  for (const Leaving& leaving : leaving_) {
    const ModelName name = ParseModelName(leaving.name);
    if (name.model != model.name) continue;
    served.versions.push_back({.label = name.label.empty() ? "stable" : name.label,
                               .version = leaving.version,
                               .state = VersionState::kDraining});
  }
  return served;
}

void ModelManager::DescribeSlot(const Slot& slot, const std::string& label, double percent,
                                ServedModel* served) const {
  if (slot.serving != nullptr) {
    served->versions.push_back({.label = label,
                                .version = slot.serving->model().version(),
                                .state = VersionState::kReady,
                                .percent = percent});
  }
  if (&slot == loading_) {
    served->versions.push_back({.label = label, .state = VersionState::kLoading});
  } else if (slot.failure != LoadFailure::kNone) {
    served->versions.push_back(
        {.label = label, .state = VersionState::kFailed, .failure = slot.failure});
  }
}

}  // namespace dragoman
