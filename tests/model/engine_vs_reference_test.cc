// The engine against the naive Transformer on random models of many shapes.  The reference writes
// the files, and the real loader reads them.

#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "engine/model/model.h"
#include "gtest/gtest.h"
#include "tests/model/teacher_forcing.h"
#include "tests/reference/compare.h"
#include "tests/reference/marian_directory.h"
#include "tests/reference/transformer.h"

namespace dragoman::engine_vs_reference_test {
namespace {

using reference::MarianShape;
using reference::Transformer;

constexpr float kTolerance = 1e-4f;

std::vector<int32_t> RandomTokens(std::mt19937_64* random, int count, int vocabulary) {
  std::vector<int32_t> tokens;
  for (int i = 0; i < count; ++i) {
    tokens.push_back(static_cast<int32_t>((*random)() % static_cast<uint64_t>(vocabulary)));
  }
  return tokens;
}

// Pairs of sentences: 1, 4, 7, ... source tokens, with the numbers of target tokens in reverse
// order.
std::vector<ForcedPair> RandomPairs(const ModelSpec& config, uint64_t seed) {
  constexpr int kPairs = 6;
  std::mt19937_64 random(seed);
  std::vector<ForcedPair> pairs;
  for (int i = 0; i < kPairs; ++i) {
    ForcedPair pair;
    pair.source = RandomTokens(&random, 3 * i, config.source_vocabulary);
    pair.source.push_back(config.eos_id);
    pair.decoder_inputs = RandomTokens(&random, 3 * (kPairs - i), config.target_vocabulary);
    pair.decoder_inputs.insert(pair.decoder_inputs.begin(), config.decoder_start_id);
    pairs.push_back(pair);
  }
  return pairs;
}

void ExpectEngineAgrees(const ModelSpec& config, uint64_t seed) {
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  const std::string directory = testing::TempDir() + "/engine_vs_reference_" + std::to_string(seed);
  std::filesystem::create_directories(directory);
  const Transformer expected = reference::RandomTransformer(config, seed);
  const absl::Status written = reference::WriteMarianDirectory(expected, directory);
  ASSERT_TRUE(written.ok()) << written;
  const auto model = Model::Load("random", directory, {.precision = Precision::kFloat32});
  std::filesystem::remove_all(directory);
  ASSERT_TRUE(model.ok()) << model.status();

  const std::vector<ForcedPair> pairs = RandomPairs(config, seed);
  const std::vector<ForcedOutput> outputs = ForceTeacher(**model, pairs);
  for (size_t i = 0; i < pairs.size(); ++i) {
    SCOPED_TRACE(testing::Message() << "sentence " << i);
    const reference::Matrix encoded = reference::Encode(expected, pairs[i].source);
    EXPECT_LE(reference::MaxDifference(outputs[i].encoded, encoded), kTolerance);
    EXPECT_LE(reference::MaxDifference(
                  outputs[i].logits, reference::Logits(expected, encoded, pairs[i].decoder_inputs)),
              kTolerance);
  }
}

TEST(EngineVsReference, Relu) {
  ExpectEngineAgrees(MarianShape(64, 2, 4, 128, Activation::kRelu, 100), 1);
}

TEST(EngineVsReference, Silu) {
  ExpectEngineAgrees(MarianShape(64, 2, 4, 128, Activation::kSilu, 100), 2);
}

TEST(EngineVsReference, Gelu) {
  ExpectEngineAgrees(MarianShape(64, 2, 4, 128, Activation::kGelu, 100), 3);
}

TEST(EngineVsReference, OneLayerAndOneHead) {
  ExpectEngineAgrees(MarianShape(32, 1, 1, 32, Activation::kRelu, 50), 4);
}

TEST(EngineVsReference, WidthsThatNoVectorDivides) {
  ExpectEngineAgrees(MarianShape(42, 2, 3, 75, Activation::kSilu, 61), 5);
}

TEST(EngineVsReference, ManyNarrowHeads) {
  ExpectEngineAgrees(MarianShape(48, 2, 24, 96, Activation::kRelu, 70), 6);
}

TEST(EngineVsReference, FfnNarrowerThanTheModel) {
  ExpectEngineAgrees(MarianShape(96, 2, 6, 40, Activation::kRelu, 80), 7);
}

TEST(EngineVsReference, DeepAndAVocabularyLargerThanTheTrainedOnes) {
  ExpectEngineAgrees(MarianShape(32, 6, 4, 64, Activation::kSilu, 1501), 8);
}

TEST(EngineVsReference, StacksOfUnequalShape) {
  ModelSpec config = MarianShape(64, 1, 4, 96, Activation::kSilu, 90);
  config.encoder_layers = 3;
  config.encoder_heads = 8;
  config.encoder_ffn = 160;
  ExpectEngineAgrees(config, 9);
}

TEST(EngineVsReference, EmbeddingsThatAreNotScaled) {
  ModelSpec config = MarianShape(64, 2, 4, 128, Activation::kRelu, 90);
  config.embedding_scale = 1.0f;
  ExpectEngineAgrees(config, 10);
}

TEST(EngineVsReference, TheWidthsOfABaseModel) {
  ExpectEngineAgrees(MarianShape(512, 1, 8, 2048, Activation::kRelu, 300), 11);
}

}  // namespace
}  // namespace dragoman::engine_vs_reference_test
