// Keeps a shelf (shelf.h) in step with the configuration and with the directories of its models: it
// puts on what is new or has changed, and takes away what is no longer wanted.
//
// Used by one thread, that of ModelManager.

#ifndef DRAGOMAN_SERVER_MODELS_SHELF_KEEPER_H_
#define DRAGOMAN_SERVER_MODELS_SHELF_KEEPER_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/base/file_version.h"
#include "server/config/config.h"
#include "server/models/model_loader.h"
#include "server/models/shelf.h"
#include "server/observe/metrics.h"

namespace dragoman {

class ShelfKeeper {
 public:
  // `loader` and `metrics` must outlive the keeper.  `free` and `on_known` are those of the shelf.
  ShelfKeeper(const ServerOptions& options, const ModelLoader* loader, Metrics* metrics,
              std::function<void()> free, std::function<void()> on_known);
  // Closes the shelf.
  ~ShelfKeeper();

  const std::shared_ptr<Shelf>& shelf() const { return shelf_; }
  bool Has(const std::string& model) const { return shelved_.contains(model); }

  // Makes the shelf hold the models of the directory of models, each with its current files.  Files
  // that are still changing are left for later unless somebody asked: then it returns false.
  bool Keep(const ServerOptions& options, bool asked);
  // Loads the pinned ones, before the shelf is started.
  void LoadPinned();

  // An operator pins a model, or lets it make room, whatever the configuration says.
  void Pin(const std::string& model, bool pinned);

 private:
  struct Shelved {
    ModelSource source;
    FileVersions seen;   // when they were last checked
    FileVersions files;  // those that were put on the shelf
    bool known = false;  // they could be read
  };

  LoadResult Load(const ModelSource& source) const;
  void PutAll(const std::vector<Shelved*>& changed);

  const ModelLoader* const loader_;
  Metrics* const metrics_;
  const std::shared_ptr<Shelf> shelf_;
  std::map<std::string, Shelved> shelved_;
  std::map<std::string, bool> pins_;  // by operators
};

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_MODELS_SHELF_KEEPER_H_
