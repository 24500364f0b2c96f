// An example with one principal.  A document has received 5,000 rows of work when a second one
// comes.  The second starts at the virtual time 5,000, too, so it is not given 5,000 rows of work
// first, but neither does it wait: both are served in turns from now on.

#include "engine/decode/fair_share.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace dragoman {

namespace {

// A short request overtakes one that came before it if it is cheaper, and came before the other
// short ones received so many times the difference.  So the shortest go first, and none is
// overtaken for ever.  (Such tags are those of weighted fair queueing among that many requests:
// Demers, Keshav and Shenker, "Analysis and Simulation of a Fair Queueing Algorithm", SIGCOMM
// 1989.)
constexpr double kOvertaking = 16;

}  // namespace

void FairShare::Open(Flow* flow) {
  Account* const account = AccountOf(flow->request->terms());
  // Who had nothing waiting did without by his own choice.
  if (!account->waits()) account->time = std::max(account->time, of(account->priority).now);
  flow->account = account;
  flow->time = account->now;
  flow->tag = account->short_work + kOvertaking * flow->expected;
  ++account->flows;
  Requeue(flow);
}

Account* FairShare::AccountOf(const RequestTerms& terms) {
  auto& [active, absent, now] = of(terms.priority);
  const auto same = [&](const auto& account) { return account->principal == terms.principal; };
  if (const auto found = std::find_if(active.begin(), active.end(), same); found != active.end()) {
    return found->get();
  }
  if (active.empty()) {  // nobody to be compared with
    absent.clear();
    now = 0;
  }
  std::erase_if(absent, [now = now](const auto& account) { return account->time <= now; });
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

void FairShare::Serve(Flow* flow, double work) {
  Unqueue(flow);  // its place may change
  Account& account = *flow->account;
  if (flow->IsShort()) {
    account.short_work += work;
  } else {
    account.now = std::max(account.now, flow->time);
  }
  double& now = of(account.priority).now;
  now = std::max(now, account.time);
  flow->received += work;
  flow->time += work;
  account.time += work;
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
  if (flow->waiting.empty()) return;
  if (flow->IsShort()) {
    flow->account->short_waiting.insert(flow);
  } else {
    flow->account->long_waiting.insert(flow);
  }
}

void FairShare::Unqueue(Flow* flow) {
  flow->account->short_waiting.erase(flow);
  flow->account->long_waiting.erase(flow);
}

void FairShare::Close(Flow* flow) {
  Unqueue(flow);
  Account* const account = std::exchange(flow->account, nullptr);
  if (--account->flows > 0) return;
  account->now = 0;
  auto& [active, absent, now] = of(account->priority);
  const auto found = std::find_if(active.begin(), active.end(),
                                  [&](const auto& other) { return other.get() == account; });
  absent.push_back(std::move(*found));
  active.erase(found);
}

double FairShare::Behind(Priority priority) const {
  double least = std::numeric_limits<double>::infinity();
  for (const auto& account : of(priority).active) {
    if (account->waits()) least = std::min(least, account->time);
  }
  return least;
}

}  // namespace dragoman
