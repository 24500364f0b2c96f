#include "engine/decode/scheduler.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "engine/base/status.h"
#include "engine/decode/scheduler_turn.h"

namespace dragoman {
namespace {

// The part of the queue that long requests may fill.
constexpr double kLongPart = 0.75;
// A forecast is believed for so long after the last turn.  An older one may come from a moment in
// which the machine was busy with something else, and if it refused everybody, no turn would ever
// correct it.
constexpr absl::Duration kFresh = absl::Seconds(1);
// A request enters only if the queue could take this many times longer than forecast.  A shorter
// queue serves as many; a longer one makes all of them late as soon as anything slows down.
constexpr double kQueueReserve = 1.5;

}  // namespace

Scheduler::Scheduler(const SchedulerLimits& limits) : limits_(limits), loads_(limits.workers) {}

Scheduler::~Scheduler() { DRAGOMAN_CHECK(flows_.empty()); }

void Scheduler::LineSize::Add(const Job& job, int sign) {
  tokens += sign * job.cost.source_tokens;
  work += sign * static_cast<double>(job.cost.work());
  share += sign * job.cost.turn_share;
}

absl::Status Scheduler::Enter(std::vector<JobPtr>* jobs, absl::Time now) {
  auto flow = std::make_unique<Flow>();
  LineSize more = {.requests = 1};
  for (const JobPtr& job : *jobs) more.Add(*job, 1);
  for (const JobPtr& job : *jobs) flow->longest = std::max(flow->longest, job->cost.steps);
  flow->expected = more.work;
  flow->request = jobs->front()->request;
  const RequestTerms& terms = flow->request->terms();
  RETURN_IF_ERROR(quotas_.Check(terms.principal, terms.quota, now));
  RETURN_IF_ERROR(CheckRoom(more, flow->IsShort()));
  RETURN_IF_ERROR(CanBeMet(*flow, now, WorkBefore(*flow)));
  quotas_.Spend(terms.principal, terms.quota, flow->expected, now);
  flow->arrival = arrivals_++;
  flow->since = now;
  for (JobPtr& job : *jobs) {
    job->submitted = now;
    job->flow = flow.get();
    waiting_[flow->IsShort()].Add(*job, 1);
    flow->waiting.push_back(std::move(job));
  }
  ++waiting_[flow->IsShort()].requests;
  since_.insert(flow.get());
  fair_.Open(flow.get());
  const RequestState* const request = flow->request.get();
  DRAGOMAN_CHECK(flows_.emplace(request, std::move(flow)).second);
  return absl::OkStatus();
}

// Whether there is room for `more` in the queue.
absl::Status Scheduler::CheckRoom(const LineSize& more, bool is_short) const {
  const auto check = [&](const char* what, auto member, double most) -> absl::Status {
    const double longs = waiting_[false].*member;
    const double left = is_short ? most - std::min(longs, kLongPart * most) : kLongPart * most;
    const double there = waiting_[is_short].*member;
    if (there == 0 || there + more.*member <= std::max(left, 1.0)) return absl::OkStatus();
    return absl::ResourceExhaustedError(
        absl::StrCat("the queue is full: ", there, " ", what, " of ", is_short ? "short" : "long",
                     " requests wait, ", more.*member, " more would come, the most is ", left));
  };
  RETURN_IF_ERROR(check("requests", &LineSize::requests, limits_.max_waiting_requests));
  RETURN_IF_ERROR(check("source tokens", &LineSize::tokens, limits_.max_waiting_tokens));
  return check("rows of work", &LineSize::work, limits_.max_waiting_work);
}

// The work that is done before that of a flow.  Short ones wait for each other.  Long ones share
// the workers: while one is being served, each of the others receives at most as much as it does.
double Scheduler::WorkBefore(const Flow& flow) const {
  if (flow.IsShort()) return waiting_[true].work;
  const LineSize& longs = waiting_[false];
  return std::min(longs.work, longs.requests * flow.expected);
}

// Whether a flow can meet its deadline after this much other work.
absl::Status Scheduler::CanBeMet(const Flow& flow, absl::Time now, double work_before) const {
  const absl::Time deadline = flow.request->deadline();
  if (deadline == absl::InfiniteFuture() || !limits_.forecasts) return absl::OkStatus();
  if (now > last_end_ + kFresh) return absl::OkStatus();
  const absl::Duration needed =
      std::max(forecast_.Steps(flow.longest + 1),
               forecast_.Work(flow.expected - flow.received, limits_.workers)) +
      kQueueReserve * forecast_.Work(work_before, limits_.workers);
  if (now + needed <= deadline) return absl::OkStatus();
  return CannotBeMet(absl::StrCat("the deadline cannot be met: it passes in ",
                                  absl::FormatDuration(deadline - now),
                                  ", and the request takes about ", absl::FormatDuration(needed)));
}

TurnPlan Scheduler::PlanTurn(int worker, absl::Span<Resident> residents, absl::Time now) {
  OnTurnEnd(worker, now);  // of a worker that went on at once: what lies between is part of it
  loads_[worker].began = now;
  TurnPlan plan;
  RefuseUnwanted(now, &plan);
  SchedulerTurn(this, worker, residents, now, &plan).Plan();
  return plan;
}

void Scheduler::OnTurnEnd(int worker, absl::Time now) {
  WorkerLoad& load = loads_[worker];
  if (load.rows == 0) return;
  const absl::Duration took = now - load.began;
  forecast_.OnTurn(load.rows, load.used, took);
  if (load.for_short) {
    load.time.OnTurn(took, load.for_others);
  } else if (load.used > 0) {
    load.time.OnOthersTurn(took, load.used);
  }
  load.rows = 0;
  last_end_ = now;
}

void Scheduler::RefuseUnwanted(absl::Time now, TurnPlan* plan) {
  std::vector<std::pair<Flow*, absl::Status>> unwanted;
  for (Flow* flow : since_) {
    absl::Status wanted = flow->request->Wanted(now);
    wanted.Update(CanBeMet(*flow, now, 0));
    if (!wanted.ok()) unwanted.emplace_back(flow, std::move(wanted));
  }
  for (auto& [flow, status] : unwanted) {
    while (!flow->waiting.empty()) plan->refuse.emplace_back(Take(flow), status);
    CloseIfDone(flow);
  }
}

// Removes the next job of a flow from the queue.
JobPtr Scheduler::Take(Flow* flow) {
  LineSize& waiting = waiting_[flow->expected <= Flow::kShort];
  JobPtr job = fair_.Pop(flow);
  waiting.Add(*job, -1);
  if (flow->waiting.empty()) {
    since_.erase(flow);
    --waiting.requests;
  }
  return job;
}

void Scheduler::OnEnd(const Job& job, const absl::Status& status) {
  const bool late = absl::IsDeadlineExceeded(status);
  if (job.request->deadline() != absl::InfiniteFuture() && (status.ok() || late)) {
    forecast_.OnDeadline(!late);
  }
  --job.flow->running;
  CloseIfDone(job.flow);
}

void Scheduler::CloseIfDone(Flow* flow) {
  if (flow->running > 0 || !flow->waiting.empty()) return;
  fair_.Close(flow);
  flows_.erase(flow->request.get());
}

// Whether this worker should take a job with that share, rather than one with less to do, which
// will fetch it within a turn.
bool Scheduler::IsTurnOf(int worker, double share) const {
  const double mine = loads_[worker].share;
  double all = waiting_[false].share + waiting_[true].share;
  double least = mine;
  for (const WorkerLoad& load : loads_) {
    all += load.share;
    if (!load.full) least = std::min(least, load.share);
  }
  return mine <= least || mine + share / 2 <= all / static_cast<double>(loads_.size());
}

LineStats Scheduler::stats() const {
  LineStats stats;
  for (const LineSize& waiting : waiting_) {
    stats.requests += static_cast<int>(waiting.requests);
    stats.tokens += static_cast<int>(waiting.tokens);
    stats.work += waiting.work;
  }
  if (!since_.empty()) stats.oldest = (*since_.begin())->since;
  return stats;
}

}  // namespace dragoman
