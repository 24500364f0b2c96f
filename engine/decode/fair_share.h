// Who has received how much: the accounts by which requests, and above them principals, share the
// workers.  Start-time fair queueing (Goyal, Vin and Cheng, "Start-time Fair Queueing", SIGCOMM
// 1996) over two levels, charged as work is done and not by what was expected, like the counters of
// Sheng et al., "Fairness in Serving Large Language Models", OSDI 2024.
//
// Every principal has a virtual time, the work that it has received, and so has every request
// within its principal.  The next work goes to the principal that is the furthest behind and there
// to the request that is the furthest behind.  Who comes, or comes back, starts level with those
// who are served now: nobody saves up by staying away, and nobody pays for what he had while nobody
// else wanted it.
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

class FairShare {
 public:
  using Accounts = std::vector<std::unique_ptr<Account>>;

  // Gives a flow, whose request is set, its account.
  void Open(Flow* flow);
  // Books so much work that is done for it now.
  void Serve(Flow* flow, double work);
  // Takes the next job from its line.  REQUIRES: one waits.
  JobPtr Pop(Flow* flow);
  // To be told when `waiting` was changed otherwise.
  void Requeue(Flow* flow);
  // REQUIRES: nothing of it waits.
  void Close(Flow* flow);

  // The principals of a class that have a flow.
  const Accounts& accounts(Priority priority) const { return of(priority).active; }
  // The virtual time of the one that is the furthest behind of those who wait; infinite without
  // any.
  double Behind(Priority priority) const;

 private:
  struct Class {
    Accounts active;
    Accounts absent;  // without a flow, but ahead of `now`
    double now = 0;   // the virtual time: that of the principal served last
  };
  const Class& of(Priority priority) const { return classes_[static_cast<int>(priority)]; }
  Class& of(Priority priority) { return classes_[static_cast<int>(priority)]; }
  Account* AccountOf(const RequestTerms& terms);
  static void Unqueue(Flow* flow);

  std::array<Class, 2> classes_;
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_DECODE_FAIR_SHARE_H_
