#include "server/models/shelf_keeper.h"

#include <algorithm>
#include <atomic>
#include <optional>
#include <set>
#include <thread>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/time/clock.h"
#include "engine/base/machine.h"
#include "engine/base/status.h"
#include "engine/base/unpacked_zip.h"
#include "server/observe/logging.h"

namespace dragoman {
namespace {

struct Known {
  absl::StatusOr<ModelProfile> profile = absl::UnknownError("");
  double bytes = 0;
};

Known Read(const ModelSource& source, const ModelLoader& loader) {
  const auto held = UnpackedZip::Hold(source.directory);  // if it is a zip, for both
  Known known = {.profile = ModelProfile::Read(source.name, source.directory)};
  const absl::StatusOr<MemoryEstimate> estimate = loader.Estimate(source);
  if (known.profile.ok() && !estimate.ok()) known.profile = estimate.status();
  known.bytes = estimate.value_or(MemoryEstimate()).kept;
  return known;
}

// Reads many at a time: some have a tokenizer, which takes a tenth of a second, or are zips.
std::vector<Known> ReadAll(const std::vector<ModelSource>& sources, const ModelLoader& loader) {
  std::vector<Known> known(sources.size());
  std::atomic<size_t> next = 0;
  const auto read = [&] {
    for (size_t i = next++; i < sources.size(); i = next++) known[i] = Read(sources[i], loader);
  };
  std::vector<std::thread> threads;
  const size_t most = std::min<size_t>(AvailableCores(), sources.size());
  for (size_t t = 1; t < most; ++t) threads.emplace_back(read);
  read();
  for (std::thread& thread : threads) thread.join();
  return known;
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
  std::erase_if(shelved_, [&](const auto& shelved) {
    if (wanted.contains(shelved.first)) return false;
    Log(LogLevel::kInfo, "removed", {{"model", shelved.first}});
    shelf_->Remove(shelved.first);
    metrics_->OnModelRemoved(shelved.first);
    pins_.erase(shelved.first);
    return true;
  });
  for (const std::string& name : wanted) {
    const auto by_operator = pins_.find(name);
    const bool configured = absl::c_linear_search(options.pinned, name);
    shelf_->Pin(name, by_operator == pins_.end() ? configured : by_operator->second);
  }
  return settled;
}

void ShelfKeeper::PutAll(const std::vector<Shelved*>& changed) {
  std::vector<ModelSource> sources;
  for (const Shelved* shelved : changed) sources.push_back(shelved->source);
  std::vector<Known> known = ReadAll(sources, *loader_);
  for (size_t i = 0; i < changed.size(); ++i) {
    const ModelSource& source = sources[i];
    absl::StatusOr<ModelProfile>& profile = known[i].profile;
    changed[i]->known = profile.ok();
    if (!profile.ok()) {
      profile = Annotate(profile.status(), "model ", source.name, " (", source.directory, "): ");
    }
    shelf_->Put(source, std::move(profile), known[i].bytes);
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
