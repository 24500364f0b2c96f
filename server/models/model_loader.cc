#include "server/models/model_loader.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "engine/base/json.h"
#include "engine/base/machine.h"
#include "engine/base/status.h"
#include "engine/base/unpacked_zip.h"
#include "engine/request/servable.h"
#include "server/observe/logging.h"

namespace dragoman {
namespace {

std::string Megabytes(double bytes) { return absl::StrFormat("%.0f MB", bytes / 1e6); }

void LogLoaded(const Model& model, const ModelSource& source, int rows, absl::Duration took) {
  Log(LogLevel::kInfo, "loaded",
      {{"model", model.name()},
       {"version", model.version()},
       {"precision", NameOf(model.precision())},
       {"matmul", model.matmul()},
       {"isa", model.isa()},
       {"batch_rows", rows},
       {"seconds", absl::ToDoubleSeconds(took)}});
  const Shortlist* const shortlist = model.shortlist();
  if (shortlist == nullptr) return;
  Log(LogLevel::kInfo, "shortlist",
      {{"model", model.name()},
       {"file", source.shortlist.file},
       {"first", shortlist->first()},
       {"best", shortlist->best()},
       {"entries", static_cast<int64_t>(shortlist->entries())}});
}

// The result for that model, whose error names it.
LoadResult Named(const ModelSource& source, LoadResult result) {
  result.status = Annotate(RelativeTo(source.directory, result.status), "model ", source.name, " (",
                           source.directory, "): ");
  return result;
}

// The sentences of golden.json in a model's directory; none if there is no such file:
//
//   {"goldens": [{"source": "Good morning.", "target": "Guten Morgen."}]}
//
// with "source_language" and "target_language" where the model needs them.
absl::StatusOr<std::vector<Golden>> ReadGoldens(const std::string& directory) {
  const std::string path = absl::StrCat(directory, "/golden.json");
  const absl::StatusOr<nlohmann::json> file = ReadJsonObject(path);
  if (absl::IsNotFound(file.status())) return std::vector<Golden>();
  RETURN_IF_ERROR(file.status());
  const nlohmann::json& list = Member(*file, "goldens");
  if (!list.is_array()) {
    return InvalidArgumentError(path, ": has no list \"goldens\"");
  }
  std::vector<Golden> goldens;
  for (const nlohmann::json& entry : list) {
    if (TextIn(entry, "source").empty()) {
      return InvalidArgumentError(path, ": goldens[", goldens.size(),
                                  "] is not an object with a \"source\" and a \"target\"");
    }
    goldens.push_back({TextIn(entry, "source"), TextIn(entry, "target"),
                       TextIn(entry, "source_language"), TextIn(entry, "target_language")});
  }
  return goldens;
}

// Translates the sentences apart from all traffic.  FAILED_PRECONDITION says which one was
// translated differently.
absl::Status TryGoldens(const std::shared_ptr<const Model>& model,
                        const std::vector<Golden>& goldens, const Limits& limits) {
  if (goldens.empty()) return absl::OkStatus();
  constexpr absl::Duration kTimeout = absl::Minutes(1);
  Observer nobody;
  WorkerPool pool({.workers = 1,
                   .max_batch_rows = std::max(TurnLimits().rows, limits.max_beam_size),
                   .kv_capacity_bytes = LongestSentenceBytes(model, limits)},
                  &nobody);
  const Translator translator(model, &pool, limits);
  for (size_t i = 0; i < goldens.size(); ++i) {
    TranslateResponse response;
    absl::Notification done;
    translator.Translate({.texts = {goldens[i].source},
                          .source_language = goldens[i].source_language,
                          .target_language = goldens[i].target_language},
                         absl::Now() + kTimeout, [&](TranslateResponse result) {
                           response = std::move(result);
                           done.Notify();
                         });
    done.WaitForNotification();
    const std::string sentence = absl::StrCat("golden sentence ", i + 1, " of ", goldens.size());
    if (!response.status.ok()) {
      return FailedPreconditionError(sentence,
                                     " cannot be translated: ", response.status.message());
    }
    if (response.translations.front().hypotheses.front().text != goldens[i].target) {
      return FailedPreconditionError(sentence, " is translated differently than required");
    }
  }
  return absl::OkStatus();
}

}  // namespace

FileVersions FilesOf(const ModelSource& source) {
  FileVersions files = VersionsIn(source.directory);
  if (!source.shortlist.file.empty()) files["the shortlist"] = VersionOf(source.shortlist.file);
  if (!source.lora.empty()) {
    for (auto& [name, version] : VersionsIn(source.lora))
      files[absl::StrCat("lora/", name)] = version;
  }
  return files;
}

ModelLoader::ModelLoader(const ServerOptions& options, WorkerPool* pool, Metrics* metrics,
                         Unused unused)
    : options_(options), pool_(pool), metrics_(metrics), unused_(std::move(unused)) {}

LoadResult ModelLoader::Load(const ModelSource& source) const {
  return Named(source, TryLoad(source, nullptr));
}

LoadResult ModelLoader::LoadBeside(const ModelSource& source,
                                   const std::shared_ptr<const Translator>& served) const {
  const auto held = UnpackedZip::Hold(source.directory);  // a zip, once for all
  const absl::StatusOr<double> bytes = CheckMemory(source);
  const bool too_large = absl::IsResourceExhausted(bytes.status());
  if (!bytes.ok()) {
    return Named(source, {.status = bytes.status(),
                          .failure = too_large ? LoadFailure::kMemory : LoadFailure::kBroken});
  }
  LoadResult result = Named(source, TryLoad(source, served));
  result.bytes = *bytes;
  return result;
}

LoadResult ModelLoader::TryLoad(const ModelSource& source,
                                const std::shared_ptr<const Translator>& served) const {
  Log(LogLevel::kInfo, "loading", {{"model", source.name}, {"directory", source.directory}});
  const absl::Time start = absl::Now();
  absl::StatusOr<std::shared_ptr<const Model>> model =
      Model::Load(source.name, source.directory,
                  {.precision = options_.precision,
                   .matmul = options_.matmul,
                   .keys_values = options_.keys_values,
                   .shortlist = source.shortlist,
                   .lora = source.lora,
                   .packed_cache = options_.packed_cache});
  absl::Status status = model.status();
  if (status.ok()) status = CheckServable(*model, source.directory);
  absl::StatusOr<std::vector<Golden>> goldens = ReadGoldens(source.directory);
  status.Update(goldens.status());
  if (!status.ok()) return {.status = status, .failure = LoadFailure::kBroken};
  goldens->insert(goldens->end(), source.goldens.begin(), source.goldens.end());
  status = TryGoldens(*model, *goldens, options_.limits);
  if (!status.ok()) return {.status = status, .failure = LoadFailure::kGolden};

  const absl::Duration took = absl::Now() - start;
  if (served != nullptr && served->model().version() == (*model)->version()) {
    Log(LogLevel::kInfo, "unchanged",
        {{"model", source.name}, {"version", served->model().version()}});
    return {.loaded = served};
  }
  metrics_->AddModel(**model, took);
  metrics_->SetBatchRows(source.name, pool_->max_batch_rows());
  LogLoaded(**model, source, pool_->max_batch_rows(), took);
  // Who lets go of it last, such as a worker with other sentences to serve, does not free it.
  const Model* const its_address = model->get();
  std::shared_ptr<const Model> used(
      its_address, [owner = *std::move(model), unused = unused_](const Model*) mutable {
        unused(std::move(owner));
      });
  return {.loaded = std::make_shared<const Translator>(std::move(used), pool_, options_.limits)};
}

absl::StatusOr<MemoryEstimate> ModelLoader::Estimate(const ModelSource& source) const {
  return EstimateMemory(source.directory, options_.precision, !source.shortlist.file.empty());
}

// Whether there is enough memory for the model in addition to everything else.  Reads only its
// configuration.  Returns what the model takes once it is loaded.
absl::StatusOr<double> ModelLoader::CheckMemory(const ModelSource& source) const {
  ASSIGN_OR_RETURN(const MemoryEstimate estimate, Estimate(source));
  const double needed = estimate.kept + estimate.loading;
  const auto free = static_cast<double>(FreeMemory());
  if (needed <= free) return estimate.kept;
  return ResourceExhaustedError("would take about ", Megabytes(needed), " of memory, and ",
                                Megabytes(free), " are free");
}

absl::Status ModelLoader::CheckServable(const std::shared_ptr<const Model>& model,
                                        const std::string& directory) const {
  RETURN_IF_ERROR(CheckDefaults(*model, directory, options_.limits));
  const size_t capacity = pool_->Stats().kv_capacity_bytes;
  const size_t needed = LongestSentenceBytes(model, options_.limits) * pool_->workers();
  if (needed <= capacity) return absl::OkStatus();
  return InvalidArgumentError("kv-cache-bytes is ", capacity, ", want at least ", needed,
                              " for a sentence of max-source-tokens in each of ", pool_->workers(),
                              " workers; give more, or lower max-source-tokens or workers");
}

}  // namespace dragoman
