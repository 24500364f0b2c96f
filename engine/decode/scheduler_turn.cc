// A turn of 64 rows, by example.  In progress on this worker: a document D (4 sentences of 4 rows)
// and a short request S (1 sentence, 4 rows).  In the queue: a short request T (4 rows) and a
// document E.
//
//   short, up to 48 rows     S continues: 4.  T starts: 8
//   others, up to 32 rows    D and E, the one that has received less first: a quarter of the turn
//                            beside the short ones, or enough to fill half of it
//   short again, batch       nobody
//
// The sentences of D that get no rows pause until a later turn.  Rows stay empty on purpose while
// there is a short request: the fewer rows a turn has, the sooner the next one comes.

#include "engine/decode/scheduler_turn.h"

#include <algorithm>

namespace dragoman {
namespace {

// The fraction of rows that short requests get before the others.
constexpr double kShortRows = 0.75;
// The fraction that the others get beside them, or more if that fills half of the turn.
constexpr double kLongRows = 0.25;
// The fraction that batch work gets on average where the others leave it nothing.
constexpr double kBatchRows = 1 / 16.0;
// While there are short requests, and for this long afterwards because they seldom come alone, only
// this fraction of a turn's tokens, on average, is encoded for the others.
constexpr double kQuickEncoding = 1 / 16.0;
constexpr absl::Duration kQuickTime = absl::Milliseconds(50);
// What others get beside short requests are fractions of no more than so many rows: wider turns are
// good for throughput, but would keep short requests waiting.
constexpr double kQuickRows = 32;
// A worker holds at most this many turns' rows of one principal, most of it paused; or one
// sentence, however wide.
constexpr double kMostCarried = 4;

// A short interactive request goes before all others.
bool HasPrecedence(const Flow& flow) {
  return flow.request->terms().priority != Priority::kBatch && flow.IsShort();
}

}  // namespace

SchedulerTurn::SchedulerTurn(Scheduler* scheduler, int worker, absl::Span<Resident> residents,
                             absl::Time now, TurnPlan* plan)
    : scheduler_(scheduler), worker_(worker), now_(now), plan_(plan) {
  for (Resident& resident : residents) {
    const JobCost& cost = resident.job->cost;
    resident.runs = false;
    Local& local = LocalOf(resident.job->flow);
    local.residents.push_back(&resident);
    local.kv_bytes += cost.kv_bytes;
    local.share += cost.turn_share;
    kv_bytes_ += cost.kv_bytes;
    carried_ += cost.turn_share;
  }
  scheduler_->loads_[worker_].share = carried_;
  scheduler_->loads_[worker_].full = false;
}

SchedulerTurn::Local& SchedulerTurn::LocalOf(Flow* flow) {
  const auto place = std::lower_bound(
      locals_.begin(), locals_.end(), flow,
      [](const Local& local, Flow* f) { return local.flow->arrival < f->arrival; });
  if (place != locals_.end() && place->flow == flow) return *place;
  return *locals_.insert(place, {.flow = flow});
}

void SchedulerTurn::Plan() {
  RunShort(kShortRows);
  StartShort(kShortRows);
  if (quick_) scheduler_->last_short_ = now_;
  quick_ = now_ < scheduler_->last_short_ + kQuickTime;
  double& credit = scheduler_->loads_[worker_].encode_credit;
  if (quick_) quick_part_ = QuickPart();
  credit = quick_ ? std::min(quick_part_, credit + kQuickEncoding * quick_part_) : 1;
  const double before = used_;
  short_runs_ = before > 0;
  const double most_rows = MostRowsOfOthers();
  RunByTime(Priority::kInteractive, most_rows);
  double& saved = scheduler_->loads_[worker_].saved;
  if (used_ == before) {
    // There is no sentence, or even the first is too wide for that: it gets its rows once enough
    // turns have saved them up.
    saved = std::min(kMostCarried, saved + kLongRows * quick_part_);
    RunByTime(Priority::kInteractive, used_ + saved);
  }
  if (used_ > before) saved = 0;
  const double for_batch = RunOwedBatch();
  RunShort(1);
  StartShort(1);
  const double filled = used_;
  RunByTime(Priority::kBatch, most_rows);
  OweBatch(for_batch + used_ - filled);
  Scheduler::WorkerLoad& load = scheduler_->loads_[worker_];
  load.used = used_;
  load.for_short = short_runs_;
  load.for_others = others_run_;
}

// Batch work fills the gaps, but where there are none it must not stand still: each turn that
// leaves it nothing owes it some rows, and once they add up to a sentence, that goes before the
// short requests that fill the turn.  Returns the share of the turn that it got.
double SchedulerTurn::RunOwedBatch() {
  const double owed = scheduler_->loads_[worker_].owed_to_batch;
  if (owed == 0) return 0;
  const double before = used_;
  const bool starting = starting_;
  RunByTime(Priority::kBatch, used_ + owed);
  starting_ = starting;  // what batch work could not start does not keep others from starting
  return used_ - before;
}

void SchedulerTurn::OweBatch(double got) {
  double& owed = scheduler_->loads_[worker_].owed_to_batch;
  const bool waits =
      !scheduler_->since_[Priority::kBatch].empty() ||
      std::any_of(locals_.begin(), locals_.end(), [](const Local& local) {
        return local.pausing() && local.flow->request->terms().priority == Priority::kBatch;
      });
  if (got > 0 || !waits) {
    owed = 0;
  } else {
    owed = std::min(kMostCarried, owed + kBatchRows * quick_part_);
  }
}

// The share of the turn that may be used up by the time other requests have got their part.
double SchedulerTurn::MostRowsOfOthers() const {
  if (!quick_) return 1;
  if (short_runs_) return std::max(0.5 * quick_part_, used_ + kLongRows * quick_part_);
  return std::min(0.5 * quick_part_, scheduler_->loads_[worker_].time.others_rows());
}

// The share of the turn that kQuickRows are, by the sentences that are here.
double SchedulerTurn::QuickPart() const {
  double part = 1;
  const auto consider = [&part](const JobCost& cost) {
    part = std::min(part, kQuickRows * cost.turn_share / cost.rows);
  };
  for (const Local& local : locals_) {
    for (const Resident* resident : local.residents) consider(resident->job->cost);
  }
  for (const Starting& starting : plan_->start) consider(starting.job->cost);
  return part;
}

// Continues short requests that are in progress.
void SchedulerTurn::RunShort(double most_rows) {
  for (Local& local : locals_) {
    if (!HasPrecedence(*local.flow)) continue;
    while (local.pausing() && MayRun(*local.flow->account)) {
      if (!Run(&local, most_rows)) return;
      quick_ = true;
    }
  }
}

// Starts short requests, those of the principals that are furthest behind first.
void SchedulerTurn::StartShort(double most_rows) {
  while (starting_) {
    const Account* furthest = nullptr;
    Flow* next = nullptr;
    for (const auto& account : scheduler_->fair_.accounts(Priority::kInteractive)) {
      if (!MayStart(*account)) continue;
      if (furthest != nullptr && furthest->time <= account->time) continue;
      Flow* const flow = First(account->short_waiting);
      if (flow == nullptr) continue;
      furthest = account.get();
      next = flow;
    }
    if (next == nullptr) return;
    if (Start(next, most_rows)) {
      quick_ = true;
    } else if (!skipped_.contains(next)) {
      return;
    }
  }
}

// Continues and starts requests of a class: the long ones, or any for batch work.
void SchedulerTurn::RunByTime(Priority priority, double most_rows) {
  while (const Account* const account = Furthest(priority)) {
    if (!IsInTime(*account) || !GoOn(*account, priority, most_rows)) return;
  }
}

// Whether there is time for anything but the short requests of this turn.  A principal that lags
// behind always gets it: it may be holding others back.
bool SchedulerTurn::IsInTime(const Account& account) const {
  return !short_runs_ || scheduler_->loads_[worker_].time.others_may_run() ||
         (account.priority == Priority::kInteractive && scheduler_->fair_.LagsBehind(account));
}

// The principal that is furthest behind among those that have work of that class on this worker.
const Account* SchedulerTurn::Furthest(Priority priority) {
  const Account* furthest = nullptr;
  const auto consider = [&](const Account& account) {
    if (furthest == nullptr || account.time < furthest->time) furthest = &account;
  };
  for (const Local& local : locals_) {
    const Account& account = *local.flow->account;
    if (local.pausing() && InClass(*local.flow, priority) && MayRun(account)) consider(account);
  }
  for (const auto& account : scheduler_->fair_.accounts(priority)) {
    if (Next(*account) != nullptr) consider(*account);
  }
  return furthest;
}

// Gives rows to the principal's request that is furthest behind; false if there is no room.  A
// sentence in progress yields only to a request that is behind it by more than Flow::kShort: to
// change at every step would leave everything half done.
bool SchedulerTurn::GoOn(const Account& account, Priority priority, double most_rows) {
  Local* under_way = nullptr;
  for (Local& local : locals_) {
    const Flow& flow = *local.flow;
    if (flow.account != &account || !local.pausing() || !InClass(flow, priority)) continue;
    if (under_way == nullptr || flow.time < under_way->flow->time) under_way = &local;
  }
  Flow* const next = Next(account);
  if (under_way != nullptr &&
      (next == nullptr || under_way->flow->time - Flow::kShort <= next->time)) {
    return Run(under_way, most_rows);
  }
  return Start(next, most_rows) || !starting_ || skipped_.contains(next);
}

// The waiting flow without precedence that is furthest behind; null if none may start.
Flow* SchedulerTurn::Next(const Account& account) const {
  if (!MayStart(account)) return nullptr;
  Flow* const next = First(account.long_waiting);
  if (account.priority == Priority::kInteractive) return next;
  Flow* const other = First(account.short_waiting);
  return next == nullptr || (other != nullptr && ByTime()(other, next)) ? other : next;
}

// The rule from which fair_share.h derives its bound.
bool SchedulerTurn::MayStart(const Account& account) const {
  return !scheduler_->fair_.IsAhead(account);
}

// The same for sentences in progress.  But if waiting ones find no memory, sentences must run to
// free it.
bool SchedulerTurn::MayRun(const Account& account) const {
  return plan_->memory_short || MayStart(account);
}

bool SchedulerTurn::InClass(const Flow& flow, Priority priority) const {
  return flow.request->terms().priority == priority && !HasPrecedence(flow);
}

Flow* SchedulerTurn::First(const auto& waiting) const {
  if (!starting_) return nullptr;
  for (Flow* flow : waiting) {
    if (!skipped_.contains(flow)) return flow;
  }
  return nullptr;
}

// Gives the next resident its rows, if there is room.
bool SchedulerTurn::Run(Local* local, double most_rows) {
  Resident& resident = *local->residents[local->next];
  const JobCost& cost = resident.job->cost;
  if (!HasRoom(cost.turn_share, most_rows)) return false;
  ++local->next;
  double work = 0;
  if (resident.stages_left > 0) {
    resident.encode_stages = GrantStages(*local->flow, cost, resident.stages_left);
    if (resident.encode_stages == 0) return true;
    work += TokensOf(cost, resident.encode_stages);
  }
  used_ += cost.turn_share;
  resident.runs = resident.encode_stages == resident.stages_left;
  if (resident.runs) work += cost.rows;
  Serve(local->flow, work);
  return true;
}

// Starts the next job of a flow, if there is room for it.  A principal that lags behind need not
// wait for its turn: others may be pausing here because of it.
bool SchedulerTurn::Start(Flow* flow, double most_rows) {
  const JobCost& cost = flow->waiting.front()->cost;
  if (!HasRoom(cost.turn_share, most_rows)) return false;
  if (!scheduler_->IsTurnOf(worker_, cost.turn_share) &&
      !scheduler_->fair_.LagsBehind(*flow->account)) {
    starting_ = false;
    return false;
  }
  const double carried = flow->IsShort() ? 0 : CarriedFor(*flow->account);
  if (carried > 0 && carried + cost.turn_share > kMostCarried) {
    skipped_.insert(flow);
    return false;
  }
  if (!HasMemory(flow, cost)) return false;
  const int stages = GrantStages(*flow, cost, cost.encode_stages);
  if (stages == 0) {
    if (OnCredit(*flow)) {
      starting_ = false;
    } else {
      skipped_.insert(flow);
    }
    return false;
  }
  const bool runs = stages == cost.encode_stages;
  const double work = TokensOf(cost, stages) + (runs ? cost.rows : 0);
  used_ += cost.turn_share;
  carried_ += cost.turn_share;
  kv_bytes_ += cost.kv_bytes;
  Local& local = LocalOf(flow);
  local.kv_bytes += cost.kv_bytes;
  local.share += cost.turn_share;
  scheduler_->loads_[worker_].share = carried_;
  ++flow->running;
  plan_->start.push_back({scheduler_->Take(flow), stages});
  Serve(flow, work);
  return true;
}

// How many stages of an encoding this turn has room for.  An encoding that fits into a turn is not
// divided.  Of the sentences that do not fit, one advances by a stage in every turn, however many
// short ones there are, unless short ones are in a hurry.
int SchedulerTurn::GrantStages(const Flow& flow, const JobCost& cost, int stages_left) {
  if (!OnCredit(flow)) return 0;
  const double each = cost.encode_share / cost.encode_stages;
  int stages = static_cast<int>(std::min<double>(stages_left, std::max(0.0, 1 - encoded_) / each));
  if (cost.encode_share <= 1 && (!quick_ || HasPrecedence(flow))) {
    if (stages < stages_left) return 0;
  } else {
    if (quick_) stages = std::min(stages, 1);
    if (stages == 0 && !divided_) stages = 1;
    if (stages > 0) divided_ = true;
  }
  encoded_ += stages * each;
  if (!HasPrecedence(flow)) scheduler_->loads_[worker_].encode_credit -= stages * each;
  return stages;
}

// While short requests are in progress, the encoding of others is spread over more turns: each turn
// adds to a credit, and encoding spends it, even into debt.  That delays principals that need much
// encoding, so those that lag behind are exempt.
bool SchedulerTurn::OnCredit(const Flow& flow) const {
  return !quick_ || HasPrecedence(flow) || scheduler_->loads_[worker_].encode_credit > 0 ||
         scheduler_->fair_.LagsBehind(*flow.account);
}

void SchedulerTurn::Serve(Flow* flow, double work) {
  if (!HasPrecedence(*flow)) others_run_ = true;
  scheduler_->fair_.Serve(flow, work);
  scheduler_->loads_[worker_].rows += work;
  plan_->work[flow->account->priority] += work;
}

double SchedulerTurn::TokensOf(const JobCost& cost, int stages) {
  return static_cast<double>(cost.source_tokens) * stages / cost.encode_stages;
}

// The total share of a principal's work that is here.
double SchedulerTurn::CarriedFor(const Account& account) const {
  double carried = 0;
  for (const Local& local : locals_) {
    if (local.flow->account == &account) carried += local.share;
  }
  return carried;
}

// No request may hold more memory than it leaves free (Choudhury and Hahne, "Dynamic queue length
// thresholds for shared-memory packet switches", 1998), so that some remains for the next one; the
// first sentence of a request may take all that is left.
bool SchedulerTurn::HasMemory(Flow* flow, const JobCost& cost) {
  const size_t capacity = scheduler_->limits_.kv_capacity_bytes;
  if (kv_bytes_ + cost.kv_bytes > capacity) {
    // It blocks the queue: small requests must not keep it waiting forever.
    plan_->memory_short = true;
    starting_ = false;
    scheduler_->loads_[worker_].full = true;
    return false;
  }
  const size_t held = LocalOf(flow).kv_bytes;
  const size_t left = capacity - kv_bytes_ - cost.kv_bytes;
  if (held == 0 || held + cost.kv_bytes <= left) return true;
  plan_->memory_short = true;
  skipped_.insert(flow);
  return false;
}

// A turn that has allocated nothing yet has room for any sentence, however wide.
bool SchedulerTurn::HasRoom(double share, double most_rows) const {
  constexpr double kRounding = 1e-9;
  return used_ == 0 || used_ + share <= most_rows + kRounding;
}

}  // namespace dragoman
