// Directories that have all their files, but not the tokenizer that the model was trained with:
// each kind is refused, by what it says or has, and what only looks like one is not.

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "absl/strings/str_cat.h"
#include "engine/base/json.h"
#include "engine/families/model_directory.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dragoman {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

constexpr char kCTranslate2[] = "tests/golden/formats/ctranslate2";  // of six tokens
constexpr char kMarianWords[] = "tests/golden/marian/models/tr-gelu-yml";

// Directories of Hugging Face's families, and a class that each knows.
struct Family {
  const char* model;
  const char* known;
};
constexpr Family kFamilies[] = {{"marian-trained", "MarianTokenizer"},
                                {"m2m100-trained", "M2M100Tokenizer"},
                                {"nllb-trained", "NllbTokenizer"},
                                {"mbart50-trained", "MBart50Tokenizer"},
                                {"t5v11-trained", "T5Tokenizer"}};

std::string FileContent(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  EXPECT_TRUE(in) << path;
  return {std::istreambuf_iterator<char>(in), {}};
}

class ForeignTokenizer : public testing::Test {
 protected:
  void SetUp() override {
    const auto* const test = testing::UnitTest::GetInstance()->current_test_info();
    directory_ =
        fs::path(testing::TempDir()) / absl::StrCat("foreign", getpid(), "_", test->name());
  }
  void TearDown() override { fs::remove_all(directory_); }

  // A copy of a directory; Hugging Face's weights, which no tokenizer needs, are left out.
  void Begin(const fs::path& from) {
    fs::remove_all(directory_);
    fs::create_directories(directory_);
    for (const auto& entry : fs::directory_iterator(from)) {
      const std::string name = entry.path().filename().string();
      if (name != "model.safetensors") Copy(entry.path(), name);
    }
  }
  void BeginFamily(const Family& family) { Begin(fs::path("tests/golden/models") / family.model); }
  void Copy(const fs::path& from, const std::string& file) { Write(file, FileContent(from)); }
  void Write(const std::string& file, const std::string& content) {
    std::ofstream(directory_ / file, std::ios::binary) << content;
  }

  absl::Status Open() const { return OpenTokenizer(directory_.string()).status(); }
  std::string Why() const { return std::string(Open().message()); }

  fs::path directory_;
};

TEST_F(ForeignTokenizer, AClassThatIsNotKnownIsRefused) {
  const auto set_class = [this](const char* file, const nlohmann::json& name) {
    auto json = nlohmann::json::parse(FileContent(directory_ / file));
    json["tokenizer_class"] = name;
    Write(file, json.dump());
  };
  for (const Family& family : kFamilies) {
    SCOPED_TRACE(family.model);
    BeginFamily(family);
    for (const char* name : {"SMALL100Tokenizer", "ByT5Tokenizer", "Tokenizer", "Fast",
                             "MyTokenizerFast", "BartTokenizer"}) {
      set_class("tokenizer_config.json", name);
      EXPECT_EQ(Open().code(), absl::StatusCode::kUnimplemented) << name;
      EXPECT_THAT(
          Why(),
          AllOf(HasSubstr(absl::StrCat("tokenizer_config.json: tokenizer_class is \"", name, "\"")),
                HasSubstr(family.known)));
      EXPECT_EQ(ReadModelConfig(directory_.string()).status(), Open());
      EXPECT_EQ(ReadLanguages(directory_.string()).status(), Open());
    }
    set_class("tokenizer_config.json", 7);
    EXPECT_EQ(Open().code(), absl::StatusCode::kInvalidArgument);
    for (const nlohmann::json& name :
         {nlohmann::json(family.known), nlohmann::json(absl::StrCat(family.known, "Fast")),
          nlohmann::json(nullptr)}) {
      set_class("tokenizer_config.json", name);
      EXPECT_TRUE(Open().ok()) << name << ": " << Open();
    }
    // Hugging Face looks there next.
    set_class("config.json", "BartTokenizer");
    EXPECT_THAT(Why(), HasSubstr("config.json: tokenizer_class is \"BartTokenizer\""));
  }
}

// The conversion of a model whose tokenizer is its own, with the tokenizer's files.
TEST_F(ForeignTokenizer, AClassThatIsNotKnownIsRefusedInOtherFormats) {
  for (const char* model : {kCTranslate2, kMarianWords}) {
    Begin(model);
    Write("tokenizer_config.json", R"({"tokenizer_class": "SMALL100Tokenizer"})");
    EXPECT_THAT(Why(), HasSubstr("tokenizer_class is \"SMALL100Tokenizer\", want"));
  }
  Begin(kCTranslate2);
  for (const Family& family : kFamilies) {
    Write("tokenizer_config.json", absl::StrCat(R"({"tokenizer_class": ")", family.known, "\"}"));
    EXPECT_TRUE(Open().ok()) << family.known << ": " << Open();
  }
}

}  // namespace
}  // namespace dragoman
