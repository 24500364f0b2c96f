// The whole engine against Hugging Face: encoder outputs, teacher-forced logits, and every setting
// of every golden as jobs of a WorkerPool.

#include <algorithm>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/synchronization/blocking_counter.h"
#include "engine/decode/observer.h"
#include "engine/decode/worker_pool.h"
#include "engine/model/model.h"
#include "gtest/gtest.h"
#include "tests/golden/golden.h"
#include "tests/math/capped_machine.h"
#include "tests/model/teacher_forcing.h"
#include "tests/reference/compare.h"

namespace dragoman::golden_engine_test {
namespace {

using golden::Golden;
using golden::Setting;

class GoldenEngine : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    golden_ = golden::LoadGolden(GetParam());
    auto model = Model::Load(GetParam(), golden_.model_directory,
                             {.precision = Precision::kFloat32, .matmul = TestMatmul()});
    if (TestMatmul() == Matmul::kOneDnn && absl::IsFailedPrecondition(model.status())) {
      GTEST_SKIP() << model.status();
    }
    ASSERT_TRUE(model.ok()) << model.status();
    model_ = *std::move(model);
  }

  Golden golden_;
  std::shared_ptr<const Model> model_;
};

// The hypotheses of all inputs with one setting, sent to the pool as one request.
std::vector<std::vector<Hypothesis>> Translate(const std::shared_ptr<const Model>& model,
                                               const std::vector<golden::Input>& inputs,
                                               const WholeSearch& options, WorkerPool* pool) {
  std::vector<std::vector<Hypothesis>> results(inputs.size());
  absl::BlockingCounter left(static_cast<int>(inputs.size()));
  const auto request = std::make_shared<RequestState>(absl::InfiniteFuture());
  std::vector<JobPtr> jobs;
  for (size_t i = 0; i < inputs.size(); ++i) {
    auto job = std::make_unique<Job>();
    job->model = model;
    job->request = request;
    job->source = inputs[i].ids;
    job->options = options;
    job->rules = std::make_shared<SearchRules>(options);
    job->on_done = [&results, &left, i](JobResult result) {
      EXPECT_TRUE(result.status.ok()) << result.status;
      results[i] = std::move(result.hypotheses);
      left.DecrementCount();
    };
    jobs.push_back(std::move(job));
  }
  const absl::Status submitted = pool->Submit(std::move(jobs));
  EXPECT_TRUE(submitted.ok()) << submitted;
  if (submitted.ok()) left.Wait();
  return results;
}

TEST_P(GoldenEngine, EverySettingFindsTheHypothesesOfHuggingFace) {
  Observer observer;
  WorkerPool pool({.workers = 2}, &observer);
  std::map<golden::Agreement, int> count;
  for (const Setting& setting : golden_.settings) {
    const auto found = Translate(model_, golden_.inputs, setting.options, &pool);
    for (size_t i = 0; i < found.size(); ++i) {
      const golden::Comparison comparison =
          golden::Compare(setting.options, setting.outputs[i], found[i]);
      ++count[comparison.agreement];
      EXPECT_NE(comparison.agreement, golden::Agreement::kDifferent)
          << setting.name << ": " << golden_.inputs[i].text << ": " << comparison.difference;
    }
  }
  const int tied = count[golden::Agreement::kTied];
  EXPECT_LE(tied, 2);
  std::cout << GetParam() << ": of " << golden_.inputs.size() * golden_.settings.size()
            << " searches " << count[golden::Agreement::kSame] << " are the same and " << tied
            << " the same but for a tie\n";
}

std::string Underscored(const testing::TestParamInfo<const char*>& tested) {
  std::string name = tested.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Marian, GoldenEngine, testing::ValuesIn(golden::kMarianGoldens),
                         Underscored);
INSTANTIATE_TEST_SUITE_P(Families, GoldenEngine, testing::ValuesIn(golden::kFamilyGoldens),
                         Underscored);
INSTANTIATE_TEST_SUITE_P(Embedded, GoldenEngine, testing::Values(golden::kEnDe), Underscored);

// The goldens that have encoder outputs and logits.
using GoldenArithmetic = GoldenEngine;

TEST_P(GoldenArithmetic, EncoderOutputsAndTeacherForcedLogits) {
  std::vector<ForcedPair> pairs;
  for (const golden::Input& input : golden_.inputs) {
    pairs.push_back({input.ids, input.decoder_input_ids});
  }
  const std::vector<ForcedOutput> outputs = ForceTeacher(*model_, pairs);
  for (size_t i = 0; i < pairs.size(); ++i) {
    SCOPED_TRACE(golden_.inputs[i].text);
    const float tolerance = golden::LogitsTolerance(GetParam());
    EXPECT_LE(reference::MaxDifference(outputs[i].encoded,
                                       golden::ReadNpy(golden_.inputs[i].encoder_npy)),
              tolerance);
    EXPECT_LE(
        reference::MaxDifference(outputs[i].logits, golden::ReadNpy(golden_.inputs[i].logits_npy)),
        tolerance);
  }
}

INSTANTIATE_TEST_SUITE_P(Marian, GoldenArithmetic, testing::ValuesIn(golden::kMarianGoldens),
                         Underscored);
INSTANTIATE_TEST_SUITE_P(Families, GoldenArithmetic, testing::ValuesIn(golden::kFamilyGoldens),
                         Underscored);

}  // namespace
}  // namespace dragoman::golden_engine_test
