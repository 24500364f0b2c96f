#include "server/models/shelf_keeper.h"

#include <algorithm>
#include <atomic>
#include <optional>
#include <set>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "engine/base/machine.h"
#include "engine/base/status.h"
#include "server/observe/logging.h"

namespace dragoman {
namespace {

using Profile = absl::StatusOr<ModelProfile>;

// Reads many at a time: each has a tokenizer, which takes a tenth of a second.
std::vector<Profile> ReadProfiles(const std::vector<ModelSource>& sources) {
  std::vector<Profile> profiles(sources.size(), absl::UnknownError(""));
  std::atomic<size_t> next = 0;
  const auto read = [&] {
    for (size_t i = next++; i < sources.size(); i = next++) {
      profiles[i] = ModelProfile::Read(sources[i].name, sources[i].directory);
    }
  };
  std::vector<std::thread> threads;
  const size_t most = std::min<size_t>(AvailableCores(), sources.size());
  for (size_t t = 1; t < most; ++t) threads.emplace_back(read);
  read();
  for (std::thread& thread : threads) thread.join();
  return profiles;
}

}  // namespace

ShelfKeeper::ShelfKeeper(const ServerOptions& options, const ModelLoader* loader, Metrics* metrics,
                         std::function<void()> free, std::function<void()> on_known)
    : loader_(loader),
      metrics_(metrics),
      shelf_(std::make_shared<Shelf>(
          ShelfOptions{.capacity_bytes = static_cast<double>(options.model_memory),
                       .max_waiting_requests = options.pool.max_waiting_requests,
                       .limits = options.limits,
                       .clock = absl::Now,
                       .load = [this](const ModelSource& source) { return Load(source); },
                       .free = std::move(free),
                       .on_known = std::move(on_known)},
          metrics)) {}

ShelfKeeper::~ShelfKeeper() { shelf_->Close(); }

LoadResult ShelfKeeper::Load(const ModelSource& source) const {
  const FileVersions files = FilesOf(source);
  LoadResult result = loader_->LoadBeside(source, nullptr);
  if (result.status.ok() && FilesOf(source) != files) {
    // They may be half of one version and half of another.
    return {.status = absl::UnavailableError("its files are changing"),
            .failure = LoadFailure::kBroken};
  }
  return result;
}

bool ShelfKeeper::Keep(const ServerOptions& options, bool asked) {
  bool settled = true;
  std::set<std::string> wanted;
  std::vector<Shelved*> changed;
  for (const ModelSource& source : options.models) {
    if (!source.found) continue;
    wanted.insert(source.name);
    const bool is_new = !shelved_.contains(source.name);
    Shelved& shelved = shelved_[source.name];
    const FileVersions files = FilesOf(source);
    const bool at_rest = std::exchange(shelved.seen, files) == files;
    const bool same = !is_new && shelved.source == source && shelved.files == files;
    if (same && (shelved.known || !asked)) continue;
    if (!at_rest && !asked) {
      settled = false;
      continue;
    }
    shelved.source = source;
    shelved.files = files;
    changed.push_back(&shelved);
  }
  PutAll(changed);
  for (auto shelved = shelved_.begin(); shelved != shelved_.end();) {
    if (wanted.contains(shelved->first)) {
      ++shelved;
      continue;
    }
    Log(LogLevel::kInfo, "removed", {{"model", shelved->first}});
    shelf_->Remove(shelved->first);
    metrics_->OnModelRemoved(shelved->first);
    pins_.erase(shelved->first);
    shelved = shelved_.erase(shelved);
  }
  for (const std::string& name : wanted) {
    const auto by_operator = pins_.find(name);
    const bool configured =
        std::find(options.pinned.begin(), options.pinned.end(), name) != options.pinned.end();
    shelf_->Pin(name, by_operator == pins_.end() ? configured : by_operator->second);
  }
  return settled;
}

void ShelfKeeper::PutAll(const std::vector<Shelved*>& changed) {
  std::vector<ModelSource> sources;
  for (const Shelved* shelved : changed) sources.push_back(shelved->source);
  std::vector<Profile> profiles = ReadProfiles(sources);
  for (size_t i = 0; i < changed.size(); ++i) {
    const ModelSource& source = sources[i];
    const absl::StatusOr<double> bytes = loader_->EstimateBytes(source);
    if (profiles[i].ok() && !bytes.ok()) profiles[i] = bytes.status();
    changed[i]->known = profiles[i].ok();
    if (!profiles[i].ok()) {
      profiles[i] = Annotate(profiles[i].status(),
                             absl::StrCat("model ", source.name, " (", source.directory, "): "));
    }
    shelf_->Put(source, std::move(profiles[i]), bytes.value_or(0));
  }
}

void ShelfKeeper::LoadPinned() {
  while (shelf_->Turn(absl::Now())) {
  }
}

void ShelfKeeper::Pin(const std::string& model, bool pinned) {
  pins_[model] = pinned;
  shelf_->Pin(model, pinned);
}

}  // namespace dragoman
