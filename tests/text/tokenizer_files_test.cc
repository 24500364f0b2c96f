// Tokenizers of files that are missing, damaged or contradict each other.

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "engine/families/model_directory.h"
#include "engine/text/piece_model.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/text/load_tokenizer.h"

namespace dragoman::tokenizer_files_test {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string ReadFile(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
}

void WriteFile(const fs::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

// A copy of a model's tokenizer files, for tests to damage.
class TokenizerFiles : public ::testing::Test {
 protected:
  void SetUp() override {
    directory_ = fs::path(::testing::TempDir()) / ("tokenizer_test." + std::to_string(getpid()));
    fs::remove_all(directory_);
    fs::create_directories(directory_);
    for (const char* file : {"config.json", "generation_config.json", "source.spm", "target.spm",
                             "vocab.json", "tokenizer_config.json"}) {
      fs::copy_file(std::string(kModels) + "marian-trained/" + file, directory_ / file);
    }
  }
  void TearDown() override { fs::remove_all(directory_); }

  absl::Status LoadStatus() const { return OpenTokenizer(directory_.string()).status(); }

  fs::path directory_;
};

TEST_F(TokenizerFiles, TokenizerConfigIsOptional) {
  fs::remove(directory_ / "tokenizer_config.json");
  const auto tokenizer = Load(directory_.string());
  EXPECT_THAT(tokenizer->languages().sources(), IsEmpty());
  EXPECT_THAT(tokenizer->languages().targets(), ElementsAre("deu", "fra"));
}

TEST_F(TokenizerFiles, LanguagePairsRestrictAGroup) {
  WriteFile(directory_ / "tokenizer_config.json",
            R"({"language_pairs": [["eng", "deu"], ["eng", "fra"], ["deu", "fra"]]})");
  const auto tokenizer = Load(directory_.string());
  EXPECT_TRUE(tokenizer->languages().Resolve("de", "fr").ok());
  EXPECT_TRUE(tokenizer->languages().Resolve("", "de").ok());
  EXPECT_FALSE(tokenizer->languages().Resolve("fr", "de").ok());
}

TEST_F(TokenizerFiles, TheFirstLanguagePairIsTheModelsOwn) {
  WriteFile(directory_ / "tokenizer_config.json",
            R"({"language_pairs": [["eng", "deu"], ["eng", "fra"]]})");
  const auto tokenizer = Load(directory_.string());
  const Frame own = tokenizer->FrameOf(*tokenizer->languages().Resolve("", ""));
  EXPECT_EQ(own.text_prefix, ">>deu<< ");
  const std::vector<int32_t> with_code = tokenizer->Encode("a", own).ids;
  EXPECT_EQ(with_code, tokenizer->Encode(">>deu<< a").ids);
  // A text that says its language itself is not told another; what the model does not know is text.
  EXPECT_EQ(tokenizer->Encode(">>fra<< a", own).ids, tokenizer->Encode(">>fra<< a").ids);
  EXPECT_EQ(tokenizer->Encode(">>xyz<< a", own).ids.front(), with_code.front());
}

TEST_F(TokenizerFiles, SeparateVocabulariesDecodeByTheTargetsOwn) {
  WriteFile(directory_ / "tokenizer_config.json", R"({"separate_vocabs": true})");
  EXPECT_EQ(LoadStatus().code(), absl::StatusCode::kNotFound);
  WriteFile(directory_ / "target_vocab.json",
            R"({"</s>": 0, "<unk>": 1, "▁Der": 2, "▁Hund": 3, "<pad>": 4})");
  const auto tokenizer = Load(directory_.string());
  EXPECT_EQ(tokenizer->Decode({4, 2, 1, 3, 0}), "Der Hund");
  EXPECT_EQ(tokenizer->TargetPiece(3), "▁Hund");
  EXPECT_EQ(tokenizer->target_vocabulary_size(), 5);
  EXPECT_EQ(tokenizer->source_vocabulary_size(), 935);
}

TEST_F(TokenizerFiles, AMissingFileIsNamed) {
  for (const char* file : {"source.spm", "target.spm", "vocab.json"}) {
    const std::string bytes = ReadFile((directory_ / file).string());
    fs::remove(directory_ / file);
    const absl::Status status = LoadStatus();
    EXPECT_EQ(status.code(), absl::StatusCode::kNotFound) << file;
    EXPECT_THAT(std::string(status.message()), HasSubstr(file));
    WriteFile(directory_ / file, bytes);
  }
  EXPECT_TRUE(LoadStatus().ok());
}

TEST_F(TokenizerFiles, AMalformedVocabularyIsRefused) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "vocab.json"},
      {"[]", "want an object"},
      {R"({"</s>": 0, "<unk>": 1, "<pad>": 2)", "parse error"},
      {R"({"</s>": 0, "<unk>": 1, "<pad>": 2, "a": -1})", "\"a\" is -1"},
      {R"({"</s>": 0, "<unk>": 1, "<pad>": 2, "a": 1.5})", "\"a\" is 1.5"},
      {R"({"</s>": 0, "<unk>": 1, "<pad>": 2, "a": "3"})", "\"a\" is \"3\""},
      {R"({"</s>": 0, "<unk>": 1, "<pad>": 2, "a": 10000000})", "want a whole number"},
      {R"({"</s>": 0, "<unk>": 1, "<pad>": 2, "a": 18446744073709551615})", "want a whole number"},
      {R"({"</s>": 0, "<unk>": 1, "<pad>": 2, "a": 2})", "have the id 2"},
      {R"({"</s>": 0, "<unk>": 1, "<pad>": 2, "a": 3, "a": 4})", "\"a\" occurs twice"},
      {R"({"</s>": 0, "<unk>": 1})", "has no <pad>"},
  };
  for (const auto& [json, message] : cases) {
    WriteFile(directory_ / "vocab.json", json);
    const absl::Status status = LoadStatus();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << json;
    EXPECT_THAT(std::string(status.message()), AllOf(HasSubstr("vocab.json"), HasSubstr(message)));
  }
}

TEST_F(TokenizerFiles, AMalformedTokenizerConfigIsRefused) {
  for (const char* json :
       {"{", R"({"separate_vocabs": 1})", R"({"source_lang": ["en"]})",
        R"({"language_pairs": "eng-deu"})", R"({"language_pairs": []})",
        R"({"language_pairs": [["eng"]]})", R"({"language_pairs": [["eng", 1]]})",
        R"({"language_pairs": [["", "deu"]]})", R"({"language_pairs": [["eng", "spa"]]})"}) {
    WriteFile(directory_ / "tokenizer_config.json", json);
    EXPECT_EQ(LoadStatus().code(), absl::StatusCode::kInvalidArgument) << json;
  }
}

TEST_F(TokenizerFiles, AFileThatIsNotAPieceModelIsRefused) {
  for (const std::string& bytes : {std::string(), std::string("hello"), std::string(1000, '\xFF'),
                                   ReadFile((directory_ / "vocab.json").string())}) {
    WriteFile(directory_ / "target.spm", bytes);
    const absl::Status status = LoadStatus();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(status.message()), HasSubstr("target.spm"));
  }
}

TEST(PieceModel, ADamagedFileNeverCrashes) {
  constexpr uint32_t kSeed = 20240607;
  SCOPED_TRACE(kSeed);
  std::mt19937 random(kSeed);
  const std::string good = ReadFile(std::string(kModels) + "marian-trained/source.spm");
  const std::string text = "The old ﬁne teacher — 東京 🙂 №5 Ünïcödé …";
  int accepted = 0;
  for (int round = 0; round < 400; ++round) {
    std::string bytes = good;
    if (round % 4 == 0) bytes.resize(random() % bytes.size());
    const int flips = 1 + static_cast<int>(random() % 8);
    for (int i = 0; i < flips && !bytes.empty(); ++i) {
      bytes[random() % bytes.size()] ^= static_cast<char>(1 + random() % 255);
    }
    std::string error;
    const auto model = PieceModel::Load(bytes, &error);
    EXPECT_EQ(model == nullptr, !error.empty());
    if (model == nullptr) continue;
    ++accepted;
    const std::vector<std::string> pieces = model->Encode(text);
    EXPECT_LE(model->Decode(pieces).size(), 100 * text.size());
  }
  EXPECT_GT(accepted, 0);  // otherwise only the parser was tested
}

}  // namespace
}  // namespace dragoman::tokenizer_files_test
