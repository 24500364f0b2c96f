#include "engine/formats/lora.h"

#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "engine/base/json.h"
#include "engine/formats/open_weights.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dragoman::lora_test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

constexpr char kBase[] = "tests/golden/models/marian-rand";
constexpr char kQ[] = "model.encoder.layers.0.self_attn.q_proj";
constexpr char kFc[] = "model.decoder.layers.1.fc1";

struct Named {
  std::string name;
  int rows, cols;
};

class LoraTest : public testing::Test {
 protected:
  void SetUp() override {
    directory_ = fs::path(testing::TempDir()) / absl::StrCat("lora", getpid());
    fs::create_directories(directory_);
    Config({{"peft_type", "LORA"},
            {"r", 2},
            {"lora_alpha", 6},
            {"bias", "none"},
            {"init_lora_weights", true},
            {"target_modules", {"q_proj", "fc1"}}});
    Tensors(Both(kQ, 2, 64, 64));
  }
  void TearDown() override { fs::remove_all(directory_); }

  static std::vector<Named> Both(const std::string& module, int rank, int inputs, int outputs) {
    const std::string name = absl::StrCat("base_model.model.", module);
    return {{name + ".lora_A.weight", rank, inputs}, {name + ".lora_B.weight", outputs, rank}};
  }
  // Element (r, c) of a tensor.
  static float Value(int r, int c) {
    return 0.01f * static_cast<float>((7 * r + 3 * c) % 11) - 0.05f;
  }

  void Config(const nlohmann::json& json) {
    config_ = json;
    std::ofstream(directory_ / "adapter_config.json") << json.dump();
  }
  void Change(const char* field, const nlohmann::json& value) {
    nlohmann::json changed = config_;
    changed[field] = value;
    std::ofstream(directory_ / "adapter_config.json") << changed.dump();
  }
  void Tensors(const std::vector<Named>& tensors) {
    nlohmann::json header = nlohmann::json::object();
    std::string data;
    for (const Named& each : tensors) {
      const size_t begin = data.size();
      for (int r = 0; r < each.rows; ++r) {
        for (int c = 0; c < each.cols; ++c) {
          const float value = Value(r, c);
          data.append(reinterpret_cast<const char*>(&value), sizeof(value));
        }
      }
      header[each.name] = {{"dtype", "F32"},
                           {"shape", {each.rows, each.cols}},
                           {"data_offsets", {begin, data.size()}}};
    }
    const std::string text = header.dump();
    const uint64_t size = text.size();
    std::ofstream out(directory_ / "adapter_model.safetensors", std::ios::binary);
    out.write(reinterpret_cast<const char*>(&size), sizeof(size));
    out << text << data;
  }
  absl::StatusOr<Checkpoint> Open() const { return OpenWeights(kBase, directory_.string()); }
  std::string Why() const { return std::string(Open().status().message()); }

  fs::path directory_;
  nlohmann::json config_;
};

TEST_F(LoraTest, AddsTheProductToItsMatrices) {
  std::vector<Named> tensors = Both(kQ, 2, 64, 64);
  for (const Named& each : Both(kFc, 4, 64, 128)) tensors.push_back(each);
  Tensors(tensors);
  for (const bool stabilized : {false, true}) {
    Change("use_rslora", stabilized);
    const auto plain = OpenWeights(kBase);
    const auto changed = Open();
    ASSERT_TRUE(changed.ok()) << changed.status();
    for (const auto& [module, rank, rows, cols] :
         {std::tuple(kQ, 2, 64, 64), std::tuple(kFc, 4, 128, 64)}) {
      const float scale = 6.0f / (stabilized ? std::sqrt(rank) : rank);
      const std::string name = absl::StrCat(module, ".weight");
      const auto before = plain->ReadMatrix(name, rows, cols);
      const auto after = changed->ReadMatrix(name, rows, cols);
      ASSERT_TRUE(before.ok() && after.ok());
      for (int r = 0; r < rows; ++r) {
        for (int c = 0; c < cols; ++c) {
          double want = before->Row(r)[c];
          for (int k = 0; k < rank; ++k) want += scale * Value(r, k) * Value(k, c);
          ASSERT_NEAR(after->Row(r)[c], want, 1e-6) << r << " " << c;
        }
      }
      const auto some = changed->ReadRows(name, rows, cols, 5, 9);
      EXPECT_EQ(some->Row(0)[3], after->Row(5)[3]);
    }
    const auto same = changed->ReadMatrix("model.decoder.layers.0.fc2.weight", 64, 128);
    EXPECT_EQ(same->Row(1)[2],
              plain->ReadMatrix("model.decoder.layers.0.fc2.weight", 64, 128)->Row(1)[2]);
  }
}

TEST_F(LoraTest, WhatTheModelLacksIsRefused) {
  Tensors(Both("model.encoder.layers.9.self_attn.q_proj", 2, 64, 64));
  EXPECT_EQ(Open().status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(Why(), HasSubstr("changes model.encoder.layers.9.self_attn.q_proj.weight, but the"));
  Tensors(Both(kQ, 2, 32, 64));
  EXPECT_THAT(Why(), HasSubstr("is [2, 32], want [2, 64]"));
  Tensors(Both(kQ, 2, 64, 32));
  EXPECT_THAT(Why(), HasSubstr("is [32, 2], want [64, 2]"));
  Tensors({Both(kQ, 2, 64, 64)[0]});
  EXPECT_THAT(Why(), HasSubstr("there is no tensor"));
  Tensors({Both(kQ, 2, 64, 64)[1]});
  EXPECT_THAT(Why(), HasSubstr("changes nothing"));
  Tensors({{"base_model.model.model.shared.lora_embedding_A", 2, 64}});
  EXPECT_EQ(Open().status().code(), absl::StatusCode::kUnimplemented);
  fs::remove(directory_ / "adapter_model.safetensors");
  EXPECT_EQ(Open().status().code(), absl::StatusCode::kNotFound);
}

TEST_F(LoraTest, OtherAdaptersAreRefusedByName) {
  EXPECT_TRUE(Open().ok()) << Open().status();
  const std::pair<const char*, nlohmann::json> kOthers[] = {{"peft_type", "IA3"},
                                                            {"use_dora", true},
                                                            {"bias", "all"},
                                                            {"modules_to_save", {"lm_head"}},
                                                            {"alpha_pattern", {{"q", 3}}},
                                                            {"init_lora_weights", "pissa"},
                                                            {"fan_in_fan_out", true},
                                                            {"lora_bias", true}};
  for (const auto& [field, value] : kOthers) {
    Change(field, value);
    EXPECT_EQ(Open().status().code(), absl::StatusCode::kUnimplemented) << field;
    EXPECT_THAT(Why(), HasSubstr(field));
  }
  Change("lora_alpha", "six");
  EXPECT_EQ(Open().status().code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace dragoman::lora_test
