// The traffic that the rules of the scheduler were made for, each case with the figures by which it
// is judged.  A short run of each checks what docs/fairness.md promises.  DRAGOMAN_SIM_TABLE=N
// prints all figures, from runs that are N times as long: so a rule is judged, with it and without.
//
// One machine is simulated: two workers with turns of 128 rows and the times of a small model.  A
// row costs more the more positions it attends to, and no two turns take equally long.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "tests/sim/fair_simulation.h"

namespace dragoman::bad_cases_test {
namespace {

int Table() {
  const char* const value = std::getenv("DRAGOMAN_SIM_TABLE");
  return value == nullptr ? 0 : std::atoi(value);
}

void Print(const std::string& what, double value) {
  if (Table() > 0) std::printf("%-68s %9.2f\n", what.c_str(), value);
}

// How long a case runs.
absl::Duration For(double seconds) { return absl::Seconds(seconds * std::max(1, Table())); }

FairSimulation::Options Machine(int turn_rows = 128) {
  FairSimulation::Options options;
  options.limits.workers = options.workers;
  options.limits.turn.rows = turn_rows;
  options.attention = 1 / 250.0;
  options.noise = 0.1;
  return options;
}

constexpr double kOneLinersCapacity = 440;  // a second, on this machine (Capacity)

Traffic OneLiners(double per_second) { return {.principal = "", .per_second = per_second}; }

// Documents of which there is always one more.
Traffic Documents(int sentences, int open) { return {.sentences = sentences, .open = open}; }

// How many such requests a second the machine does if it never waits for one.
double Capacity(Traffic traffic) {
  FairSimulation::Options options = Machine();
  options.limits.max_waiting_requests = options.limits.max_waiting_tokens = 1 << 30;
  options.limits.max_waiting_work = 1e12;
  traffic.deadline = absl::InfiniteDuration();
  traffic.per_second = 1e9;
  FairSimulation simulation(options, {traffic}, 5);
  constexpr int kRequests = 500;
  simulation.Run(kRequests);
  return kRequests / simulation.seconds();
}

// One-liners, 5 a second, beside other traffic: percentiles of how long they take, in ms, and the
// part of the workers' time that the other traffic gets.
struct Beside {
  double p50, p99, others;
};
Beside OneLinersBeside(std::vector<Traffic> others, double per_second = 5,
                       FairSimulation::Options options = Machine(), double seconds = 100) {
  others.insert(others.begin(), OneLiners(per_second));
  FairSimulation simulation(options, others, 1);
  simulation.RunFor(For(seconds));
  double time = 0;
  for (size_t t = 1; t < others.size(); ++t) time += simulation.report(t).seconds;
  return {1e3 * simulation.report(0).Percentile(0.5), 1e3 * simulation.report(0).Percentile(0.99),
          time / simulation.seconds() / options.workers};
}

void Judge(const std::string& name, const Beside& alone, const Beside& beside, double most) {
  Print("one-liners beside " + name + ": p50 / alone", beside.p50 / alone.p50);
  Print("one-liners beside " + name + ": p99 / alone", beside.p99 / alone.p99);
  Print("one-liners beside " + name + ": time of the others", beside.others);
  EXPECT_LE(beside.p99, most * alone.p99) << name;
}

TEST(BadCases, OneLinersBesideOthers) {
  const Beside alone = OneLinersBeside({});
  Print("one-liners alone: p50, ms", alone.p50);
  Print("one-liners alone: p99, ms", alone.p99);
  Judge("documents", alone, OneLinersBeside({Documents(1000, 4)}), 3);
  const Traffic long_ones = {.per_second = 16, .min_tokens = 512, .max_tokens = 512, .burst = 32};
  Judge("32 calls of 500 tokens", alone, OneLinersBeside({long_ones}), 3);
  Traffic greedy = long_ones;
  greedy.rows = 1;
  greedy.min_tokens = greedy.max_tokens = 1000;
  Judge("encodings of 1000 tokens, greedy", alone, OneLinersBeside({greedy}), 3);
  const Traffic wide = {
      .sentences = 100, .min_tokens = 100, .max_tokens = 300, .rows = 16, .open = 2};
  Judge("documents with beams of 16", alone, OneLinersBeside({wide}), 3);
  const Traffic bulk = {.sentences = 30, .priority = Priority::kBatch, .open = 64};
  Judge("batch work", alone, OneLinersBeside({bulk}), 3);
}

TEST(BadCases, ManyOneLinersBesideOthers) {
  const double half = kOneLinersCapacity / 2;
  const Beside alone = OneLinersBeside({}, half, Machine(), 20);
  Print("one-liners at half of the capacity alone: p50, ms", alone.p50);
  Print("one-liners at half of the capacity alone: p99, ms", alone.p99);
  Judge("documents (half load)", alone, OneLinersBeside({Documents(1000, 4)}, half, Machine(), 20),
        3);
  const Traffic long_ones = {.min_tokens = 512, .max_tokens = 512, .open = 64};
  Judge("sentences of 500 tokens (half load)", alone,
        OneLinersBeside({long_ones}, half, Machine(), 20), 3);
}

TEST(BadCases, WhatGoesOnBesideMoreOneLinersThanCanBeDone) {
  const double too_many = 1.5 * kOneLinersCapacity;
  const auto part = [&](const std::string& name, const Traffic& traffic, int turn_rows,
                        double least) {
    const double time = OneLinersBeside({traffic}, too_many, Machine(turn_rows), 10).others;
    Print("beside too many one-liners: time of " + name, time);
    EXPECT_GE(time, least) << name;
  };
  part("documents", Documents(100, 4), 128, 0.12);
  part("beams of 16, 32 rows", {.sentences = 100, .rows = 16, .open = 4}, 32, 0.12);
  part("encodings of 1000 tokens, greedy",
       {.min_tokens = 1000, .max_tokens = 1000, .rows = 1, .open = 64}, 128, 0.1);
  part("batch work", {.sentences = 30, .priority = Priority::kBatch, .open = 64}, 128, 0.04);
  part("batch work of 500 tokens",
       {.min_tokens = 500, .max_tokens = 500, .priority = Priority::kBatch, .open = 64}, 128, 0.04);
}

// The part of the capacity that is answered in time at three times the capacity.
double Goodput(Traffic traffic, absl::Duration deadline, double capacity, double* in_vain) {
  FairSimulation::Options options = Machine();
  traffic.per_second = 3 * capacity;
  traffic.deadline = deadline;
  FairSimulation simulation(options, {traffic}, 7);
  simulation.RunFor(For(8));
  const TrafficReport& report = simulation.report(0);
  *in_vain = static_cast<double>(report.started_in_vain) / simulation.seconds() / capacity;
  return static_cast<double>(report.done) / simulation.seconds() / capacity;
}

TEST(BadCases, DeadlinesAtThreeTimesTheCapacity) {
  const auto judge = [](const std::string& name, const Traffic& traffic, double least,
                        std::vector<double> deadlines) {
    const double capacity = Capacity(traffic);
    Print(name + ": capacity, requests/s", capacity);
    for (const double seconds : deadlines) {
      double in_vain = 0;
      const double goodput = Goodput(traffic, absl::Seconds(seconds), capacity, &in_vain);
      const std::string deadline = absl::FormatDuration(absl::Seconds(seconds));
      Print(name + ", deadline " + deadline + ": in time", goodput);
      Print(name + ", deadline " + deadline + ": begun in vain", in_vain);
      EXPECT_GE(goodput, least) << name << " " << deadline;
    }
  };
  judge("one-liners", {}, 0.8, {0.25, 0.5, 2});
  judge("7 sentences, beam 8", {.sentences = 7, .rows = 8}, 0.7, {0.5, 1, 2});
  judge("1 to 7 sentences", {.min_tokens = 10, .max_tokens = 80}, 0.7, {0.5, 1, 2});
}

TEST(BadCases, LongTextsWithDeadlinesBesideOneLiners) {
  const Traffic texts = {.per_second = 40, .sentences = 7, .deadline = absl::Seconds(1)};
  FairSimulation simulation(Machine(), {OneLiners(kOneLinersCapacity / 2), texts}, 3);
  simulation.RunFor(For(10));
  const TrafficReport& report = simulation.report(1);
  Print("7 sentences, 1 s, 40/s beside one-liners (half load): in time/s",
        static_cast<double>(report.done) / simulation.seconds());
  Print("7 sentences, 1 s, 40/s beside one-liners (half load): begun in vain/s",
        static_cast<double>(report.started_in_vain) / simulation.seconds());
  Print("and the one-liners: p99, ms", 1e3 * simulation.report(0).Percentile(0.99));
}

// 40 documents of 30 kB (scaled down in the short run) that come at once, beside more one-liners
// than can be done.
TEST(BadCases, FortyDocumentsEnd) {
  const int sentences = std::min(320, 40 * std::max(1, Table()));
  const Traffic documents = {.per_second = 40e6,
                             .sentences = sentences,
                             .min_tokens = 10,
                             .max_tokens = 30,
                             .burst = 40,
                             .most = 40};
  FairSimulation::Options options = Machine();
  options.limits.max_waiting_tokens = 1 << 20;
  options.limits.max_waiting_work = 1e9;
  FairSimulation alone(options, {documents}, 1);
  alone.Run(40);
  const double seconds = 5 * alone.seconds();
  Traffic one_liners = OneLiners(1.5 * kOneLinersCapacity);
  FairSimulation simulation(options, {documents, one_liners}, 1);
  simulation.Run(40 + static_cast<int64_t>(seconds * one_liners.per_second));
  TrafficReport& report = simulation.report(0);
  Print("40 documents alone: the last ends, s", alone.seconds());
  for (const double p : {0.1, 0.5, 1.0}) {
    Print("40 documents: percentile " + std::to_string(static_cast<int>(100 * p)) +
              " / all of them alone",
          report.Percentile(p) / alone.seconds());
  }
  EXPECT_EQ(report.done, 40);
  EXPECT_LE(report.Percentile(1), 6 * alone.seconds());
  Print("and the one-liners: p99, ms", 1e3 * simulation.report(1).Percentile(0.99));
  Print("and the one-liners: answered, of the capacity",
        static_cast<double>(simulation.report(1).done) / simulation.seconds() / kOneLinersCapacity);
}

TEST(BadCases, AGreedyPrincipalAndAModestOne) {
  const auto modest = [](const std::vector<Traffic>& others) {
    std::vector<Traffic> traffic = others;
    traffic.insert(traffic.begin(), {.principal = "modest", .per_second = 10});
    FairSimulation simulation(Machine(), traffic, 2);
    simulation.RunFor(For(20));
    EXPECT_EQ(simulation.report(0).refused, 0);
    return 1e3 * simulation.report(0).Percentile(0.99);
  };
  const double alone = modest({});
  const double beside = modest({{.principal = "greedy", .per_second = 3000, .burst = 100}});
  Print("a modest principal beside a greedy one: p99 / alone", beside / alone);
  EXPECT_LE(beside, 15 * alone);  // full turns, which take much longer than its own
  const double documents = modest({{.principal = "greedy",
                                    .sentences = 300,
                                    .min_tokens = 200,
                                    .max_tokens = 500,
                                    .open = 20}});
  Print("a modest principal beside greedy documents: p99 / alone", documents / alone);
  EXPECT_LE(documents, 4 * alone);
}

TEST(BadCases, AnIdleServerRefusesNobody) {
  FairSimulation::Options options = Machine();
  options.noise = 0.5;
  const Traffic now_and_then = {
      .per_second = 1, .sentences = 7, .deadline = absl::Milliseconds(300)};
  FairSimulation simulation(options, {now_and_then}, 4);
  simulation.RunFor(For(100));
  const TrafficReport& report = simulation.report(0);
  Print("a text a second, deadline 0.3 s: in time",
        static_cast<double>(report.done) / static_cast<double>(report.sent));
  EXPECT_GE(report.done, report.sent * 0.99);
}

}  // namespace
}  // namespace dragoman::bad_cases_test
