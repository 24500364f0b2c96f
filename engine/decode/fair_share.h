// Who has received how much: the accounts by which requests, and above them principals, share the
// workers.  Start-time fair queueing (Goyal, Vin and Cheng, "Start-time Fair Queueing", SIGCOMM
// 1996) over two levels, charged as work is done and not by what was expected, like the counters of
// Sheng et al., "Fairness in Serving Large Language Models", OSDI 2024.
//
// Every principal has a virtual time, the work that it has received, and so has every request
// within its principal.  The next work goes to the principal that is the furthest behind and there
// to the request that is the furthest behind.  A principal that comes, or comes back, starts level
// with the furthest behind of those that wait: nobody saves up by staying away, and nobody pays for
// what he had while nobody else wanted it.
//
// The bound.  A principal waits while it has a job in the line.  The scheduler keeps one rule: who
// is ahead of a principal that waits by more than kMostLead is given nothing.  Let Q be the most
// work that a sentence is given in one turn: its rows, and the source tokens that the turn encodes
// of it.  Write S(p) for the virtual time of p.
//
//   Theorem.  If p waits, then S(q) <= S(p) + kMostLead + Q for every principal q of its class.  So
//   if p and q both wait all through an interval, the work that each received in it differs by no
//   more than 2 (kMostLead + Q), however long it is and whatever the others do.
//
//   Proof.  Let v be the largest virtual time at which anybody began to be given something.  Then
//   S(q) <= v + Q at all times: q was at v or below when it was last served, or was lifted to
//   another that is.  Now look at each event.  (1) q is served: by the rule S(q) <= S(p) +
//   kMostLead before it, and it adds Q at the most.  (2) p begins to wait while nobody else does:
//   it is lifted to v, and S(q) <= v + Q.  (3) p begins to wait beside others: it is lifted to the
//   one that is the furthest behind, for which the claim holds already.  (4) q is lifted: to a
//   virtual time that no waiting principal is below.  Nothing else changes a virtual time, and
//   while p waits it is not lifted.  For the interval: |S(p) - S(q)| is within the bound at its
//   start and at its end.
//
// Where a worker's memory for keys and values is full, sentences that it holds run to their end, or
// it would never be free again; then add the work that q had under way when it began its last
// sentence.  Rows of a turn that nobody may use stay empty.  Whoever holds others back by waiting
// is exempt from all else that could keep it out (scheduler_turn.cc), so it has its rows and they
// go on.
//
// Interactive and batch requests have accounts of their own, since they never compete.  No clock,
// no thread, no lock.

#ifndef DRAGOMAN_ENGINE_DECODE_FAIR_SHARE_H_
#define DRAGOMAN_ENGINE_DECODE_FAIR_SHARE_H_

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "absl/types/span.h"
#include "engine/decode/job.h"

namespace dragoman {

struct Account;

// A request, from when it is let in to when its last job ends.
struct Flow {
  // A request that is expected to need no more work than this is short: with beam 4 a text of 65
  // tokens; one of 20 tokens costs 125.
  static constexpr double kShort = 400;

  std::shared_ptr<const RequestState> request;
  Account* account = nullptr;
  int64_t arrival = 0;  // counts up
  absl::Time since;     // when it came
  double time = 0;      // virtual time within its account
  double expected = 0;  // work of all its jobs
  double received = 0;  // work done for it
  double tag = 0;       // short requests are begun in the order of their tags
  int longest = 0;      // decoder steps of its longest sentence, as expected

  std::deque<JobPtr> waiting;  // in the order of the request
  int running = 0;             // jobs in batches

  // Short, and not found out to be long.
  bool IsShort() const { return expected <= kShort && received <= 2 * kShort; }
};

struct ByArrival {
  bool operator()(const Flow* a, const Flow* b) const { return a->arrival < b->arrival; }
};
struct ByTag {
  bool operator()(const Flow* a, const Flow* b) const {
    return std::tie(a->tag, a->arrival) < std::tie(b->tag, b->arrival);
  }
};
struct ByTime {
  bool operator()(const Flow* a, const Flow* b) const {
    return std::tie(a->time, a->arrival) < std::tie(b->time, b->arrival);
  }
  bool operator()(const Account* a, const Account* b) const;
};

// A principal in one class.
struct Account {
  std::string principal;
  Priority priority = Priority::kInteractive;
  double time = 0;        // virtual time: work received, lifted when it comes back
  double now = 0;         // the virtual time within it: that of the request served last
  double short_work = 0;  // that its short requests have received
  int flows = 0;          // its requests
  // Those of them that have a job waiting: the short ones, and the others.
  std::set<Flow*, ByTag> short_waiting;
  std::set<Flow*, ByTime> long_waiting;

  bool waits() const { return !short_waiting.empty() || !long_waiting.empty(); }
};

inline bool ByTime::operator()(const Account* a, const Account* b) const {
  return std::tie(a->time, a->principal) < std::tie(b->time, b->principal);
}

class FairShare {
 public:
  // No principal is given anything that is ahead of another that waits by more rows of work.
  static constexpr double kMostLead = 400;

  using Accounts = std::vector<std::unique_ptr<Account>>;

  // Gives a flow, whose request is set, its account.
  void Open(Flow* flow);
  // Books this much work, which is done for it now.
  void Serve(Flow* flow, double work);
  // Takes the next job from its line.  REQUIRES: one waits.
  JobPtr Pop(Flow* flow);
  // To be told when `waiting` was changed otherwise.
  void Requeue(Flow* flow);
  // REQUIRES: nothing of it waits.
  void Close(Flow* flow);

  // The principals of a class that have a flow.
  const Accounts& accounts(Priority priority) const { return of(priority).active; }
  // Whether a principal is so far ahead of another that waits that it is given nothing.
  bool IsAhead(const Account& account) const;
  // Whether a principal may hold others back by that, or soon will: half way to it.
  bool LagsBehind(const Account& account) const;

 private:
  struct Class {
    Accounts active;
    Accounts absent;  // without a flow, but ahead of who would come now
    std::set<Account*, ByTime> waiting;
    double served = 0;   // the largest virtual time at which one was served: v of the proof
    double largest = 0;  // virtual time of any
    // Where a principal starts that comes now.
    double start() const { return waiting.empty() ? served : (*waiting.begin())->time; }
  };
  const Class& of(Priority priority) const { return classes_[static_cast<int>(priority)]; }
  Class& of(Priority priority) { return classes_[static_cast<int>(priority)]; }
  Account* AccountOf(const RequestTerms& terms);
  void Unqueue(Flow* flow);

  std::array<Class, 2> classes_;
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_DECODE_FAIR_SHARE_H_
