// How much bfloat16 and int8 differ from float32 in teacher-forced log-probabilities and in the
// token that greedy search would take.  Where the goldens have logits, float32 is Hugging Face's
// own.
//
// The bounds are about twice what was measured; the test prints what it measures.  The engine gives
// the same numbers on the same instruction set, so a failure means that the arithmetic has changed,
// not bad luck.  Models with random weights differ more than trained ones, such as en-de.

#include <algorithm>
#include <cmath>
#include <iostream>
#include <map>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "engine/model/model.h"
#include "gtest/gtest.h"
#include "tests/golden/golden.h"
#include "tests/math/capped_machine.h"
#include "tests/model/teacher_forcing.h"

namespace dragoman::precision_test {
namespace {

using reference::Matrix;
using reference::Vector;

// Differences of log-probabilities in nats.
struct Bound {
  const char* golden;
  Precision precision;
  double mean, max;     // of the log-probabilities of the forced tokens
  double disagreement;  // share of positions where another token is the most probable
};

constexpr Bound kBounds[] = {
    {"marian-trained", Precision::kBFloat16, 0.01, 0.1, 0.01},
    {"marian-trained", Precision::kInt8, 0.03, 0.25, 0.02},
    {"marian-rand", Precision::kBFloat16, 0.1, 0.7, 0.03},
    {"marian-rand", Precision::kInt8, 0.3, 1.8, 0.08},
    {"marian-rand-fp16", Precision::kBFloat16, 0.1, 0.8, 0.03},
    {"marian-rand-fp16", Precision::kInt8, 0.32, 2.8, 0.12},
    {"marian-padheavy-renorm", Precision::kBFloat16, 0.015, 0.08, 0.01},
    {"marian-padheavy-renorm", Precision::kInt8, 0.042, 0.24, 0.01},
    {"m2m100-trained", Precision::kBFloat16, 0.012, 0.13, 0.015},
    {"m2m100-trained", Precision::kInt8, 0.04, 0.45, 0.03},
    {"nllb-trained", Precision::kBFloat16, 0.012, 0.13, 0.015},
    {"nllb-trained", Precision::kInt8, 0.04, 0.45, 0.03},
    {"mbart50-trained", Precision::kBFloat16, 0.012, 0.13, 0.015},
    {"mbart50-trained", Precision::kInt8, 0.04, 0.45, 0.03},
    {"t5v11-trained", Precision::kBFloat16, 0.012, 0.13, 0.015},
    {"t5v11-trained", Precision::kInt8, 0.04, 0.45, 0.03},
};

constexpr Bound kBoundsOfTheEmbeddedModel[] = {
    {golden::kEnDe, Precision::kBFloat16, 0.004, 0.09, 0.003},
    {golden::kEnDe, Precision::kInt8, 0.012, 0.17, 0.008},
};

void PrintTo(const Bound& bound, std::ostream* out) {
  *out << bound.golden << " in " << NameOf(bound.precision);
}

// The tokens to force: the goldens' own, or, where they have none, what greedy search found.
std::vector<ForcedPair> PairsOf(const golden::Golden& golden) {
  std::vector<ForcedPair> pairs;
  const golden::Setting& greedy = golden.settings.back();
  for (size_t i = 0; i < golden.inputs.size(); ++i) {
    ForcedPair pair = {golden.inputs[i].ids, golden.inputs[i].decoder_input_ids};
    if (pair.decoder_inputs.empty()) {
      pair.decoder_inputs = greedy.outputs[i][0].tokens;
      pair.decoder_inputs.insert(pair.decoder_inputs.begin(), greedy.options.decoder_start_id);
      pair.decoder_inputs.push_back(greedy.options.eos_id);
    }
    pairs.push_back(std::move(pair));
  }
  return pairs;
}

// Of every pair, in float32.
std::vector<Matrix> ComputeFloat32Logits(const golden::Golden& golden,
                                         const std::vector<ForcedPair>& pairs) {
  std::vector<Matrix> logits;
  if (!golden.inputs[0].logits_npy.empty()) {
    for (const golden::Input& input : golden.inputs) {
      logits.push_back(golden::ReadNpy(input.logits_npy));
    }
    return logits;
  }
  const auto model =
      Model::Load("float32", golden.model_directory, {.precision = Precision::kFloat32});
  EXPECT_TRUE(model.ok()) << model.status();
  if (!model.ok()) return logits;
  for (ForcedOutput& output : ForceTeacher(**model, pairs)) {
    logits.push_back(std::move(output.logits));
  }
  return logits;
}

// The same, kept for the other precisions.
const std::vector<Matrix>& Float32Logits(const golden::Golden& golden,
                                         const std::vector<ForcedPair>& pairs) {
  static auto& kept = *new std::map<std::string, std::vector<Matrix>>;  // by model_directory
  const auto [place, is_new] = kept.try_emplace(golden.model_directory);
  if (is_new) place->second = ComputeFloat32Logits(golden, pairs);
  return place->second;
}

double LogProbability(const Vector& logits, int32_t token) {
  const double max = *std::max_element(logits.begin(), logits.end());
  double sum = 0;
  for (const float logit : logits) sum += std::exp(logit - max);
  return logits[token] - max - std::log(sum);
}

size_t MostProbable(const Vector& logits) {
  return std::max_element(logits.begin(), logits.end()) - logits.begin();
}

class PrecisionBounds : public testing::TestWithParam<Bound> {};

TEST_P(PrecisionBounds, TeacherForcedLogProbabilitiesAreNearThoseOfFloat32) {
  const Bound& bound = GetParam();
  const golden::Golden golden = golden::LoadGolden(bound.golden);
  const auto model = Model::Load(bound.golden, golden.model_directory,
                                 {.precision = bound.precision, .matmul = TestMatmul()});
  if (absl::IsFailedPrecondition(model.status())) GTEST_SKIP() << model.status();
  ASSERT_TRUE(model.ok()) << model.status();
  const std::vector<ForcedPair> pairs = PairsOf(golden);
  const std::vector<ForcedOutput> found = ForceTeacher(**model, pairs);
  const std::vector<Matrix>& want = Float32Logits(golden, pairs);
  ASSERT_EQ(found.size(), want.size());

  double sum = 0, max = 0;
  int positions = 0, disagreements = 0;
  for (size_t i = 0; i < pairs.size(); ++i) {
    for (size_t t = 0; t + 1 < pairs[i].decoder_inputs.size(); ++t) {
      const int32_t token = pairs[i].decoder_inputs[t + 1];
      const Vector &ours = found[i].logits[t], &theirs = want[i][t];
      const double difference =
          std::abs(LogProbability(ours, token) - LogProbability(theirs, token));
      sum += difference;
      max = std::max(max, difference);
      ++positions;
      if (MostProbable(ours) != MostProbable(theirs)) ++disagreements;
    }
  }
  ASSERT_GT(positions, 0);
  const double disagreement = static_cast<double>(disagreements) / positions;
  std::cout << testing::PrintToString(bound) << ": mean " << sum / positions << ", max " << max
            << ", another token at " << disagreements << " of " << positions << " positions\n";
  EXPECT_LE(sum / positions, bound.mean);
  EXPECT_LE(max, bound.max);
  EXPECT_LE(disagreement, bound.disagreement);
}

INSTANTIATE_TEST_SUITE_P(Goldens, PrecisionBounds, testing::ValuesIn(kBounds));
INSTANTIATE_TEST_SUITE_P(Embedded, PrecisionBounds, testing::ValuesIn(kBoundsOfTheEmbeddedModel));

}  // namespace
}  // namespace dragoman::precision_test
