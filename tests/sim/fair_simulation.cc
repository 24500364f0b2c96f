#include "tests/sim/fair_simulation.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"
#include "engine/base/status.h"
#include "tests/decode/test_jobs.h"

namespace dragoman {
namespace {

// When a bulk call tries again after it has found no room.
constexpr absl::Duration kRetryDelay = absl::Milliseconds(20);

}  // namespace

// A request in progress.
struct FairSimulation::Request {
  size_t traffic = 0;
  std::shared_ptr<RequestState> state;
  absl::Time since;
  std::vector<int> told;  // how often each of its jobs was answered
  size_t ended = 0;
  bool begun = false;  // a job of it has started
  absl::Status status;
};

double TrafficReport::Percentile(double p) {
  if (latencies.empty()) return 0;
  std::sort(latencies.begin(), latencies.end());
  return latencies[static_cast<size_t>(p * static_cast<double>(latencies.size() - 1))];
}

FairSimulation::FairSimulation(const Options& options, std::vector<Traffic> traffic, uint32_t seed)
    : options_(options),
      traffic_(std::move(traffic)),
      random_(seed),
      noise_(seed + 1),
      scheduler_(options.limits),
      workers_(options.workers),
      reports_(traffic_.size()),
      open_(traffic_.size()) {
  for (Worker& worker : workers_) worker.free = now_;
  for (const Traffic& kind : traffic_) {
    next_.push_back(kind.open > 0 ? now_ : now_ + absl::Seconds(Exponential(kind.per_second)));
  }
}

FairSimulation::~FairSimulation() = default;

void FairSimulation::Run(int64_t requests) {
  to_come_ = requests;
  Loop(absl::InfiniteFuture());
}

void FairSimulation::RunFor(absl::Duration duration) {
  to_come_ = std::numeric_limits<int64_t>::max();
  Loop(now_ + duration);
}

void FairSimulation::Loop(absl::Time end) {
  while (true) {
    const auto next =
        std::min_element(workers_.begin(), workers_.end(),
                         [](const Worker& a, const Worker& b) { return a.free < b.free; });
    now_ = std::max(now_, next->free);
    if (now_ >= end) StopCounting();
    ArriveAll();
    while (!leaving_.empty() && leaving_.begin()->first <= now_) {
      leaving_.begin()->second->Cancel(leaving_.begin()->first);
      leaving_.erase(leaving_.begin());
    }
    if (counting_) seconds_ = absl::ToDoubleSeconds(now_ - absl::UnixEpoch());
    if (to_come_ == 0 && requests_.empty()) return;
    TakeTurn(static_cast<int>(next - workers_.begin()));
    WatchLeads();
  }
}

void FairSimulation::StopCounting() {
  counting_ = false;
  to_come_ = 0;
  for (const auto& [state, request] : requests_) request->state->Cancel(now_);
}

// Lets arrive what is due by now, in an order that favours nobody.
void FairSimulation::ArriveAll() {
  ++rounds_;
  for (size_t i = 0; i < traffic_.size(); ++i) {
    const size_t t = (rounds_ + i) % traffic_.size();
    const Traffic& kind = traffic_[t];
    while (to_come_ > 0 && next_[t] <= now_) {
      if (kind.most > 0 && reports_[t].sent >= kind.most) break;
      if (kind.open > 0) {
        if (open_[t] >= kind.open) break;
        if (!Arrive(t)) next_[t] = now_ + kRetryDelay;
        continue;
      }
      for (int k = 0; k < kind.burst && to_come_ > 0; ++k, --to_come_) Arrive(t);
      next_[t] += absl::Seconds(Exponential(kind.per_second / kind.burst));
    }
  }
}

// Whether the request was admitted.
bool FairSimulation::Arrive(size_t traffic) {
  const Traffic& kind = traffic_[traffic];
  TrafficReport& report = reports_[traffic];
  ++report.sent;
  const auto state = std::make_shared<RequestState>(RequestTerms{
      .deadline = now_ + kind.deadline, .principal = kind.principal, .priority = kind.priority});
  auto request = std::make_unique<Request>();
  request->traffic = traffic;
  request->state = state;
  request->since = now_;
  request->told.resize(kind.sentences);
  std::vector<JobPtr> jobs;
  for (int i = 0; i < kind.sentences; ++i) {
    const int tokens = Pick(kind.min_tokens, kind.max_tokens);
    const JobCost cost = {.source_tokens = tokens,
                          .encode_stages = 4 * (1 + (tokens + 63) / 64),
                          .rows = kind.rows,
                          .steps = static_cast<int>(1.25 * tokens) + 1,
                          .kv_bytes = static_cast<size_t>(tokens + 2 * tokens * kind.rows) * 1024,
                          .times = &times_};
    jobs.push_back(CostOnly(cost, state, [told = &request->told[i]](JobResult) { ++*told; }));
    // It takes more or fewer steps than expected.
    jobs.back()->options.max_length = std::max(1, Pick(cost.steps * 3 / 4, cost.steps * 5 / 4));
  }
  const int waiting = scheduler_.stats(kind.priority).requests;
  const absl::Status entered = scheduler_.Enter(&jobs, now_);
  if (!entered.ok()) {
    broken_ += scheduler_.stats(kind.priority).requests != waiting;
    ++(absl::IsDeadlineExceeded(entered) ? report.late : report.refused);
    return false;
  }
  ++open_[traffic];
  if (std::bernoulli_distribution(kind.leaves)(random_)) {
    leaving_.emplace(now_ + absl::Seconds(Exponential(4)), state);
  }
  requests_.emplace(state.get(), std::move(request));
  return true;
}

void FairSimulation::TakeTurn(int index) {
  Worker& worker = workers_[index];
  scheduler_.OnTurnEnd(index, worker.free);
  EndUnwanted(&worker);
  std::vector<Resident> residents;
  for (const Sentence& sentence : worker.batch) {
    residents.push_back({.job = sentence.job.get(),
                         .stages_left = sentence.stages_left,
                         .step = sentence.steps_done});
  }
  TurnPlan plan = scheduler_.PlanTurn(index, absl::MakeSpan(residents), now_);
  for (auto& [job, status] : plan.refuse) Tell(job.get(), status, now_, /*begun=*/false);
  if (plan.memory_short) WatchMemory();
  for (Starting& start : plan.start) residents.push_back(Begin(std::move(start), &worker));
  if (residents.empty()) {
    worker.free = now_ + absl::Microseconds(100);  // when it looks for work again
    return;
  }
  WatchCharges(residents);
  worker.free = now_ + Advance(residents, &worker);
  EndFinished(&worker);
}

void FairSimulation::EndUnwanted(Worker* worker) {
  for (Sentence& sentence : worker->batch) {
    const absl::Status wanted = sentence.job->request->Wanted(now_);
    if (wanted.ok()) continue;
    Tell(sentence.job.get(), wanted, now_, /*begun=*/true);
    sentence.job = nullptr;
  }
  std::erase_if(worker->batch, [](const Sentence& s) { return s.job == nullptr; });
}

// Adds a sentence that starts to the worker's batch.
Resident FairSimulation::Begin(Starting start, Worker* worker) {
  requests_.at(start.job->request.get())->begun = true;
  const JobCost& cost = start.job->cost;
  const Resident resident = {.job = start.job.get(),
                             .stages_left = cost.encode_stages,
                             .runs = start.encode_stages == cost.encode_stages,
                             .encode_stages = start.encode_stages};
  const int steps = start.job->options.max_length;
  worker->batch.push_back({std::move(start.job), cost.encode_stages, steps});
  return resident;
}

// Advances the worker's sentences by a turn, and returns how long it takes.
absl::Duration FairSimulation::Advance(const std::vector<Resident>& residents, Worker* worker) {
  double tokens = 0, token_positions = 0, encode = 0;
  double rows = 0, positions = 0, step = options_.turn_seconds;
  for (size_t i = 0; i < residents.size(); ++i) {
    const Resident& resident = residents[i];
    Sentence& sentence = worker->batch[i];
    const JobCost& cost = resident.job->cost;
    sentence.stages_left -= resident.encode_stages;
    double own = 0;
    if (resident.encode_stages > 0) {
      const double encoded =
          static_cast<double>(cost.source_tokens) * resident.encode_stages / cost.encode_stages;
      tokens += encoded;
      token_positions += encoded * cost.source_tokens;
      own = options_.token_seconds * encoded * (1 + cost.source_tokens * options_.attention);
      encode += own;
    }
    if (resident.runs) {
      const int attended = cost.source_tokens + sentence.steps_done++;
      rows += cost.rows;
      positions += static_cast<double>(cost.rows) * attended;
      const double took = options_.row_seconds * cost.rows * (1 + attended * options_.attention);
      step += took;
      own += took;
      --sentence.steps_left;
    }
    if (counting_) reports_[requests_.at(resident.job->request.get())->traffic].seconds += own;
  }
  encode = Disturbed(encode);
  step = Disturbed(step);
  if (tokens > 0) times_.encode.Learn(tokens, token_positions, absl::Seconds(encode));
  if (rows > 0) times_.step.Learn(rows, positions, absl::Seconds(step));
  return absl::Seconds(encode + step);
}

double FairSimulation::Disturbed(double seconds) {
  if (options_.noise == 0) return seconds;
  return seconds * std::lognormal_distribution<double>(0, options_.noise)(noise_);
}

void FairSimulation::WatchCharges(const std::vector<Resident>& residents) {
  for (const Resident& resident : residents) {
    const JobCost& cost = resident.job->cost;
    most_charged_ =
        std::max(most_charged_, cost.EncodeSeconds(resident.encode_stages) +
                                    (resident.runs ? cost.StepSeconds(resident.step) : 0));
  }
}

void FairSimulation::EndFinished(Worker* worker) {
  for (Sentence& sentence : worker->batch) {
    if (sentence.steps_left > 0) continue;
    Tell(sentence.job.get(), sentence.job->request->Wanted(worker->free), worker->free,
         /*begun=*/true);
    sentence.job = nullptr;
  }
  std::erase_if(worker->batch, [](const Sentence& s) { return s.job == nullptr; });
}

void FairSimulation::Tell(Job* job, const absl::Status& status, absl::Time at, bool begun) {
  const RequestState* const state = job->request.get();
  Request& request = *requests_.at(state);
  if (status.ok() && at >= state->deadline()) ++broken_;
  if (begun) scheduler_.OnEnd(*job, status);
  job->Finish({.status = status});
  request.status.Update(status);
  if (!status.ok()) request.state->Cancel(at);  // as the server does
  if (++request.ended < request.told.size()) return;
  for (const int told : request.told) broken_ += told != 1;
  TrafficReport& report = reports_[request.traffic];
  --open_[request.traffic];
  if (!counting_) {
  } else if (absl::IsCancelled(request.status)) {
    ++report.cancelled;
  } else if (absl::IsResourceExhausted(request.status)) {
    ++report.refused;  // it yielded to another principal's
  } else if (!request.status.ok()) {
    ++report.late;
    report.started_in_vain += request.begun;
  } else {
    ++report.done;
    report.latencies.push_back(absl::ToDoubleSeconds(at - request.since));
  }
  requests_.erase(state);
}

// Two principals are compared while both have work waiting that could run.
void FairSimulation::WatchLeads() {
  const FairShare::Accounts& accounts = scheduler_.fair().accounts(Priority::kInteractive);
  for (const auto& a : accounts) {
    for (const auto& b : accounts) {
      if (a->waits()) largest_distance_ = std::max(largest_distance_, b->time - a->time);
      if (a->principal >= b->principal) continue;
      const auto pair = std::pair(a->principal, b->principal);
      if (!a->waits() || !b->waits()) {
        leads_.erase(pair);
        continue;
      }
      const double lead = b->time - a->time;
      const double before = leads_.emplace(pair, lead).first->second;
      largest_lead_ = std::max(largest_lead_, std::abs(lead - before));
    }
  }
  // If one of a pair has left, the comparison starts again when it comes back.
  std::erase_if(leads_, [&](const auto& entry) {
    const auto there = [&](const std::string& name) {
      return std::any_of(accounts.begin(), accounts.end(),
                         [&](const auto& account) { return account->principal == name; });
    };
    return !there(entry.first.first) || !there(entry.first.second);
  });
}

// The work that each principal has in progress.
void FairSimulation::WatchMemory() {
  std::map<std::string, double> held;
  for (const Worker& worker : workers_) {
    for (const Sentence& sentence : worker.batch) {
      const JobCost& cost = sentence.job->cost;
      held[sentence.job->request->terms().principal] +=
          cost.EncodeSeconds(sentence.stages_left) +
          sentence.steps_left * cost.StepSeconds(sentence.steps_done + sentence.steps_left / 2);
    }
  }
  for (const auto& [principal, work] : held) held_ = std::max(held_, work);
}

}  // namespace dragoman
