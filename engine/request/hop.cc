#include "engine/request/hop.h"

#include <algorithm>
#include <atomic>
#include <optional>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "engine/base/status.h"
#include "engine/request/assembly.h"
#include "engine/request/progress.h"
#include "engine/request/still_wanted.h"

namespace dragoman {
namespace {

// The work of making jobs of a request, in bytes that are read (still_wanted.h).
size_t PreparingWork(const HopRequest& request) {
  const WordRules& words = request.words;
  constexpr size_t kPerTranslation = 64;  // for what it takes however short it is
  const auto each = static_cast<size_t>(std::max(1, request.options.num_hypotheses.value_or(1)));
  size_t glossary = 0;
  const bool waits = words.shared != nullptr && !words.shared->is_prepared();
  for (const GlossaryEntry& entry : waits ? words.shared->entries() : words.glossary) {
    glossary += entry.source.size() + BytesOf(entry.targets);
  }
  return BytesOf(request.texts) + kPerTranslation * each * request.texts.size() +
         BytesOf(request.targets) + BytesOf(request.target_prefixes) +
         BytesOf(request.previous_texts) + BytesOf(request.previous_translations) +
         request.memories.size() * StillWanted::kWorkBetween +
         glossary * (1 + words.never_say.size()) + BytesOf(words.never_say) +
         BytesOf(words.suppress_sequences) + words.suppress_token_ids.size();
}

bool TakesLong(size_t work) { return work > StillWanted::kWorkBetween; }

// Each job writes its own result; the last one to finish assembles the translations.
class Hop : public std::enable_shared_from_this<Hop> {
 public:
  Hop(const PlanContext& context, WorkerPool* pool, HopCall call)
      : model_(context.model), pool_(pool), call_(std::move(call)) {}

  // Creates the jobs and submits them.  If there are none to wait for, responds at once.  What
  // takes long is done on the pool's threads for that, and so are its translations.
  void Start(const PlanContext& context, HopRequest request) {
    work_ = PreparingWork(request);
    if (!TakesLong(work_)) return Run(context, std::move(request));
    PrepareInPool(pool_, call_.state, work_,
                  [self = shared_from_this(), context,
                   request = std::move(request)](absl::Status status) mutable {
                    if (!status.ok()) return self->Respond(std::move(status));
                    self->Run(context, std::move(request));
                  });
  }

 private:
  PlannedSentence& SentenceOf(size_t job) {
    return plan_.texts[plan_.places[job].text].sentences[plan_.places[job].sentence];
  }

  void Run(const PlanContext& context, HopRequest request) {
    const absl::Time start = absl::Now();
    waited_ = start - call_.since;
    absl::Status status = call_.state->Wanted(start);
    if (!status.ok()) return Answer(std::move(status));
    absl::StatusOr<std::vector<JobPtr>> jobs = Plan(context, std::move(request));
    tokenize_ = absl::Now() - start;
    status = jobs.status();
    if (status.ok()) status = call_.state->Wanted(absl::Now());
    if (status.ok() && !jobs->empty()) {
      status = pool_->Submit(*std::move(jobs));
      if (status.ok()) return;
    }
    Answer(std::move(status));
  }

  absl::StatusOr<std::vector<JobPtr>> Plan(const PlanContext& context, HopRequest request) {
    ASSIGN_OR_RETURN(plan_, MakePlan(context, std::move(request), call_.state));
    std::vector<JobPtr> jobs = std::move(plan_.jobs);
    results_.resize(jobs.size());
    jobs_left_ = static_cast<int>(jobs.size());
    if (call_.on_progress != nullptr) {
      teller_.emplace(&model_->tokenizer(), &plan_, &results_, WantedBy(call_.state.get()),
                      call_.on_progress);
    }
    for (size_t i = 0; i < jobs.size(); ++i) SetCallbacks(i, jobs[i].get());
    return jobs;
  }

  void SetCallbacks(size_t job, Job* to) {
    to->on_done = [self = shared_from_this(), job](JobResult result) {
      self->Attempted(job, std::move(result));
    };
    // Of a sentence that may be translated again, nothing is certain before it is done.
    if (!teller_.has_value() || SentenceOf(job).attempts != nullptr) return;
    to->on_stable = [self = shared_from_this(), job](absl::Span<const int32_t> tokens) {
      self->teller_->Stable(job, tokens);
    };
  }

  // The result of a sentence's job, or of a further attempt (attempts.h).  If that fails, so does
  // the sentence: which translation it gets does not depend on the load.
  void Attempted(size_t job, JobResult result) {
    if (!result.status.ok() || SentenceOf(job).attempts == nullptr) {
      return JobDone(job, std::move(result));
    }
    const auto last = std::make_shared<JobResult>(std::move(result));
    Finish([=, self = shared_from_this()](absl::Status status) {
      std::vector<JobPtr> next(1);
      if (status.ok()) {
        next[0] = NextAttempt(self->model_->tokenizer(), self->plan_.alignment,
                              &self->plan_.texts[self->plan_.places[job].text],
                              self->plan_.places[job].sentence, last.get());
        if (next[0] == nullptr) return self->JobDone(job, std::move(*last));
        next[0]->has_entered = true;
        next[0]->on_done = [=](JobResult other) { self->Attempted(job, std::move(other)); };
        status = self->pool_->Submit(std::move(next));
      }
      if (!status.ok()) self->JobDone(job, {.status = std::move(status)});
    });
  }

  // A worker has others to serve, but does it if too much waits for those who should.
  void Finish(const std::function<void(absl::Status)>& then) {
    PrepareInPool(pool_, call_.state, work_, [then](const absl::Status& status) {
      then(absl::IsResourceExhausted(status) ? absl::OkStatus() : status);
    });
  }

  void JobDone(size_t job, JobResult result) {
    if (result.status.ok() && !model_->whole()) {
      result.status = UnavailableError("the packed weights of model ", model_->name(),
                                       " were cut while in use");
    }
    // The other sentences are useless without this one.
    if (!result.status.ok()) call_.state->Cancel(absl::Now());
    if (plan_.by_consensus) {
      ChooseByConsensus(model_->tokenizer(), plan_.num_hypotheses, &result.hypotheses);
    }
    const bool found = result.status.ok();
    results_[job] = std::move(result);
    if (teller_.has_value() && found) teller_->Done(job);
    if (jobs_left_.fetch_sub(1, std::memory_order_acq_rel) > 1) return;
    absl::Status status;
    for (const JobResult& each : results_) AddError(each.status, &status);
    if (!status.ok()) return Answer(std::move(status));
    Finish([self = shared_from_this()](absl::Status then) { self->Answer(std::move(then)); });
  }

  // Responds once everything has been reported.
  void Answer(absl::Status status) {
    if (!teller_.has_value()) return Respond(std::move(status));
    teller_->Finish([self = shared_from_this(), status](const absl::Status& fault) {
      absl::Status both = status;
      both.Update(fault);
      self->Respond(std::move(both));
    });
  }

  // Responds with an error or, unless they were reported, with the translations.
  void Respond(absl::Status status) {
    TranslateResponse response;
    const absl::Time start = absl::Now();
    StillWanted wanted = WantedBy(call_.state.get());
    for (size_t t = 0; t < plan_.texts.size() && status.ok() && !teller_.has_value(); ++t) {
      response.translations.push_back(
          Assemble(model_->tokenizer(), plan_.texts[t], results_, plan_.alignment, &wanted));
      status = wanted.status();
      status.Update(CheckQuality(plan_.min_quality, plan_.refuse_low_quality, t,
                                 &response.translations.back()));
    }
    if (!status.ok()) response.translations.clear();
    response.status = std::move(status);
    TranslateTimes& times = response.times;
    for (const JobResult& result : results_) {
      times.AddBeside({.queue = result.times.queue,
                       .encode = result.times.encode,
                       .decode = result.times.decode,
                       .steps = result.reused ? 0 : result.times.steps,
                       .kept = result.reused ? 0 : result.times.kept});
      if (result.reused) ++response.reused_sentences;
    }
    times.queue += waited_;
    times.tokenize = tokenize_;
    times.detokenize = absl::Now() - start;
    call_.done(std::move(response));
  }

  const std::shared_ptr<const Model> model_;
  WorkerPool* const pool_;
  const HopCall call_;
  size_t work_ = 0;                       // of preparing
  absl::Duration waited_, tokenize_;      // before it began to be prepared, and until it was
  TranslationPlan plan_;                  // without its jobs, which have been handed on
  std::vector<JobResult> results_;        // of each job
  std::optional<ProgressTeller> teller_;  // if progress is reported
  std::atomic<int> jobs_left_ = 0;
};

}  // namespace

size_t BytesOf(const std::vector<std::string>& texts) {
  size_t bytes = 0;
  for (const std::string& text : texts) bytes += text.size();
  return bytes;
}

void PrepareInPool(WorkerPool* pool, const std::shared_ptr<RequestState>& state, size_t work,
                   const std::function<void(absl::Status)>& then) {
  if (!TakesLong(work)) return then(absl::OkStatus());
  const absl::Status status = pool->Prepare(state, then);
  if (!status.ok()) then(status);
}

void StartHop(const PlanContext& context, WorkerPool* pool, HopRequest request, HopCall call) {
  std::make_shared<Hop>(context, pool, std::move(call))->Start(context, std::move(request));
}

}  // namespace dragoman
