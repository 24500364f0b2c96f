// Text in, text out: the public interface of the engine, for the server and for anyone who embeds
// it.
//
//   Observer observer;
//   WorkerPool pool(WorkerPoolOptions(), &observer);
//   ASSIGN_OR_RETURN(const auto model,
//                    Model::Load("en-de-fr-es", "models/en-de-fr-es", ModelOptions()));
//   const Translator translator(model, &pool, Limits());
//   translator.Translate({.texts = {"The cat sleeps."}}, absl::InfiniteFuture(), done);
//
// (tests/request/translator_test.cc compiles and runs these lines.)  A request is checked, split
// into sentences if it asks for that, and tokenized: one job per sentence (plan.h).  The jobs run
// in the pool.  When the last one ends, their results are put together (assembly.h).  A request
// that needs more than one model is a running_request.h.

#ifndef DRAGOMAN_ENGINE_REQUEST_TRANSLATOR_H_
#define DRAGOMAN_ENGINE_REQUEST_TRANSLATOR_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "engine/decode/worker_pool.h"
#include "engine/model/model.h"
#include "engine/request/hop.h"
#include "engine/request/plan.h"
#include "engine/request/search_request.h"
#include "engine/request/translation.h"

namespace dragoman {

class Translator;

// Brings a model into memory within the request's deadline.  Calls `then` once, at once or later on
// another thread, with a translator that is in memory or with the reason why there is none.
using Fetched = std::function<void(absl::StatusOr<std::shared_ptr<const Translator>>)>;
using Fetch = std::function<void(std::shared_ptr<RequestState> state, Fetched then)>;

// Thread-safe.
class Translator {
 public:
  // `pool` must outlive the translator.
  Translator(std::shared_ptr<const Model> model, WorkerPool* pool, const Limits& limits);
  // For a single request: its model is not in memory, and is fetched when it is needed.
  Translator(std::shared_ptr<const ModelProfile> profile, Fetch fetch, const Limits& limits);

  // Starts a translation and returns at once.  `done` is called exactly once: before this returns
  // (if the request is invalid, or there is nothing to translate) or later on another thread.  It
  // must not block.  `state` says who asks and by when, and can cancel what was started: within
  // a turn `done` gets CANCELLED, or DEADLINE_EXCEEDED if the deadline was about to pass.  Errors:
  // INVALID_ARGUMENT with the field (status.h), RESOURCE_EXHAUSTED, UNAVAILABLE, DEADLINE_EXCEEDED,
  // CANCELLED, INTERNAL.
  //
  // With `on_progress`, translations are reported one by one and word by word before `done`, whose
  // response then contains none.  It is called on workers' threads, never by two at a time, and
  // must not block.
  void Translate(TranslateRequest request, std::shared_ptr<RequestState> state,
                 std::function<void(TranslateResponse)> done,
                 OnProgress on_progress = nullptr) const;
  // Translate for an anonymous caller; returns the state.
  std::shared_ptr<RequestState> Translate(TranslateRequest request, absl::Time deadline,
                                          std::function<void(TranslateResponse)> done) const;

  // The same for one hop of a request that may take several.
  void Translate(HopRequest request, HopCall call) const;

  // Calls `then` when the model is in memory, and at once if it is already, or with the reason why
  // it will not be.
  void Await(std::shared_ptr<RequestState> state, std::function<void(absl::Status)> then) const;

  // Calls `then`, where so much work is done for a request (still_wanted.h): at once if it is
  // little, or later on a thread for what takes long.  RESOURCE_EXHAUSTED if too much waits for
  // that; CANCELLED or DEADLINE_EXCEEDED as soon as it is not wanted any more.  REQUIRES: as model.
  void Prepare(const std::shared_ptr<RequestState>& state, size_t work,
               const std::function<void(absl::Status)>& then) const;

  // REQUIRES: it is in memory: it always was, or Await or Translate have succeeded.
  const Model& model() const;

  // Known in any case.
  const std::string& name() const;
  const Languages& languages() const;
  const GenerationConfig& generation() const;
  const Limits& limits() const { return context_.limits; }

  // Whether nobody else holds the model.  REQUIRES: it always was in memory.
  bool idle() const { return context_.model.use_count() == 1; }

 private:
  // A model that was not in memory.
  struct Awaited {
    std::shared_ptr<const Translator> Found();  // REQUIRES: it is.

    std::shared_ptr<const ModelProfile> profile;
    Fetch fetch;
    absl::Mutex mutex;
    std::shared_ptr<const Translator> found ABSL_GUARDED_BY(mutex);
  };

  const PlanContext context_;
  WorkerPool* const pool_;
  const std::shared_ptr<Awaited> awaited_;  // null: the model is in memory
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_REQUEST_TRANSLATOR_H_
