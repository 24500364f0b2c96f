#include "engine/decode/scheduler.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/base/limit.h"
#include "engine/base/status.h"
#include "engine/decode/scheduler_turn.h"
#include "engine/decode/work_text.h"

namespace dragoman {
namespace {

// The part of a queue that long requests may fill.
constexpr double kLongPart = 0.75;
// A forecast is trusted for this long after the last turn.  An older one may come from a moment in
// which the machine was busy with something else, and if it refused everybody, no turn would ever
// correct it.
constexpr absl::Duration kFresh = absl::Seconds(1);
// A request is admitted only if it would be in time even if the queue took this many times longer
// than forecast.  A shorter queue serves as many; a longer one makes all of them late as soon as
// anything slows down.
constexpr double kQueueReserve = 1.5;
// A waiting request is checked again when half of its spare time is over, within these limits: the
// forecast may change meanwhile, and the client may leave.
constexpr absl::Duration kLeastBetweenChecks = absl::Milliseconds(1);
constexpr absl::Duration kMostBetweenChecks = absl::Milliseconds(20);

}  // namespace

Scheduler::Scheduler(const SchedulerLimits& limits) : limits_(limits), loads_(limits.workers) {}

Scheduler::~Scheduler() { DRAGOMAN_CHECK(flows_.empty()); }

absl::Status Scheduler::Enter(std::vector<JobPtr>* jobs, absl::Time now) {
  auto flow = std::make_unique<Flow>();
  LineSize size = {.requests = 1};
  for (const JobPtr& job : *jobs) size.Add(*job, 1);
  for (const JobPtr& job : *jobs) flow->longest = std::max(flow->longest, job->cost.steps);
  flow->expected = size.work;
  flow->request = jobs->front()->request;
  const RequestTerms& terms = flow->request->terms();
  const Newcomer newcomer = {terms, size, flow->IsShort(), flow->longest};
  ASSIGN_OR_RETURN(const Yielding yielding, Check(newcomer, now));
  for (Flow* const other : yielding.flows) Evict(other, now);
  quotas_.Spend(terms.principal, terms.quota, flow->expected, now);
  flow->arrival = arrivals_++;
  flow->since = flow->check_at = now;
  for (JobPtr& job : *jobs) {
    job->submitted = now;
    job->flow = flow.get();
    flow->waiting.push_back(std::move(job));
  }
  fair_.Open(flow.get());
  CountWaiting(*flow, size);
  since_[terms.priority].insert(flow.get());
  checks_.insert(flow.get());
  const Flow* const entered = flow.get();
  flows_.emplace(entered, std::move(flow));
  return absl::OkStatus();
}

absl::Status Scheduler::CheckAhead(const RequestTerms& terms, const CostRange& cost,
                                   absl::Time now) {
  const LineSize size = {.requests = 1, .tokens = cost.least_tokens, .work = cost.least_work};
  if (cost.least_work <= Flow::kShort) {
    absl::Status as_short = Check({terms, size, true, cost.least_steps}, now).status();
    if (as_short.ok() || cost.most_work <= Flow::kShort) return as_short;
  }
  return Check({terms, size, false, cost.least_steps}, now).status();
}

// The requests that have to yield their places to the newcomer, usually none; or why it may not
// enter the queue.  Changes nothing in the queue.
absl::StatusOr<Scheduler::Yielding> Scheduler::Check(const Newcomer& newcomer, absl::Time now) {
  const RequestTerms& terms = newcomer.terms;
  RETURN_IF_ERROR(quotas_.Check(terms.principal, terms.quota, now));
  ASSIGN_OR_RETURN(Yielding yielding, MakeRoom(newcomer));
  if (!Forecasts(terms, now)) return yielding;
  RETURN_IF_ERROR(
      CanBeMet(terms, now,
               Needed(newcomer.longest, newcomer.size.work) +
                   kQueueReserve * forecast_.Work(WorkBefore(newcomer), limits_.workers)));
  return yielding;
}

// A large request may need several places.  If all that it can get are not enough, nobody yields.
absl::StatusOr<Scheduler::Yielding> Scheduler::MakeRoom(const Newcomer& newcomer) const {
  Yielding yielding;
  while (true) {
    absl::Status room = CheckRoom(newcomer, yielding.all);
    if (room.ok()) return yielding;
    Flow* const flow = NextToYield(newcomer, yielding);
    if (flow == nullptr) return room;
    yielding.flows.push_back(flow);
    LineSize size = {.requests = 1};
    for (const JobPtr& job : flow->waiting) size.Add(*job, 1);
    yielding.all += size;
    yielding.of[flow->account] += size;
  }
}

// Whether there is room for it in the queue of its priority, once requests of its kind that amount
// to `less` have left.
absl::Status Scheduler::CheckRoom(const Newcomer& newcomer, const LineSize& less) const {
  const bool is_short = newcomer.is_short;
  const bool batch = newcomer.terms.priority == Priority::kBatch;
  const auto& waiting = waiting_[newcomer.terms.priority];
  const auto plain = [](const char* what) {
    return [what](double number) { return absl::StrCat(number, " ", what); };
  };
  const auto check = [&](const char* limit, const auto& write, auto member,
                         double most) -> absl::Status {
    const double longs = waiting[false].*member;
    const double left = is_short ? most - std::min(longs, kLongPart * most) : kLongPart * most;
    const double there = waiting[is_short].*member - less.*member;
    const double more = newcomer.size.*member;
    if (there == 0 || there + more <= std::max(left, 1.0)) return absl::OkStatus();
    return OverLimit(absl::ResourceExhaustedError(absl::StrCat(
                         "the queue is full: ", write(there), " of ", is_short ? "short " : "long ",
                         batch ? "batch" : "interactive", " requests wait, ", more,
                         " more would come, the most is ", left)),
                     limit);
  };
  RETURN_IF_ERROR(check("max_waiting_requests", plain("requests"), &LineSize::requests,
                        limits_.max_waiting_requests));
  RETURN_IF_ERROR(check("max_waiting_tokens", plain("source tokens"), &LineSize::tokens,
                        limits_.max_waiting_tokens));
  return check("max_waiting_work", DescribeWork, &LineSize::work, limits_.max_waiting_work);
}

// The request of the same priority and kind that yields its place to the newcomer if the queue is
// full even without those that do so already: one that has not begun, of the principal that has the
// most work in the queue, if that is more than the newcomer's principal would have.  (Suter et al.,
// "Buffer Management Schemes for Supporting TCP in Gigabit Routers with Per-flow Queueing", 1999:
// longest queue drop.)
Flow* Scheduler::NextToYield(const Newcomer& newcomer, const Yielding& yielding) const {
  const Account* const own = fair_.Find(newcomer.terms);
  double least = newcomer.size.work;
  if (own != nullptr) least += own->waiting[newcomer.is_short].work;
  Flow* next = nullptr;
  for (const auto& account : fair_.accounts(newcomer.terms.priority)) {
    const auto part = yielding.of.find(account.get());
    const LineSize less = part == yielding.of.end() ? LineSize() : part->second;
    const double work = account->waiting[newcomer.is_short].work - less.work;
    if (account.get() == own || work <= least) continue;
    Flow* const flow =
        FairShare::LastOf(*account, newcomer.is_short, static_cast<int>(less.requests));
    if (flow == nullptr) continue;
    least = work;
    next = flow;
  }
  return next;
}

// Refuses a request that has not begun, to make room.  It costs its principal nothing: it may come
// again, as requests of bulk calls do by themselves.
void Scheduler::Evict(Flow* flow, absl::Time now) {
  const RequestTerms& terms = flow->request->terms();
  quotas_.Return(terms.principal, terms.quota, flow->expected, now);
  while (!flow->waiting.empty()) {
    yielded_.emplace_back(
        Take(flow),
        OverLimit(absl::ResourceExhaustedError(
                      "the queue is full, and this request has yielded its place to one whose "
                      "sender has less in the queue"),
                  "fair_share"));
  }
  CloseIfDone(flow);
}

// The work that is done before that of a newcomer.  Short requests wait for each other.  Long ones
// share the workers: while one is being served, each of the others receives at most as much as it
// does.  In that time, another principal receives as much as the newcomer's principal does, plus
// the work by which it lags behind.  Batch work waits for all work that is not batch.
double Scheduler::WorkBefore(const Newcomer& newcomer) const {
  const RequestTerms& terms = newcomer.terms;
  const Account* const own = fair_.Find(terms);
  const auto ahead_in = [&](const Account& account) {
    const LineSize& line = account.waiting[newcomer.is_short];
    return newcomer.is_short ? line.work : std::min(line.work, line.requests * newcomer.size.work);
  };
  const double own_work = own == nullptr ? 0 : ahead_in(*own);
  const double time = fair_.TimeOf(terms) + own_work + newcomer.size.work;
  double before = own_work;
  for (const auto& account : fair_.accounts(terms.priority)) {
    if (account.get() == own) continue;
    before += std::clamp(time - account->time, 0.0, account->waiting[newcomer.is_short].work);
  }
  if (terms.priority == Priority::kInteractive) return before;
  for (const auto& account : fair_.accounts(Priority::kInteractive)) {
    before += account->waiting[false].work + account->waiting[true].work;
  }
  return before;
}

// How long a request of that much work takes once it is served.
absl::Duration Scheduler::Needed(int longest, double work) const {
  return std::max(forecast_.Steps(longest + 1), forecast_.Work(work, limits_.workers));
}

// Whether a request is refused if its deadline cannot be met.
bool Scheduler::Forecasts(const RequestTerms& terms, absl::Time now) const {
  return limits_.forecasts && terms.deadline != absl::InfiniteFuture() && now <= last_end_ + kFresh;
}

absl::Status Scheduler::CanBeMet(const RequestTerms& terms, absl::Time now,
                                 absl::Duration needed) const {
  if (now + needed <= terms.deadline) return absl::OkStatus();
  return CannotBeMet(absl::StrCat("the deadline cannot be met: it passes in ",
                                  absl::FormatDuration(terms.deadline - now),
                                  ", and the request takes about ", absl::FormatDuration(needed)));
}

TurnPlan Scheduler::PlanTurn(int worker, absl::Span<Resident> residents, absl::Time now) {
  OnTurnEnd(worker, now);  // the time between two turns belongs to the first
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

// Refuses waiting requests that have become useless, among those that are due for a check.
void Scheduler::RefuseUnwanted(absl::Time now, TurnPlan* plan) {
  plan->refuse = std::exchange(yielded_, {});
  while (!checks_.empty() && (*checks_.begin())->check_at <= now) {
    Flow* const flow = *checks_.begin();
    const RequestTerms& terms = flow->request->terms();
    absl::Status wanted = flow->request->Wanted(now);
    absl::Duration needed;
    if (wanted.ok() && Forecasts(terms, now)) {
      needed = Needed(flow->longest, flow->expected - flow->received);
      wanted = CanBeMet(terms, now, needed);
    }
    if (wanted.ok()) {
      checks_.erase(flow);
      const absl::Duration spare = terms.deadline - now - needed;
      flow->check_at = now + std::clamp(spare / 2, kLeastBetweenChecks, kMostBetweenChecks);
      checks_.insert(flow);
      continue;
    }
    while (!flow->waiting.empty()) plan->refuse.emplace_back(Take(flow), wanted);
    CloseIfDone(flow);
  }
}

// Removes the next job of a flow from the queue.
JobPtr Scheduler::Take(Flow* flow) {
  JobPtr job = fair_.Pop(flow);
  LineSize less;
  less.Add(*job, -1);
  if (flow->waiting.empty()) {
    less.requests = -1;
    since_[flow->account->priority].erase(flow);
    checks_.erase(flow);
  }
  CountWaiting(*flow, less);
  return job;
}

// Adds to the totals of the queue and of the flow's account.
void Scheduler::CountWaiting(const Flow& flow, const LineSize& more) {
  waiting_[flow.account->priority][flow.kind()] += more;
  flow.account->waiting[flow.kind()] += more;
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
  flows_.erase(flow);
}

// Whether this worker should take a job with that share, rather than leave it to one with less to
// do, which will take it within a turn.
bool Scheduler::IsTurnOf(int worker, double share) const {
  const double mine = loads_[worker].share;
  double all = 0, least = mine;
  for (const Priority priority : kPriorities) {
    all += waiting_[priority][false].share + waiting_[priority][true].share;
  }
  for (const WorkerLoad& load : loads_) {
    all += load.share;
    if (!load.full) least = std::min(least, load.share);
  }
  return mine <= least || mine + share / 2 <= all / static_cast<double>(loads_.size());
}

LineStats Scheduler::stats(Priority priority) const {
  LineStats stats;
  for (const LineSize& waiting : waiting_[priority]) {
    stats.requests += static_cast<int>(waiting.requests);
    stats.tokens += static_cast<int>(waiting.tokens);
    stats.work += waiting.work;
  }
  const auto& since = since_[priority];
  if (!since.empty()) stats.oldest = (*since.begin())->since;
  return stats;
}

}  // namespace dragoman
