// A hop: one pass of texts through one model.
//
//   texts ─► plan (plan.h) ─► a job per sentence ─► results ─► translations (assembly.h)
//
// A request that takes several hops is a running_request.h.

#ifndef DRAGOMAN_ENGINE_REQUEST_HOP_H_
#define DRAGOMAN_ENGINE_REQUEST_HOP_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "engine/decode/worker_pool.h"
#include "engine/request/plan.h"
#include "engine/request/translation.h"

namespace dragoman {

// Who waits for a hop.
struct HopCall {
  std::shared_ptr<RequestState> state;
  std::function<void(TranslateResponse)> done;
  OnProgress on_progress = nullptr;
  // Since when; until the hop starts, that counts as a part of the wait for a batch.
  absl::Time since = absl::Now();
};

// Of all texts together.
size_t BytesOf(const std::vector<std::string>& texts);

// Calls `then` at once if the work that it does for a request is little (still_wanted.h), or else
// on one of the pool's threads for what takes long; or with RESOURCE_EXHAUSTED, if too much waits
// for these, or as soon as the request is not wanted any more.
void PrepareInPool(WorkerPool* pool, const std::shared_ptr<RequestState>& state, size_t work,
                   const std::function<void(absl::Status)>& then);

// Starts a hop of the context's model, whose jobs run in the pool.  Otherwise as
// Translator::Translate.
void StartHop(const PlanContext& context, WorkerPool* pool, HopRequest request, HopCall call);

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_REQUEST_HOP_H_
