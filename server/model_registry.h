// The models that are served, by name.  Filled before the server listens and never changed, so safe
// for concurrent use.

#ifndef DRAGOMAN_SERVER_MODEL_REGISTRY_H_
#define DRAGOMAN_SERVER_MODEL_REGISTRY_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/route.h"
#include "server/config.h"
#include "server/metrics.h"

namespace dragoman {

class ModelRegistry {
 public:
  // Loads the models of `options` in their order.  An error names the model and its directory.
  // `pool` must outlive the registry; `metrics` is told of each model.
  static absl::StatusOr<std::unique_ptr<const ModelRegistry>> Load(const ServerOptions& options,
                                                                   WorkerPool* pool,
                                                                   Metrics* metrics);

  // The model of that name; the default one if `name` is empty.  NOT_FOUND names those there are.
  // A request keeps what it found for as long as it lives.
  absl::StatusOr<std::shared_ptr<const Translator>> Find(const std::string& name) const;

  // How a request is translated: by the model that it names; else by the one that serves its
  // languages best, the default one before others; else through the pivot language, if there is
  // one. INVALID_ARGUMENT with the field (status.h) names the pairs that are served.
  absl::StatusOr<Route> FindRoute(const std::string& name, const std::string& source,
                                  const std::string& target) const;

  const std::vector<std::shared_ptr<const Translator>>& translators() const { return translators_; }
  const std::shared_ptr<const Translator>& default_translator() const { return default_; }
  const Limits& limits() const { return limits_; }

 private:
  ModelRegistry(const Limits& limits, std::string pivot)
      : limits_(limits), pivot_(std::move(pivot)) {}

  // Null if none serves the pair.
  std::shared_ptr<const Translator> Nearest(const std::string& source,
                                            const std::string& target) const;

  const Limits limits_;
  const std::string pivot_;                                     // "": none
  std::vector<std::shared_ptr<const Translator>> translators_;  // in the order of the options
  std::shared_ptr<const Translator> default_;
};

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_MODEL_REGISTRY_H_
