#include "server/config/resolve_models.h"

#include <cstdlib>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "engine/base/status.h"
#include "engine/text/language_tag.h"
#include "server/config/models_directory.h"

namespace dragoman {
namespace {

bool IsModelName(const std::string& name) {
  return !name.empty() && name.size() <= 128 && absl::c_all_of(name, IsNameCharacter);
}

// The models of the config, and those of its directory of models.
absl::StatusOr<std::vector<v1::ModelSource>> AllModels(const v1::ServerConfig& config) {
  std::vector<v1::ModelSource> models(config.models().begin(), config.models().end());
  if (config.has_models_directory()) {
    ASSIGN_OR_RETURN(const std::vector<ModelSource> found, FindModels(config.models_directory()));
    for (const ModelSource& model : found) {
      models.emplace_back().set_name(model.name);
      models.back().set_directory(model.directory);
    }
  }
  if (models.empty()) {
    return absl::InvalidArgumentError(
        "no model to serve: give --model NAME=DIR at least once, or --models DIR");
  }
  return models;
}

absl::StatusOr<ModelSource> ResolveModel(const v1::ModelSource& model) {
  if (!IsModelName(model.name())) {
    return InvalidArgumentError("model: the name \"", model.name(),
                                "\" is not made of 1 to 128 of A-Z a-z 0-9 . _ - /");
  }
  if (model.directory().empty()) {
    return InvalidArgumentError("model ", model.name(), " has no directory");
  }
  ModelSource source{.name = model.name(), .directory = model.directory(), .lora = model.lora()};
  for (const v1::Golden& golden : model.goldens()) {
    if (golden.source().empty()) {
      return InvalidArgumentError("model ", model.name(), ": a golden has no source");
    }
    source.goldens.push_back(
        {golden.source(), golden.target(), golden.source_language(), golden.target_language()});
  }
  return source;
}

// `what` is to have the model, for the error: "canary is for".
absl::StatusOr<ModelSource*> FindModel(const char* what, const std::string& name,
                                       ServerOptions* options) {
  for (ModelSource& model : options->models) {
    if (model.name == name) return &model;
  }
  return InvalidArgumentError(what, " \"", name, "\", but no --model has that name");
}

absl::Status ResolveSources(const v1::ServerConfig& config, ServerOptions* options) {
  ASSIGN_OR_RETURN(const std::vector<v1::ModelSource> models, AllModels(config));
  std::set<std::string> names;
  for (const v1::ModelSource& model : models) {
    ASSIGN_OR_RETURN(ModelSource source, ResolveModel(model));
    source.found = options->models.size() >= static_cast<size_t>(config.models_size());
    if (!names.insert(source.name).second) {
      return InvalidArgumentError("model ", source.name, " is given twice");
    }
    options->models.push_back(std::move(source));
  }
  options->default_model = options->models.front().name;
  if (config.has_default_model()) {
    RETURN_IF_ERROR(FindModel("default-model is", config.default_model(), options).status());
    options->default_model = config.default_model();
  }
  return absl::OkStatus();
}

// Of the user that runs the server; "" if there is none.
std::string CacheOfUser() {
  const char* const cache = std::getenv("XDG_CACHE_HOME");
  if (cache != nullptr && cache[0] == '/') return absl::StrCat(cache, "/dragoman");
  const char* const home = std::getenv("HOME");
  return home != nullptr && home[0] == '/' ? absl::StrCat(home, "/.cache/dragoman") : "";
}

absl::Status ResolveMemory(const v1::ServerConfig& config, ServerOptions* options) {
  options->model_memory = static_cast<size_t>(config.model_memory());
  options->packed_cache = config.packed_cache();
  if (!config.has_packed_cache() && config.model_memory() > 0) {
    options->packed_cache = CacheOfUser();
  }
  if (options->packed_cache == "none") options->packed_cache.clear();
  options->pinned = {config.pinned_models().begin(), config.pinned_models().end()};
  for (const std::string& name : options->pinned) {
    RETURN_IF_ERROR(FindModel("pin is", name, options).status());
  }
  return absl::OkStatus();
}

absl::Status ResolvePivot(const v1::ServerConfig& config, ServerOptions* options) {
  options->pivot = config.pivot();
  if (config.has_models_directory() && !config.has_pivot()) options->pivot = "en";
  if (!options->pivot.empty() && !ParseLanguage(options->pivot).has_value()) {
    return InvalidArgumentError("pivot is \"", options->pivot,
                                "\", want a language such as \"en\"");
  }
  return absl::OkStatus();
}

absl::Status ResolveShortlists(const v1::ServerConfig& config, ServerOptions* options) {
  for (const v1::ModelShortlist& shortlist : config.shortlists()) {
    ASSIGN_OR_RETURN(ModelSource* const model,
                     FindModel("shortlist is for", shortlist.model(), options));
    ShortlistSource& source = model->shortlist;
    if (!source.file.empty()) {
      return InvalidArgumentError("shortlist of ", shortlist.model(), " is given twice");
    }
    if (shortlist.file().empty()) {
      return InvalidArgumentError("shortlist of ", shortlist.model(), " has no file");
    }
    if (shortlist.first() < 0 || shortlist.best() < 0) {
      return InvalidArgumentError("shortlist of ", shortlist.model(), " is ", shortlist.first(),
                                  ",", shortlist.best(), ", want numbers of 0 or more");
    }
    source.file = shortlist.file();
    if (shortlist.has_first()) source.first = shortlist.first();
    if (shortlist.has_best()) source.best = shortlist.best();
  }
  return absl::OkStatus();
}

absl::Status ResolveCanaries(const v1::ServerConfig& config, ServerOptions* options) {
  std::set<std::string> tried;
  for (const v1::ModelCanary& canary : config.canaries()) {
    const std::string& model = canary.model();
    RETURN_IF_ERROR(FindModel("canary is for", model, options).status());
    if (!tried.insert(model).second) {
      return InvalidArgumentError("canary of ", model, " is given twice");
    }
    if (canary.directory().empty()) {
      return InvalidArgumentError("canary of ", model, " has no directory");
    }
    if (!(canary.percent() >= 0 && canary.percent() <= 100)) {
      return InvalidArgumentError("canary of ", model, " has ", canary.percent(),
                                  " percent, want 0 to 100");
    }
    options->canaries.push_back({model, canary.directory(), canary.percent()});
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status ResolveModels(const v1::ServerConfig& config, ServerOptions* options) {
  RETURN_IF_ERROR(ResolveSources(config, options));
  RETURN_IF_ERROR(ResolveMemory(config, options));
  RETURN_IF_ERROR(ResolvePivot(config, options));
  RETURN_IF_ERROR(ResolveShortlists(config, options));
  return ResolveCanaries(config, options);
}

}  // namespace dragoman
