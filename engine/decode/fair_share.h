// Who has received how much of the workers' time: the accounts by which principals, and requests
// within a principal, share the workers.
//
// Principals.  Start-time fair queueing (Goyal, Vin and Cheng, "Start-time Fair Queueing", SIGCOMM
// 1996), charged for work as it is done rather than by an estimate, like the counters of Sheng et
// al., "Fairness in Serving Large Language Models", OSDI 2024.  Every principal has a virtual time:
// the seconds of work that it has received, as work_times.h prices it.  The next work goes to the
// principal that is furthest behind.  One that arrives, or returns, starts level with the waiting
// principal that is furthest behind: nobody saves up credit by staying away, and nobody is charged
// for capacity that they used while nobody else wanted it.
//
// The requests of a principal go one after another, in the order in which they would end if they
// shared its part equally (the fair sojourn protocol: Friedman and Henderson, "Fairness and
// Efficiency in Web Server Protocols", SIGMETRICS 2003).  Each then ends no later than with equal
// shares, as far as their expected work is right, and most end much earlier: 40 equal documents
// end one by one instead of all at the end.  A small request overtakes a large one, but none waits
// forever.
//
// The bound.  A principal waits while it has a job in the queue.  The scheduler keeps one rule: a
// principal that is ahead of a waiting one by more than kMostLead gets nothing.  Let Q be the most
// that a sentence is charged in one turn: for its rows, and for those of its source tokens that the
// turn encodes.  Write S(p) for the virtual time of p, in seconds.
//
//   Theorem.  If p waits, then S(q) <= S(p) + kMostLead + Q for every principal q of its class.  So
//   if p and q both wait throughout an interval, the time that each is charged in it differs by no
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
//   start and at its end.  The prices may change meanwhile: the proof only adds up charges.
//
// Where a worker's memory for keys and values is full, the sentences that it holds run to their
// end, or the memory would never be freed; then the bound grows by the work that q had in progress
// when it began its last sentence.  Rows of a turn that nobody may use stay empty.  A principal
// that holds others back by waiting is exempt from every other rule that could delay it (turn.cc),
// so it gets its rows and they continue.
//
// Interactive and batch requests have separate accounts, since they never compete.  No clock, no
// thread, no lock.

#ifndef DRAGOMAN_ENGINE_DECODE_FAIR_SHARE_H_
#define DRAGOMAN_ENGINE_DECODE_FAIR_SHARE_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "engine/decode/job.h"

namespace dragoman {

struct Account;
struct Held;

// How much is waiting in the queue.
struct LineSize {
  double requests = 0;  // that have a waiting job
  double tokens = 0;    // of their sources
  double work = 0;      // expected, in rows
  double rows = 0;      // of their sentences in a turn

  void Add(const Job& job, int sign);
  LineSize& operator+=(const LineSize& more);
};

// Who goes before whom (scheduler.h).
enum class Urgency { kShort, kLong, kBatch };

// `kind` is Flow::kind.
inline Urgency UrgencyOf(Priority priority, int kind) {
  if (priority == Priority::kBatch) return Urgency::kBatch;
  return kind == 1 ? Urgency::kShort : Urgency::kLong;
}

// A request, from its admission to the end of its last job.
struct Flow {
  // A request that is expected to take no longer than so many plain rows of its model is short:
  // with beam 4, a text of 65 tokens; one of 20 tokens takes 125.
  static constexpr double kShortRows = 400;

  std::shared_ptr<const RequestState> request;
  Account* account = nullptr;
  int64_t arrival = 0;    // a running number
  absl::Time since;       // when it came
  double work = 0;        // of all its jobs, in rows
  double seconds = 0;     // the time that they are expected to take
  double most_short = 0;  // the most of it that a short request may take
  double received = 0;    // seconds of work done for it
  double done = 0;        // in rows
  int longest = 0;        // expected decoder steps of its longest sentence
  Urgency urgency = Urgency::kShort;
  int kind = 0;    // 1 if it was expected to be short when it was admitted, else 0
  double tag = 0;  // it is served before those of its line with larger ones
  double end = 0;  // the virtual time at which it would end with equal shares

  std::deque<JobPtr> waiting;  // in the order of the request
  int running = 0;             // jobs in batches
  Held* held = nullptr;        // its sentences on the worker whose turn is being planned (turn.h)

  // Sets what follows from its jobs and its request.
  void Measure(const std::vector<JobPtr>& jobs);
  // What it is still expected to take, in seconds.
  double left() const { return std::max(0.0, seconds - received); }
};

struct ByTag {
  bool operator()(const Flow* a, const Flow* b) const {
    return std::tie(a->tag, a->arrival) < std::tie(b->tag, b->arrival);
  }
};
struct ByTime {
  bool operator()(const Account* a, const Account* b) const;
};

// The requests of a principal that have one urgency.
struct Line {
  std::set<Flow*, ByTag> flows;
  double left = 0;             // of their expected work, in seconds
  int waiting = 0;             // flows with a job that waits
  double now = 0;              // virtual time of equal shares
  std::multiset<double> ends;  // virtual times at which those that share would end

  // So much work is done, and goes to all that share alike.
  void Advance(double seconds);
};

// A principal in one class.
struct Account {
  std::string principal;
  Priority priority = Priority::kInteractive;
  double time = 0;                  // virtual time: work received, lifted when it returns
  int flows = 0;                    // its requests
  std::array<Line, 2> lines;        // of short requests and of the others; all of batch requests
  std::array<LineSize, 2> waiting;  // of its requests, by Flow::kind

  Line& line(Urgency urgency) { return lines[urgency == Urgency::kShort ? 1 : 0]; }
  const Line& line(Urgency urgency) const { return lines[urgency == Urgency::kShort ? 1 : 0]; }
  bool waits() const { return lines[0].waiting + lines[1].waiting > 0; }
};

inline bool ByTime::operator()(const Account* a, const Account* b) const {
  return std::tie(a->time, a->principal) < std::tie(b->time, b->principal);
}

class FairShare {
 public:
  // The most seconds of work by which a principal may be ahead of a waiting one and still be
  // served.
  static constexpr double kMostLead = 0.04;
  // A request that takes up to this many times the expected work keeps its place: half of all take
  // more than expected, and if each moved back near its end, all would be begun and none would end.
  static constexpr double kMostLonger = 2;

  using Accounts = std::vector<std::unique_ptr<Account>>;

  // Takes a flow that has been measured, with its waiting jobs, into its principal's account.
  void Open(Flow* flow);
  // Books what is being done for it now: the time, and the work in rows.
  void Serve(Flow* flow, double seconds, double work);
  // Takes its next waiting job.  REQUIRES: one waits.
  JobPtr Pop(Flow* flow);
  // REQUIRES: none of its jobs wait.
  void Close(Flow* flow);

  // The account of the principal that makes such a request; null if it has no flow.
  const Account* Find(const RequestTerms& terms) const;
  // The virtual time that the account would have when the next such request arrives.
  double TimeOf(const RequestTerms& terms) const;
  // What waits with a priority, by Flow::kind.
  const std::array<LineSize, 2>& waiting(Priority priority) const {
    return classes_[priority].size;
  }
  // Whether a principal waits.
  bool waits(Priority priority) const { return !classes_[priority].waiting.empty(); }
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
    std::array<LineSize, 2> size;  // by Flow::kind
    double served = 0;   // the largest virtual time at which one was served: v of the proof
    double largest = 0;  // virtual time of any
    // Where a newly arriving principal starts.
    double start() const { return waiting.empty() ? served : (*waiting.begin())->time; }
  };
  Account* AccountOf(const RequestTerms& terms);
  void Count(const Flow& flow, const LineSize& more);
  static void Join(Flow* flow);
  static void Leave(Flow* flow);

  PerPriority<Class> classes_;
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_DECODE_FAIR_SHARE_H_
