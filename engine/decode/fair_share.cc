// An example within one principal.  Two documents of 10 s come at 0 s and at 5 s, and a text of 1 s
// at 6 s.  With equal shares the virtual time is 5.5 s by then (5 s for the first document alone,
// 1 s for two), so they would end at the virtual times 10, 15 and 6.5.  In this order they are
// served: the text at once, then the rest of the first document, then the second.

#include "engine/decode/fair_share.h"

#include <algorithm>
#include <utility>

#include "absl/algorithm/container.h"

namespace dragoman {

void LineSize::Add(const Job& job, int sign) {
  tokens += sign * job.cost.source_tokens;
  work += sign * static_cast<double>(job.cost.work());
  rows += sign * job.cost.rows;
}

LineSize& LineSize::operator+=(const LineSize& more) {
  requests += more.requests;
  tokens += more.tokens;
  work += more.work;
  rows += more.rows;
  return *this;
}

void Flow::Measure(const std::vector<JobPtr>& jobs) {
  for (const JobPtr& job : jobs) {
    longest = std::max(longest, job->cost.steps);
    work += static_cast<double>(job->cost.work());
    seconds += job->cost.Seconds();
    most_short = std::max(most_short, kShortRows * job->cost.Times().step.unit());
  }
  kind = seconds <= most_short;
  urgency = UrgencyOf(request->terms().priority, kind);
}

void Line::Advance(double seconds) {
  while (!ends.empty()) {
    const double sharing = static_cast<double>(ends.size());
    const double to_next = (*ends.begin() - now) * sharing;
    if (to_next > seconds) {
      now += seconds / sharing;
      return;
    }
    seconds -= to_next;
    now = *ends.begin();
    ends.erase(ends.begin());
  }
}

void FairShare::Open(Flow* flow) {
  Account* const account = AccountOf(flow->request->terms());
  Class& all = classes_[account->priority];
  // An account with nothing waiting was idle by its own choice.
  if (!account->waits()) account->time = std::max(account->time, all.start());
  flow->account = account;
  ++account->flows;
  LineSize size = {.requests = 1};
  for (const JobPtr& job : flow->waiting) size.Add(*job, 1);
  Count(*flow, size);
  Join(flow);
  all.waiting.insert(account);
}

// Adds a flow to the line of its urgency.
void FairShare::Join(Flow* flow) {
  Line& line = flow->account->line(flow->urgency);
  flow->tag = flow->end = line.now + flow->left();
  line.ends.insert(flow->end);
  line.flows.insert(flow);
  line.left += flow->left();
  line.waiting += !flow->waiting.empty();
}

void FairShare::Leave(Flow* flow) {
  Line& line = flow->account->line(flow->urgency);
  line.flows.erase(flow);
  line.waiting -= !flow->waiting.empty();
  line.left = line.flows.empty() ? 0 : line.left - flow->left();
  // A flow that was served in full before its time goes on in the order of equal shares.
  const auto end = line.ends.find(flow->end);
  if (line.flows.empty()) {
    line.ends.clear();
  } else if (flow->left() > 0 && end != line.ends.end()) {
    line.ends.erase(end);
  }
}

Account* FairShare::AccountOf(const RequestTerms& terms) {
  Class& all = classes_[terms.priority];
  auto& active = all.active;
  auto& absent = all.absent;
  const auto same = [&](const auto& account) { return account->principal == terms.principal; };
  if (const auto found = absl::c_find_if(active, same); found != active.end()) {
    return found->get();
  }
  if (active.empty()) {  // nobody to compare with
    absent.clear();
    all.served = all.largest = 0;
  }
  std::erase_if(absent, [&](const auto& account) { return account->time <= all.start(); });
  if (const auto away = absl::c_find_if(absent, same); away != absent.end()) {
    active.push_back(std::move(*away));
    absent.erase(away);
  } else {
    active.push_back(std::make_unique<Account>());
    active.back()->principal = terms.principal;
    active.back()->priority = terms.priority;
  }
  return active.back().get();
}

const Account* FairShare::Find(const RequestTerms& terms) const {
  for (const auto& account : classes_[terms.priority].active) {
    if (account->principal == terms.principal) return account.get();
  }
  return nullptr;
}

double FairShare::TimeOf(const RequestTerms& terms) const {
  const Class& all = classes_[terms.priority];
  const Account* const account = Find(terms);
  if (account != nullptr) {
    return account->waits() ? account->time : std::max(account->time, all.start());
  }
  for (const auto& away : all.absent) {
    if (away->principal == terms.principal) return std::max(away->time, all.start());
  }
  return all.start();
}

Flow* FairShare::LastOf(const Account& account, int kind, int skipped) {
  for (const Line& line : account.lines) {
    for (auto flow = line.flows.rbegin(); flow != line.flows.rend(); ++flow) {
      const bool begun = (*flow)->received > 0 || (*flow)->running > 0 || (*flow)->waiting.empty();
      if (!begun && (*flow)->kind == kind && skipped-- == 0) return *flow;
    }
  }
  return nullptr;
}

void FairShare::Serve(Flow* flow, double seconds, double work) {
  Account& account = *flow->account;
  Class& all = classes_[account.priority];
  all.waiting.erase(&account);  // its place changes
  all.served = std::max(all.served, account.time);
  account.time += seconds;
  all.largest = std::max(all.largest, account.time);
  if (account.waits()) all.waiting.insert(&account);

  Line& line = account.line(flow->urgency);
  const double left = flow->left();
  flow->received += seconds;
  flow->done += work;
  if (flow->left() == 0 && flow->done < flow->work) {  // slower than expected, and no longer
    flow->seconds = flow->received * flow->work / flow->done;
  }
  line.left -= left - flow->left();
  line.Advance(seconds);
  if (flow->left() > 0) return;
  if (flow->urgency == Urgency::kShort && flow->received > 2 * flow->most_short) {
    Leave(flow);
    flow->urgency = Urgency::kLong;
    flow->seconds = 2 * flow->received;
    Join(flow);
  } else if (flow->done > kMostLonger * flow->work) {  // the others do not pay for all of it
    line.flows.erase(flow);
    flow->tag += seconds;
    line.flows.insert(flow);
  }
}

JobPtr FairShare::Pop(Flow* flow) {
  JobPtr job = std::move(flow->waiting.front());
  flow->waiting.pop_front();
  LineSize less;
  less.Add(*job, -1);
  if (flow->waiting.empty()) {
    less.requests = -1;
    Account* const account = flow->account;
    --account->line(flow->urgency).waiting;
    if (!account->waits()) classes_[account->priority].waiting.erase(account);
  }
  Count(*flow, less);
  return job;
}

// Adds to what waits.
void FairShare::Count(const Flow& flow, const LineSize& more) {
  classes_[flow.account->priority].size[flow.kind] += more;
  flow.account->waiting[flow.kind] += more;
}

void FairShare::Close(Flow* flow) {
  Leave(flow);
  Account* const account = std::exchange(flow->account, nullptr);
  if (--account->flows > 0) return;
  account->lines = {};
  auto& active = classes_[account->priority].active;
  const auto found =
      absl::c_find_if(active, [&](const auto& other) { return other.get() == account; });
  classes_[account->priority].absent.push_back(std::move(*found));
  active.erase(found);
}

bool FairShare::IsAhead(const Account& account) const {
  const auto& waiting = classes_[account.priority].waiting;
  return !waiting.empty() && account.time > (*waiting.begin())->time + kMostLead;
}

bool FairShare::LagsBehind(const Account& account) const {
  return account.time + kMostLead / 2 < classes_[account.priority].largest;
}

}  // namespace dragoman
