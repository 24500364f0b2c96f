// Who has received how much work: the accounts by which principals, and requests within a
// principal, share the workers.  Start-time fair queueing (Goyal, Vin and Cheng, "Start-time Fair
// Queueing", SIGCOMM 1996) over two levels, charged for work as it is done rather than by an
// estimate, like the counters of Sheng et al., "Fairness in Serving Large Language Models", OSDI
// 2024.
//
// Every principal has a virtual time, the work that it has received; so has every request within
// its principal.  The next work goes to the principal that is furthest behind, and there to the
// request that is furthest behind.  A principal that arrives, or returns, starts level with the
// waiting principal that is furthest behind: nobody saves up credit by staying away, and nobody is
// charged for capacity that they used while nobody else wanted it.
//
// The bound.  A principal waits while it has a job in the queue.  The scheduler keeps one rule: a
// principal that is ahead of a waiting one by more than kMostLead gets nothing.  Let Q be the most
// work that a sentence gets in one turn: its rows, and those of its source tokens that the turn
// encodes.  Write S(p) for the virtual time of p.
//
//   Theorem.  If p waits, then S(q) <= S(p) + kMostLead + Q for every principal q of its class.  So
//   if p and q both wait throughout an interval, the work that each receives in it differs by no
//   more than 2 (kMostLead + Q), however long it is and whatever the others do.
//
//   Proof.  Let v be the largest virtual time at which any principal began to be served.  Then
//   S(q) <= v + Q at all times: q was at v or below when it was last served, or was lifted to
//   another that is.  Now consider each event.  (1) q is served: by the rule S(q) <= S(p) +
//   kMostLead before it, and it adds at most Q.  (2) p begins to wait while nobody else does:
//   it is lifted to v, and S(q) <= v + Q.  (3) p begins to wait beside others: it is lifted to the
//   one that is furthest behind, for which the claim already holds.  (4) q is lifted: to a
//   virtual time that no waiting principal is below.  Nothing else changes a virtual time, and
//   while p waits it is not lifted.  For the interval: |S(p) - S(q)| is within the bound at its
//   start and at its end.
//
// Where a worker's memory for keys and values is full, the sentences that it holds run to their
// end, or the memory would never be freed; then the bound grows by the work that q had in progress
// when it began its last sentence.  Rows of a turn that nobody may use stay empty.  A principal
// that holds others back by waiting is exempt from every other rule that could delay it
// (scheduler_turn.cc), so it gets its rows and they continue.
//
// Interactive and batch requests have separate accounts, since they never compete.  No clock, no
// thread, no lock.

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

// How much is waiting in the queue.
struct LineSize {
  double requests = 0;  // that have a waiting job
  double tokens = 0;    // of their sources
  double work = 0;      // expected
  double share = 0;     // of the rows of a turn

  void Add(const Job& job, int sign);
  LineSize& operator+=(const LineSize& more);
};

// A request, from its admission to the end of its last job.
struct Flow {
  // A request that is expected to need no more work than this is short: with beam 4, a text of 65
  // tokens; one of 20 tokens costs 125.
  static constexpr double kShort = 400;

  std::shared_ptr<const RequestState> request;
  Account* account = nullptr;
  int64_t arrival = 0;  // a running number
  absl::Time since;     // when it came
  absl::Time check_at;  // when to check next whether it is still wanted and can be in time
  double time = 0;      // virtual time within its account
  double expected = 0;  // work of all its jobs
  double received = 0;  // work done for it
  double tag = 0;       // short requests start in the order of their tags
  int longest = 0;      // expected decoder steps of its longest sentence

  std::deque<JobPtr> waiting;  // in the order of the request
  int running = 0;             // jobs in batches

  // Expected to be short, and not yet found to be long.
  bool IsShort() const { return expected <= kShort && received <= 2 * kShort; }
  // The kind that it was admitted as: 1 if it was expected to be short, else 0.
  int kind() const { return expected <= kShort; }
};

struct ByArrival {
  bool operator()(const Flow* a, const Flow* b) const { return a->arrival < b->arrival; }
};
struct ByCheck {
  bool operator()(const Flow* a, const Flow* b) const {
    return std::tie(a->check_at, a->arrival) < std::tie(b->check_at, b->arrival);
  }
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
  double time = 0;        // virtual time: work received, lifted when the principal returns
  double now = 0;         // the virtual time within it: that of the request served last
  double short_work = 0;  // that its short requests have received
  int flows = 0;          // its requests
  std::array<LineSize, 2> waiting;  // of its requests, by Flow::kind
  // Those requests that have a job waiting: the short ones, and the others.
  std::set<Flow*, ByTag> short_waiting;
  std::set<Flow*, ByTime> long_waiting;

  bool waits() const { return !short_waiting.empty() || !long_waiting.empty(); }
};

inline bool ByTime::operator()(const Account* a, const Account* b) const {
  return std::tie(a->time, a->principal) < std::tie(b->time, b->principal);
}

class FairShare {
 public:
  // The most rows of work by which a principal may be ahead of a waiting one and still be served.
  static constexpr double kMostLead = 400;

  using Accounts = std::vector<std::unique_ptr<Account>>;

  // Assigns an account to a flow, whose request is set.
  void Open(Flow* flow);
  // Books work that is being done for it now.
  void Serve(Flow* flow, double work);
  // Takes its next waiting job.  REQUIRES: one waits.
  JobPtr Pop(Flow* flow);
  // Must be called after `waiting` was changed in any other way.
  void Requeue(Flow* flow);
  // REQUIRES: none of its jobs wait.
  void Close(Flow* flow);

  // The account of the principal that makes such a request; null if it has no flow.
  const Account* Find(const RequestTerms& terms) const;
  // The virtual time that the account would have when the next such request arrives.
  double TimeOf(const RequestTerms& terms) const;
  // Of the account's requests of a kind (Flow::kind) that wait and have not begun, the one that
  // would be served last, apart from the `skipped` last ones.  Null if there is none.
  static Flow* LastOf(const Account& account, int kind, int skipped = 0);
  // The principals of a class that have a flow.
  const Accounts& accounts(Priority priority) const { return classes_[priority].active; }
  // Whether a principal is so far ahead of a waiting one that it gets nothing.
  bool IsAhead(const Account& account) const;
  // Whether a principal is so far behind that others have to wait for it, or at least halfway
  // there.
  bool LagsBehind(const Account& account) const;

 private:
  struct Class {
    Accounts active;
    Accounts absent;  // without a flow, but ahead of where a newcomer would start
    std::set<Account*, ByTime> waiting;
    double served = 0;   // the largest virtual time at which one was served: v of the proof
    double largest = 0;  // virtual time of any
    // Where a newly arriving principal starts.
    double start() const { return waiting.empty() ? served : (*waiting.begin())->time; }
  };
  Account* AccountOf(const RequestTerms& terms);
  void Unqueue(Flow* flow);

  PerPriority<Class> classes_;
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_DECODE_FAIR_SHARE_H_
