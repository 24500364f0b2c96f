#include "engine/formats/ctranslate2_file.h"

#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dragoman {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

template <typename Number>
std::string Raw(Number number) {
  return std::string(reinterpret_cast<const char*>(&number), sizeof(number));
}

template <typename Number>
std::string Raw(const std::vector<Number>& numbers) {
  return std::string(reinterpret_cast<const char*>(numbers.data()),
                     numbers.size() * sizeof(Number));
}

std::string Text(const std::string& text) {
  return Raw(static_cast<uint16_t>(text.size() + 1)) + text + '\0';
}

struct Variable {
  std::string name;
  std::vector<uint32_t> shape;
  uint8_t type;
  std::string data;
};

// Serializes a variable as that version of the format does.
std::string Write(uint32_t version, const Variable& variable) {
  constexpr uint8_t kSizes[] = {4, 1, 2, 4, 2, 2};
  std::string bytes =
      Text(variable.name) + Raw(static_cast<uint8_t>(variable.shape.size())) + Raw(variable.shape);
  if (version >= 4) {
    bytes += Raw(variable.type) + Raw(static_cast<uint32_t>(variable.data.size()));
  } else {
    const uint8_t size = kSizes[variable.type];
    bytes += Raw(size) + Raw(static_cast<uint32_t>(variable.data.size() / size));
  }
  return bytes + variable.data;
}

std::string Model(uint32_t version, const std::vector<Variable>& variables,
                  const std::vector<std::pair<std::string, std::string>>& aliases = {}) {
  std::string bytes = Raw(version) + Text("TransformerSpec") + Raw(uint32_t{7}) +
                      Raw(static_cast<uint32_t>(variables.size()));
  for (const Variable& variable : variables) bytes += Write(version, variable);
  if (version < 3) return bytes;
  bytes += Raw(static_cast<uint32_t>(aliases.size()));
  for (const auto& [alias, name] : aliases) bytes += Text(alias) + Text(name);
  return bytes;
}

const Variable kFloats{"encoder/embeddings_0/weight", {2, 2}, 0, Raw<float>({1, 2, 3, 4})};
const Variable kBytes{"a/weight", {2, 2}, 1, Raw<int8_t>({127, -64, 10, -127})};
const Variable kBytesScale{"a/weight_scale", {2}, 0, Raw<float>({127, 20})};
const Variable kShorts{"b/weight", {1, 2}, 2, Raw<int16_t>({1000, -500})};

class CTranslate2 : public ::testing::Test {
 protected:
  void TearDown() override { fs::remove(path_); }

  absl::StatusOr<CTranslate2File> Open(const std::string& bytes) {
    std::ofstream(path_, std::ios::binary) << bytes;
    return OpenCTranslate2File(path_);
  }

  const std::string path_ = ::testing::TempDir() + "/" +
                            ::testing::UnitTest::GetInstance()->current_test_info()->name() +
                            ".model.bin";
};

TEST_F(CTranslate2, EveryVersionHoldsTheSameWeights) {
  for (const uint32_t version : {2, 3, 4, 5, 6}) {
    SCOPED_TRACE(version);
    const absl::StatusOr<CTranslate2File> file =
        Open(Model(version, {kFloats, kBytes, kBytesScale, kShorts}));
    ASSERT_TRUE(file.ok()) << file.status();
    EXPECT_EQ(file->version, version);
    EXPECT_EQ(file->specification, "TransformerSpec");
    EXPECT_EQ(file->revision, 7u);
    const Checkpoint& variables = file->variables;
    EXPECT_THAT(variables.ReadMatrix(kFloats.name, 2, 2)->Row(1), ElementsAre(3, 4));
    EXPECT_THAT(variables.ReadMatrix("a/weight", 2, 2)->Row(0), ElementsAre(1, -64 / 127.0f));
    EXPECT_THAT(variables.ReadMatrix("a/weight", 2, 2)->Row(1), ElementsAre(0.5f, -6.35f));
    EXPECT_THAT(*variables.ReadVector("b/weight", 2), ElementsAre(1.0f, -0.5f));
  }
}

TEST_F(CTranslate2, HalvesAndScalarsAreRead) {
  const absl::StatusOr<CTranslate2File> file =
      Open(Model(6, {{"half", {2}, 4, Raw<uint16_t>({0x3C00, 0xC000})},
                     {"bfloat", {1}, 5, Raw<uint16_t>({0x3F80})},
                     {"encoder/num_heads", {}, 2, Raw<int16_t>({8})},
                     {"count", {}, 3, Raw<int32_t>({70'000})}}));
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_THAT(*file->variables.ReadVector("half", 2), ElementsAre(1.0f, -2.0f));
  EXPECT_THAT(*file->variables.ReadVector("bfloat", 1), ElementsAre(1.0f));
  EXPECT_EQ(file->variables.Find("encoder/num_heads")->dtype, DType::kI16);
  EXPECT_EQ(file->variables.Find("encoder/num_heads")->bytes.size(), 2u);
  EXPECT_EQ(file->variables.Find("count")->dtype, DType::kI32);
}

TEST_F(CTranslate2, AnAliasHasTheScalesToo) {
  const absl::StatusOr<CTranslate2File> file =
      Open(Model(6, {kBytes, kBytesScale}, {{"decoder/projection/weight", "a/weight"}}));
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_THAT(file->variables.ReadMatrix("decoder/projection/weight", 2, 2)->Row(1),
              ElementsAre(0.5f, -6.35f));
}

TEST_F(CTranslate2, TheFirstVersionHasOtherNames) {
  const std::pair<const char*, const char*> names[] = {
      {"transformer/encoder/w_embs:0", "encoder/embeddings/weight"},
      {"transformer/encoder/layer_0/multi_head/conv1d_1/kernel:0",
       "encoder/layer_0/self_attention/linear_1/weight"},
      {"transformer/decoder/layer_0/masked_multi_head/LayerNorm/gamma:0",
       "decoder/layer_0/self_attention/layer_norm/gamma"},
      {"transformer/decoder/layer_0/multi_head/conv1d/kernel:0",
       "decoder/layer_0/attention/linear_0/weight"},
      {"transformer/decoder/dense/bias:0", "decoder/projection/bias"}};
  std::string bytes = Raw(uint32_t{1}) + Raw(uint32_t{std::size(names)});
  for (const auto& [old, now] : names) bytes += Write(1, {old, {1, 2}, 2, kShorts.data});
  const absl::StatusOr<CTranslate2File> file = Open(bytes);
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(file->specification, "");
  EXPECT_EQ(file->revision, 1u);
  for (const auto& [old, now] : names) EXPECT_TRUE(file->variables.Has(now)) << now;
  EXPECT_THAT(file->variables.ReadMatrix("encoder/embeddings/weight", 1, 2)->Row(0),
              ElementsAre(1.0f, -0.5f));
}

TEST_F(CTranslate2, EveryContradictionIsRefusedByName) {
  const float infinity = std::numeric_limits<float>::infinity();
  const std::pair<std::string, const char*> lies[] = {
      {Model(0, {}), "version 0, want 1 to 6"},
      {Model(7, {}), "version 7, want 1 to 6"},
      {Model(6, {kFloats}) + "x", "1 bytes behind"},
      {Model(6, {kFloats, kFloats}), "embeddings_0/weight occurs twice"},
      {Model(6, {{"w", {2, 3}, 0, Raw<float>({1, 2, 3, 4})}}), "w has 16 bytes, want 24"},
      {Model(3, {{"w", {2, 3}, 0, Raw<float>({1, 2, 3, 4})}}), "w has 16 bytes, want 24"},
      {Model(6, {{"w", {0}, 0, ""}}), "w has a dimension of 0"},
      {Model(6, {{"w", {4294967295u, 4294967295u, 4294967295u}, 0, ""}}), "w has a dimension of"},
      {Model(6, {{"w", {2147483647u, 2147483647u, 2147483647u}, 0, ""}}), "more than fit"},
      {Model(6, {{"w", {1, 1, 1, 1, 1, 1, 1, 1, 1}, 1, "x"}}), "w has 9 dimensions"},
      {Model(6, {{"w", {1}, 6, "x"}}), "w is of type 6"},
      {Model(6, {kBytes}), "a/weight has no scale"},
      {Model(6, {kBytes, {"a/weight_scale", {3}, 0, Raw<float>({1, 2, 3})}}), "has 3 scales"},
      {Model(6, {kBytes, {"a/weight_scale", {2}, 2, Raw<int16_t>({1, 2})}}), "scales of I16"},
      {Model(6, {kBytes, {"a/weight_scale", {2}, 0, Raw<float>({1, 0})}}), "a scale of 0"},
      {Model(6, {kBytes, {"a/weight_scale", {1}, 0, Raw<float>({infinity})}}), "a scale of inf"},
      {Model(6, {kFloats}, {{"x", "y"}}), "x is another name of y, which is not there"},
      {Model(6, {kFloats}, {{kFloats.name, kFloats.name}}), "occurs twice"},
      {Raw(uint32_t{6}) + Raw(uint16_t{3}) + "abc", "does not end"},
      {Raw(uint32_t{6}) + Raw(uint16_t{0}), "does not end"},
      {Raw(uint32_t{6}) + Text("TransformerSpec") + Raw(uint32_t{7}) + Raw(uint32_t{4294967295u}),
       "cut off"},
  };
  for (const auto& [bytes, message] : lies) {
    const absl::Status status = Open(bytes).status();
    EXPECT_FALSE(status.ok()) << message;
    EXPECT_THAT(std::string(status.message()), HasSubstr("model.bin: "));
    EXPECT_THAT(std::string(status.message()), HasSubstr(message));
  }
}

TEST_F(CTranslate2, ATruncatedFileIsRefused) {
  const std::string good = Model(6, {kFloats, kBytes, kBytesScale}, {{"b/weight", "a/weight"}});
  for (size_t size = 0; size < good.size(); ++size) {
    EXPECT_EQ(Open(good.substr(0, size)).status().code(), absl::StatusCode::kInvalidArgument);
  }
  EXPECT_EQ(OpenCTranslate2File("no/such/model.bin").status().code(), absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace dragoman
