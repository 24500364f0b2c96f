#include "engine/request/translator.h"

#include <utility>

#include "absl/time/clock.h"
#include "engine/base/status.h"

namespace dragoman {

Translator::Translator(std::shared_ptr<const Model> model, WorkerPool* pool, const Limits& limits)
    : context_(
          {.model = model,
           .limits = limits,
           .rules = MakeRules(model->generation(), model->spec(),
                              model->tokenizer().target_unknown_id()),
           .pieces = std::make_shared<LazyPieces>(),
           .check_ahead =
               [pool, model = model.get()](const RequestState& request, const RoughSize& size) {
                 return pool->CheckAhead(*model, request, size);
               },
           .wanted = [](const RequestState& request) { return request.Wanted(absl::Now()); }}),
      pool_(pool) {}

Translator::Translator(std::shared_ptr<const ModelProfile> profile, Fetch fetch,
                       const Limits& limits)
    : context_({.limits = limits}), pool_(nullptr), awaited_(std::make_shared<Awaited>()) {
  awaited_->profile = std::move(profile);
  awaited_->fetch = std::move(fetch);
}

std::shared_ptr<const Translator> Translator::Awaited::Found() {
  absl::MutexLock lock(&mutex);
  DRAGOMAN_CHECK(found != nullptr);
  return found;
}

const Model& Translator::model() const {
  return awaited_ == nullptr ? *context_.model : awaited_->Found()->model();
}

const std::string& Translator::name() const {
  return awaited_ == nullptr ? context_.model->name() : awaited_->profile->name;
}

const Languages& Translator::languages() const {
  return awaited_ == nullptr ? context_.model->tokenizer().languages()
                             : awaited_->profile->languages;
}

const GenerationConfig& Translator::generation() const {
  return awaited_ == nullptr ? context_.model->generation() : awaited_->profile->config.generation;
}

void Translator::Await(std::shared_ptr<RequestState> state,
                       std::function<void(absl::Status)> then) const {
  if (awaited_ == nullptr) return then(absl::OkStatus());
  awaited_->fetch(std::move(state), [awaited = awaited_, then = std::move(then)](
                                        absl::StatusOr<std::shared_ptr<const Translator>> found) {
    if (found.ok()) {
      absl::MutexLock lock(&awaited->mutex);
      if (awaited->found == nullptr) awaited->found = *found;
    }
    then(found.status());
  });
}

void Translator::Prepare(const std::shared_ptr<RequestState>& state, size_t work,
                         const std::function<void(absl::Status)>& then) const {
  if (awaited_ != nullptr) return awaited_->Found()->Prepare(state, work, then);
  PrepareInPool(pool_, state, work, then);
}

void Translator::Translate(TranslateRequest request, std::shared_ptr<RequestState> state,
                           std::function<void(TranslateResponse)> done,
                           OnProgress on_progress) const {
  Translate(HopRequest{std::move(request)},
            {std::move(state), std::move(done), std::move(on_progress)});
}

std::shared_ptr<RequestState> Translator::Translate(
    TranslateRequest request, absl::Time deadline,
    std::function<void(TranslateResponse)> done) const {
  auto state = std::make_shared<RequestState>(deadline);
  Translate(std::move(request), state, std::move(done));
  return state;
}

void Translator::Translate(HopRequest request, HopCall call) const {
  if (awaited_ == nullptr) return StartHop(context_, pool_, std::move(request), std::move(call));
  const std::shared_ptr<RequestState> state = call.state;
  Await(state, [awaited = awaited_, request = std::move(request),
                call = std::move(call)](const absl::Status& status) mutable {
    if (!status.ok()) return call.done({.status = status});
    awaited->Found()->Translate(std::move(request), std::move(call));
  });
}

}  // namespace dragoman
