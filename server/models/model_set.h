// The models that are served at one moment, and the choice among them for a request.
//
// A set never changes: when a model is replaced, a new set takes its place (model_registry.h), and
// running requests continue with what they found in the old one.
//
// A model has a stable version and, if the operator tries out another, a canary.  Each is a
// Translator of its own: the canary of "en-de" is called "en-de@canary", also in metrics.

#ifndef DRAGOMAN_SERVER_MODELS_MODEL_SET_H_
#define DRAGOMAN_SERVER_MODELS_MODEL_SET_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/request/route.h"
#include "server/base/load_failure.h"
#include "server/models/shelf.h"

namespace dragoman {

enum class VersionState { kLoading, kReady, kDraining, kFailed };

// Describes one version of a model, served or not.
struct VersionInfo {
  std::string label;    // "stable" or "canary"
  std::string version;  // empty while it loads, and if that failed
  VersionState state = VersionState::kReady;
  double percent = 0;  // of the requests without a label
  LoadFailure failure = LoadFailure::kNone;
};

struct ServedModel {
  std::string name;
  std::shared_ptr<const Translator> stable;  // null while none has been loaded
  // If it is loaded when it is asked for; `stable` is null then.
  std::shared_ptr<Shelf> shelf = nullptr;
  std::shared_ptr<const ModelProfile> profile = nullptr;  // as far as it is known
  std::shared_ptr<const Translator> canary;               // null: there is none
  double canary_percent = 0;                              // of the requests without a label
  std::vector<VersionInfo> versions;  // including the two above, which come first

  // Whether requests that name languages, or nothing, may get this model.
  bool serves() const { return stable != nullptr || (profile != nullptr && profile->known); }
  // REQUIRES: it serves.
  const Languages& languages() const;
  // The same as it is at this moment, for who wants to describe it: with the translator that is in
  // memory, if one is.
  ServedModel Now() const;
};

// What an operator may ask for, of a model and its canary: to load them, or to read them again if
// they are loaded; to unload them, unless no other model serves; and, on the shelf, to pin one, or
// to let it make room for others.
enum class ModelTurn { kLoad, kUnload, kPin, kUnpin };

// The model and the label that a request names: "en-de", "en-de@canary", "@stable" or "".
struct ModelName {
  std::string model;
  std::string label;
};
ModelName ParseModelName(const std::string& name);
std::string CanaryName(const std::string& model);  // "en-de@canary"

// The parts of a route's name before and after the @s: of "de-en@canary+en-fr" they are
// "de-en+en-fr" and "canary+stable".
std::string WithoutLabels(const std::string& route);
std::string LabelsOf(const std::string& route);

// Chooses the version for a request without a label: equal texts get the same version, on every
// server, and when the percentage rises no text goes back to the stable one.
using VersionKey = uint64_t;
VersionKey KeyOf(const std::vector<std::string>& texts);

// Whether a caller may know of a model, by its name: for who may not, there is no such model. Null:
// it may of all.
using MayKnow = std::function<bool(const std::string& model)>;

class ModelSet {
 public:
  // The default model is the first one if there is none with that name.
  ModelSet(std::vector<ServedModel> models, const std::string& default_model, std::string pivot);

  // The model with that name, or the default one if `name` is empty or only a label.  NOT_FOUND
  // lists the existing ones; UNAVAILABLE: it is configured, but has not been loaded yet.  Without a
  // key: the stable version, unless `name` has a label.
  absl::StatusOr<std::shared_ptr<const Translator>> Find(
      const std::string& name, std::optional<VersionKey> key = std::nullopt,
      const MayKnow& may_know = nullptr) const;

  // How a request is translated: by the model that it names; otherwise by the one that serves its
  // languages best, with the default one preferred; otherwise through the pivot language, if there
  // is one.  INVALID_ARGUMENT with the field (status.h) lists the pairs that are served.
  absl::StatusOr<Route> FindRoute(const std::string& name, const std::string& source,
                                  const std::string& target,
                                  std::optional<VersionKey> key = std::nullopt,
                                  const MayKnow& may_know = nullptr) const;

  // The model with that name, which has no label, whether or not it has been loaded; if `name` is
  // empty, the default one.  NOT_FOUND.
  absl::StatusOr<const ServedModel*> FindModel(const std::string& name,
                                               const MayKnow& may_know = nullptr) const;

  // Whether another model than that serves.
  bool ServesWithout(const std::string& name) const;

  // The languages that the models read, as tags, each once.
  std::vector<std::string> SourceTags(const MayKnow& may_know = nullptr) const;

  const std::vector<ServedModel>& models() const { return models_; }
  // "" if there is none.
  const std::string& pivot() const { return pivot_; }
  // The one for requests that name none; the first for who may not know of that.  Null if no model
  // has been loaded.
  const ServedModel* default_model(const MayKnow& may_know = nullptr) const;

 private:
  using Choice = absl::StatusOr<std::shared_ptr<const Translator>>;

  Choice Choose(const ServedModel& model, const std::string& label,
                std::optional<VersionKey> key) const;
  // Null if none serves the pair.
  const ServedModel* Nearest(const std::string& source, const std::string& target,
                             const MayKnow& may_know) const;
  absl::Status NoSuchPair(const std::string& source, const std::string& target,
                          const MayKnow& may_know) const;

  const std::vector<ServedModel> models_;  // in the order of the options
  const ServedModel* default_ = nullptr;
  const std::string pivot_;  // "": none
};

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_MODELS_MODEL_SET_H_
