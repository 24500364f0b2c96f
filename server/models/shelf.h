// Models that are loaded when they are first asked for, as many as the memory for them allows.
//
//   asked for, in memory       served at once
//   asked for, not in memory   the request waits within its deadline; all that wait for one model
//                              share one load, and one model is loaded at a time
//   no room                    the models that were asked for least recently leave, except for
//                              those that are pinned or at work
//   cannot be loaded           refused by name, until a request comes after a pause, which doubles
//
// So of 200 models on a shelf for 20, the 20 that are in use are in memory.
//
// Requests that wait for models are limited like those that wait for a place in a batch.
//
// All methods are thread-safe.  The work is done in turns, which have the time as an argument;
// Start gives them to a thread.

#ifndef DRAGOMAN_SERVER_MODELS_SHELF_H_
#define DRAGOMAN_SERVER_MODELS_SHELF_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "engine/base/clock.h"
#include "engine/request/translator.h"
#include "server/config/config.h"
#include "server/models/model_loader.h"
#include "server/observe/metrics.h"

namespace dragoman {

struct ShelfOptions {
  double capacity_bytes = 0;
  int max_waiting_requests = 256;
  Limits limits;
  Clock clock;
  // Loads a model, on a thread of the shelf.
  std::function<LoadResult(const ModelSource&)> load;
  // Called when models were let go of, and before another one is loaded: frees their memory.
  std::function<void()> free = [] {};
  // Called when a model that was not known (ModelProfile) is.
  std::function<void()> on_known = [] {};
};

// A model that may be on the shelf, as it is now.
struct ShelfView {
  std::shared_ptr<const Translator> in_memory;  // null: it is not
  bool loading = false;
  bool unloaded = false;  // by an operator
  bool pinned = false;
  LoadFailure failure = LoadFailure::kNone;  // of the last attempt
};

class Shelf : public std::enable_shared_from_this<Shelf> {
 public:
  // The pauses before a model that could not be loaded is tried again.
  static constexpr absl::Duration kFirstPause = absl::Seconds(1);
  static constexpr absl::Duration kLastPause = absl::Minutes(5);
  // How long a request without an earlier deadline waits for room, if all models are at work.
  static constexpr absl::Duration kPatience = absl::Seconds(30);

  // `metrics` must outlive the shelf.
  Shelf(ShelfOptions options, Metrics* metrics);
  ~Shelf();

  // A model, or another version of it: the one in memory leaves.  `bytes` is what it takes. Without
  // a profile, for this reason, it cannot be loaded for now.
  void Put(const ModelSource& source, absl::StatusOr<ModelProfile> profile, double bytes);
  void Remove(const std::string& name);
  // The capacity is for models that are not on the shelf, too: they take so much.
  void Reserve(double bytes);

  // For one request: a translator that is in memory, or that waits for it.
  std::shared_ptr<const Translator> Find(const std::string& name);
  // What is known of the model; null if there is none.
  std::shared_ptr<const ModelProfile> ProfileOf(const std::string& name) const;
  ShelfView Look(const std::string& name) const;

  // Loads a model that nobody has asked for yet, and one that was unloaded.
  void Load(const std::string& name);
  // Takes it out of memory; requests for it are refused until Load.
  void Unload(const std::string& name);
  // A pinned model is loaded and stays.
  void Pin(const std::string& name, bool pinned);

  // Refuses requests that have waited too long, and loads a model that is asked for if there is
  // room.  False if there was nothing to load, or no room.
  bool Turn(absl::Time now);
  // Only the former.
  void RefuseLate(absl::Time now);

  // Takes turns from now on, on threads of its own, with the clock's time.
  void Start();
  // Ends that, and answers all that wait.
  void Close();

 private:
  struct Waiter {
    std::shared_ptr<RequestState> state;
    Fetched then;
    absl::Time since;
  };
  struct Item {
    ModelSource source;
    std::shared_ptr<const ModelProfile> profile;
    double bytes = 0;
    uint64_t puts = 0;
    bool pinned = false;
    bool unloaded = false;  // by an operator
    bool wanted = false;    // even if no request waits
    bool loading = false;
    std::shared_ptr<const Translator> loaded;  // null: not in memory
    uint64_t last_use = 0;                     // a number that grows with every use
    std::vector<Waiter> waiters;
    LoadFailure failure = LoadFailure::kNone;
    std::string why;
    absl::Duration pause = kFirstPause;
    absl::Time retry_at = absl::InfinitePast();
  };
  // What is to be told to requests when no lock is held.
  using Answers = std::vector<std::pair<Waiter, absl::StatusOr<std::shared_ptr<const Translator>>>>;

  void FetchOne(const std::string& name, std::shared_ptr<RequestState> state, Fetched then);
  absl::Status Refusal(const Item& item, absl::Time now) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Ask(const std::string& name) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  Item* NextWanted() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool MakeRoom(const Item& item, std::vector<std::shared_ptr<const Translator>>* leaving)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  std::shared_ptr<const Translator> LetGo(Item* item) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  double UsedBytes() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void AnswerAll(Item* item, const absl::StatusOr<std::shared_ptr<const Translator>>& answer,
                 Answers* answers) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void LoadOne(const ModelSource& source, uint64_t puts);
  void Settle(Item* item, const LoadResult& result, Answers* answers)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Fail(Item* item, LoadFailure failure, const std::string& why, absl::Time now,
            Answers* answers) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void CountMemory() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Tell(Answers answers);

  const ShelfOptions options_;
  Metrics* const metrics_;

  mutable absl::Mutex mutex_;
  std::map<std::string, Item> items_ ABSL_GUARDED_BY(mutex_);
  std::deque<std::string> queue_ ABSL_GUARDED_BY(mutex_);  // the names of models to be loaded
  double reserved_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t uses_ ABSL_GUARDED_BY(mutex_) = 0;
  int waiting_ ABSL_GUARDED_BY(mutex_) = 0;
  bool closing_ ABSL_GUARDED_BY(mutex_) = false;
  bool full_ ABSL_GUARDED_BY(mutex_) = false;  // the first of the queue waits for room

  std::thread loader_;
  std::thread refuser_;
};

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_MODELS_SHELF_H_
