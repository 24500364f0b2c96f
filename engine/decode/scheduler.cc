#include "engine/decode/scheduler.h"

#include <algorithm>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "engine/base/limit.h"
#include "engine/base/status.h"
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
// How often waiting requests are checked again: the forecast may change meanwhile, and the client
// may leave.
constexpr absl::Duration kBetweenChecks = absl::Milliseconds(5);
// What others get of the time at the least, however many short requests there are (turn.cc).
constexpr double kOthersLeast = 1 / 7.0;

}  // namespace

Scheduler::Scheduler(const SchedulerLimits& limits) : limits_(limits), workers_(limits.workers) {}

Scheduler::~Scheduler() { DRAGOMAN_CHECK(flows_.empty()); }

absl::Status Scheduler::Enter(std::vector<JobPtr>* jobs, absl::Time now) {
  auto flow = std::make_unique<Flow>();
  flow->request = jobs->front()->request;
  flow->Measure(*jobs);
  const RequestTerms& terms = flow->request->terms();
  if (!jobs->front()->has_entered) {
    LineSize size = {.requests = 1};
    for (const JobPtr& job : *jobs) size.Add(*job, 1);
    ASSIGN_OR_RETURN(const Yielding yielding,
                     Check({terms, size, flow->seconds, flow->kind, flow->longest}, now));
    for (Flow* const other : yielding.flows) Evict(other, now);
  }
  quotas_.Spend(terms.principal, terms.quota, flow->work, now);
  flow->arrival = arrivals_++;
  flow->since = now;
  for (JobPtr& job : *jobs) {
    job->submitted = now;
    job->flow = flow.get();
    flow->waiting.push_back(std::move(job));
  }
  fair_.Open(flow.get());
  const Flow* const entered = flow.get();
  flows_.emplace(entered, std::move(flow));
  return absl::OkStatus();
}

absl::Status Scheduler::CheckAhead(const RequestTerms& terms, const CostRange& cost,
                                   absl::Time now) {
  const LineSize size = {.requests = 1, .tokens = cost.least_tokens, .work = cost.least.work};
  const auto check = [&](int kind) {
    return Check({terms, size, cost.least.seconds, kind, cost.least_steps}, now).status();
  };
  if (cost.least.seconds <= cost.most_short) {
    absl::Status as_short = check(1);
    if (as_short.ok() || cost.most.seconds <= cost.most_short) return as_short;
  }
  return check(0);
}

// The requests that have to yield their places to the newcomer, usually none; or why it may not
// enter the queue.  Changes nothing in the queue.
absl::StatusOr<Scheduler::Yielding> Scheduler::Check(const Newcomer& newcomer, absl::Time now) {
  const RequestTerms& terms = newcomer.terms;
  RETURN_IF_ERROR(quotas_.Check(terms.principal, terms.quota, now));
  ASSIGN_OR_RETURN(Yielding yielding, FindYielding(newcomer));
  if (!Forecasts(terms, now)) return yielding;
  RETURN_IF_ERROR(CanBeMet(
      terms, now, Needed(newcomer.longest, newcomer.seconds) + kQueueReserve * WaitOf(newcomer)));
  return yielding;
}

// A large request may need several places.  If all that it can get are not enough, nobody yields.
absl::StatusOr<Scheduler::Yielding> Scheduler::FindYielding(const Newcomer& newcomer) const {
  Yielding yielding;
  while (true) {
    absl::Status fits = CheckBounds(newcomer, yielding.all);
    if (fits.ok()) return yielding;
    Flow* const flow = NextToYield(newcomer, yielding);
    if (flow == nullptr) return fits;
    yielding.flows.push_back(flow);
    LineSize size = {.requests = 1};
    for (const JobPtr& job : flow->waiting) size.Add(*job, 1);
    yielding.all += size;
    yielding.of[flow->account] += size;
  }
}

// Whether there is room for it in the queue of its priority, once requests of its kind that amount
// to `less` have left.
absl::Status Scheduler::CheckBounds(const Newcomer& newcomer, const LineSize& less) const {
  const bool is_short = newcomer.kind == 1;
  const bool batch = newcomer.terms.priority == Priority::kBatch;
  const auto& waiting = fair_.waiting(newcomer.terms.priority);
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
    return OverLimit(
        ResourceExhaustedError("the queue is full: ", write(there), " of ",
                               is_short ? "short " : "long ", batch ? "batch" : "interactive",
                               " requests wait, ", more, " more would come, the most is ", left),
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
  if (own != nullptr) least += own->waiting[newcomer.kind].work;
  Flow* next = nullptr;
  for (const auto& account : fair_.accounts(newcomer.terms.priority)) {
    const auto part = yielding.of.find(account.get());
    const LineSize less = part == yielding.of.end() ? LineSize() : part->second;
    const double work = account->waiting[newcomer.kind].work - less.work;
    if (account.get() == own || work <= least) continue;
    Flow* const flow = FairShare::LastOf(*account, newcomer.kind, static_cast<int>(less.requests));
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
  quotas_.Return(terms.principal, terms.quota, flow->work, now);
  while (!flow->waiting.empty()) {
    yielded_.emplace_back(
        fair_.Pop(flow),
        OverLimit(absl::ResourceExhaustedError(
                      "the queue is full, and this request has yielded its place to one whose "
                      "sender has less in the queue"),
                  "fair_share"));
  }
  CloseIfDone(flow);
}

// How long a newcomer waits for what goes before it.
absl::Duration Scheduler::WaitOf(const Newcomer& newcomer) const {
  const Account* const own = fair_.Find(newcomer.terms);
  double before = 0;
  if (own != nullptr) {
    const Line& line = own->line(newcomer.urgency());
    const double tag = line.now + newcomer.seconds;
    for (const Flow* flow : line.flows) {
      if (flow->tag > tag) break;
      before += flow->left();
    }
  }
  return Wait(newcomer.urgency(), own, fair_.TimeOf(newcomer.terms) + newcomer.seconds, before);
}

// How long a request waits if so much work of its own principal goes before it, and that has the
// virtual time `time` once the request itself is done.  Meanwhile another principal receives as
// much as this one, plus the work by which it lags behind.  Short requests leave others only a part
// of the time, and batch work waits for all work that is not batch.
absl::Duration Scheduler::Wait(Urgency urgency, const Account* own, double time,
                               double before) const {
  const bool batch = urgency == Urgency::kBatch;
  double all = before;
  for (const auto& account : fair_.accounts(batch ? Priority::kBatch : Priority::kInteractive)) {
    if (account.get() == own) continue;
    all += std::clamp(time + before - account->time, 0.0, account->line(urgency).left);
  }
  if (batch) {
    for (const auto& account : fair_.accounts(Priority::kInteractive)) {
      all += account->lines[0].left + account->lines[1].left;
    }
  }
  if (urgency == Urgency::kLong) all /= std::max(kOthersLeast, 1 - forecast_.short_part());
  return forecast_.Work(all, limits_.workers);
}

// How long a request of that much work takes once it is served.
absl::Duration Scheduler::Needed(int longest, double seconds) const {
  return std::max(forecast_.Steps(longest + 1), forecast_.Work(seconds, limits_.workers));
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
  workers_[worker].began = now;
  TurnPlan plan;
  CheckWaiting(now, &plan);
  FillTurn(limits_.turn, &fair_, absl::MakeSpan(workers_), worker, residents, now, &plan);
  return plan;
}

void Scheduler::OnTurnEnd(int worker, absl::Time now) {
  WorkerState& state = workers_[worker];
  if (state.seconds == 0) return;
  forecast_.OnTurn(state.seconds, state.used, state.short_seconds / state.seconds,
                   now - state.began);
  state.seconds = 0;
  last_end_ = now;
}

// Refuses waiting requests that have become useless, and those whose deadline cannot be met.
void Scheduler::CheckWaiting(absl::Time now, TurnPlan* plan) {
  plan->refuse = std::exchange(yielded_, {});
  if (now < check_at_) return;
  check_at_ = now + kBetweenChecks;
  std::vector<std::pair<Flow*, absl::Status>> lost;
  for (const auto& account : fair_.accounts(Priority::kInteractive)) {
    CheckWaiting(*account, Urgency::kShort, now, &lost);
    CheckWaiting(*account, Urgency::kLong, now, &lost);
  }
  for (const auto& account : fair_.accounts(Priority::kBatch)) {
    CheckWaiting(*account, Urgency::kBatch, now, &lost);
  }
  absl::c_sort(lost,
               [](const auto& a, const auto& b) { return a.first->arrival < b.first->arrival; });
  for (const auto& [flow, status] : lost) {
    while (!flow->waiting.empty()) plan->refuse.emplace_back(fair_.Pop(flow), status);
    CloseIfDone(flow);
  }
}

void Scheduler::CheckWaiting(const Account& account, Urgency urgency, absl::Time now,
                             std::vector<std::pair<Flow*, absl::Status>>* lost) const {
  double before = 0;
  for (Flow* const flow : account.line(urgency).flows) {
    if (!flow->waiting.empty()) {
      const RequestTerms& terms = flow->request->terms();
      absl::Status wanted = flow->request->Wanted(now);
      if (wanted.ok() && Forecasts(terms, now)) {
        const double left = flow->left();
        wanted = CanBeMet(
            terms, now,
            Needed(flow->longest, left) + Wait(urgency, &account, account.time + left, before));
      }
      if (!wanted.ok()) {
        lost->emplace_back(flow, wanted);
        continue;
      }
    }
    before += flow->left();
  }
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

LineStats Scheduler::stats(Priority priority) const {
  LineStats stats;
  for (const LineSize& waiting : fair_.waiting(priority)) {
    stats.requests += static_cast<int>(waiting.requests);
    stats.tokens += static_cast<int>(waiting.tokens);
    stats.work += waiting.work;
  }
  for (const auto& account : fair_.accounts(priority)) {
    for (const Line& line : account->lines) {
      for (const Flow* flow : line.flows) {
        if (!flow->waiting.empty()) stats.oldest = std::min(stats.oldest, flow->since);
      }
    }
  }
  return stats;
}

}  // namespace dragoman
