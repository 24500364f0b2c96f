// Keeps the served models in step with the configuration and with their directories.
//
//   a new model, or a new version of one       loads beside the others, is tested, and takes over
//                                              between two requests
//   one that is too large, broken or wrong     is reported in log and metrics; the old one stays
//   one that was replaced or removed           is unloaded after its last sentence
//   one that is unloaded on request            the same, and it stays away until it is asked for
//
// With --model-memory, those that were found in the directory of models are on a shelf (shelf.h)
// instead.
//
// All of this happens on the manager's thread, one model at a time.  It works on request (SIGHUP)
// and, if configured, when it sees a change.  Files that are still changing are left alone until
// they are stable.

#ifndef DRAGOMAN_SERVER_MODELS_MODEL_MANAGER_H_
#define DRAGOMAN_SERVER_MODELS_MODEL_MANAGER_H_

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "engine/base/file_version.h"
#include "server/config/config.h"
#include "server/models/model_loader.h"
#include "server/models/model_registry.h"
#include "server/models/shelf_keeper.h"
#include "server/observe/metrics.h"

namespace dragoman {

// Reads the command line and its config file again.
using ReadOptions = std::function<absl::StatusOr<ServerOptions>()>;

class ModelManager {
 public:
  // Loads the models of `options`, in order, into `registry`.  An error names the model and its
  // directory; one that was found in the directory of models is left out as long as another one
  // serves.  The other arguments must outlive the manager; `read_again` may be null.
  static absl::StatusOr<std::unique_ptr<ModelManager>> Start(const ServerOptions& options,
                                                             ReadOptions read_again,
                                                             WorkerPool* pool, Metrics* metrics,
                                                             ModelRegistry* registry);
  // Waits for the model that is being loaded, if any.
  ~ModelManager();

  // Reads the configuration and checks all models soon.
  void ReadAgain();

  // Does that to a model soon.  REQUIRES (if it is to have an effect): the configuration names it.
  void Turn(const std::string& model, ModelTurn turn);

  // Starts no further load.
  void Close();

 private:
  // A wanted version of a model, and its state.
  struct Slot {
    ModelSource source;  // as wanted; a canary is called "en-de@canary"
    FileVersions seen;   // when they were last checked

    std::shared_ptr<const Translator> serving;  // null: none has been loaded yet
    ModelSource serving_source;
    FileVersions serving_files;

    LoadFailure failure = LoadFailure::kNone;  // of the last attempt
    ModelSource failed_source;
    FileVersions failed_files;
  };
  // A version that requests no longer find, until the last one that found it has ended.
  struct Leaving {
    const Model* model;
    std::string name;
    std::string version;
  };
  // What the thread is to do.  The models share it, because requests may use them for longer than
  // there is a manager.
  struct Calls {
    absl::Mutex mutex;
    bool closing ABSL_GUARDED_BY(mutex) = false;
    bool asked ABSL_GUARDED_BY(mutex) = false;
    bool publish ABSL_GUARDED_BY(mutex) = false;
    std::vector<std::pair<std::string, ModelTurn>> turns ABSL_GUARDED_BY(mutex);
    // To be freed; those of the shelf by whoever is first.
    std::vector<std::shared_ptr<const Model>> unused ABSL_GUARDED_BY(mutex);
    std::vector<std::shared_ptr<const Model>> evicted ABSL_GUARDED_BY(mutex);
  };

  ModelManager(const ServerOptions& options, ReadOptions read_again, WorkerPool* pool,
               Metrics* metrics, ModelRegistry* registry);

  absl::Status LoadAll();
  void Run();
  absl::Duration NextLook(absl::Time now) const;
  void Look(bool asked);
  void TurnNow(const std::string& model, ModelTurn turn);
  void ReserveForSlots() const;
  static void FreeEvicted(Calls* calls);
  bool IsUnloaded(const ModelSource& source) const;
  void ReadConfiguration(bool asked);
  void TakeOver(const ServerOptions& options);
  void RemoveUnwanted();
  void LookAt(Slot* slot, bool asked);
  void Serve(Slot* slot, const FileVersions& files, std::shared_ptr<const Translator> loaded);
  void Fail(Slot* slot, const FileVersions& files, const LoadResult& result);
  void BidFarewell(Slot* slot);
  bool Holds(const std::string& name, const std::string& version) const;
  void Free(std::shared_ptr<const Model> model);
  void Publish() const;
  ServedModel Describe(const ModelSource& model) const;
  void DescribeSlot(const Slot& slot, const std::string& label, double percent,
                    ServedModel* served) const;
  bool closing() const;

  ServerOptions options_;  // some of them change when the configuration does
  const ReadOptions read_again_;
  const std::shared_ptr<Calls> calls_ = std::make_shared<Calls>();
  const ModelLoader loader_, shelf_loader_;
  Metrics* const metrics_;
  ModelRegistry* const registry_;

  // Used by the thread.
  std::map<std::string, Slot> slots_;  // by the names of their sources
  std::vector<Leaving> leaving_;
  std::set<std::string> unloaded_;       // models that an operator has unloaded
  std::unique_ptr<ShelfKeeper> keeper_;  // null: no model is loaded when it is asked for
  FileVersion config_version_;
  std::string told_fixed_;  // the settings last reported to need a restart
  const Slot* loading_ = nullptr;
  bool unsettled_ = false;  // some files were still changing
  bool waits_for_memory_ = false;
  absl::Time last_look_;

  std::thread thread_;
};

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_MODELS_MODEL_MANAGER_H_
