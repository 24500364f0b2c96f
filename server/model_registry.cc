#include "server/model_registry.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "engine/base/status.h"
#include "engine/math/gemm.h"
#include "engine/servable.h"
#include "server/errors.h"
#include "server/logging.h"

namespace dragoman {
namespace {

// Whether the longest sentence of a model finds room in the memory of one worker.
absl::Status CheckKeysAndValues(const std::shared_ptr<const Model>& model, const Limits& limits,
                                const WorkerPool& pool) {
  const size_t capacity = pool.Stats().kv_capacity_bytes;
  const size_t needed = LongestSentenceBytes(model, limits) * pool.workers();
  if (needed <= capacity) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("kv-cache-bytes is ", capacity, ", want at least ", needed,
                   " for a sentence of max-source-tokens in each of ", pool.workers(),
                   " workers; give more, or lower max-source-tokens or workers"));
}

absl::Status CheckServable(const std::shared_ptr<const Model>& model, const std::string& directory,
                           const Limits& limits, const WorkerPool& pool) {
  RETURN_IF_ERROR(CheckDefaults(*model, directory, limits));
  return CheckKeysAndValues(model, limits, pool);
}

void LogUnused(const Model& model) {
  const std::vector<std::string>& unused = model.unused_tensors();
  if (unused.empty()) return;
  constexpr size_t kMost = 8;
  const auto end = unused.begin() + static_cast<int64_t>(std::min(unused.size(), kMost));
  Log(LogLevel::kWarning, "unused tensors",
      {{"model", model.name()},
       {"count", static_cast<int64_t>(unused.size())},
       {"tensors", absl::StrJoin(unused.begin(), end, " ")}});
}

}  // namespace

absl::StatusOr<std::unique_ptr<const ModelRegistry>> ModelRegistry::Load(
    const ServerOptions& options, WorkerPool* pool, Metrics* metrics) {
  auto registry = std::unique_ptr<ModelRegistry>(new ModelRegistry(options.limits, options.pivot));
  for (const ModelSource& source : options.models) {
    Log(LogLevel::kInfo, "loading", {{"model", source.name}, {"directory", source.directory}});
    const absl::Time start = absl::Now();
    absl::StatusOr<std::shared_ptr<const Model>> model =
        Model::Load(source.name, source.directory,
                    {.precision = options.precision,
                     .matmul = options.matmul,
                     .keys_values = options.keys_values,
                     .shortlist = source.shortlist});
    absl::Status status = model.status();
    if (status.ok()) status = CheckServable(*model, source.directory, options.limits, *pool);
    if (!status.ok()) {
      return absl::Status(status.code(), absl::StrCat("model ", source.name, " (", source.directory,
                                                      "): ", status.message()));
    }
    const absl::Duration took = absl::Now() - start;
    metrics->AddModel(**model, took);
    const int rows = pool->AddModel(*model);
    metrics->SetBatchRows(source.name, rows);
    Log(LogLevel::kInfo, "loaded",
        {{"model", source.name},
         {"version", (*model)->version()},
         {"precision", NameOf((*model)->precision())},
         {"matmul", GemmMatmul((*model)->arithmetic())},
         {"isa", (*model)->isa()},
         {"batch_rows", rows},
         {"seconds", absl::ToDoubleSeconds(took)}});
    LogUnused(**model);
    if (const Shortlist* shortlist = (*model)->shortlist(); shortlist != nullptr) {
      Log(LogLevel::kInfo, "shortlist",
          {{"model", source.name},
           {"file", source.shortlist.file},
           {"first", shortlist->first()},
           {"best", shortlist->best()},
           {"entries", static_cast<int64_t>(shortlist->entries())}});
    }
    registry->translators_.push_back(
        std::make_shared<const Translator>(*std::move(model), pool, options.limits));
    if (source.name == options.default_model) {
      registry->default_ = registry->translators_.back();
    }
  }
  return registry;
}

absl::StatusOr<std::shared_ptr<const Translator>> ModelRegistry::Find(
    const std::string& name) const {
  if (name.empty()) return default_;
  for (const auto& translator : translators_) {
    if (translator->model().name() == name) return translator;
  }
  return ModelNotFound(
      name, absl::StrJoin(translators_, ", ", [](std::string* out, const auto& translator) {
        out->append(translator->model().name());
      }));
}

std::shared_ptr<const Translator> ModelRegistry::Nearest(const std::string& source,
                                                         const std::string& target) const {
  const auto nearness = [&](const std::shared_ptr<const Translator>& translator) {
    return translator->model().tokenizer().languages().Nearness(source, target);
  };
  std::shared_ptr<const Translator> best = default_;
  for (const auto& translator : translators_) {
    if (nearness(translator) > nearness(best)) best = translator;
  }
  return nearness(best) > 0 ? best : nullptr;
}

absl::StatusOr<Route> ModelRegistry::FindRoute(const std::string& name, const std::string& source,
                                               const std::string& target) const {
  const bool languages = !source.empty() || !target.empty();
  if (!name.empty() || !languages || translators_.size() == 1) {
    ASSIGN_OR_RETURN(std::shared_ptr<const Translator> translator, Find(name));
    return Route(std::move(translator));
  }
  if (auto translator = Nearest(source, target); translator != nullptr) {
    return Route(std::move(translator));
  }
  if (!pivot_.empty() && !source.empty() && !target.empty()) {
    const auto first = Nearest(source, pivot_), second = Nearest(pivot_, target);
    if (first != nullptr && second != nullptr) return Route(first, pivot_, second);
  }
  return InvalidField(
      Nearest(source, "") == nullptr ? "source_language" : "target_language",
      absl::StrCat("no model translates \"", source, "\" to \"", target, "\"; there are ",
                   absl::StrJoin(translators_, "; ", [](std::string* out, const auto& translator) {
                     const Languages& served = translator->model().tokenizer().languages();
                     absl::StrAppend(out, translator->model().name(), " (",
                                     absl::StrJoin(served.SourceTags(), ", "), " to ",
                                     absl::StrJoin(served.TargetTags(), ", "), ")");
                   })));
}

}  // namespace dragoman
