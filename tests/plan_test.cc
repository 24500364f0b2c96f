#include "engine/plan.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/status.h"
#include "gtest/gtest.h"
#include "tests/decode/test_jobs.h"

namespace dragoman {
namespace {

class PlanTest : public testing::Test {
 protected:
  PlanTest() {
    context_.model = TrainedModel();
    context_.limits.max_source_tokens = 4;
    context_.rules = MakeRules(context_.model->generation(), context_.model->spec(),
                               context_.model->tokenizer().target_unknown_id());
    context_.pieces = std::make_shared<LazyPieces>();
    context_.check_ahead = [this](const RequestState&, const RoughSize& size) {
      ++asked_;
      size_ = size;
      return absl::ResourceExhaustedError("the queue is full");
    };
  }

  absl::Status Plan(TranslateRequest request) {
    absl::StatusOr<TranslationPlan> plan = MakePlan(
        context_, std::move(request), std::make_shared<RequestState>(absl::InfiniteFuture()));
    if (plan.ok()) plan_ = *std::move(plan);
    return plan.status();
  }

  PlanContext context_;
  int asked_ = 0;
  RoughSize size_;
  TranslationPlan plan_;  // the last one that was made
};

TEST_F(PlanTest, WhatIsRefusedIsNotTokenized) {
  // Tokens would be counted, and be too many.
  const absl::Status status =
      Plan({.texts = {"a b c d e f g h", "i j k"}, .options = {.beam_size = 3}});
  EXPECT_TRUE(absl::IsResourceExhausted(status)) << status;
  EXPECT_EQ(size_.texts, 2);
  EXPECT_EQ(size_.bytes, 20u);
  EXPECT_EQ(size_.rows, 3);
  context_.check_ahead = nullptr;
  EXPECT_TRUE(absl::IsInvalidArgument(Plan({.texts = {"a b c d e f g h", "i j k"}})));
}

TEST_F(PlanTest, AMistakeIsToldEvenIfTheQueueIsFull) {
  EXPECT_TRUE(absl::IsInvalidArgument(Plan({.texts = {"a"}, .options = {.beam_size = -1}})));
  EXPECT_TRUE(absl::IsInvalidArgument(Plan({.texts = {"\xff"}})));
  EXPECT_EQ(asked_, 0);
}

TEST_F(PlanTest, TextsWithoutWordsAreNotRefused) {
  EXPECT_TRUE(Plan({.texts = {"", " \n"}}).ok());
  EXPECT_EQ(asked_, 0);
}

TEST_F(PlanTest, ALimitOfCharactersCountsCodePoints) {
  context_.check_ahead = nullptr;
  context_.limits.max_source_tokens = 100;
  context_.limits.max_characters = 4;
  EXPECT_TRUE(Plan({.texts = {"öä", "üß"}}).ok());
  const absl::Status status = Plan({.texts = {"öä", "üßé"}});
  EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
  EXPECT_EQ(FieldOf(status), "contents[1]");
}

TEST_F(PlanTest, TruncationKeepsAsMuchAsIsAllowedAndTheEnd) {
  context_.check_ahead = nullptr;
  TranslateRequest request = {.texts = {"The old teacher sees a small house."}};
  std::vector<int32_t> tokens = context_.model->tokenizer().Encode(request.texts[0]).ids;
  context_.limits.max_source_tokens = static_cast<int>(tokens.size());
  ASSERT_TRUE(Plan(request).ok());
  request.truncation = Truncation::kTruncate;
  ASSERT_TRUE(Plan(request).ok());
  EXPECT_FALSE(plan_.texts[0].truncated);
  EXPECT_EQ(plan_.jobs[0]->source, tokens);

  --context_.limits.max_source_tokens;
  ASSERT_TRUE(Plan(request).ok());
  EXPECT_TRUE(plan_.texts[0].truncated);
  tokens.erase(tokens.end() - 2);
  EXPECT_EQ(plan_.jobs[0]->source, tokens);
  request.truncation = Truncation::kReject;
  EXPECT_TRUE(absl::IsInvalidArgument(Plan(request)));
}

TEST_F(PlanTest, WhatIsDrawnDependsOnTheSeedAndTheSentenceButNotOnItsPlace) {
  context_.check_ahead = nullptr;
  context_.limits.max_source_tokens = 100;
  TranslateRequest request = {.texts = {"It is old. It is old. It is new.", "It is old."},
                              .splitting = Splitting::kSentences};
  request.options.sampling = true;
  ASSERT_TRUE(Plan(request).ok());
  ASSERT_EQ(plan_.jobs.size(), 4u);
  const uint64_t key = plan_.jobs[0]->random_key;
  EXPECT_EQ(plan_.jobs[1]->random_key, key);
  EXPECT_NE(plan_.jobs[2]->random_key, key);
  EXPECT_EQ(plan_.jobs[3]->random_key, key);
  request.options.sampling_seed = 1;
  ASSERT_TRUE(Plan(request).ok());
  EXPECT_NE(plan_.jobs[0]->random_key, key);
}

}  // namespace
}  // namespace dragoman
