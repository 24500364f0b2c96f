// The translation of a sentence is the same to the last bit whatever other sentences are in the
// batch, whenever they join and however they leave.

#include "engine/decode/decode_batch.h"

#include <algorithm>
#include <fstream>
#include <functional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "gtest/gtest.h"
#include "tests/decode/test_jobs.h"

namespace dragoman::decode_batch_test {
namespace {

struct Request {
  std::string text;
  WholeSearch options;
  std::vector<int32_t> shortlist = {};
};

// The first 50 tokens of the model's vocabulary, which include eos, and a fifth of the others.
std::vector<int32_t> SomeTokens(uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<int32_t> tokens;
  for (int32_t token = 0; token < TrainedModel()->spec().target_vocabulary; ++token) {
    if (token < 50 || std::bernoulli_distribution(0.2)(random)) tokens.push_back(token);
  }
  return tokens;
}

// Every test sentence with several searches, so that beams of different widths share a batch, some
// with the whole vocabulary and some with a shortlist of their own.
std::vector<Request> Requests() {
  std::vector<Request> requests;
  for (const std::string& text : TestSentences()) {
    for (const auto& [beam_size, max_length] : {std::pair(1, 40), {2, 7}, {4, 40}, {5, 24}}) {
      requests.push_back({text, TestSearch(beam_size, max_length)});
      requests.back().options.length_penalty = beam_size == 5 ? 0.6f : 1.0f;
      if (beam_size % 2 != 0) continue;
      requests.push_back(requests.back());
      requests.back().shortlist = SomeTokens(static_cast<uint32_t>(requests.size()));
    }
  }
  return requests;
}

// The model in int8, with a shortlist file, so that it can compute only some of the logits.
std::shared_ptr<const Model> SelectiveModel() {
  const std::string file = testing::TempDir() + "decode_batch_test.lex";
  const Tokenizer& tokenizer = TrainedModel()->tokenizer();
  std::ofstream(file) << tokenizer.TargetPiece(100) << " " << tokenizer.SourcePiece(100) << " 1\n";
  auto loaded = Model::Load("toy", "tests/golden/models/marian-trained",
                            {.precision = Precision::kInt8, .shortlist = {.file = file}});
  EXPECT_TRUE(loaded.ok()) << loaded.status();
  return *std::move(loaded);
}

class DecodeBatchTest : public testing::Test {
 protected:
  DecodeBatch MakeBatch() { return DecodeBatch(model_, absl::Now, &observer_, &scratch_); }

  JobPtr JobFor(const Request& request, std::function<void(JobResult)> on_done,
                std::shared_ptr<RequestState> state = nullptr) {
    JobPtr job = MakeJob(request.text, request.options, std::move(on_done), std::move(state));
    job->model = model_;
    job->shortlist = request.shortlist;
    return job;
  }

  void ExpectThatNobodyNoticesTheOthers();

  // Translates one request in a batch of its own.
  std::string Alone(const Request& request) { return Bytes(HypothesesAlone(request)); }
  std::vector<Hypothesis> HypothesesAlone(const Request& request) {
    std::vector<Hypothesis> hypotheses;
    DecodeBatch batch = MakeBatch();
    std::vector<JobPtr> jobs;
    jobs.push_back(JobFor(request, [&](JobResult result) {
      EXPECT_TRUE(result.status.ok()) << result.status;
      hypotheses = std::move(result.hypotheses);
    }));
    batch.Join(std::move(jobs));
    while (!batch.empty()) batch.Step();
    return hypotheses;
  }

  std::shared_ptr<const Model> model_ = TrainedModel();
  Observer observer_;
  DecodeScratch scratch_;
};

void DecodeBatchTest::ExpectThatNobodyNoticesTheOthers() {
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
    int done = 0;
    std::set<const RequestState*> cancelled;
    std::vector<std::shared_ptr<RequestState>> states;
    size_t next = 0;
    while (next < order.size() || !batch.empty()) {
      std::vector<JobPtr> joining;
      while (next < order.size() && std::bernoulli_distribution(0.4)(random)) {
        const size_t which = order[next++];
        states.push_back(std::make_shared<RequestState>(absl::InfiniteFuture()));
        joining.push_back(JobFor(
            requests[which],
            [&, which, state = states.back().get()](JobResult result) {
              ++done;
              if (cancelled.count(state) > 0 && absl::IsCancelled(result.status)) return;
              EXPECT_TRUE(result.status.ok()) << result.status;
              EXPECT_EQ(Bytes(result.hypotheses), alone[which]) << requests[which].text;
            },
            states.back()));
      }
      if (!joining.empty()) batch.Join(std::move(joining));
      if (!states.empty() && std::bernoulli_distribution(0.05)(random)) {
        RequestState& state =
            *states[std::uniform_int_distribution<size_t>(0, states.size() - 1)(random)];
        cancelled.insert(&state);
        state.Cancel(absl::Now());
      }
      batch.DropUnwanted();
      std::vector<Resident> residents;  // some sentences pause
      batch.AppendResidents(&residents);
      for (Resident& resident : residents) resident.runs = std::bernoulli_distribution(0.8)(random);
      EXPECT_EQ(batch.SetRunning(residents, 0), residents.size());
      if (batch.runs()) batch.Step();
    }
    EXPECT_EQ(done, static_cast<int>(order.size()));
    EXPECT_EQ(batch.load().rows, 0);
    EXPECT_EQ(batch.load().kv_bytes, 0u);
  }
}

TEST_F(DecodeBatchTest, ASentenceDoesNotNoticeWhoElseIsInTheBatch) {
  ExpectThatNobodyNoticesTheOthers();
}

TEST_F(DecodeBatchTest, NorWithAModelMadeForShortlists) {
  model_ = SelectiveModel();
  ExpectThatNobodyNoticesTheOthers();
}

TEST_F(DecodeBatchTest, ASentenceIsTranslatedToItsShortlistAlone) {
  for (const auto& model : {TrainedModel(), SelectiveModel()}) {
    model_ = model;
    for (const int beam_size : {1, 4}) {
      Request request = {TestSentences()[0], TestSearch(beam_size, 20)};
      const std::vector<Hypothesis> whole = HypothesesAlone(request);
      // A shortlist with the tokens of the plain translation and others gives the same translation.
      request.shortlist = SomeTokens(1);
      for (const Hypothesis& hypothesis : whole) {
        request.shortlist.insert(request.shortlist.end(), hypothesis.tokens.begin(),
                                 hypothesis.tokens.end());
      }
      std::sort(request.shortlist.begin(), request.shortlist.end());
      request.shortlist.erase(std::unique(request.shortlist.begin(), request.shortlist.end()),
                              request.shortlist.end());
      const std::vector<Hypothesis> listed = HypothesesAlone(request);
      EXPECT_EQ(listed[0].tokens, whole[0].tokens);
      EXPECT_GT(listed[0].log_prob,
                whole[0].log_prob);  // tokens outside the list have no probability
      // A shortlist without its first token gives another translation.
      std::erase(request.shortlist, whole[0].tokens[0]);
      const std::vector<Hypothesis> other = HypothesesAlone(request);
      EXPECT_NE(other[0].tokens, whole[0].tokens);
      for (const Hypothesis& hypothesis : other) {
        for (const int32_t token : hypothesis.tokens) {
          EXPECT_TRUE(
              std::binary_search(request.shortlist.begin(), request.shortlist.end(), token));
        }
      }
    }
  }
}

TEST_F(DecodeBatchTest, ReservesWhatASentenceCanNeedUntilItEnds) {
  DecodeBatch batch = MakeBatch();
  bool done = false;
  JobPtr job = MakeJob("The cat is old.", TestSearch(3, 20), [&](JobResult) { done = true; });
  const size_t bytes = job->cost.kv_bytes;
  EXPECT_EQ(bytes, 2 * KvPool::kBlockBytes);  // one for the source, one for up to 60 nodes
  std::vector<JobPtr> jobs;
  jobs.push_back(std::move(job));
  batch.Join(std::move(jobs));
  EXPECT_EQ(batch.load().rows, 3);
  EXPECT_EQ(batch.load().kv_bytes, bytes);
  EXPECT_EQ(scratch_.kv_pool.taken_bytes(), KvPool::kBlockBytes);  // there are no nodes yet
  while (!batch.empty()) batch.Step();
  EXPECT_TRUE(done);
  EXPECT_EQ(batch.load().rows, 0);
  EXPECT_EQ(batch.load().kv_bytes, 0u);
  EXPECT_EQ(scratch_.kv_pool.taken_bytes(), 0u);
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

TEST_F(DecodeBatchTest, TellsTheObserverWhatItDidAndTheSinkWhatEnded) {
  struct Counter : Observer {
    void OnEncode(const Model&, int sentences, int tokens, absl::Duration) override {
      encoded_sentences += sentences;
      encoded_tokens += tokens;
    }
    void OnDecodeStep(const Model&, int sentences, int rows, absl::Duration) override {
      ++steps;
      most_rows = std::max(most_rows, rows);
      EXPECT_LE(sentences, rows);
    }
    int encoded_sentences = 0, encoded_tokens = 0, steps = 0, most_rows = 0;
  } counter;
  int done = 0;
  DecodeBatch batch(TrainedModel(), absl::Now, &counter, &scratch_,
                    [&done](Job* job, JobResult result) {
                      if (result.status.ok()) ++done;
                      job->Finish(std::move(result));
                    });
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
  EXPECT_EQ(done, 2);
}

// A sentence of a crowd in which each has other options.
JobPtr MixedJob(int i, std::function<void(JobResult)> on_done) {
  const std::vector<std::string>& sentences = TestSentences();
  WholeSearch search = TestSearch(1 + i % 5, 12 + i % 30);
  search.num_hypotheses = 1 + i % search.beam_size;
  search.repetition_penalty = i % 3 == 0 ? 1.3f : 1.0f;
  search.no_repeat_ngram_size = i % 4 == 0 ? 2 : 0;
  search.length_penalty = 0.25f * static_cast<float>(i % 7);
  search.length_normalization =
      i % 6 == 0 ? LengthNormalization::kGnmt : LengthNormalization::kLength;
  search.patience = i % 8 == 0 ? 1.5f : 1.0f;
  search.min_length = i % 9;
  search.disable_unk = i % 2 == 0;
  search.repetition_guard = i % 2 == 1;
  const int kind = i % 7;
  if (kind == 1) {
    search.sampling = true;
    search.num_hypotheses = search.beam_size = 1 + i % 4;
    search.sampling_temperature = 0.7f + 0.1f * static_cast<float>(i % 5);
    search.sampling_top_k = i % 3 == 0 ? 20 : 0;
    search.sampling_top_p = i % 4 == 0 ? 0.9f : 1.0f;
  }
  if (kind == 2) search.return_alternatives = true;
  if (kind == 3) {
    search.beam_size = 4;
    search.beam_groups = 2;
    search.num_hypotheses = 1 + i % 4;
  }
  JobPtr job = MakeJob(sentences[i % sentences.size()], search, std::move(on_done));
  job->random_key = static_cast<uint64_t>(i);
  const Tokenizer& tokenizer = job->model->tokenizer();
  if (kind == 2 || kind == 4) job->prefix = tokenizer.EncodeTarget(i % 2 == 0 ? "Der alte" : "Die");
  if (kind == 5) {
    job->phrases.push_back({{tokenizer.EncodeTarget("Haus"), tokenizer.EncodeTarget("Häuser")}});
    if (i % 3 == 0) job->phrases.back().max_loss = 0.5f;
    if (i % 4 < 3) job->phrases.back().source = {i % 2, 2};
    if (i % 2 == 0) job->phrases.push_back({{tokenizer.EncodeTarget("kleinen Apfel")}});
  }
  if (kind == 6) {
    job->score_prefix = true;
    job->prefix = tokenizer.EncodeTarget("Der alte Lehrer sieht ein kleines Haus.");
    job->options.max_length = static_cast<int>(job->prefix.size()) + 1;
  }
  return job;
}

TEST_F(DecodeBatchTest, TwoHundredSentencesWithDifferentOptionsAreAsIfAlone) {
  constexpr int kSentences = 200;
  std::vector<std::string> alone(kSentences);
  for (int i = 0; i < kSentences; ++i) {
    DecodeBatch batch = MakeBatch();
    std::vector<JobPtr> jobs;
    jobs.push_back(MixedJob(i, [&](JobResult result) {
      EXPECT_TRUE(result.status.ok()) << i << ": " << result.status;
      alone[i] = Bytes(result.hypotheses);
    }));
    batch.Join(std::move(jobs));
    while (!batch.empty()) batch.Step();
  }
  for (const int threads : {1, 2}) {
    DecodeScratch scratch(threads);
    DecodeBatch batch(model_, absl::Now, &observer_, &scratch);
    std::vector<JobPtr> jobs;
    int done = 0;
    for (int i = 0; i < kSentences; ++i) {
      jobs.push_back(MixedJob(i, [&, i](JobResult result) {
        ++done;
        EXPECT_EQ(Bytes(result.hypotheses), alone[i]) << i;
      }));
    }
    batch.Join(std::move(jobs));
    while (!batch.empty()) batch.Step();
    EXPECT_EQ(done, kSentences);
  }
}

// The prefix is computed in one pass; the tokens after it are those that greedy search had found.
TEST_F(DecodeBatchTest, APrefixThatTheSearchWouldHaveFoundChangesNothing) {
  for (const std::string& text : TestSentences()) {
    const Request request = {text, TestSearch(1, 30)};
    const std::vector<Hypothesis> whole = HypothesesAlone(request);
    if (whole[0].tokens.size() < 4) continue;
    std::vector<Hypothesis> rest;
    DecodeBatch batch = MakeBatch();
    std::vector<JobPtr> jobs;
    jobs.push_back(JobFor(request, [&](JobResult result) { rest = std::move(result.hypotheses); }));
    jobs[0]->prefix.assign(whole[0].tokens.begin(), whole[0].tokens.begin() + 3);
    batch.Join(std::move(jobs));
    int steps = 0;
    for (; !batch.empty(); ++steps) batch.Step();
    ASSERT_EQ(rest.size(), 1u);
    EXPECT_EQ(rest[0].tokens, whole[0].tokens);
    EXPECT_EQ(steps, static_cast<int>(whole[0].token_log_probs.size()) - 3);
    for (size_t i = 3; i < whole[0].token_log_probs.size(); ++i) {
      EXPECT_EQ(rest[0].token_log_probs[i], whole[0].token_log_probs[i]);
    }
  }
}

// Scoring a translation gives the log-probabilities that greedy search reported, to the bit.
TEST_F(DecodeBatchTest, ScoresATranslationAsTheSearchDid) {
  for (const std::string& text : TestSentences()) {
    const Request request = {text, TestSearch(1, 40)};
    const std::vector<Hypothesis> found = HypothesesAlone(request);
    if (found[0].finish_reason != FinishReason::kEos) continue;
    std::vector<Hypothesis> scored;
    DecodeBatch batch = MakeBatch();
    std::vector<JobPtr> jobs;
    jobs.push_back(JobFor(request, [&](JobResult result) { scored = result.hypotheses; }));
    jobs[0]->score_prefix = true;
    jobs[0]->prefix = found[0].tokens;
    jobs[0]->options.max_length = static_cast<int>(found[0].tokens.size()) + 1;
    batch.Join(std::move(jobs));
    batch.Step();
    EXPECT_TRUE(batch.empty());
    ASSERT_EQ(scored.size(), 1u);
    ASSERT_EQ(scored[0].token_log_probs.size(), found[0].token_log_probs.size());
    for (size_t i = 0; i < found[0].token_log_probs.size(); ++i) {
      EXPECT_NEAR(scored[0].token_log_probs[i], found[0].token_log_probs[i], 1e-6f);
    }
  }
}

}  // namespace
}  // namespace dragoman::decode_batch_test
