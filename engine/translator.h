// Text in, text out: the public interface of the engine, for the server and for anyone who embeds
// it.
//
//   NullObserver observer;
//   WorkerPool pool(WorkerPoolOptions(), &observer);
//   ASSIGN_OR_RETURN(const auto model,
//                    Model::Load("en-de-fr-es", "models/en-de-fr-es", ModelOptions()));
//   const Translator translator(model, &pool, Limits());
//   translator.Translate({.texts = {"The cat sleeps."}}, absl::InfiniteFuture(), done);
//
// (tests/translator_test.cc compiles and runs these lines.)  A request is checked, split into
// sentences if it asks for that, and tokenized: one job per sentence (plan.h).  The jobs run in the
// pool.  When the last one ends, their results are put together (assembly.h).

#ifndef DRAGOMAN_ENGINE_TRANSLATOR_H_
#define DRAGOMAN_ENGINE_TRANSLATOR_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "engine/decode/worker_pool.h"
#include "engine/model/model.h"
#include "engine/plan.h"
#include "engine/search_request.h"
#include "engine/translation.h"

namespace dragoman {

// Thread-safe.
class Translator {
 public:
  // `pool` must outlive the translator.
  Translator(std::shared_ptr<const Model> model, WorkerPool* pool, const Limits& limits);

  // Starts a translation and returns at once.  `done` is called exactly once: before this returns
  // (if the request is invalid, or there is nothing to translate) or later on a worker's thread.
  // It must not block.  `state` says who asks and by when, and can cancel what was started: within
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

  // The checks that Translate makes on the texts of a request.
  absl::Status CheckTexts(const std::vector<std::string>& texts) const;

  // The tokens that the model sees for a text.  The languages are those of a request.
  absl::StatusOr<std::vector<int32_t>> EncodeSource(const std::string& text,
                                                    const std::string& source_language,
                                                    const std::string& target_language) const;

  const Model& model() const { return *context_.model; }

 private:
  const PlanContext context_;
  WorkerPool* const pool_;
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_TRANSLATOR_H_
