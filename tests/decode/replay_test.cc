// What a replay reports of the hypotheses of any search, and that the search is not changed by it.

#include "engine/decode/replay.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "absl/time/clock.h"
#include "engine/decode/decode_batch.h"
#include "engine/decode/job_key.h"
#include "gtest/gtest.h"
#include "tests/decode/test_jobs.h"

namespace dragoman::replay_test {
namespace {

constexpr int kCandidates = 3;

std::vector<AttentionHead> SomeHeads() {
  return {{AttentionKind::kEncoder, 1, 2}, {AttentionKind::kCross, 1, 0},
          {AttentionKind::kEncoder, 0, 0}, {AttentionKind::kCross, 0, 3},
          {AttentionKind::kCross, 1, 1},   {AttentionKind::kCross, 1, 2},
          {AttentionKind::kCross, 1, 3},   {AttentionKind::kDecoder, 1, 2},
          {AttentionKind::kDecoder, 0, 1}};
}

class ReplayTest : public testing::Test {
 protected:
  // Runs the jobs in one batch; they are encoded as soon as they ask for it.
  std::vector<std::vector<Hypothesis>> Run(std::vector<JobPtr> jobs) {
    std::vector<std::vector<Hypothesis>> found(jobs.size());
    for (size_t i = 0; i < jobs.size(); ++i) {
      jobs[i]->on_done = [&found, i](JobResult result) {
        EXPECT_TRUE(result.status.ok()) << result.status;
        found[i] = std::move(result.hypotheses);
      };
    }
    DecodeBatch batch(TrainedModel(), absl::Now, &observer_, &scratch_);
    batch.Join(std::move(jobs));
    while (!batch.empty()) {
      std::vector<Resident> residents;
      batch.AppendResidents(&residents);
      for (Resident& resident : residents) {
        resident.runs = true;
        resident.encode_stages = resident.stages_left;
      }
      batch.SetRunning(residents, 0);
      batch.Encode();
      if (batch.runs()) batch.Step();
    }
    EXPECT_EQ(scratch_.kv_pool.taken_bytes(), 0u);
    return found;
  }

  Observer observer_;
  DecodeScratch scratch_;
};

JobPtr JobFor(const std::string& text, const WholeSearch& options) {
  return MakeJob(text, options, nullptr);
}

void Ask(Job* job) {
  job->heads = SomeHeads();
  job->candidates = kCandidates;
  job->attention = true;
}

std::vector<WholeSearch> Searches() {
  std::vector<WholeSearch> searches = {TestSearch(1, 40), TestSearch(4, 40), TestSearch(4, 5),
                                       TestSearch(4, 40), TestSearch(3, 40)};
  searches[3].beam_groups = 2;
  searches[4].sampling = true;
  searches[4].repetition_guard = true;
  return searches;
}

TEST_F(ReplayTest, ChangesNothingThatTheSearchFound) {
  std::vector<JobPtr> plain, asking;
  for (const std::string& text : TestSentences()) {
    for (const WholeSearch& search : Searches()) {
      plain.push_back(JobFor(text, search));
      asking.push_back(JobFor(text, search));
      if (asking.size() % 3 != 0) Ask(asking.back().get());
      plain.back()->attention = asking.back()->attention;
      Price(1.25, nullptr, plain.back().get());
      Price(1.25, nullptr, asking.back().get());
    }
  }
  const auto want = Run(std::move(plain)), have = Run(std::move(asking));
  for (size_t i = 0; i < want.size(); ++i) {
    EXPECT_EQ(Bytes(have[i]), Bytes(want[i]));
    EXPECT_EQ(have[i][0].candidates.empty(), (i + 1) % 3 == 0);
    EXPECT_EQ(have[i][0].cross_heads.empty(), (i + 1) % 3 == 0);
    for (const Hypothesis& each : want[i]) EXPECT_TRUE(each.candidates.empty());
  }
}

// The mean over the heads of the last layer is the attention that the search itself has kept.
TEST_F(ReplayTest, HeadsAreThoseOfTheSearch) {
  for (const WholeSearch& search : Searches()) {
    JobPtr job = JobFor(TestSentences()[0], search);
    Ask(job.get());
    const size_t source = job->source.size();
    std::vector<JobPtr> jobs;
    jobs.push_back(std::move(job));
    const auto found = Run(std::move(jobs))[0];
    ASSERT_FALSE(found.empty());
    EXPECT_EQ(found[0].encoder_heads.size(), 2 * source * source);
    for (const Hypothesis& each : found) {
      const size_t cross = 5, rows = each.cross_heads.size() / cross / source;
      const bool ends = each.token_log_probs.size() > each.tokens.size();
      ASSERT_EQ(rows, each.tokens.size() + (ends ? 1 : 0));
      for (size_t r = 0; r < rows; ++r) {
        const float* const row = each.cross_heads.data() + r * cross * source;
        for (size_t s = 0; s < source; ++s) {
          const float mean =
              (row[s] + row[2 * source + s] + row[3 * source + s] + row[4 * source + s]) / 4;
          EXPECT_NEAR(mean, each.attention[r * source + s], 1e-6f);
        }
        EXPECT_NEAR(std::accumulate(row + source, row + 2 * source, 0.0f), 1.0f, 1e-5f);
      }
      // A token looks at those up to itself.
      ASSERT_EQ(each.decoder_heads.size(), 2 * rows * rows);
      for (size_t r = 0; r < rows; ++r) {
        const float* const row = each.decoder_heads.data() + r * 2 * rows;
        EXPECT_NEAR(std::accumulate(row, row + r + 1, 0.0f), 1.0f, 1e-5f);
        EXPECT_TRUE(std::all_of(row + r + 1, row + rows, [](float x) { return x == 0.0f; }));
      }
    }
  }
}

// With greedy search and with beams, a token that was chosen has the log-probability that it had in
// the search, to the last bit; forced decoding of all candidates gives them theirs.
TEST_F(ReplayTest, CandidatesHaveTheScoresOfForcedDecoding) {
  for (const WholeSearch& search : {TestSearch(1, 40), TestSearch(4, 40)}) {
    for (const std::string& text : TestSentences()) {
      std::vector<JobPtr> jobs;
      jobs.push_back(JobFor(text, search));
      Ask(jobs.back().get());
      const Hypothesis best = Run(std::move(jobs))[0][0];
      ASSERT_EQ(best.candidates.size(), best.token_log_probs.size());
      for (size_t t = 0; t < best.tokens.size(); ++t) {
        const std::vector<RankedToken>& step = best.candidates[t];
        ASSERT_EQ(step.size(), static_cast<size_t>(kCandidates));
        EXPECT_TRUE(std::is_sorted(step.begin(), step.end(), [](const auto& a, const auto& b) {
          return a.log_prob > b.log_prob;
        }));
        if (search.beam_size == 1) {
          EXPECT_EQ(step[0].token, best.tokens[t]);
        }
        for (const RankedToken& each : step) {
          if (each.token == best.tokens[t]) {
            EXPECT_EQ(each.log_prob, best.token_log_probs[t]);
          }
          std::vector<JobPtr> forced;
          const int length = static_cast<int>(t) + 2;
          forced.push_back(JobFor(text, TestSearch(1, length)));
          forced[0]->prefix.assign(best.tokens.begin(), best.tokens.begin() + t);
          forced[0]->prefix.push_back(each.token);
          forced[0]->score_prefix = true;
          EXPECT_NEAR(Run(std::move(forced))[0][0].token_log_probs[t], each.log_prob, 1e-5f);
        }
      }
    }
  }
}

TEST_F(ReplayTest, ABannedTokenIsNoCandidate) {
  const std::string text = TestSentences()[0];
  std::vector<JobPtr> first, second;
  first.push_back(JobFor(text, TestSearch(1, 40)));
  Ask(first[0].get());
  const Hypothesis free = Run(std::move(first))[0][0];
  WholeSearch banning = TestSearch(1, 40);
  banning.bad_words_ids.push_back({free.tokens[0]});
  second.push_back(JobFor(text, banning));
  Ask(second[0].get());
  const Hypothesis banned = Run(std::move(second))[0][0];
  EXPECT_EQ(banned.candidates[0][0].token, free.candidates[0][1].token);
}

TEST_F(ReplayTest, IsPartOfThePrice) {
  for (const int beam : {1, 4}) {
    WholeSearch search = TestSearch(beam, 40);
    search.num_hypotheses = 1;
    const JobPtr job = JobFor("The old house is small.", search);
    const JobCost before = job->cost;
    job->candidates = 1;
    Price(1.25, nullptr, job.get());
    // Every token of the hypothesis is a row once more.
    EXPECT_GE(job->cost.work(), before.work() + before.steps);
    EXPECT_LT(job->cost.work(), before.work() + before.steps + beam);
    EXPECT_EQ(job->cost.kv_bytes, before.kv_bytes);
  }
}

TEST_F(ReplayTest, JobsThatAskForOtherThingsHaveOtherKeys) {
  std::vector<std::string> keys;
  const auto add = [&keys](std::vector<AttentionHead> heads, int candidates) {
    const JobPtr job = JobFor("A cat.", TestSearch(1, 40));
    job->heads = std::move(heads);
    job->candidates = candidates;
    keys.push_back(ResultKey(*job));
  };
  add({}, 0);
  add({}, 1);
  add({{AttentionKind::kCross, 0, 1}}, 0);
  add({{AttentionKind::kEncoder, 0, 1}}, 0);
  add({{AttentionKind::kCross, 1, 1}}, 0);
  add({{AttentionKind::kCross, 0, 1}, {AttentionKind::kCross, 1, 1}}, 0);
  std::sort(keys.begin(), keys.end());
  EXPECT_EQ(std::unique(keys.begin(), keys.end()), keys.end());
}

}  // namespace
}  // namespace dragoman::replay_test
