#include "engine/formats/open_weights.h"

#include <filesystem>
#include <fstream>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dragoman {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

constexpr char kPointer[] =
    "version https://git-lfs.github.com/spec/v1\n"
    "oid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\nsize 12345\n";

class Weights : public ::testing::Test {
 protected:
  void SetUp() override { fs::create_directories(directory_); }
  void TearDown() override { fs::remove_all(directory_); }

  void Write(const std::string& file, const std::string& content) {
    std::ofstream(directory_ + "/" + file, std::ios::binary) << content;
  }
  void Copy(const std::string& from, const std::string& to) {
    fs::copy_file(from, directory_ + "/" + to);
  }
  std::string WhyNotServable() { return std::string(CheckServable(directory_).message()); }
  std::string WhyNoWeights() { return std::string(OpenWeights(directory_).status().message()); }

  const std::string directory_ =
      ::testing::TempDir() + "/" + ::testing::UnitTest::GetInstance()->current_test_info()->name();
};

TEST_F(Weights, SafetensorsComeBeforeABin) {
  Copy("tests/golden/formats/torch.bin", "pytorch_model.bin");
  ASSERT_TRUE(OpenWeights(directory_).ok());
  EXPECT_EQ(OpenWeights(directory_)->name(), "pytorch_model.bin");
  Copy("tests/golden/models/marian-rand-fp16/model.safetensors", "model.safetensors");
  ASSERT_TRUE(OpenWeights(directory_).ok());
  EXPECT_EQ(OpenWeights(directory_)->name(), "model.safetensors");
}

TEST_F(Weights, ShardsOfEitherFormatAreFoundByTheirIndex) {
  Copy("tests/golden/formats/torch_old.bin", "pytorch_model-00001-of-00001.bin");
  Write("pytorch_model.bin.index.json",
        R"({"weight_map":{"shared.weight":"pytorch_model-00001-of-00001.bin"}})");
  const absl::StatusOr<Checkpoint> checkpoint = OpenWeights(directory_);
  ASSERT_TRUE(checkpoint.ok()) << checkpoint.status();
  EXPECT_TRUE(checkpoint->ReadMatrix("shared.weight", 3, 2).ok());
}

TEST_F(Weights, WithoutWeightsTheErrorSaysWhatToDo) {
  EXPECT_THAT(WhyNoWeights(), HasSubstr("want model.safetensors, model.safetensors.index.json"));
  EXPECT_EQ(OpenWeights(directory_).status().code(), absl::StatusCode::kNotFound);
  Write("flax_model.msgpack", "x");
  EXPECT_THAT(WhyNoWeights(), HasSubstr("from_flax=True"));
  Write("tf_model.h5", "x");
  EXPECT_THAT(WhyNoWeights(), HasSubstr("tf_model.h5 has TensorFlow weights"));
}

TEST_F(Weights, AGitLfsPointerIsNamed) {
  EXPECT_TRUE(CheckServable(directory_).ok());
  Write("source.spm", kPointer);
  EXPECT_THAT(WhyNotServable(), HasSubstr("source.spm is a Git LFS pointer"));
  Write("pytorch_model.bin", kPointer);
  EXPECT_THAT(WhyNotServable(), HasSubstr("pytorch_model.bin, source.spm are Git LFS pointers"));
  EXPECT_THAT(WhyNotServable(), HasSubstr("git lfs pull"));
}

TEST_F(Weights, OnnxGraphsInAFolderAreNamed) {
  std::filesystem::create_directories(directory_ + "/onnx");
  Write("onnx/encoder_model.onnx", "x");
  EXPECT_THAT(WhyNoWeights(), HasSubstr("onnx/encoder_model.onnx has ONNX graphs"));
}

TEST_F(Weights, TheHuggingFaceCacheIsPointedToItsSnapshots) {
  std::filesystem::create_directories(directory_ + "/blobs");
  std::filesystem::create_directories(directory_ + "/snapshots/0123abc");
  EXPECT_THAT(WhyNotServable(), HasSubstr("such as " + directory_ + "/snapshots/0123abc"));
}

TEST_F(Weights, AnAdapterAndADecoderOnlyModelAreRefused) {
  Write("adapter_config.json", "{}");
  EXPECT_THAT(WhyNotServable(), HasSubstr("lora=ADAPTER"));
  Write("config.json", R"({"model_type":"llama","architectures":["LlamaForCausalLM"]})");
  EXPECT_THAT(WhyNotServable(), HasSubstr("a decoder-only model"));
  Write("config.json", R"({"architectures":["MarianMTModel"],"is_encoder_decoder":true})");
  EXPECT_TRUE(CheckServable(directory_).ok());
  Write("config.json", "{");
  EXPECT_TRUE(CheckServable(directory_).ok());  // loading it reports the bad config.json
  EXPECT_EQ(CheckServable(directory_ + "/no").code(), absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace dragoman
