// Traffic for the real scheduler, with workers that only pretend to work: a turn takes as long as
// its rows, the positions that they attend to and its source tokens require, and a sentence is done
// after a number of turns.  A day of traffic takes seconds, and the same seed gives the same
// history.
//
// Every turn checks what the scheduler promises: that every job ends exactly once and in time, and
// how far principals with work may get ahead of one another.

#ifndef DRAGOMAN_TESTS_SIM_FAIR_SIMULATION_H_
#define DRAGOMAN_TESTS_SIM_FAIR_SIMULATION_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "engine/decode/scheduler.h"

namespace dragoman {

// One kind of client.
struct Traffic {
  std::string principal;
  double per_second = 1;                // requests, at random times
  int sentences = 1;                    // per request
  int min_tokens = 4, max_tokens = 24;  // source tokens per sentence
  int rows = 4;
  double leaves = 0;  // the share of clients that hang up within a second
  absl::Duration deadline = absl::InfiniteDuration();
  Priority priority = Priority::kInteractive;
  int burst = 1;  // requests that arrive together
  int most = 0;   // requests in all; 0: no end of them
  // If not 0, it is a bulk call: this many of its requests are open at any time.  One that finds no
  // room, or loses its place, comes again.
  int open = 0;
};

// The results of one kind of traffic.
struct TrafficReport {
  int64_t sent = 0, done = 0, cancelled = 0, late = 0, refused = 0;  // requests
  int64_t started_in_vain = 0;                                       // that had started
  double seconds = 0;             // of workers that its rows and source tokens took
  std::vector<double> latencies;  // seconds, of requests that are done
  double Percentile(double p);
};

class FairSimulation {
 public:
  struct Options {
    int workers = 2;
    SchedulerLimits limits = {.turn = {.rows = 32, .kv_capacity_bytes = size_t{1} << 30}};
    // By default, the times of the golden model en-de on one core, in seconds.
    double turn_seconds = 300e-6, row_seconds = 50e-6, token_seconds = 20e-6;
    // Per position attended to, relative to the above: source tokens, and the steps so far.
    double attention = 0;
    double noise = 0;  // standard deviation of the logarithm of how long a turn takes
  };

  FairSimulation(const Options& options, std::vector<Traffic> traffic, uint32_t seed);
  ~FairSimulation();

  // Lets this many requests arrive, without those of bulk calls, then finishes all of them.
  void Run(int64_t requests);
  // Lets requests arrive for this long; then nothing is counted any more, and all that is left is
  // cancelled.
  void RunFor(absl::Duration duration);

  TrafficReport& report(size_t traffic) { return reports_[traffic]; }
  // How long was counted.
  double seconds() const { return seconds_; }
  // Over all pairs of principals that both had work waiting throughout an interval: the most that
  // one received more than the other in it, in seconds of work as priced.
  double largest_lead() const { return largest_lead_; }
  // The most that a principal was ahead of a waiting one.
  double largest_distance() const { return largest_distance_; }
  // The most work that a principal had in progress when memory was short; 0 if it never was.
  double held() const { return held_; }
  // The most that a sentence was charged in a turn: Q of the bound.
  double most_charged() const { return most_charged_; }
  // Jobs that did not end exactly once, or succeeded more than a turn after their deadline; and
  // refusals that cost somebody else a place in the queue.
  int64_t broken() const { return broken_; }

 private:
  struct Request;
  struct Sentence {
    JobPtr job;
    int stages_left = 0, steps_left = 0, steps_done = 0;
  };
  struct Worker {
    absl::Time free;  // when its turn ends
    std::vector<Sentence> batch;
  };

  int Pick(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }
  double Exponential(double rate) { return std::exponential_distribution<double>(rate)(random_); }
  void Loop(absl::Time end);
  void StopCounting();
  void ArriveAll();
  bool Arrive(size_t traffic);
  void TakeTurn(int worker);
  void EndUnwanted(Worker* worker);
  Resident Begin(Starting start, Worker* worker);
  void WatchCharges(const std::vector<Resident>& residents);
  double Disturbed(double seconds);
  absl::Duration Advance(const std::vector<Resident>& residents, Worker* worker);
  void EndFinished(Worker* worker);
  void Tell(Job* job, const absl::Status& status, absl::Time at, bool begun);
  void WatchLeads();
  void WatchMemory();

  const Options options_;
  const std::vector<Traffic> traffic_;
  std::mt19937 random_;  // of what arrives
  std::mt19937 noise_;   // of how long it takes
  WorkTimes times_;
  Scheduler scheduler_;
  absl::Time now_ = absl::UnixEpoch();
  std::vector<Worker> workers_;
  size_t rounds_ = 0;             // of arrivals
  std::vector<absl::Time> next_;  // of each traffic
  std::multimap<absl::Time, std::shared_ptr<RequestState>> leaving_;
  std::map<const RequestState*, std::unique_ptr<Request>> requests_;
  std::vector<TrafficReport> reports_;
  std::vector<int> open_;  // requests of each traffic
  int64_t to_come_ = 0;    // requests, without those of bulk calls
  bool counting_ = true;
  double seconds_ = 0;  // until counting ended
  // How far the second of two principals was ahead when both began to have work.
  std::map<std::pair<std::string, std::string>, double> leads_;
  double largest_lead_ = 0, largest_distance_ = 0, held_ = 0, most_charged_ = 0;
  int64_t broken_ = 0;
};

}  // namespace dragoman

#endif  // DRAGOMAN_TESTS_SIM_FAIR_SIMULATION_H_
