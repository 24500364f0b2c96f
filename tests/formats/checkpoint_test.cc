#include "engine/formats/checkpoint.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dragoman {
namespace {

using ::testing::ElementsAre;
using ::testing::StartsWith;

// A checkpoint with one tensor, "w".  `bytes` must outlive it.
Checkpoint Of(DType dtype, std::vector<int64_t> shape, absl::Span<const std::byte> bytes) {
  return Checkpoint("model.safetensors", {}, {{"w", Tensor{dtype, std::move(shape), bytes}}});
}

template <typename T>
absl::Span<const std::byte> BytesOf(const std::vector<T>& values) {
  return {reinterpret_cast<const std::byte*>(values.data()), values.size() * sizeof(T)};
}

uint32_t Bits(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

// Widens a float16 by the definition of IEEE 754, case by case.
float HalfByDefinition(uint16_t half) {
  const int exponent = half >> 10 & 31;
  const int fraction = half & 1023;
  const float sign = half >> 15 != 0 ? -1.0f : 1.0f;
  if (exponent == 0) return sign * std::ldexp(static_cast<float>(fraction), -24);
  if (exponent < 31) return sign * std::ldexp(1.0f + fraction / 1024.0f, exponent - 15);
  return fraction == 0 ? sign * std::numeric_limits<float>::infinity()
                       : std::numeric_limits<float>::quiet_NaN();
}

TEST(Checkpoint, Float32IsReadUnchanged) {
  const std::vector<float> values = {1.0f, -0.0f, 1e-40f, 3.5f, -2.0f, 1e38f};
  const Checkpoint checkpoint = Of(DType::kF32, {2, 3}, BytesOf(values));
  const absl::StatusOr<Matrix<float>> matrix = checkpoint.ReadMatrix("w", 2, 3);
  ASSERT_TRUE(matrix.ok());
  EXPECT_THAT(matrix->Row(0), ElementsAre(1.0f, -0.0f, 1e-40f));
  EXPECT_THAT(matrix->Row(1), ElementsAre(3.5f, -2.0f, 1e38f));
  const absl::StatusOr<Matrix<float>> last = checkpoint.ReadRows("w", 2, 3, 1, 2);
  ASSERT_TRUE(last.ok());
  EXPECT_EQ(last->rows(), 1);
  EXPECT_THAT(last->Row(0), ElementsAre(3.5f, -2.0f, 1e38f));
}

TEST(Checkpoint, EveryFloat16IsConvertedExactly) {
  std::vector<uint16_t> halves;
  for (int i = 0; i < 1 << 16; ++i) {
    if (std::isfinite(HalfByDefinition(static_cast<uint16_t>(i)))) halves.push_back(i);
  }
  const int count = static_cast<int>(halves.size());
  const absl::StatusOr<std::vector<float>> floats =
      Of(DType::kF16, {count}, BytesOf(halves)).ReadVector("w", count);
  ASSERT_TRUE(floats.ok());
  for (int i = 0; i < count; ++i) {
    ASSERT_EQ(Bits((*floats)[i]), Bits(HalfByDefinition(halves[i]))) << halves[i];
  }
}

TEST(Checkpoint, EveryBFloat16IsTheUpperHalfOfAFloat32) {
  std::vector<uint16_t> halves;
  for (int i = 0; i < 1 << 16; ++i) {
    if ((i & 0x7F80) != 0x7F80) halves.push_back(static_cast<uint16_t>(i));
  }
  const int count = static_cast<int>(halves.size());
  const absl::StatusOr<std::vector<float>> floats =
      Of(DType::kBF16, {count}, BytesOf(halves)).ReadVector("w", count);
  ASSERT_TRUE(floats.ok());
  for (int i = 0; i < count; ++i) {
    ASSERT_EQ(Bits((*floats)[i]), static_cast<uint32_t>(halves[i]) << 16) << halves[i];
  }
}

TEST(Checkpoint, UnalignedBytesAreReadCompletely) {
  std::vector<std::byte> bytes(1 + 4 * sizeof(float));
  const float values[] = {1.0f, 2.0f, 3.0f, 4.0f};
  std::memcpy(bytes.data() + 1, values, sizeof(values));
  const absl::Span<const std::byte> odd = absl::MakeConstSpan(bytes).subspan(1);
  EXPECT_THAT(*Of(DType::kF32, {4}, odd).ReadVector("w", 4), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(*Of(DType::kBF16, {8}, odd).ReadVector("w", 8), testing::SizeIs(8));
}

TEST(Checkpoint, ARowOfOneIsAVector) {
  const std::vector<float> values = {1.0f, 2.0f};
  EXPECT_THAT(*Of(DType::kF32, {1, 2}, BytesOf(values)).ReadVector("w", 2), ElementsAre(1, 2));
  EXPECT_FALSE(Of(DType::kF32, {2, 1}, BytesOf(values)).ReadVector("w", 2).ok());
}

TEST(Checkpoint, AWrongShapeNamesBothShapesAndTheFile) {
  const std::vector<float> values(6);
  const Checkpoint checkpoint = Of(DType::kF32, {2, 3}, BytesOf(values));
  EXPECT_EQ(checkpoint.ReadMatrix("w", 3, 2).status(),
            absl::InvalidArgumentError("w is [2, 3], want [3, 2] in model.safetensors"));
  EXPECT_EQ(checkpoint.ReadVector("w", 6).status(),
            absl::InvalidArgumentError("w is [2, 3], want [6] in model.safetensors"));
}

TEST(Checkpoint, AMissingTensorIsNotFoundByName) {
  const std::vector<float> values(1);
  const Checkpoint checkpoint = Of(DType::kF32, {1}, BytesOf(values));
  EXPECT_TRUE(checkpoint.Has("w"));
  EXPECT_FALSE(checkpoint.Has("v"));
  EXPECT_EQ(checkpoint.Find("v"), nullptr);
  EXPECT_EQ(checkpoint.ReadMatrix("v", 1, 1).status(),
            absl::NotFoundError("there is no tensor v in model.safetensors"));
  EXPECT_EQ(checkpoint.ReadVector("v", 1).status().code(), absl::StatusCode::kNotFound);
}

TEST(Checkpoint, IntegersAreDividedByTheScaleOfTheirRow) {
  const std::vector<int8_t> values = {127, -64, 0, -127, 2, 1};
  Tensor tensor{DType::kI8, {3, 2}, BytesOf(values), {127.0f, 2.0f, 4.0f}};
  const Checkpoint rows("model.bin", {}, {{"w", tensor}});
  const absl::StatusOr<Matrix<float>> matrix = rows.ReadRows("w", 3, 2, 0, 2);
  ASSERT_TRUE(matrix.ok());
  EXPECT_THAT(matrix->Row(0), ElementsAre(1.0f, -64 / 127.0f));
  EXPECT_THAT(matrix->Row(1), ElementsAre(0.0f, -63.5f));
  const absl::StatusOr<Matrix<float>> last = rows.ReadRows("w", 3, 2, 2, 3);
  ASSERT_TRUE(last.ok());
  EXPECT_THAT(last->Row(0), ElementsAre(0.5f, 0.25f));
}

TEST(Checkpoint, ASingleScaleAppliesToAllRows) {
  const std::vector<int16_t> values = {1000, -500, 1, 32767};
  const Checkpoint checkpoint("model.bin", {},
                              {{"w", Tensor{DType::kI16, {2, 2}, BytesOf(values), {1000.0f}}}});
  const absl::StatusOr<Matrix<float>> matrix = checkpoint.ReadMatrix("w", 2, 2);
  ASSERT_TRUE(matrix.ok());
  EXPECT_THAT(matrix->Row(0), ElementsAre(1.0f, -0.5f));
  EXPECT_THAT(matrix->Row(1), ElementsAre(0.001f, 32.767f));
}

TEST(Checkpoint, AColumnMajorMatrixIsTransposed) {
  const std::vector<float> values = {1, 4, 2, 5, 3, 6};
  Tensor tensor{DType::kF32, {2, 3}, BytesOf(values)};
  tensor.transposed = true;
  const Checkpoint checkpoint("pytorch_model.bin", {}, {{"w", tensor}});
  const absl::StatusOr<Matrix<float>> matrix = checkpoint.ReadMatrix("w", 2, 3);
  ASSERT_TRUE(matrix.ok());
  EXPECT_THAT(matrix->Row(0), ElementsAre(1, 2, 3));
  EXPECT_THAT(matrix->Row(1), ElementsAre(4, 5, 6));
  EXPECT_THAT(checkpoint.ReadRows("w", 2, 3, 1, 2)->Row(0), ElementsAre(4, 5, 6));
}

TEST(Checkpoint, TypesThatCannotBeWeightsAreRefused) {
  const std::vector<int64_t> values = {1, 2};
  EXPECT_EQ(Of(DType::kI64, {2}, BytesOf(values)).ReadVector("w", 2).status(),
            absl::InvalidArgumentError(
                "w is of I64, want a weight: F32, F16 or BF16 in model.safetensors"));
}

TEST(Checkpoint, ANumberThatIsNotFiniteIsRefusedByNameAndPlace) {
  std::vector<float> values(6, 1.0f);
  const Checkpoint checkpoint = Of(DType::kF32, {3, 2}, BytesOf(values));
  values[3] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(
      checkpoint.ReadMatrix("w", 3, 2).status(),
      absl::InvalidArgumentError("w[1, 1] is NaN, want a finite number in model.safetensors"));
  EXPECT_EQ(checkpoint.ReadRows("w", 3, 2, 1, 3).status(),
            checkpoint.ReadMatrix("w", 3, 2).status());
  EXPECT_TRUE(checkpoint.ReadRows("w", 3, 2, 2, 3).ok());
  values[3] = -std::numeric_limits<float>::infinity();
  EXPECT_EQ(
      Of(DType::kF32, {6}, BytesOf(values)).ReadVector("w", 6).status(),
      absl::InvalidArgumentError("w[3] is infinite, want a finite number in model.safetensors"));
  const std::vector<uint16_t> infinite = {
      0, 0x7C00};  // only in float16: in bfloat16 it is a finite number
  EXPECT_FALSE(Of(DType::kF16, {2}, BytesOf(infinite)).ReadVector("w", 2).ok());
  EXPECT_TRUE(Of(DType::kBF16, {2}, BytesOf(infinite)).ReadVector("w", 2).ok());
}

TEST(Checkpoint, KnowsWhichTensorsNobodyReadExceptCopiesOfMatrices) {
  const std::vector<float> table = {1.0f, 2.0f}, other = {1.0f, 3.0f};
  const std::vector<float> again = table;
  const Tensor read{DType::kF32, {1, 2}, BytesOf(table)}, tied{DType::kF32, {1, 2}, BytesOf(again)};
  const Tensor scaled{DType::kF32, {1, 2}, BytesOf(table), {2.0f}};
  const Tensor differs{DType::kF32, {1, 2}, BytesOf(other)}, bias{DType::kF32, {2}, BytesOf(table)};
  const Checkpoint checkpoint("model.safetensors", {},
                              {{"bias", bias},
                               {"same bias", bias},
                               {"scaled", scaled},
                               {"shared", read},
                               {"tied", tied},
                               {"wide", differs}});
  EXPECT_THAT(checkpoint.Unread(), testing::SizeIs(6));
  ASSERT_TRUE(checkpoint.ReadMatrix("shared", 1, 2).ok());
  ASSERT_TRUE(checkpoint.Take("bias").ok());
  EXPECT_THAT(checkpoint.Unread(), ElementsAre("same bias", "scaled", "wide"));
  EXPECT_EQ(checkpoint.Take("no").status().code(), absl::StatusCode::kNotFound);
}

TEST(Checkpoint, ATensorThatNobodyReadIsRefused) {
  const std::vector<float> values = {1.0f};
  const Tensor one{DType::kF32, {1}, BytesOf(values)};
  for (const char* name : {"model.decoder.layers.1.fc1.bias", "decoder/pre_norm", "lm_head.weight",
                           "decoder_l2_ffn_b1", "special:model.yml"}) {
    const Checkpoint checkpoint("model.safetensors", {}, {{name, one}});
    const absl::Status refused = CheckAllIsRead(checkpoint);
    EXPECT_EQ(refused.code(), absl::StatusCode::kInvalidArgument) << name;
    EXPECT_THAT(std::string(refused.message()),
                testing::StartsWith(std::string(name) + " in model.safetensors"));
    ASSERT_TRUE(checkpoint.ReadVector(name, 1).ok());
    EXPECT_TRUE(CheckAllIsRead(checkpoint).ok());
  }
}

TEST(Checkpoint, HarmlessTensorsAreLeftOutByNameBeginningOrEnd) {
  const std::vector<float> values = {1.0f};
  const Tensor one{DType::kF32, {1}, BytesOf(values)};
  const Checkpoint checkpoint(
      "m", {},
      {{"special:a", one}, {"special:b", one}, {"x_alpha", one}, {"uidx", one}, {"uidx2", one}});
  EXPECT_THAT(checkpoint.Without({"special:*", "*_alpha", "uidx"}).Unread(), ElementsAre("uidx2"));
}

TEST(Checkpoint, ANameThatIsTakenTwiceHidesNoTensor) {
  const std::vector<float> values = {1.0f};
  const Tensor one{DType::kF32, {1}, BytesOf(values)};
  const Checkpoint checkpoint("m", {}, {{"a", one}, {"b", one}});
  const auto same = [](const std::string&) -> std::string { return "c"; };
  EXPECT_THAT(checkpoint.Renamed(same).Unread(), ElementsAre("b", "c"));
}

TEST(DType, SaysItsNameAndSize) {
  EXPECT_STREQ(NameOf(DType::kF32), "F32");
  EXPECT_STREQ(NameOf(DType::kF16), "F16");
  EXPECT_STREQ(NameOf(DType::kBF16), "BF16");
  EXPECT_EQ(SizeOf(DType::kF32), 4u);
  EXPECT_EQ(SizeOf(DType::kF16), 2u);
  EXPECT_EQ(SizeOf(DType::kBF16), 2u);
  EXPECT_EQ(SizeOf(DType::kI8), 1u);
  EXPECT_EQ(SizeOf(DType::kI64), 8u);
  EXPECT_EQ(ParseDType("BOOL"), DType::kBool);
  EXPECT_EQ(ParseDType("F99"), std::nullopt);
}

TEST(Checkpoint, WhatNobodyReadsIsNamed) {
  const std::vector<float> read = {1, 2, 3, 4}, other = {4, 3, 2, 1};
  const auto tensor = [](std::vector<int64_t> shape, const std::vector<float>& values) {
    return Tensor{DType::kF32, std::move(shape), BytesOf(values)};
  };
  const Checkpoint checkpoint("model.safetensors", {},
                              {{"read", tensor({2, 2}, read)},
                               {"copy", tensor({2, 2}, read)},
                               {"vector", tensor({4}, read)},
                               {"matrix", tensor({2, 2}, other)}});
  ASSERT_TRUE(checkpoint.ReadMatrix("read", 2, 2).ok());
  EXPECT_THAT(checkpoint.Unread(), ElementsAre("matrix", "vector"));
  const absl::Status status = CheckAllIsRead(checkpoint);
  EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
  EXPECT_THAT(std::string(status.message()),
              StartsWith("matrix (and 1 more) in model.safetensors has no place"));
  ASSERT_TRUE(checkpoint.Take("matrix").ok());
  ASSERT_TRUE(checkpoint.ReadVector("vector", 4).ok());
  EXPECT_TRUE(CheckAllIsRead(checkpoint).ok()) << CheckAllIsRead(checkpoint);
}

}  // namespace
}  // namespace dragoman
