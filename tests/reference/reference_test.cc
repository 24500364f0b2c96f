#include <filesystem>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/reference/marian_directory.h"
#include "tests/reference/transformer.h"

namespace dragoman::reference {
namespace {

const std::vector<int32_t> kSource = {5, 3, 17, 0};

Transformer Small(uint64_t seed) {
  return RandomTransformer(MarianShape(16, 2, 4, 24, Activation::kGelu, 40), seed);
}

TEST(Reference, HasTheShapesOfThePaper) {
  const Transformer model = Small(1);
  const Matrix encoded = Encode(model, kSource);
  ASSERT_EQ(encoded.size(), 4u);
  EXPECT_EQ(encoded[0].size(), 16u);
  const Matrix logits = Logits(model, encoded, {39, 2, 3});
  ASSERT_EQ(logits.size(), 3u);
  EXPECT_EQ(logits[0].size(), 40u);
}

TEST(Reference, NoPositionSeesALaterOne) {
  const Transformer model = Small(2);
  const Matrix encoded = Encode(model, kSource);
  const Matrix logits = Logits(model, encoded, {39, 2, 3});
  const Matrix others = Logits(model, encoded, {39, 2, 4});
  EXPECT_EQ(logits[0], others[0]);
  EXPECT_EQ(logits[1], others[1]);
  EXPECT_NE(logits[2], others[2]);
}

TEST(Reference, NextLogitsAreTheLastRow) {
  const Transformer model = Small(3);
  const Matrix encoded = Encode(model, kSource);
  EXPECT_EQ(NextLogits(model, encoded, {39, 2, 3}), Logits(model, encoded, {39, 2, 3})[2]);
}

TEST(Reference, EncoderOutputsAreNormalized) {
  Transformer model = Small(4);
  LayerNorm& last = model.weights.encoder.back().feed_forward_norm;
  last.gain.assign(16, 1.0f);
  last.bias.assign(16, 0.0f);
  for (const Vector& row : Encode(model, kSource)) {
    float mean = 0.0f;
    float variance = 0.0f;
    for (float value : row) mean += value / 16.0f;
    for (float value : row) variance += (value - mean) * (value - mean) / 16.0f;
    EXPECT_NEAR(mean, 0.0f, 1e-5f);
    EXPECT_NEAR(variance, 1.0f, 1e-3f);
  }
}

TEST(Reference, AModelReadsBackAsItWasWritten) {
  const std::string directory = testing::TempDir() + "/reference_test_model";
  std::filesystem::create_directories(directory);
  const Transformer model = Small(5);
  const absl::Status written = WriteMarianDirectory(model, directory);
  ASSERT_TRUE(written.ok()) << written;
  const absl::StatusOr<Transformer> read = ReadMarianDirectory(directory);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->config.activation, Activation::kGelu);
  EXPECT_EQ(read->config.decoder_start_id, 39);
  const Matrix encoded = Encode(model, kSource);
  EXPECT_EQ(Encode(*read, kSource), encoded);
  EXPECT_EQ(Logits(*read, encoded, {39, 2, 3}), Logits(model, encoded, {39, 2, 3}));
  std::filesystem::remove_all(directory);
}

}  // namespace
}  // namespace dragoman::reference
