// An example within one principal.  A document has received 5,000 rows of work when a second one
// arrives.  The second also starts at the virtual time 5,000, so it does not get 5,000 rows of work
// first, but it does not wait either: from now on both are served in turn.

#include "engine/decode/fair_share.h"

#include <algorithm>
#include <utility>

namespace dragoman {

namespace {

// A short request overtakes one that came before it if it is cheaper and arrived before the other
// short ones had received this many times the difference.  So the shortest go first, and none is
// overtaken forever. (Such tags are those of weighted fair queueing among that many requests:
// Demers, Keshav and Shenker, "Analysis and Simulation of a Fair Queueing Algorithm", SIGCOMM
// 1989.)
constexpr double kOvertaking = 16;

}  // namespace

void LineSize::Add(const Job& job, int sign) {
  tokens += sign * job.cost.source_tokens;
  work += sign * static_cast<double>(job.cost.work());
  share += sign * job.cost.turn_share;
}

LineSize& LineSize::operator+=(const LineSize& more) {
  requests += more.requests;
  tokens += more.tokens;
  work += more.work;
  share += more.share;
  return *this;
}

void FairShare::Open(Flow* flow) {
  Account* const account = AccountOf(flow->request->terms());
  // An account with nothing waiting was idle by its own choice.
  const double start = classes_[account->priority].start();
  if (!account->waits()) account->time = std::max(account->time, start);
  flow->account = account;
  flow->time = account->now;
  flow->tag = account->short_work + kOvertaking * flow->expected;
  ++account->flows;
  Requeue(flow);
}

Account* FairShare::AccountOf(const RequestTerms& terms) {
  Class& all = classes_[terms.priority];
  auto& active = all.active;
  auto& absent = all.absent;
  const auto same = [&](const auto& account) { return account->principal == terms.principal; };
  if (const auto found = std::find_if(active.begin(), active.end(), same); found != active.end()) {
    return found->get();
  }
  if (active.empty()) {  // nobody to compare with
    absent.clear();
    all.served = all.largest = 0;
  }
  std::erase_if(absent, [&](const auto& account) { return account->time <= all.start(); });
  if (const auto away = std::find_if(absent.begin(), absent.end(), same); away != absent.end()) {
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
  const auto last = [&skipped](const auto& waiting) -> Flow* {
    const auto found = std::find_if(waiting.rbegin(), waiting.rend(), [&](const Flow* flow) {
      return flow->received == 0 && flow->running == 0 && skipped-- == 0;
    });
    return found == waiting.rend() ? nullptr : *found;
  };
  // Flows that have not begun are still of the kind (short or long) that they were admitted as.
  return kind == 1 ? last(account.short_waiting) : last(account.long_waiting);
}

void FairShare::Serve(Flow* flow, double work) {
  Unqueue(flow);  // its place may change
  Account& account = *flow->account;
  if (flow->IsShort()) {
    account.short_work += work;
  } else {
    account.now = std::max(account.now, flow->time);
  }
  Class& all = classes_[account.priority];
  all.served = std::max(all.served, account.time);
  flow->received += work;
  flow->time += work;
  account.time += work;
  all.largest = std::max(all.largest, account.time);
  Requeue(flow);
}

JobPtr FairShare::Pop(Flow* flow) {
  Unqueue(flow);
  JobPtr job = std::move(flow->waiting.front());
  flow->waiting.pop_front();
  Requeue(flow);
  return job;
}

void FairShare::Requeue(Flow* flow) {
  Unqueue(flow);
  Account* const account = flow->account;
  if (!flow->waiting.empty()) {
    if (flow->IsShort()) {
      account->short_waiting.insert(flow);
    } else {
      account->long_waiting.insert(flow);
    }
  }
  if (account->waits()) classes_[account->priority].waiting.insert(account);
}

// Removes the flow and its account from the sets ordered by virtual time; Requeue puts them back.
void FairShare::Unqueue(Flow* flow) {
  Account* const account = flow->account;
  classes_[account->priority].waiting.erase(account);
  account->short_waiting.erase(flow);
  account->long_waiting.erase(flow);
}

void FairShare::Close(Flow* flow) {
  Requeue(flow);
  Account* const account = std::exchange(flow->account, nullptr);
  if (--account->flows > 0) return;
  account->now = 0;
  auto& active = classes_[account->priority].active;
  const auto found = std::find_if(active.begin(), active.end(),
                                  [&](const auto& other) { return other.get() == account; });
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
