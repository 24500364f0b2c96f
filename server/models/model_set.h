// The models that are served at one moment, and which of them translates a request.
//
// A set never changes: when a model is replaced, another set takes its place (model_registry.h),
// and requests go on with what they have found in the old one.
//
// A model has a stable version and, if the operator tries out another, a canary.  Each is a
// Translator of its own: the canary of "en-de" is called "en-de@canary", in metrics as well.

#ifndef DRAGOMAN_SERVER_MODELS_MODEL_SET_H_
#define DRAGOMAN_SERVER_MODELS_MODEL_SET_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/route.h"

namespace dragoman {

enum class VersionState { kLoading, kReady, kDraining, kFailed };

// What is known of one version of a model, served or not.
struct VersionInfo {
  std::string label;    // "stable" or "canary"
  std::string version;  // empty while it loads, and if it failed
  VersionState state = VersionState::kReady;
  double percent = 0;   // of the requests that name no label
  std::string failure;  // why it failed: "broken", "golden" or "memory"
};

struct ServedModel {
  std::string name;
  std::shared_ptr<const Translator> stable;  // null while none could be loaded
  std::shared_ptr<const Translator> canary;  // null: there is none
  double canary_percent = 0;                 // of the requests that name no label
  std::vector<VersionInfo> versions;         // those above first
};

// The model and the label that a request names: "en-de", "en-de@canary", "@stable" or "".
struct ModelName {
  std::string model;
  std::string label;
};
ModelName ParseModelName(const std::string& name);

// What precedes the labels in the name of a route: "de-en@canary+en-fr" is "de-en+en-fr", and
// its labels are "canary+stable".
std::string WithoutLabels(const std::string& route);
std::string LabelsOf(const std::string& route);

// What a request's version is chosen by where it names no label: the same texts come to the same
// version, on every server, and when the percentage rises none goes back to the stable one.
using VersionKey = uint64_t;
VersionKey KeyOf(const std::vector<std::string>& texts);

class ModelSet {
 public:
  // The default model is the first one if there is none of that name.
  ModelSet(std::vector<ServedModel> models, const std::string& default_model, std::string pivot);

  // The model of that name; the default one if `name` is empty or a label alone.  NOT_FOUND names
  // those there are; UNAVAILABLE: it is configured, but could not be loaded yet.  Without a key:
  // the stable version, unless `name` says otherwise.
  absl::StatusOr<std::shared_ptr<const Translator>> Find(
      const std::string& name, std::optional<VersionKey> key = std::nullopt) const;

  // How a request is translated: by the model that it names; else by the one that serves its
  // languages best, the default one before others; else through the pivot language, if there is
  // one. INVALID_ARGUMENT with the field (status.h) names the pairs that are served.
  absl::StatusOr<Route> FindRoute(const std::string& name, const std::string& source,
                                  const std::string& target,
                                  std::optional<VersionKey> key = std::nullopt) const;

  // Of that name, which has no label, whether or not it could be loaded; the default one if `name`
  // is empty.  NOT_FOUND.
  absl::StatusOr<const ServedModel*> FindModel(const std::string& name) const;

  const std::vector<ServedModel>& models() const { return models_; }
  // Null if no model could be loaded.
  const ServedModel* default_model() const { return default_; }

 private:
  using Choice = absl::StatusOr<std::shared_ptr<const Translator>>;

  Choice Choose(const ServedModel& model, const std::string& label,
                std::optional<VersionKey> key) const;
  // Null if none serves the pair.
  const ServedModel* Nearest(const std::string& source, const std::string& target) const;
  absl::Status NoSuchPair(const std::string& source, const std::string& target) const;

  const std::vector<ServedModel> models_;  // in the order of the options
  const ServedModel* default_ = nullptr;
  const std::string pivot_;  // "": none
};

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_MODELS_MODEL_SET_H_
