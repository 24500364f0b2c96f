// Where requests find their models.  The served models change while requests run: each request
// looks at the set of that moment (model_set.h), and keeps what it found for as long as it lives.
//
// Thread-safe.

#ifndef DRAGOMAN_SERVER_MODELS_MODEL_REGISTRY_H_
#define DRAGOMAN_SERVER_MODELS_MODEL_REGISTRY_H_

#include <memory>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "engine/request/translator.h"
#include "server/models/model_set.h"

namespace dragoman {

class ModelRegistry {
 public:
  explicit ModelRegistry(const Limits& limits) : limits_(limits) {}

  // The models served now; none before the first Publish.
  std::shared_ptr<const ModelSet> Models() const {
    absl::MutexLock lock(&mutex_);
    return models_;
  }

  // Replaces the models that requests find.
  void Publish(std::shared_ptr<const ModelSet> models) {
    absl::MutexLock lock(&mutex_);
    models_.swap(models);  // the old ones are destroyed after the lock is released
  }

  // As ModelSet::Find.
  absl::StatusOr<std::shared_ptr<const Translator>> Find(const std::string& name) const {
    return Models()->Find(name);
  }
  absl::StatusOr<Route> FindRoute(const std::string& name, const std::string& source,
                                  const std::string& target,
                                  std::optional<VersionKey> key = std::nullopt,
                                  const MayKnow& may_know = nullptr) const {
    return Models()->FindRoute(name, source, target, key, may_know);
  }

  const Limits& limits() const { return limits_; }

 private:
  const Limits limits_;
  mutable absl::Mutex mutex_;
  std::shared_ptr<const ModelSet> models_ ABSL_GUARDED_BY(mutex_) =
      std::make_shared<ModelSet>(std::vector<ServedModel>(), "", "");
};

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_MODELS_MODEL_REGISTRY_H_
