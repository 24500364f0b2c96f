// The promise that no other server makes: a sentence's translation is the same, to the last bit,
// whoever else is in the batch, whenever they join and however they leave.

#include "engine/decode/decode_batch.h"

#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "gtest/gtest.h"
#include "tests/decode/test_jobs.h"

namespace dragoman {
namespace {

struct Request {
  std::string text;
  SearchOptions options;
};

// Every test sentence under several searches, so that beams of unequal width share a batch.
std::vector<Request> Requests() {
  std::vector<Request> requests;
  for (const std::string& text : TestSentences()) {
    for (const auto& [beam_size, max_length] : {std::pair(1, 40), {2, 7}, {4, 40}, {5, 24}}) {
      requests.push_back({text, TestSearch(beam_size, max_length)});
      requests.back().options.length_penalty = beam_size == 5 ? 0.6f : 1.0f;
    }
  }
  return requests;
}

class DecodeBatchTest : public testing::Test {
 protected:
  DecodeBatch MakeBatch() { return DecodeBatch(TrainedModel(), absl::Now, &observer_, &scratch_); }

  // Translates one request in a batch of its own.
  std::string Alone(const Request& request) {
    std::string bytes;
    DecodeBatch batch = MakeBatch();
    std::vector<JobPtr> jobs;
    jobs.push_back(MakeJob(request.text, request.options, [&](JobResult result) {
      EXPECT_TRUE(result.status.ok()) << result.status;
      bytes = Bytes(result.hypotheses);
    }));
    batch.Join(std::move(jobs));
    while (!batch.empty()) batch.Step();
    return bytes;
  }

  NullObserver observer_;
  DecodeScratch scratch_;
};

TEST_F(DecodeBatchTest, ASentenceDoesNotNoticeWhoElseIsInTheBatch) {
  const std::vector<Request> requests = Requests();
  std::vector<std::string> alone;
  for (const Request& request : requests) alone.push_back(Alone(request));

  for (uint32_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937 random(seed);
    std::vector<size_t> order(requests.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::shuffle(order.begin(), order.end(), random);
    order.resize(std::uniform_int_distribution<size_t>(1, 16)(random));

    DecodeBatch batch = MakeBatch();
    int done = 0, dropped = 0;
    std::vector<std::shared_ptr<RequestState>> states;
    size_t next = 0;
    while (next < order.size() || !batch.empty()) {
      std::vector<JobPtr> joining;
      while (next < order.size() && std::bernoulli_distribution(0.4)(random)) {
        const size_t which = order[next++];
        states.push_back(std::make_shared<RequestState>(absl::InfiniteFuture()));
        joining.push_back(MakeJob(
            requests[which].text, requests[which].options,
            [&, which](JobResult result) {
              ++done;
              if (absl::IsCancelled(result.status)) {
                ++dropped;
                return;
              }
              EXPECT_TRUE(result.status.ok()) << result.status;
              EXPECT_EQ(Bytes(result.hypotheses), alone[which]) << requests[which].text;
            },
            states.back()));
      }
      if (!joining.empty()) batch.Join(std::move(joining));
      if (!states.empty() && std::bernoulli_distribution(0.05)(random)) {
        states[std::uniform_int_distribution<size_t>(0, states.size() - 1)(random)]->Cancel();
      }
      batch.DropUnwanted();
      if (!batch.empty()) batch.Step();
    }
    EXPECT_EQ(done, static_cast<int>(order.size()));
    EXPECT_LT(dropped, done + 1);
    EXPECT_EQ(batch.load().rows, 0);
    EXPECT_EQ(batch.load().kv_bytes, 0u);
  }
}

TEST_F(DecodeBatchTest, ReservesWhatASentenceCanNeedUntilItEnds) {
  DecodeBatch batch = MakeBatch();
  bool done = false;
  JobPtr job = MakeJob("The cat is old.", TestSearch(3, 20), [&](JobResult) { done = true; });
  const size_t bytes = job->KvBytes();
  EXPECT_EQ(bytes, sizeof(float) * 2 * 64 * 2 * (job->source.size() + 20 * 3));
  std::vector<JobPtr> jobs;
  jobs.push_back(std::move(job));
  batch.Join(std::move(jobs));
  EXPECT_EQ(batch.load().rows, 3);
  EXPECT_EQ(batch.load().kv_bytes, bytes);
  while (!batch.empty()) batch.Step();
  EXPECT_TRUE(done);
  EXPECT_EQ(batch.load().rows, 0);
  EXPECT_EQ(batch.load().kv_bytes, 0u);
}

TEST_F(DecodeBatchTest, AJobPastItsDeadlineLeavesBeforeTheNextStep) {
  absl::Time now = absl::UnixEpoch();
  DecodeBatch batch(
      TrainedModel(), [&now] { return now; }, &observer_, &scratch_);
  absl::Status status;
  int steps = -1;
  std::vector<JobPtr> jobs;
  jobs.push_back(MakeJob(
      TestSentences()[5], TestSearch(4, 40),
      [&](JobResult result) {
        status = result.status;
        steps = result.times.steps;
      },
      std::make_shared<RequestState>(now + absl::Seconds(1))));
  batch.Join(std::move(jobs));
  batch.Step();
  batch.DropUnwanted();
  EXPECT_FALSE(batch.empty());
  now += absl::Seconds(1);
  batch.DropUnwanted();
  EXPECT_TRUE(batch.empty());
  EXPECT_TRUE(absl::IsDeadlineExceeded(status)) << status;
  EXPECT_EQ(steps, 1);
}

TEST_F(DecodeBatchTest, TellsTheObserverWhatItDid) {
  struct Counter : NullObserver {
    void OnEncode(const Model&, int sentences, int tokens, absl::Duration) override {
      encoded_sentences += sentences;
      encoded_tokens += tokens;
    }
    void OnDecodeStep(const Model&, int sentences, int rows, absl::Duration) override {
      ++steps;
      most_rows = std::max(most_rows, rows);
      EXPECT_LE(sentences, rows);
    }
    void OnJobDone(const Job&, const JobResult& result) override {
      if (result.status.ok()) ++done;
    }
    int encoded_sentences = 0, encoded_tokens = 0, steps = 0, most_rows = 0, done = 0;
  } counter;
  DecodeBatch batch(TrainedModel(), absl::Now, &counter, &scratch_);
  std::vector<JobPtr> jobs;
  size_t tokens = 0;
  int longest = 0;
  for (int i = 0; i < 2; ++i) {
    jobs.push_back(MakeJob(TestSentences()[i], TestSearch(4, 30), [&](JobResult result) {
      longest = std::max(longest, result.times.steps);
    }));
    tokens += jobs.back()->source.size();
  }
  batch.Join(std::move(jobs));
  while (!batch.empty()) batch.Step();
  EXPECT_EQ(counter.encoded_sentences, 2);
  EXPECT_EQ(counter.encoded_tokens, static_cast<int>(tokens));
  EXPECT_EQ(counter.steps, longest);
  EXPECT_EQ(counter.most_rows, 8);
  EXPECT_EQ(counter.done, 2);
}

}  // namespace
}  // namespace dragoman
