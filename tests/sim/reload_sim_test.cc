// Replaces models while their sentences are being translated, with and without a cache.  An answer
// must come entirely from the version that its request found, and a version goes away with its last
// sentence.  Seeded; a failing seed can be replayed.

#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "engine/decode/result_cache.h"
#include "engine/decode/worker.h"
#include "gtest/gtest.h"
#include "tests/decode/test_jobs.h"

namespace dragoman::reload_sim_test {
namespace {

using ModelPtr = std::shared_ptr<const Model>;

// Models of two kinds, each loaded several times: one object serves one version at a time.
const std::vector<ModelPtr>& LoadedModels() {
  static const auto& models = *[] {
    auto* const loaded = new std::vector<ModelPtr>();
    for (int i = 0; i < 6; ++i) {
      const char* const kind = i % 2 == 0 ? "marian-trained" : "marian-rand";
      auto model = Model::Load("en-de", std::string("tests/golden/models/") + kind,
                               {.precision = Precision::kFloat32});
      EXPECT_TRUE(model.ok()) << model.status();
      loaded->push_back(*std::move(model));
    }
    return loaded;
  }();
  return models;
}

// The model's translation of a sentence, computed alone.
std::string Undisturbed(const ModelPtr& model, const std::string& text, int beam_size) {
  static auto* const known = new std::map<std::tuple<std::string, std::string, int>, std::string>();
  std::string& bytes = (*known)[{model->version(), text, beam_size}];
  if (!bytes.empty()) return bytes;
  Observer observer;
  DecodeScratch scratch;
  DecodeBatch batch(
      model, [] { return absl::UnixEpoch(); }, &observer, &scratch);
  std::vector<JobPtr> jobs;
  jobs.push_back(MakeJob(text, TestSearch(beam_size, 16),
                         [&bytes](JobResult result) { bytes = Bytes(result.hypotheses); }));
  jobs.back()->model = model;
  batch.Join(std::move(jobs));
  while (!batch.empty()) batch.Step();
  return bytes;
}

// A request: the version that it found, and its results.
struct Request {
  ModelPtr model;  // of the pool, not of the version: does not keep the version alive
  std::shared_ptr<RequestState> state;
  std::vector<std::string> texts;
  int beam_size = 1;
  std::vector<JobResult> results;
  int untold = 0;
};

class Simulation : public Observer {
 public:
  Simulation(uint32_t seed, size_t cache_bytes)
      : random_(seed),
        dispatcher_({.workers = Pick(1, 3),
                     .turn = {.rows = Pick(4, 12),
                              .encode_tokens = Pick(5, 60),
                              .kv_capacity_bytes = 16 * KvPool::kBlockBytes},
                     .max_waiting_requests = 8,
                     .max_waiting_tokens = 400}),
        cache_(
            {.capacity_bytes = cache_bytes, .clock = [this] { return now_; }, .own_thread = false},
            [this](std::vector<JobPtr> jobs) { return dispatcher_.Enter(std::move(jobs), now_); }),
        pool_(LoadedModels()) {
    for (int i = 0; i < dispatcher_.limits().workers; ++i) {
      workers_.push_back(std::make_unique<Worker>(
          i, 1, [this] { return now_; }, this, &dispatcher_, &prices_));
    }
    Replace();
  }

  void Run(int requests) {
    while (requests > 0 || untold_ > 0) {
      if (requests > 0 && Chance(0.5)) {
        Arrive();
        --requests;
      }
      if (Chance(0.1)) Replace();
      if (!requests_.empty() && Chance(0.05)) {
        requests_[Pick(0, requests_.size() - 1)]->state->Cancel(now_);
      }
      now_ += absl::Milliseconds(Pick(0, 5));
      for (const auto& worker : workers_) {
        if (Chance(0.8)) worker->Turn();
      }
      cache_.DropUnwanted();
    }
    current_.reset();
    for (const auto& worker : workers_) {
      while (worker->Turn()) {
      }
    }
  }

  const std::vector<std::unique_ptr<Request>>& requests() const { return requests_; }
  int replaced() const { return replaced_; }
  int alive() const { return alive_; }
  int replaced_under_way() const { return replaced_under_way_; }
  CacheStats cache() const { return cache_.stats(); }

 private:
  int Pick(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }
  bool Chance(double p) { return std::bernoulli_distribution(p)(random_); }

  // A new version takes over if a model is free.  The old model returns to the pool when nobody
  // holds the version any more.
  void Replace() {
    if (pool_.empty()) return;
    const size_t which = Pick(0, pool_.size() - 1);
    const ModelPtr model = pool_[which];
    pool_.erase(pool_.begin() + static_cast<int>(which));
    ++replaced_;
    ++alive_;
    if (untold_ > 0) ++replaced_under_way_;
    original_ = model;
    current_ = ModelPtr(model.get(), [this, model](const Model*) {
      --alive_;
      for (const auto& request : requests_) {
        // None of its jobs may still be running.
        if (request->model == model) {
          EXPECT_EQ(request->untold, 0);
        }
      }
      pool_.push_back(model);
    });
  }

  void Arrive() {
    auto request = std::make_unique<Request>();
    request->model = original_;
    request->state = std::make_shared<RequestState>(RequestTerms{
        .deadline = Chance(0.2) ? now_ + absl::Milliseconds(Pick(0, 60)) : absl::InfiniteFuture(),
        .priority = Chance(0.2) ? Priority::kBatch : Priority::kInteractive});
    request->beam_size = Pick(1, 2);
    std::vector<JobPtr> jobs;
    const int sentences = Pick(1, 4);
    request->results.resize(sentences);
    request->untold = sentences;
    for (int i = 0; i < sentences; ++i) {
      request->texts.push_back(TestSentences()[Pick(0, TestSentences().size() - 1)]);
      jobs.push_back(MakeJob(
          request->texts.back(), TestSearch(request->beam_size, 16),
          [this, i, request = request.get()](JobResult result) {
            --untold_;
            --request->untold;
            request->results[i] = std::move(result);
          },
          request->state));
      jobs.back()->model = current_;
      prices_.Price(jobs.back().get());
    }
    untold_ += sentences;  // before Submit, during which they may already end
    if (cache_.Submit(std::move(jobs)).ok()) {
      requests_.push_back(std::move(request));
    } else {
      untold_ -= sentences;
    }
  }

  std::mt19937 random_;
  absl::Time now_ = absl::FromUnixSeconds(1000);
  PriceList prices_;
  Dispatcher dispatcher_;
  ResultCache cache_;
  std::vector<ModelPtr> pool_;
  std::vector<std::unique_ptr<Request>> requests_;
  ModelPtr original_;
  ModelPtr current_;
  std::vector<std::unique_ptr<Worker>> workers_;
  int untold_ = 0;
  int replaced_ = 0, alive_ = 0, replaced_under_way_ = 0;
};

class ReloadSimulation : public testing::TestWithParam<size_t> {};

TEST_P(ReloadSimulation, EveryAnswerComesFromOneVersion) {
  int translated = 0, failed = 0, replaced = 0;
  CacheStats cache;
  for (uint32_t seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Simulation simulation(seed, GetParam());
    simulation.Run(40);
    replaced += simulation.replaced_under_way();
    EXPECT_EQ(simulation.alive(), 0);
    for (const auto& request : simulation.requests()) {
      ASSERT_EQ(request->untold, 0);
      for (size_t i = 0; i < request->texts.size(); ++i) {
        const JobResult& result = request->results[i];
        if (!result.status.ok()) {
          ++failed;
          continue;
        }
        ++translated;
        ASSERT_EQ(Bytes(result.hypotheses),
                  Undisturbed(request->model, request->texts[i], request->beam_size))
            << request->texts[i];
      }
    }
    cache.hits += simulation.cache().hits;
    cache.shared += simulation.cache().shared;
    cache.evictions += simulation.cache().evictions;
    EXPECT_LE(simulation.cache().bytes, GetParam());
  }
  EXPECT_GT(replaced, 30);
  EXPECT_GT(translated, 300);
  EXPECT_GT(failed, 20);
  EXPECT_GT(cache.shared, 5);
  if (GetParam() > 0) {
    EXPECT_GT(cache.hits, 30);
    EXPECT_GT(cache.evictions, 5);
  }
}

// Capacities of the cache: none, a small one, and a large one.
INSTANTIATE_TEST_SUITE_P(Caches, ReloadSimulation, testing::Values(0, 8'000));

}  // namespace
}  // namespace dragoman::reload_sim_test
