// A draft makes greedy search take fewer steps and changes no bit of what it finds.

#include "engine/decode/drafts.h"

#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "engine/decode/decode_batch.h"
#include "engine/decode/job_key.h"
#include "gtest/gtest.h"
#include "tests/decode/test_jobs.h"

namespace dragoman::drafts_test {
namespace {

using Tokens = std::vector<int32_t>;

class DraftsTest : public testing::Test {
 protected:
  static constexpr int kMaxLength = 40;

  JobPtr JobFor(const std::string& text, const WholeSearch& search, const Tokens& draft) {
    JobPtr job = MakeJob(text, search, nullptr);
    job->draft = draft;
    job->attention = job->margins = true;
    Price(1.25, nullptr, job.get());
    return job;
  }

  // Runs all of them in one batch.
  std::vector<JobResult> Run(std::vector<JobPtr> jobs) {
    std::vector<JobResult> results(jobs.size());
    DecodeBatch batch(TrainedModel(), absl::Now, &observer_, &scratch_);
    for (size_t i = 0; i < jobs.size(); ++i) {
      jobs[i]->on_done = [&results, i](JobResult result) {
        EXPECT_TRUE(result.status.ok()) << result.status;
        results[i] = std::move(result);
      };
    }
    batch.Join(std::move(jobs));
    while (!batch.empty()) batch.Step();
    EXPECT_EQ(scratch_.kv_pool.taken_bytes(), 0u);
    return results;
  }

  JobResult Greedy(const std::string& text, const Tokens& draft) {
    std::vector<JobPtr> jobs;
    jobs.push_back(JobFor(text, TestSearch(1, kMaxLength), draft));
    return std::move(Run(std::move(jobs))[0]);
  }

  Observer observer_;
  DecodeScratch scratch_;
};

// The translation itself, and others that share something with it or nothing.
std::vector<Tokens> DraftsFor(const Tokens& translation, std::mt19937* random) {
  const auto token = [&] {
    return std::uniform_int_distribution<int32_t>(
        2, TrainedModel()->spec().target_vocabulary - 1)(*random);
  };
  std::vector<Tokens> drafts = {translation, {}, {token()}};
  drafts.emplace_back(translation.begin(), translation.begin() + translation.size() / 2);
  drafts.emplace_back(translation.begin() + translation.size() / 2, translation.end());
  for (size_t i = 0; i <= translation.size(); ++i) {
    Tokens other = translation;
    if (i < translation.size()) other[i] = token();
    drafts.push_back(other);
    other = translation;
    other.insert(other.begin() + i, {token(), token()});
    drafts.push_back(other);
    if (i < translation.size()) other.erase(other.begin() + i);
    drafts.push_back(other);
  }
  Tokens twice = translation;
  twice.insert(twice.end(), translation.begin(), translation.end());
  drafts.push_back(twice);
  Tokens noise(60);
  for (int32_t& each : noise) each = token();
  drafts.push_back(noise);
  return drafts;
}

TEST_F(DraftsTest, NoDraftChangesATranslation) {
  std::mt19937 random(7);
  for (const std::string& text : TestSentences()) {
    const JobResult plain = Greedy(text, {});
    std::vector<JobPtr> jobs;  // in one batch, with beams that have no use for drafts
    for (const Tokens& draft : DraftsFor(plain.hypotheses[0].tokens, &random)) {
      jobs.push_back(JobFor(text, TestSearch(1, kMaxLength), draft));
    }
    jobs.push_back(JobFor(text, TestSearch(4, kMaxLength), plain.hypotheses[0].tokens));
    const size_t greedy = jobs.size() - 1;
    const std::vector<JobResult> found = Run(std::move(jobs));
    for (size_t i = 0; i < greedy; ++i) {
      EXPECT_EQ(Bytes(found[i].hypotheses), Bytes(plain.hypotheses)) << text << ", draft " << i;
      EXPECT_EQ(found[i].hypotheses[0].attention, plain.hypotheses[0].attention) << i;
      EXPECT_EQ(found[i].hypotheses[0].token_margins, plain.hypotheses[0].token_margins) << i;
      EXPECT_LE(found[i].times.steps, plain.times.steps) << i;
      EXPECT_EQ(found[i].times.steps + found[i].times.kept, plain.times.steps) << i;
    }
  }
}

TEST_F(DraftsTest, TheTranslationItselfIsReadInOneStepOrTwo) {
  for (const std::string& text : TestSentences()) {
    const JobResult plain = Greedy(text, {});
    const Tokens& tokens = plain.hypotheses[0].tokens;
    const JobResult again = Greedy(text, tokens);
    EXPECT_LE(again.times.steps, tokens.size() <= 16 ? 1 : 2) << text;
    EXPECT_EQ(again.times.kept, plain.times.steps - again.times.steps);
  }
}

TEST_F(DraftsTest, ATokenThatWasReplacedCostsTwoStepsMore) {
  const std::string text = TestSentences()[0];
  const JobResult plain = Greedy(text, {});
  Tokens draft = plain.hypotheses[0].tokens;
  ASSERT_GE(draft.size(), 6u);
  draft[2] = draft[3] == 5 ? 6 : 5;
  EXPECT_LE(Greedy(text, draft).times.steps, 3);
}

TEST_F(DraftsTest, WhatCannotUseADraftIgnoresIt) {
  const Tokens draft = {5, 6, 7};
  EXPECT_TRUE(Draft::IsUsed(*JobFor("A cat.", TestSearch(1, kMaxLength), draft)));
  EXPECT_FALSE(Draft::IsUsed(*JobFor("A cat.", TestSearch(1, kMaxLength), {})));
  EXPECT_FALSE(Draft::IsUsed(*JobFor("A cat.", TestSearch(2, kMaxLength), draft)));
  const auto with = [&](auto change) {
    const JobPtr job = JobFor("A cat.", TestSearch(1, kMaxLength), draft);
    change(job.get());
    return Draft::IsUsed(*job);
  };
  EXPECT_FALSE(with([](Job* job) { job->options.sampling = true; }));
  EXPECT_FALSE(with([](Job* job) { job->phrases.push_back({.forms = {{5}}}); }));
  EXPECT_FALSE(with([](Job* job) { job->prefix = {5}; }));
  EXPECT_FALSE(with([](Job* job) { job->score_prefix = true; }));
}

TEST_F(DraftsTest, ADraftIsNoPartOfTheResultsKey) {
  EXPECT_EQ(ResultKey(*JobFor("A cat.", TestSearch(1, kMaxLength), {})),
            ResultKey(*JobFor("A cat.", TestSearch(1, kMaxLength), {5, 6})));
}

TEST_F(DraftsTest, GoesOnAfterWhatBothHave) {
  const JobPtr job = JobFor("A cat.", TestSearch(1, kMaxLength), {10, 11, 12, 13, 14, 15});
  Draft draft(*job);
  const auto proposed = [&](const Tokens& tokens) {
    const absl::Span<const int32_t> found = draft.Propose(tokens);
    return Tokens(found.begin(), found.end());
  };
  EXPECT_EQ(proposed({}), (Tokens{10, 11, 12, 13, 14, 15}));
  draft.Chosen(2);
  EXPECT_EQ(proposed({10, 11, 99}), Tokens());  // the draft does not have it
  draft.Chosen(0);
  EXPECT_EQ(proposed({10, 11, 99, 13}), (Tokens{14, 15}));
  draft.Chosen(2);
  EXPECT_EQ(proposed({10, 11, 99, 13, 14, 15, 98}), Tokens());
}

}  // namespace
}  // namespace dragoman::drafts_test
