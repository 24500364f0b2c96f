#include "engine/translator.h"

#include <algorithm>
#include <atomic>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "engine/assembly.h"
#include "engine/base/status.h"
#include "engine/progress.h"
#include "engine/repair.h"

namespace dragoman {
namespace {

// A request on its way through the engine.  Each job writes its own result; the last one to finish
// assembles the answer.
class RunningRequest : public std::enable_shared_from_this<RunningRequest> {
 public:
  RunningRequest(std::shared_ptr<const Model> model, WorkerPool* pool,
                 std::shared_ptr<RequestState> state, std::function<void(TranslateResponse)> done,
                 OnProgress on_progress)
      : model_(std::move(model)),
        pool_(pool),
        state_(std::move(state)),
        done_(std::move(done)),
        on_progress_(std::move(on_progress)),
        started_(absl::Now()) {}

  // Creates the jobs of the request, which report back to this object.
  absl::StatusOr<std::vector<JobPtr>> Plan(const PlanContext& context, TranslateRequest request);

  // Responds with an error or, if there are no jobs to wait for, with the translations.
  void Answer(absl::Status status);

 private:
  void SetCallbacks(size_t job, Job* to);
  void JobDone(size_t job, JobResult result);
  bool TryPlainly(size_t job, JobResult* result);
  bool TryUnread(size_t job, const JobResult& result);
  void Respond(absl::Status status);

  const std::shared_ptr<const Model> model_;
  WorkerPool* const pool_;
  const std::shared_ptr<RequestState> state_;
  const std::function<void(TranslateResponse)> done_;
  const OnProgress on_progress_;
  const absl::Time started_;
  absl::Duration tokenize_;
  TranslationPlan plan_;                  // without its jobs, which have been handed on
  std::vector<JobPtr> plain_;             // as in the plan; null once it is not needed
  std::vector<JobResult> results_;        // of each job
  std::optional<ProgressTeller> teller_;  // if progress is reported
  std::atomic<int> jobs_left_ = 0;

  absl::Mutex mutex_;
  absl::Status error_ ABSL_GUARDED_BY(mutex_);  // the first of any job
};

absl::StatusOr<std::vector<JobPtr>> RunningRequest::Plan(const PlanContext& context,
                                                         TranslateRequest request) {
  ASSIGN_OR_RETURN(plan_, MakePlan(context, std::move(request), state_));
  std::vector<JobPtr> jobs = std::move(plan_.jobs);
  plain_ = std::move(plan_.plain);
  results_.resize(jobs.size());
  jobs_left_ = static_cast<int>(jobs.size());
  if (on_progress_ != nullptr) {
    teller_.emplace(&model_->tokenizer(), &plan_, &results_, on_progress_);
  }
  for (size_t i = 0; i < jobs.size(); ++i) SetCallbacks(i, jobs[i].get());
  tokenize_ = absl::Now() - started_;
  return jobs;
}

void RunningRequest::SetCallbacks(size_t job, Job* to) {
  to->on_done = [self = shared_from_this(), job](JobResult result) {
    self->JobDone(job, std::move(result));
  };
  // Of a sentence with two jobs, nothing is certain before both are done.
  if (!teller_.has_value() || plain_[job] != nullptr) return;
  to->on_stable = [self = shared_from_this(), job](absl::Span<const int32_t> tokens) {
    self->teller_->Stable(job, tokens);
  };
}

// For the result of a job that repairs: whether the sentence is now being translated plainly, and
// this result waits for that one.
bool RunningRequest::TryPlainly(size_t job, JobResult* result) {
  JobPtr plain = std::move(plain_[job]);
  result->repaired = true;
  if (!IsDoubtful(result->hypotheses.front(), plan_.doubtful_loss)) return false;
  plain->on_done = [self = shared_from_this(), job, repair = *result](JobResult other) mutable {
    const bool is_better =
        other.status.ok() && repair.hypotheses.front().score >= other.hypotheses.front().score;
    JobResult& better = is_better ? repair : other;
    better.times.steps = repair.times.steps + other.times.steps;
    better.times.kept = repair.times.kept;
    better.reused = repair.reused && other.reused;
    self->JobDone(job, std::move(better));
  };
  std::vector<JobPtr> jobs;
  jobs.push_back(std::move(plain));
  const absl::Status status = pool_->Submit(std::move(jobs));
  if (status.ok()) return true;
  *result = {.status = status};
  return false;
}

// For the result of a job that reads stand-ins: whether something of them is left, and the sentence
// is now being read without its literals.
bool RunningRequest::TryUnread(size_t job, const JobResult& result) {
  const auto [t, sentence] = plan_.places[job];
  JobPtr unread = std::move(plain_[job]);
  if (!WantsUnread(model_->tokenizer(), plan_.texts[t], sentence, result.hypotheses,
                   plan_.alignment)) {
    return false;
  }
  unread->on_done = [self = shared_from_this(), job, times = result.times](JobResult other) {
    other.times.steps += times.steps;
    other.times.kept += times.kept;
    const auto [text, number] = self->plan_.places[job];
    TakeUnread(&self->plan_.texts[text], number);
    self->JobDone(job, std::move(other));
  };
  std::vector<JobPtr> jobs;
  jobs.push_back(std::move(unread));
  return pool_->Submit(std::move(jobs)).ok();  // otherwise the sentence stays as it is
}

void RunningRequest::JobDone(size_t job, JobResult result) {
  if (result.status.ok() && !model_->whole()) {
    result.status = absl::UnavailableError(
        absl::StrCat("the packed weights of model ", model_->name(), " were cut while in use"));
  }
  const bool repairs = plain_[job] != nullptr && result.status.ok();
  const bool reads_stand_ins =
      repairs &&
      plan_.texts[plan_.places[job].text].sentences[plan_.places[job].sentence].unread != nullptr;
  if (reads_stand_ins ? TryUnread(job, result) : repairs && TryPlainly(job, &result)) return;
  if (!result.status.ok()) {
    {
      absl::MutexLock lock(&mutex_);
      if (error_.ok()) error_ = result.status;
    }
    state_->Cancel(absl::Now());  // the other sentences are useless without this one
  }
  if (plan_.by_consensus) {
    ChooseByConsensus(model_->tokenizer(), plan_.num_hypotheses, &result.hypotheses);
  }
  const bool found = result.status.ok();
  results_[job] = std::move(result);
  if (teller_.has_value() && found) teller_->Done(job);
  if (jobs_left_.fetch_sub(1, std::memory_order_acq_rel) > 1) return;
  absl::Status status;
  {
    absl::MutexLock lock(&mutex_);
    status = error_;
  }
  Answer(std::move(status));
}

void RunningRequest::Answer(absl::Status status) {
  if (!teller_.has_value()) return Respond(std::move(status));
  teller_->Finish([self = shared_from_this(), status](const absl::Status& fault) {
    absl::Status both = status;
    both.Update(fault);
    self->Respond(std::move(both));
  });
}

void RunningRequest::Respond(absl::Status status) {
  TranslateResponse response;
  const absl::Time start = absl::Now();
  if (status.ok() && !teller_.has_value()) {
    for (size_t t = 0; t < plan_.texts.size() && status.ok(); ++t) {
      response.translations.push_back(
          Assemble(model_->tokenizer(), plan_.texts[t], results_, plan_.alignment));
      status = CheckQuality(plan_.min_quality, plan_.refuse_low_quality, t,
                            &response.translations.back());
    }
    if (!status.ok()) response.translations.clear();
  }
  response.status = std::move(status);
  response.times = LongestTimes(results_);
  response.reused_sentences = static_cast<int>(std::count_if(
      results_.begin(), results_.end(), [](const JobResult& result) { return result.reused; }));
  response.times.tokenize = tokenize_;
  response.times.detokenize = absl::Now() - start;
  done_(std::move(response));
}

}  // namespace

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

const Model& Translator::model() const {
  if (awaited_ == nullptr) return *context_.model;
  absl::MutexLock lock(&awaited_->mutex);
  DRAGOMAN_CHECK(awaited_->found != nullptr);
  return awaited_->found->model();
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

absl::Status Translator::CheckTexts(const std::vector<std::string>& texts) const {
  return dragoman::CheckTexts(texts, context_.limits);
}

void Translator::Translate(TranslateRequest request, std::shared_ptr<RequestState> state,
                           std::function<void(TranslateResponse)> done,
                           OnProgress on_progress) const {
  if (awaited_ != nullptr) {
    return TranslateLater(std::move(request), std::move(state), std::move(done),
                          std::move(on_progress));
  }
  const auto call = std::make_shared<RunningRequest>(context_.model, pool_, state, std::move(done),
                                                     std::move(on_progress));
  absl::Status status = state->Wanted(absl::Now());
  if (!status.ok()) return call->Answer(std::move(status));
  absl::StatusOr<std::vector<JobPtr>> jobs = call->Plan(context_, std::move(request));
  status = jobs.status();
  if (status.ok()) status = state->Wanted(absl::Now());
  if (status.ok() && !jobs->empty()) {
    status = pool_->Submit(*std::move(jobs));
    if (status.ok()) return;
  }
  call->Answer(std::move(status));
}

// The wait for the model counts as a part of the wait for a place in a batch.
void Translator::TranslateLater(TranslateRequest request, std::shared_ptr<RequestState> state,
                                std::function<void(TranslateResponse)> done,
                                OnProgress on_progress) const {
  const absl::Time start = absl::Now();
  Await(state, [awaited = awaited_, request = std::move(request), state, done = std::move(done),
                on_progress = std::move(on_progress), start](const absl::Status& status) mutable {
    if (!status.ok()) {
      TranslateResponse failed;
      failed.status = status;
      return done(std::move(failed));
    }
    std::shared_ptr<const Translator> found;
    {
      absl::MutexLock lock(&awaited->mutex);
      found = awaited->found;
    }
    const absl::Duration waited = absl::Now() - start;
    found->Translate(
        std::move(request), std::move(state),
        [waited, done = std::move(done)](TranslateResponse response) {
          response.times.queue += waited;
          done(std::move(response));
        },
        std::move(on_progress));
  });
}

std::shared_ptr<RequestState> Translator::Translate(
    TranslateRequest request, absl::Time deadline,
    std::function<void(TranslateResponse)> done) const {
  auto state = std::make_shared<RequestState>(deadline);
  Translate(std::move(request), state, std::move(done));
  return state;
}

}  // namespace dragoman
