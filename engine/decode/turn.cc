// A turn of 128 rows, by example.  In progress on this worker: a document D (many sentences of 4
// rows) and a short request S (4 rows).  In the queue: a short request T (4 rows).
//
//   short            S continues, T starts: 8 rows, which take 0.7 ms with the step itself
//   others by time   a sixth of that, 0.12 ms: of D, 1 sentence of 0.2 ms.  That is 0.08 ms too
//                    much, which D gets less in the next turn
//   short again      nobody
//
// The other sentences of D pause until a later turn.  Rows stay empty on purpose while there is a
// short request: the less a turn does, the sooner the next one comes.

#include "engine/decode/turn.h"

#include <algorithm>
#include <deque>
#include <limits>
#include <set>
#include <utility>

namespace dragoman {
namespace {

// The fraction of rows that short requests get before the others.
constexpr double kShortRows = 0.75;
// Others take this much time for each second that short requests take beside them: a seventh of
// all.  With a quarter, half of the capacity in one-liners waited 2.3 times as long beside
// documents as alone (99th percentile); with a seventh, 1.6 times.
constexpr double kOthersPart = 1 / 6.0;
// And batch work for each second of all others: a sixteenth.
constexpr double kBatchPart = 1 / 15.0;
// For that a turn may become wider, if short requests have filled it: then none of them starts.
constexpr double kAnyRows = std::numeric_limits<double>::infinity();
// Short requests seldom come alone.  For this long after one, turns of others have no more rows
// than this, so that the next one need not wait long for their end.
constexpr absl::Duration kQuickTime = absl::Milliseconds(50);
constexpr double kQuickRows = 32;
// Meanwhile a longer sentence of others is encoded by one stage in a turn.
constexpr int kQuickTokens = 64;

class Turn {
 public:
  Turn(const TurnLimits& limits, FairShare* share, absl::Span<WorkerState> workers, int worker,
       absl::Span<Resident> residents, absl::Time now, TurnPlan* plan)
      : limits_(limits),
        share_(share),
        workers_(workers),
        state_(workers[worker]),
        now_(now),
        plan_(plan) {
    state_.rows = state_.seconds = state_.short_seconds = 0;
    state_.full = false;
    for (Resident& resident : residents) {
      const JobCost& cost = resident.job->cost;
      resident.runs = false;
      Held* const held = HeldOf(resident.job->flow);
      held->residents.push_back(&resident);
      held->kv_bytes += cost.kv_bytes;
      kv_bytes_ += cost.kv_bytes;
      state_.rows += cost.rows;
    }
  }

  ~Turn() {
    for (const Held& held : held_) held.flow->held = nullptr;
  }

  void Plan() {
    Fill(Urgency::kShort, From::kHeld, limits_.rows);
    Fill(Urgency::kShort, From::kQueue, kShortRows * limits_.rows);
    const bool short_ones = used_ > 0;
    if (short_ones) state_.last_short = now_;
    for (const WorkerState& worker : workers_) {
      if (now_ < worker.last_short + kQuickTime) quick_ = true;
    }
    if (short_ones) {
      Earn(kOthersPart * (each_ + state_.short_seconds), &state_.others_debt);
      FillByTime(Urgency::kLong, kAnyRows, &state_.others_debt);
    } else {
      Fill(Urgency::kLong, From::kBoth, MostRowsOfOthers());
    }
    Earn(kBatchPart * (each_ + state_.seconds), &state_.batch_debt);
    FillByTime(Urgency::kBatch, kAnyRows, &state_.batch_debt);
    Fill(Urgency::kShort, From::kQueue, limits_.rows);
    if (short_ones) {
      FillByTime(Urgency::kBatch, limits_.rows, &state_.others_debt);
    } else {
      Fill(Urgency::kBatch, From::kBoth, MostRowsOfOthers());
    }
    state_.used = used_ / limits_.rows;
  }

 private:
  enum class From { kHeld, kQueue, kBoth };
  // A request, and whether one of its sentences here goes on or the next one starts.
  struct Choice {
    Flow* flow = nullptr;  // null: nothing can be done
    bool starts = false;
  };

  Held* HeldOf(Flow* flow) {
    if (flow->held == nullptr) flow->held = &held_.emplace_back(Held{.flow = flow});
    return flow->held;
  }

  void Fill(Urgency urgency, From from, double most_rows) {
    while (true) {
      const Choice next = Next(urgency, from);
      if (next.flow == nullptr || !Do(next, most_rows)) return;
    }
  }

  // Serves others until they have had their part of the time.  A principal that lags behind is
  // served in any case: it may be holding others back.
  void FillByTime(Urgency urgency, double most_rows, double* debt) {
    while (true) {
      const Choice next = Next(urgency, From::kBoth);
      if (next.flow == nullptr) return;
      if (*debt >= 0) {
        if (!share_->LagsBehind(*next.flow->account)) return;
        most_rows = std::min<double>(most_rows, limits_.rows);
      }
      const double before = state_.seconds;
      if (!Do(next, most_rows)) return;
      *debt += state_.seconds - before;
    }
  }

  // What was not used is lost; what the last sentence took too much remains a debt.
  static void Earn(double seconds, double* debt) { *debt = std::max(*debt, 0.0) - seconds; }

  // Of a turn without short requests.
  double MostRowsOfOthers() const {
    return quick_ ? std::min<double>(kQuickRows, limits_.rows) : limits_.rows;
  }

  // The request that is served next: of the principal that is furthest behind, the first one in its
  // line.
  Choice Next(Urgency urgency, From from) const {
    const Priority priority =
        urgency == Urgency::kBatch ? Priority::kBatch : Priority::kInteractive;
    const Account* furthest = nullptr;
    Choice next;
    for (const auto& account : share_->accounts(priority)) {
      if (furthest != nullptr && furthest->time <= account->time) continue;
      const Choice choice = NextOf(*account, urgency, from);
      if (choice.flow == nullptr) continue;
      furthest = account.get();
      next = choice;
    }
    return next;
  }

  // By the rule from which fair_share.h derives its bound, a principal that is ahead gets nothing.
  // But if waiting sentences find no memory, those in progress must run to free it.
  Choice NextOf(const Account& account, Urgency urgency, From from) const {
    const bool ahead = share_->IsAhead(account);
    const bool may_run = from != From::kQueue && (!ahead || plan_->memory_short);
    const bool may_start = from != From::kHeld && !ahead && starting_;
    if (!may_run && !may_start) return {};
    for (Flow* const flow : account.line(urgency).flows) {
      const Held* const held = flow->held;
      if (may_run && held != nullptr && held->next < held->residents.size()) return {flow, false};
      if (may_start && !flow->waiting.empty() && !skipped_.contains(flow)) return {flow, true};
    }
    return {};
  }

  // False if there is no room for it; it is not overtaken.
  bool Do(const Choice& choice, double most_rows) {
    if (!choice.starts) return Run(choice.flow->held, most_rows);
    return Start(choice.flow, most_rows) || !starting_ || skipped_.contains(choice.flow);
  }

  // Gives the next sentence its rows, or a stage of its encoding.
  bool Run(Held* held, double most_rows) {
    Resident& resident = *held->residents[held->next];
    const JobCost& cost = resident.job->cost;
    const double rows = cost.PlainRows(resident.step);
    if (!Fits(rows, most_rows)) return false;
    ++held->next;
    if (resident.stages_left > 0) {
      resident.encode_stages = GrantStages(*held->flow, cost, resident.stages_left);
      if (resident.encode_stages == 0) return true;
    }
    resident.runs = resident.encode_stages == resident.stages_left;
    Serve(held->flow, cost, resident.encode_stages, resident.runs, resident.step);
    return true;
  }

  // Starts the next job of a flow.  A principal that lags behind need not wait for this worker's
  // turn: others may be pausing here because of it.
  bool Start(Flow* flow, double most_rows) {
    const JobCost& cost = flow->waiting.front()->cost;
    const double rows = cost.PlainRows(0);
    if (!Fits(rows, most_rows)) return false;
    if (!IsItsTurn(cost) && !share_->LagsBehind(*flow->account)) {
      starting_ = false;
      return false;
    }
    if (!HasMemory(flow, cost)) return false;
    const int stages = GrantStages(*flow, cost, cost.encode_stages);
    if (stages == 0) {
      skipped_.insert(flow);
      return false;
    }
    kv_bytes_ += cost.kv_bytes;
    HeldOf(flow)->kv_bytes += cost.kv_bytes;
    state_.rows += cost.rows;
    ++flow->running;
    plan_->start.push_back({share_->Pop(flow), stages});
    Serve(flow, plan_->start.back().job->cost, stages, stages == cost.encode_stages, 0);
    return true;
  }

  // How many stages of an encoding this turn has room for.  An encoding that fits into a turn is
  // not divided.  Of the sentences that do not fit, one advances by a stage in every turn, however
  // many short ones there are; and beside short ones, none by more.
  int GrantStages(const Flow& flow, const JobCost& cost, int stages_left) {
    const int most_tokens = limits_.encode_tokens > 0 ? limits_.encode_tokens : 2 * limits_.rows;
    const double each = static_cast<double>(cost.source_tokens) / cost.encode_stages;
    const double free = std::max(0.0, most_tokens - encoded_);
    int stages = static_cast<int>(std::min<double>(stages_left, free / each));
    const bool hurried =
        quick_ && flow.urgency != Urgency::kShort && cost.source_tokens > kQuickTokens;
    if (cost.source_tokens <= most_tokens && !hurried) {
      if (stages < stages_left) return 0;
    } else {
      if (hurried) stages = std::min(stages, 1);
      if (stages == 0 && !divided_) stages = 1;
      if (stages > 0) divided_ = true;
    }
    encoded_ += stages * each;
    return stages;
  }

  // Charges stages of an encoding, and a decoder step if the sentence runs.
  void Serve(Flow* flow, const JobCost& cost, int encode_stages, bool runs, int step) {
    double seconds = 0;
    double work = static_cast<double>(cost.source_tokens) * encode_stages / cost.encode_stages;
    if (encode_stages > 0) seconds += cost.EncodeSeconds(encode_stages);
    if (runs) {
      seconds += cost.StepSeconds(step);
      work += cost.rows;
      used_ += cost.PlainRows(step);
    }
    each_ = std::max(each_, cost.Times().step.each());
    state_.seconds += seconds;
    if (flow->urgency == Urgency::kShort) state_.short_seconds += seconds;
    plan_->seconds[flow->account->priority] += seconds;
    share_->Serve(flow, seconds, work);
  }

  // No request may hold more memory than it leaves free (Choudhury and Hahne, "Dynamic queue length
  // thresholds for shared-memory packet switches", 1998), so that some remains for the next one;
  // the first sentence of a request may take all that is left.
  bool HasMemory(Flow* flow, const JobCost& cost) {
    const size_t capacity = limits_.kv_capacity_bytes;
    if (kv_bytes_ + cost.kv_bytes > capacity) {
      // It blocks the queue: small requests must not keep it waiting forever.
      plan_->memory_short = true;
      starting_ = false;
      state_.full = true;
      return false;
    }
    const size_t held = flow->held == nullptr ? 0 : flow->held->kv_bytes;
    const size_t left = capacity - kv_bytes_ - cost.kv_bytes;
    if (held == 0 || held + cost.kv_bytes <= left) return true;
    plan_->memory_short = true;
    skipped_.insert(flow);
    return false;
  }

  // Whether this worker should take a job, rather than leave it to one with less to do, which will
  // take it within a turn.
  bool IsItsTurn(const JobCost& cost) const {
    double all = 0, least = state_.rows;
    for (const Priority priority : kPriorities) {
      for (const LineSize& waiting : share_->waiting(priority)) all += waiting.rows;
    }
    for (const WorkerState& worker : workers_) {
      all += worker.rows;
      if (!worker.full) least = std::min(least, worker.rows);
    }
    return state_.rows <= least ||
           state_.rows + cost.rows / 2.0 <= all / static_cast<double>(workers_.size());
  }

  // A turn that has allocated nothing yet has room for any sentence, however wide.
  bool Fits(double rows, double most_rows) const {
    constexpr double kRounding = 1e-6;
    return used_ == 0 || used_ + rows <= most_rows + kRounding;
  }

  const TurnLimits& limits_;
  FairShare* const share_;
  const absl::Span<WorkerState> workers_;
  WorkerState& state_;
  const absl::Time now_;
  TurnPlan* const plan_;
  std::deque<Held> held_;
  std::set<const Flow*> skipped_;  // that hold too much here to start another sentence
  double used_ = 0;                // plain rows
  double encoded_ = 0;             // source tokens
  double each_ = 0;                // what the step takes whatever it does, in seconds
  size_t kv_bytes_ = 0;
  bool divided_ = false;  // a sentence that does not fit into a turn has got some of its tokens
  bool quick_ = false;    // short requests are in progress, or were recently
  bool starting_ = true;  // whether this worker still takes from the queue
};

}  // namespace

void FillTurn(const TurnLimits& limits, FairShare* share, absl::Span<WorkerState> workers,
              int worker, absl::Span<Resident> residents, absl::Time now, TurnPlan* plan) {
  Turn(limits, share, workers, worker, residents, now, plan).Plan();
}

}  // namespace dragoman
