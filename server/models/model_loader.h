// From a directory to a model that can serve: is there enough memory, does it load, can it serve
// requests without options, does it translate its golden sentences?

#ifndef DRAGOMAN_SERVER_MODELS_MODEL_LOADER_H_
#define DRAGOMAN_SERVER_MODELS_MODEL_LOADER_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/translator.h"
#include "server/config/config.h"
#include "server/observe/metrics.h"

namespace dragoman {

struct LoadedModel {
  std::shared_ptr<const Model> model;
  std::shared_ptr<const Translator> translator;
};

// The outcome of an attempt to load a model.
struct LoadResult {
  absl::Status status;
  std::string failure;  // the reason: "memory", "broken" or "golden"; "" if the status is OK
  LoadedModel loaded;
};

class ModelLoader {
 public:
  // `pool` and `metrics` must outlive the loader, which reports each model to `metrics`.
  ModelLoader(const ServerOptions& options, WorkerPool* pool, Metrics* metrics);

  // Loads a model.  An error names it and its directory.  If `before` is not null, the new model
  // must fit into memory beside it, and is not loaded again if it has the same version.  `before`
  // is null at the start, and empty if the model is new on a running server.
  LoadResult Load(const ModelSource& source, const LoadedModel* before) const;

 private:
  LoadResult TryLoad(const ModelSource& source, const LoadedModel* before) const;
  absl::Status CheckMemory(const ModelSource& source) const;
  absl::Status CheckServable(const std::shared_ptr<const Model>& model,
                             const std::string& directory) const;

  const ServerOptions options_;
  WorkerPool* const pool_;
  Metrics* const metrics_;
};

// The sentences of golden.json in a model's directory; none if there is no such file:
//
//   {"goldens": [{"source": "Good morning.", "target": "Guten Morgen."}]}
//
// with "source_language" and "target_language" where the model needs them.
absl::StatusOr<std::vector<Golden>> ReadGoldens(const std::string& directory);

// Translates the sentences apart from all traffic.  FAILED_PRECONDITION says which one was
// translated differently.
absl::Status TryGoldens(const std::shared_ptr<const Model>& model,
                        const std::vector<Golden>& goldens, const Limits& limits);

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_MODELS_MODEL_LOADER_H_
