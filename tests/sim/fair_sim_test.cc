// Simulates traffic with faults and checks what the headers of scheduler.h and fair_share.h
// promise.  DRAGOMAN_SIM_SEEDS is the number of seeds to run, of 10,000 requests each, counted from
// 0 (default 8; 100 are a million requests).  DRAGOMAN_SIM_SEED replays one.

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <random>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/sim/fair_simulation.h"

namespace dragoman::fair_sim_test {
namespace {

int64_t FromEnvironment(const char* name, int64_t otherwise) {
  const char* const value = std::getenv(name);
  return value == nullptr ? otherwise : std::atoll(value);
}

// The bound proved in fair_share.h: how far a principal may get ahead of another one that waits.
double Bound(const FairSimulation& simulation) {
  return FairShare::kMostLead + simulation.most_charged() + simulation.held();
}

// One-liners, documents, a greedy principal that sends bursts, batch work, clients that leave.
std::vector<Traffic> Mixed(std::mt19937* random) {
  const auto pick = [random](double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(*random);
  };
  const auto count = [random](int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(*random);
  };
  return {
      {.principal = "shop", .per_second = pick(10, 150), .rows = count(1, 5), .leaves = 0.05},
      {.principal = "shop", .per_second = pick(0.2, 3), .sentences = count(20, 200)},
      {.principal = "press",
       .per_second = pick(0.2, 3),
       .sentences = count(20, 100),
       .leaves = 0.3},
      {.principal = "press", .per_second = pick(1, 20), .deadline = absl::Milliseconds(500)},
      {.principal = "greedy",
       .per_second = pick(50, 400),
       .rows = count(1, 16),
       .leaves = 0.1,
       .burst = count(1, 100)},
      {.principal = "books", .per_second = pick(0.1, 2), .min_tokens = 300, .max_tokens = 512},
      {.principal = "night",
       .per_second = pick(0.5, 5),
       .sentences = 30,
       .priority = Priority::kBatch},
      {.principal = "shop", .sentences = 2, .priority = Priority::kBatch, .open = 64},
  };
}

TEST(FairSimulation, NothingIsLostDoubledOrLateAndNobodyGetsAhead) {
  const int64_t seeds = FromEnvironment("DRAGOMAN_SIM_SEEDS", 4);
  const int64_t replay = FromEnvironment("DRAGOMAN_SIM_SEED", -1);
  constexpr int64_t kEach = 10'000;
  TrafficReport all;
  double largest = 0;
  int short_of_memory = 0;
  for (int64_t seed = std::max<int64_t>(replay, 0); seed < (replay < 0 ? seeds : replay + 1);
       ++seed) {
    SCOPED_TRACE(testing::Message() << "DRAGOMAN_SIM_SEED=" << seed);
    std::mt19937 random(seed);
    FairSimulation::Options options;
    options.workers = std::uniform_int_distribution<int>(1, 8)(random);
    options.limits.workers = options.workers;
    options.limits.turn.rows = 16 << std::uniform_int_distribution<int>(0, 3)(random);
    // From barely enough memory for one long sentence to more than enough.
    options.limits.turn.kv_capacity_bytes = size_t{8 << 20}
                                            << std::uniform_int_distribution<int>(0, 10)(random);
    const std::vector<Traffic> traffic = Mixed(&random);
    FairSimulation simulation(options, traffic, seed);
    simulation.Run(kEach);
    EXPECT_EQ(simulation.broken(), 0);
    const double bound = Bound(simulation);
    EXPECT_LE(simulation.largest_distance(), bound);
    EXPECT_LE(simulation.largest_lead(), 2 * bound);
    largest = std::max(largest, simulation.largest_distance() / bound);
    short_of_memory += simulation.held() > 0;
    for (size_t t = 0; t < traffic.size(); ++t) {
      const TrafficReport& report = simulation.report(t);
      EXPECT_EQ(report.sent, report.done + report.cancelled + report.late + report.refused);
      all.sent += report.sent;
      all.done += report.done;
      all.cancelled += report.cancelled;
      all.late += report.late;
      all.refused += report.refused;
    }
    if (testing::Test::HasFailure()) break;
  }
  std::cout << all.sent << " requests: " << all.done << " done, " << all.cancelled << " cancelled, "
            << all.late << " late, " << all.refused << " refused; the largest lead was " << largest
            << " of the bound; " << short_of_memory << " seeds were short of memory\n";
}

// The longest wait of one-liners, in seconds, next to the traffic `other`.
double SlowestOneLiner(const Traffic& other, double* alone) {
  FairSimulation::Options options;
  options.limits.workers = options.workers;
  options.attention = 1 / 250.0;
  const Traffic one_liner = {.principal = "", .per_second = 5};
  FairSimulation undisturbed(options, {one_liner}, 1);
  undisturbed.Run(2'000);
  *alone = undisturbed.report(0).Percentile(0.99);
  FairSimulation simulation(options, {one_liner, other}, 1);
  simulation.Run(1'200);
  EXPECT_GT(simulation.report(0).done, 500);
  EXPECT_GT(simulation.report(1).done, 5);
  return simulation.report(0).Percentile(0.99);
}

TEST(FairSimulation, OneLinersBesideDocuments) {
  double alone = 0;
  const double beside = SlowestOneLiner({.per_second = 1, .sentences = 1000}, &alone);
  EXPECT_LE(beside, 3 * alone);
}

TEST(FairSimulation, OneLinersBesideLongSentences) {
  double alone = 0;
  const double beside =
      SlowestOneLiner({.per_second = 4, .min_tokens = 512, .max_tokens = 512, .burst = 32}, &alone);
  EXPECT_LE(beside, 3 * alone);
}

// Of interactive traffic: one-liners and documents.
std::vector<Traffic> Interactive() {
  return {{.principal = "shop", .per_second = 30},
          {.principal = "press", .per_second = 10},
          {.principal = "press", .per_second = 0.5, .sentences = 20}};
}

// Runs it beside bulk calls that fill a small queue, and expects that nobody is refused.  Returns
// the longest wait of one-liners, in seconds.
double SlowestInteractive(const std::vector<Traffic>& bulk_calls) {
  FairSimulation::Options options = {
      .limits = {.turn = {.rows = 32, .kv_capacity_bytes = size_t{1} << 30},
                 .max_waiting_requests = 32,
                 .max_waiting_tokens = 8192,
                 .max_waiting_work = 1 << 18}};
  options.limits.workers = options.workers;
  std::vector<Traffic> traffic = Interactive();
  traffic.insert(traffic.end(), bulk_calls.begin(), bulk_calls.end());
  FairSimulation simulation(options, traffic, 3);
  simulation.Run(2'000);
  EXPECT_EQ(simulation.broken(), 0);
  for (size_t t = 0; t < Interactive().size(); ++t) {
    EXPECT_EQ(simulation.report(t).refused, 0) << "traffic " << t;
    EXPECT_EQ(simulation.report(t).done, simulation.report(t).sent) << "traffic " << t;
  }
  for (size_t t = Interactive().size(); t < traffic.size(); ++t) {
    TrafficReport& bulk = simulation.report(t);
    EXPECT_EQ(bulk.done + bulk.refused, bulk.sent);  // what was refused came again
    EXPECT_GT(bulk.done, 0) << "bulk call " << t;
  }
  EXPECT_LE(simulation.largest_distance(), Bound(simulation));
  return std::max(simulation.report(0).Percentile(0.99), simulation.report(1).Percentile(0.99));
}

TEST(FairSimulation, BulkCallsRefuseNoInteractiveRequest) {
  const auto bulk = [](const char* principal, int sentences, int most_tokens) {
    return Traffic{.principal = principal,
                   .sentences = sentences,
                   .max_tokens = most_tokens,
                   .priority = Priority::kBatch,
                   .open = 256};
  };
  const double alone = SlowestInteractive({});
  for (const std::vector<Traffic>& calls : std::vector<std::vector<Traffic>>{
           {bulk("shop", 1, 24)},
           {bulk("shop", 30, 24)},  // all of them begin and most of their sentences wait
           {bulk("night", 1, 300)},
           {bulk("shop", 4, 24), bulk("shop", 1, 24), bulk("night", 8, 100)}}) {
    EXPECT_LE(SlowestInteractive(calls), 3 * alone) << calls[0].sentences;
  }
}

// Requests per second that are answered in time under a load of `times` the capacity.
double Goodput(double times, absl::Duration deadline, bool forecasts, int most_waiting) {
  constexpr double kCapacity = 210;
  FairSimulation::Options options;
  options.limits.workers = options.workers;
  options.limits.forecasts = forecasts;
  options.limits.max_waiting_requests = most_waiting;
  const Traffic traffic = {
      .per_second = times * kCapacity, .min_tokens = 10, .max_tokens = 40, .deadline = deadline};
  FairSimulation simulation(options, {traffic}, 7);
  simulation.Run(static_cast<int64_t>(5 * times * kCapacity));
  EXPECT_EQ(simulation.broken(), 0);
  return static_cast<double>(simulation.report(0).done) / simulation.seconds();
}

TEST(FairSimulation, GoodputUnderOverloadIsThatOfTheBestQueueBound) {
  for (const double times : {1.0, 3.0}) {
    for (const int milliseconds : {250, 500, 2000}) {
      const absl::Duration deadline = absl::Milliseconds(milliseconds);
      double best = 0;
      for (const int most_waiting : {8, 32, 128}) {
        best = std::max(best, Goodput(times, deadline, /*forecasts=*/false, most_waiting));
      }
      const double ours = Goodput(times, deadline, /*forecasts=*/true, 256);
      EXPECT_GE(ours, 0.9 * best) << times << " times the capacity, deadline " << deadline;
    }
  }
}

}  // namespace
}  // namespace dragoman::fair_sim_test
