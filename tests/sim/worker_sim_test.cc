// Seeded traffic for real workers with a simulated clock: requests of different sizes arrive, are
// cancelled or time out, on several workers, and in the end every job has been answered.  The same
// seed makes the same history, so a failing seed can be replayed.

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "engine/decode/worker.h"
#include "gtest/gtest.h"
#include "tests/decode/test_jobs.h"

namespace dragoman::worker_sim_test {
namespace {

// The outcome of a job.
struct Outcome {
  std::string text;
  int beam_size = 0;
  int times_told = 0;
  JobResult result;
};

class Simulation : public Observer {
 public:
  explicit Simulation(uint32_t seed)
      : random_(seed),
        dispatcher_({.workers = Pick(1, 3),
                     .turn = {.rows = Pick(4, 12),
                              .encode_tokens = Pick(5, 60),
                              .kv_capacity_bytes = 8 * KvPool::kBlockBytes},
                     .max_waiting_requests = 6,
                     .max_waiting_tokens = 300}) {
    for (int i = 0; i < dispatcher_.limits().workers; ++i) {
      workers_.push_back(std::make_unique<Worker>(
          i, Pick(1, 2), [this] { return now_; }, this, &dispatcher_, &prices_));
    }
  }

  // Lets this many requests arrive and takes turns until all the work is done.
  void Run(int requests) {
    bool busy = true;
    while (requests > 0 || busy) {
      if (requests > 0 && Chance(0.5)) {
        Arrive();
        --requests;
      }
      if (!states_.empty() && Chance(0.08)) states_[Pick(0, states_.size() - 1)]->Cancel(now_);
      now_ += absl::Milliseconds(Pick(0, 5));
      for (const auto& worker : workers_) {
        if (Chance(0.8)) worker->Turn();
      }
      busy = untold_ > 0;
    }
  }

  // One for each accepted job, in order of arrival.
  const std::vector<std::unique_ptr<Outcome>>& outcomes() const { return outcomes_; }
  LineStats line() const { return dispatcher_.stats(Priority::kInteractive); }
  const std::vector<std::unique_ptr<Worker>>& workers() const { return workers_; }
  int refused_requests() const { return refused_requests_; }

 private:
  int Pick(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }
  bool Chance(double p) { return std::bernoulli_distribution(p)(random_); }

  void Arrive() {
    const absl::Time deadline =
        Chance(0.3) ? now_ + absl::Milliseconds(Pick(0, 60)) : absl::InfiniteFuture();
    const auto state = std::make_shared<RequestState>(
        RequestTerms{.deadline = deadline,
                     .principal = std::string(1, static_cast<char>('a' + Pick(0, 2))),
                     .priority = Chance(0.2) ? Priority::kBatch : Priority::kInteractive});
    std::vector<JobPtr> jobs;
    std::vector<std::unique_ptr<Outcome>> outcomes;
    for (int i = Pick(1, 4); i > 0; --i) {
      auto outcome = std::make_unique<Outcome>();
      outcome->text = TestSentences()[Pick(0, TestSentences().size() - 1)];
      outcome->beam_size = Pick(1, 4);
      jobs.push_back(MakeJob(
          outcome->text, TestSearch(outcome->beam_size, 16),
          [this, outcome = outcome.get()](JobResult result) {
            ++outcome->times_told;
            --untold_;
            outcome->result = std::move(result);
          },
          state));
      prices_.Price(jobs.back().get());
      outcomes.push_back(std::move(outcome));
    }
    if (!dispatcher_.Enter(std::move(jobs), now_).ok()) {
      ++refused_requests_;
      return;
    }
    states_.push_back(state);
    for (auto& outcome : outcomes) {
      outcomes_.push_back(std::move(outcome));
      ++untold_;
    }
  }

  std::mt19937 random_;
  absl::Time now_ = absl::UnixEpoch();
  PriceList prices_;
  Dispatcher dispatcher_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<std::shared_ptr<RequestState>> states_;
  std::vector<std::unique_ptr<Outcome>> outcomes_;
  int untold_ = 0;
  int refused_requests_ = 0;
};

// The translation of a sentence, computed alone.
std::string Undisturbed(const std::string& text, int beam_size) {
  static auto* const known = new std::map<std::pair<std::string, int>, std::string>();
  std::string& bytes = (*known)[{text, beam_size}];
  if (!bytes.empty()) return bytes;
  Observer observer;
  DecodeScratch scratch;
  DecodeBatch batch(
      TrainedModel(), [] { return absl::UnixEpoch(); }, &observer, &scratch);
  std::vector<JobPtr> jobs;
  jobs.push_back(MakeJob(text, TestSearch(beam_size, 16),
                         [&bytes](JobResult result) { bytes = Bytes(result.hypotheses); }));
  batch.Join(std::move(jobs));
  while (!batch.empty()) batch.Step();
  return bytes;
}

class WorkerSimulation : public testing::TestWithParam<int> {};

TEST_P(WorkerSimulation, EveryJobEndsExactlyOnceAndNothingIsLeft) {
  int translated = 0, cancelled = 0, late = 0, refused = 0;
  for (uint32_t seed = GetParam() * 25; seed < GetParam() * 25u + 25; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Simulation simulation(seed);
    simulation.Run(40);
    refused += simulation.refused_requests();
    for (const auto& outcome : simulation.outcomes()) {
      ASSERT_EQ(outcome->times_told, 1) << outcome->text;
      const absl::Status& status = outcome->result.status;
      if (absl::IsCancelled(status)) {
        ++cancelled;
      } else if (absl::IsDeadlineExceeded(status)) {
        ++late;
      } else if (absl::IsResourceExhausted(status)) {
        ++refused;  // it yielded to another principal's
      } else {
        ++translated;
        ASSERT_TRUE(status.ok()) << status;
        ASSERT_EQ(Bytes(outcome->result.hypotheses), Undisturbed(outcome->text, outcome->beam_size))
            << outcome->text;
      }
    }
    EXPECT_EQ(simulation.line().requests, 0);
    EXPECT_EQ(simulation.line().tokens, 0);
    for (const auto& worker : simulation.workers()) {
      EXPECT_EQ(worker->kv_bytes(), 0u);
      EXPECT_FALSE(worker->Turn());
    }
  }
  // Every outcome must have occurred.
  EXPECT_GT(translated, 100);
  EXPECT_GT(cancelled, 10);
  EXPECT_GT(late, 10);
  EXPECT_GT(refused, 10);
}

INSTANTIATE_TEST_SUITE_P(Seeds, WorkerSimulation, testing::Range(0, 4));

}  // namespace
}  // namespace dragoman::worker_sim_test
