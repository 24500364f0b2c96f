// From a directory to a model that can serve: is there enough memory, does it load, can it serve
// requests without options, does it translate its golden sentences?

#ifndef DRAGOMAN_SERVER_MODELS_MODEL_LOADER_H_
#define DRAGOMAN_SERVER_MODELS_MODEL_LOADER_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/base/file_version.h"
#include "engine/model/model_report.h"
#include "engine/request/translator.h"
#include "server/base/load_failure.h"
#include "server/config/config.h"
#include "server/observe/metrics.h"

namespace dragoman {

// The outcome of an attempt to load a model.
struct LoadResult {
  absl::Status status;
  LoadFailure failure = LoadFailure::kNone;  // kNone if the status is OK
  std::shared_ptr<const Translator> loaded;
  double bytes = 0;  // what it takes in memory; 0: not known
};

// The files that a model is loaded from.
FileVersions FilesOf(const ModelSource& source);

class ModelLoader {
 public:
  // Gets a loaded model when nobody uses it any more, on any thread: to free its memory may take
  // long.  May be called after the loader has gone.
  using Unused = std::function<void(std::shared_ptr<const Model>)>;

  // `pool` and `metrics` must outlive the loader, which reports each model to `metrics`.
  ModelLoader(const ServerOptions& options, WorkerPool* pool, Metrics* metrics, Unused unused);

  // Loads a model at the start of the server.  An error names it and its directory.
  LoadResult Load(const ModelSource& source) const;
  // Loads one on a running server: it must fit into memory beside the version that is served now,
  // if any, which is returned instead if it is the same.
  LoadResult LoadBeside(const ModelSource& source,
                        const std::shared_ptr<const Translator>& served) const;

  // The memory that a model takes, by its configuration.
  absl::StatusOr<MemoryEstimate> Estimate(const ModelSource& source) const;

 private:
  LoadResult TryLoad(const ModelSource& source,
                     const std::shared_ptr<const Translator>& served) const;
  absl::StatusOr<double> CheckMemory(const ModelSource& source) const;
  absl::Status CheckServable(const std::shared_ptr<const Model>& model,
                             const std::string& directory) const;

  const ServerOptions options_;
  WorkerPool* const pool_;
  Metrics* const metrics_;
  const Unused unused_;
};

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_MODELS_MODEL_LOADER_H_
