#include "server/models/model_set.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <set>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "engine/base/status.h"
#include "server/base/errors.h"

namespace dragoman {
namespace {

constexpr char kStable[] = "stable";
constexpr char kCanary[] = "canary";

// Whether a request with this key is among the given percentage of a model's requests.  The draws
// of different models are independent.
bool IsAmong(double percent, const std::string& model, VersionKey key) {
  constexpr double kSteps = 1 << 20;
  const uint64_t draw = XXH3_64bits_withSeed(model.data(), model.size(), key) % (1 << 20);
  return static_cast<double>(draw) < percent / 100.0 * kSteps;
}

bool Knows(const MayKnow& may_know, const ServedModel& model) {
  return may_know == nullptr || may_know(model.name);
}

}  // namespace

ModelName ParseModelName(const std::string& name) {
  const size_t at = name.find('@');
  if (at == std::string::npos) return {name, ""};
  return {name.substr(0, at), name.substr(at + 1)};
}

std::string CanaryName(const std::string& model) { return absl::StrCat(model, "@", kCanary); }

std::string WithoutLabels(const std::string& route) {
  return absl::StrJoin(absl::StrSplit(route, '+'), "+", [](std::string* out, const auto& name) {
    out->append(ParseModelName(std::string(name)).model);
  });
}

std::string LabelsOf(const std::string& route) {
  return absl::StrJoin(absl::StrSplit(route, '+'), "+", [](std::string* out, const auto& name) {
    const std::string label = ParseModelName(std::string(name)).label;
    out->append(label.empty() ? kStable : label);
  });
}

VersionKey KeyOf(const std::vector<std::string>& texts) {
  VersionKey key = 0;
  for (const std::string& text : texts) key = XXH3_64bits_withSeed(text.data(), text.size(), key);
  return key;
}

const Languages& ServedModel::languages() const {
  return stable != nullptr ? stable->languages() : profile->languages;
}

ServedModel ServedModel::Now() const {
  if (shelf == nullptr) return *this;
  const ShelfView view = shelf->Look(name);
  ServedModel now = *this;
  now.stable = view.in_memory;
  VersionInfo version = {.label = kStable, .percent = 100 - canary_percent};
  if (view.in_memory != nullptr) {
    version.version = view.in_memory->model().version();
  } else if (view.loading) {
    version.state = VersionState::kLoading;
  } else if (view.failure != LoadFailure::kNone) {
    version.state = VersionState::kFailed;
    version.failure = view.failure;
  } else {
    return now;
  }
  now.versions.insert(now.versions.begin(), std::move(version));
  return now;
}

ModelSet::ModelSet(std::vector<ServedModel> models, const std::string& default_model,
                   std::string pivot)
    : models_(std::move(models)), pivot_(std::move(pivot)) {
  for (const ServedModel& model : models_) {
    if (!model.serves()) continue;
    if (default_ == nullptr || model.name == default_model) default_ = &model;
  }
}

const ServedModel* ModelSet::default_model(const MayKnow& may_know) const {
  if (default_ == nullptr || Knows(may_know, *default_)) return default_;
  const auto first = absl::c_find_if(
      models_, [&](const ServedModel& model) { return model.serves() && Knows(may_know, model); });
  return first == models_.end() ? nullptr : &*first;
}

absl::StatusOr<const ServedModel*> ModelSet::FindModel(const std::string& name,
                                                       const MayKnow& may_know) const {
  if (name.empty()) {
    if (const ServedModel* const model = default_model(may_know); model != nullptr) return model;
  }
  std::vector<std::string> known;
  for (const ServedModel& model : models_) {
    if (!Knows(may_know, model)) continue;
    if (model.name == name) return &model;
    known.push_back(model.name);
  }
  return ModelNotFound(name, absl::StrJoin(known, ", "));
}

ModelSet::Choice ModelSet::Choose(const ServedModel& model, const std::string& label,
                                  std::optional<VersionKey> key) const {
  if (!label.empty() && label != kStable && label != kCanary) {
    return InvalidField("model", "has the label \"", label, "\", want ", kStable, " or ", kCanary);
  }
  if (label == kCanary && model.canary == nullptr) {
    return ModelNotFound(CanaryName(model.name), model.name);
  }
  const bool drawn = label.empty() && model.canary != nullptr && key.has_value() &&
                     IsAmong(model.canary_percent, model.name, *key);
  if (label == kCanary || drawn) return model.canary;
  if (model.shelf != nullptr) return model.shelf->Find(model.name);
  if (model.stable == nullptr) {
    return UnavailableError("model ", model.name, " is not loaded");
  }
  return model.stable;
}

absl::StatusOr<std::shared_ptr<const Translator>> ModelSet::Find(const std::string& name,
                                                                 std::optional<VersionKey> key,
                                                                 const MayKnow& may_know) const {
  const ModelName parsed = ParseModelName(name);
  ASSIGN_OR_RETURN(const ServedModel* const model, FindModel(parsed.model, may_know));
  return Choose(*model, parsed.label, key);
}

bool ModelSet::ServesWithout(const std::string& name) const {
  return absl::c_any_of(
      models_, [&](const ServedModel& model) { return model.name != name && model.serves(); });
}

const ServedModel* ModelSet::Nearest(const std::string& source, const std::string& target,
                                     const MayKnow& may_know) const {
  const auto nearness = [&](const ServedModel& model) {
    const bool chosen = model.serves() && Knows(may_know, model);
    return chosen ? model.languages().Nearness(source, target) : 0;
  };
  const ServedModel* best = default_model(may_know);
  int most = best == nullptr ? 0 : nearness(*best);
  for (const ServedModel& model : models_) {
    const int near = nearness(model);
    if (near <= most) continue;
    most = near;
    best = &model;
  }
  return most > 0 ? best : nullptr;
}

absl::StatusOr<Route> ModelSet::FindRoute(const std::string& name, const std::string& source,
                                          const std::string& target, std::optional<VersionKey> key,
                                          const MayKnow& may_know) const {
  const ModelName parsed = ParseModelName(name);
  const bool languages = !source.empty() || !target.empty();
  const auto direct = [&]() -> absl::StatusOr<Route> {
    ASSIGN_OR_RETURN(std::shared_ptr<const Translator> translator, Find(name, key, may_know));
    return Route(std::move(translator));
  };
  if (!parsed.model.empty() || !languages) return direct();
  if (const ServedModel* const model = Nearest(source, target, may_know); model != nullptr) {
    ASSIGN_OR_RETURN(std::shared_ptr<const Translator> translator,
                     Choose(*model, parsed.label, key));
    return Route(std::move(translator));
  }
  if (!pivot_.empty() && !source.empty() && !target.empty()) {
    const ServedModel* const first = Nearest(source, pivot_, may_know);
    const ServedModel* const second = Nearest(pivot_, target, may_know);
    if (first != nullptr && second != nullptr) {
      ASSIGN_OR_RETURN(std::shared_ptr<const Translator> to, Choose(*first, parsed.label, key));
      ASSIGN_OR_RETURN(std::shared_ptr<const Translator> from, Choose(*second, parsed.label, key));
      return Route(std::move(to), pivot_, std::move(from));
    }
  }
  if (models_.size() == 1 && Knows(may_know, models_[0])) {
    return direct();  // which says what it lacks, or accepts any languages
  }
  return NoSuchPair(source, target, may_know);
}

std::vector<std::string> ModelSet::SourceTags(const MayKnow& may_know) const {
  std::set<std::string> tags;
  for (const ServedModel& model : models_) {
    if (!model.serves() || !Knows(may_know, model)) continue;
    for (std::string& tag : model.languages().SourceTags()) {
      tags.insert(std::move(tag));
    }
  }
  return {tags.begin(), tags.end()};
}

// Names what is missing, and the pairs that there are: those with one of the two languages first,
// and not all of them where there are thousands.
absl::Status ModelSet::NoSuchPair(const std::string& source, const std::string& target,
                                  const MayKnow& may_know) const {
  constexpr size_t kMostPairs = 24;
  std::vector<LanguagePair> pairs;
  std::set<std::pair<std::string, std::string>> seen;
  bool reads = false, writes = false;  // the source, the target
  for (const ServedModel& model : models_) {
    if (!model.serves() || !Knows(may_know, model)) continue;
    reads = reads || model.languages().Nearness(source, "") > 0;
    writes = writes || model.languages().Nearness("", target) > 0;
    for (const LanguagePair& pair : model.languages().Tags()) {
      if (seen.emplace(pair.source, pair.target).second) pairs.push_back(pair);
    }
  }
  const bool no_source = !source.empty() && !reads;
  const bool no_target = !target.empty() && !writes;
  std::string what = absl::StrCat("\"", source, "\" to \"", target, "\"");
  if (no_source) what = absl::StrCat("from \"", source, "\"");
  if (no_target && !no_source) what = absl::StrCat("into \"", target, "\"");
  absl::c_stable_partition(pairs, [&](const LanguagePair& pair) {
    return pair.source == source || pair.target == target;
  });
  const size_t shown = std::min(pairs.size(), kMostPairs);
  const std::string list =
      absl::StrJoin(pairs.begin(), pairs.begin() + static_cast<std::ptrdiff_t>(shown), ", ",
                    [](std::string* out, const LanguagePair& pair) {
                      absl::StrAppend(out, pair.source.empty() ? "any" : pair.source, "-",
                                      pair.target.empty() ? "any" : pair.target);
                    });
  return InvalidField(
      no_source ? "source_language" : "target_language", "no model translates ", what,
      "; there are ", list.empty() ? "none that you may use" : list,
      pairs.size() > shown ? absl::StrCat(" and ", pairs.size() - shown, " more") : "");
}

}  // namespace dragoman
