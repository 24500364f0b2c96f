// Model directories of every family that cannot be served: files that are missing, truncated or of
// another type, and configurations that contradict the tensors.  Each error says what is wrong and
// where.

#include <unistd.h>

#include <cctype>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "engine/base/json.h"
#include "engine/model/model.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dragoman::malformed_directory_test {
namespace {

namespace fs = std::filesystem;
using testing::AnyOf;
using testing::HasSubstr;

constexpr const char* kModels[] = {"marian-trained", "m2m100-trained", "nllb-trained",
                                   "mbart50-trained", "t5v11-trained"};

std::string ReadFile(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void WriteFile(const fs::path& path, const std::string& content) {
  fs::remove(path);
  std::ofstream(path, std::ios::binary) << content;
}

// A directory of links to a model's files, which tests damage one by one.
class MalformedDirectory : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const auto* const test = testing::UnitTest::GetInstance()->current_test_info();
    const std::string name = absl::StrCat("malformed", getpid(), "/", test->name());
    directory_ = fs::path(testing::TempDir()) / name;
    fs::remove_all(directory_);
    fs::create_directories(directory_);
    for (const auto& entry : fs::directory_iterator(model())) Restore(entry.path().filename());
  }
  void TearDown() override { fs::remove_all(directory_); }

  fs::path model() const { return fs::absolute("tests/golden/models") / GetParam(); }
  void Restore(const fs::path& file) {
    fs::remove(directory_ / file);
    fs::create_symlink(model() / file, directory_ / file);
  }
  nlohmann::json Config() const { return nlohmann::json::parse(ReadFile(model() / "config.json")); }
  void SetConfig(const nlohmann::json& config) {
    WriteFile(directory_ / "config.json", config.dump());
  }
  // The SentencePiece models of the family.
  std::vector<std::string> Pieces() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(model())) {
      const std::string extension = entry.path().extension().string();
      if (extension == ".spm" || extension == ".model") {
        names.push_back(entry.path().filename().string());
      }
    }
    return names;
  }
  absl::Status Load() const {
    return Model::Load("m", directory_.string(), {.precision = Precision::kFloat32}).status();
  }
  std::string Message() const { return std::string(Load().message()); }

  fs::path directory_;
};

TEST_P(MalformedDirectory, AMissingFileIsNamed) {
  EXPECT_TRUE(Load().ok()) << Load();
  std::vector<std::string> files = Pieces();
  files.push_back("config.json");
  files.push_back("model.safetensors");
  for (const std::string& file : files) {
    fs::remove(directory_ / file);
    const absl::Status status = Load();
    EXPECT_EQ(status.code(), absl::StatusCode::kNotFound) << file << ": " << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr(file));
    // The message must not name the directory: the code that reports the error adds that.
    EXPECT_THAT(std::string(status.message()), testing::Not(HasSubstr(directory_.string())));
    Restore(file);
  }
}

TEST_P(MalformedDirectory, APointerOfGitLfsIsNamedAsSuch) {
  std::vector<std::string> files = Pieces();
  files.push_back("model.safetensors");
  for (const std::string& file : files) {
    WriteFile(directory_ / file,
              "version https://git-lfs.github.com/spec/v1\noid sha256:"
              "4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\nsize 12345\n");
    EXPECT_THAT(Message(), AllOf(HasSubstr(file), HasSubstr("Git LFS")));
    Restore(file);
  }
}

TEST_P(MalformedDirectory, ATruncatedFileIsRefused) {
  for (const auto& entry : fs::directory_iterator(model())) {
    const std::string file = entry.path().filename().string();
    // Some families do not read these.
    if (file == "special_tokens_map.json" || file == "added_tokens.json") continue;
    const std::string content = ReadFile(entry.path());
    for (const size_t size : {size_t{0}, size_t{1}, content.size() / 2, content.size() - 1}) {
      WriteFile(directory_ / file, content.substr(0, size));
      // If the last byte of a text file is its final newline, the file is still complete without
      // it.
      if (size + 1 == content.size() && std::isspace(content.back()) != 0) continue;
      EXPECT_FALSE(Load().ok()) << file << " of " << size << " bytes";
    }
    Restore(file);
  }
}

// Every field that states a size is checked against the tensors.
TEST_P(MalformedDirectory, ASizeThatTheTensorsDoNotHaveIsRefused) {
  const nlohmann::json config = Config();
  for (const char* field :
       {"d_model", "vocab_size", "encoder_layers", "decoder_layers", "num_layers",
        "num_decoder_layers", "encoder_ffn_dim", "decoder_ffn_dim", "d_ff", "d_kv"}) {
    if (!config.contains(field)) continue;
    for (const int factor : {2, 3}) {
      nlohmann::json lie = config;
      lie[field] = config[field].get<int>() * factor;
      SetConfig(lie);
      EXPECT_FALSE(Load().ok()) << field << " x " << factor;
      lie[field] = config[field].get<int>() - 1;
      SetConfig(lie);
      EXPECT_FALSE(Load().ok()) << field << " - 1";
    }
  }
}

TEST_P(MalformedDirectory, NumbersOfAnyKindAreServedOrRefused) {
  const nlohmann::json config = Config();
  const nlohmann::json odd[] = {"x",
                                -1,
                                0,
                                1e300,
                                2147483648.0,
                                true,
                                0.5,
                                nullptr,
                                nlohmann::json::array(),
                                nlohmann::json::object(),
                                "",
                                std::numeric_limits<int64_t>::min()};
  for (const auto& [field, value] : config.items()) {
    for (const nlohmann::json& lie : odd) {
      nlohmann::json changed = config;
      changed[field] = lie;
      SetConfig(changed);
      const absl::Status status = Load();
      if (status.ok()) continue;
      EXPECT_THAT(status.code(),
                  AnyOf(absl::StatusCode::kInvalidArgument, absl::StatusCode::kUnimplemented,
                        absl::StatusCode::kNotFound))
          << field << ": " << lie << ": " << status;
      EXPECT_FALSE(status.message().empty());
    }
  }
  for (const char* field : {"d_model", "vocab_size"}) {
    for (const nlohmann::json& lie : {odd[0], odd[1], odd[2], odd[3], odd[4], odd[8]}) {
      nlohmann::json changed = config;
      changed[field] = lie;
      SetConfig(changed);
      EXPECT_THAT(Message(), HasSubstr(field)) << lie;
    }
  }
}

TEST_P(MalformedDirectory, ANumberThatIsNotFiniteIsNamed) {
  std::string file = ReadFile(model() / "model.safetensors");
  uint64_t header = 0;
  std::memcpy(&header, file.data(), sizeof(header));
  const auto tensors = nlohmann::json::parse(file.substr(8, header));
  int tried = 0;
  for (const auto& [name, tensor] : tensors.items()) {
    if (name == "__metadata__" || tensor["dtype"] != "F32" || ++tried % 9 != 1) continue;
    std::string spoilt = file;
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const size_t begin = tensor["data_offsets"][0].get<size_t>();
    std::memcpy(spoilt.data() + 8 + header + begin, &nan, sizeof(nan));
    WriteFile(directory_ / "model.safetensors", spoilt);
    EXPECT_THAT(Message(), HasSubstr("NaN")) << name;
  }
  EXPECT_GT(tried, 9);
}

INSTANTIATE_TEST_SUITE_P(Families, MalformedDirectory, testing::ValuesIn(kModels),
                         [](const auto& model) {
                           const std::string name = model.param;
                           return name.substr(0, name.find('-'));
                         });

}  // namespace
}  // namespace dragoman::malformed_directory_test
