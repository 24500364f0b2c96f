// Directories that have all their files, but not the tokenizer that the model was trained with:
// each kind is refused, by what it says or has, and what only looks like one is not.

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "engine/base/json.h"
#include "engine/families/model_directory.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dragoman::foreign_tokenizer_test {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

constexpr char kCTranslate2[] = "tests/golden/formats/ctranslate2";  // of six tokens
constexpr char kMarianWords[] = "tests/golden/marian/models/tr-gelu-yml";
// SentencePiece models of other texts than those of any directory below.
constexpr char kAlien[] = "tests/golden/marian/models/nematus-ln/vocab.spm";
constexpr char kSource[] = "tests/golden/models/marian-trained/source.spm";

// Directories of Hugging Face's families, a class that each knows, and one of its SentencePiece
// models.
struct Family {
  const char* model;
  const char* known;
  const char* pieces;
};
constexpr Family kFamilies[] = {{"marian-trained", "MarianTokenizer", "source.spm"},
                                {"m2m100-trained", "M2M100Tokenizer", "sentencepiece.bpe.model"},
                                {"nllb-trained", "NllbTokenizer", "sentencepiece.bpe.model"},
                                {"mbart50-trained", "MBart50Tokenizer", "sentencepiece.bpe.model"},
                                {"t5v11-trained", "T5Tokenizer", "spiece.model"}};

std::string FileContent(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  EXPECT_TRUE(in) << path;
  return {std::istreambuf_iterator<char>(in), {}};
}

// A file that lists these pieces as a SentencePiece model does: field 1 of ModelProto is a piece,
// whose field 1 is its text.
std::string PieceList(const std::vector<std::string>& texts) {
  const auto field = [](const std::string& content) {
    return absl::StrCat("\x0a", std::string(1, static_cast<char>(content.size())), content);
  };
  std::string file;
  for (const std::string& text : texts) file += field(field(text));
  return file;
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
  void Remove(const std::string& file) { fs::remove(directory_ / file); }

  absl::Status Open() const { return OpenTokenizer(directory_.string()).status(); }
  std::string Why() const { return std::string(Open().message()); }

  fs::path directory_;
};

constexpr char kPieces[] = R"(["<s>", "</s>", "<unk>", "\u2581The", "\u2581cat", "."])";

TEST_F(ForeignTokenizer, PiecesWithoutTheirModelAreRefused) {
  Begin(kCTranslate2);
  EXPECT_TRUE(Open().ok()) << Open();
  Write("shared_vocabulary.json", kPieces);
  EXPECT_EQ(Open().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(Why(), AllOf(HasSubstr("the shared vocabulary has 2 pieces of SentencePiece"),
                           HasSubstr("among 6 tokens"), HasSubstr("there is no .spm")));
  // Under a name that nothing reads.
  for (const char* name : {"joint.model", "vocab.spm", "en.model"}) {
    Copy(kSource, name);
    EXPECT_EQ(Open().code(), absl::StatusCode::kUnimplemented);
    EXPECT_THAT(Why(), AllOf(HasSubstr("2 pieces"), HasSubstr(absl::StrCat("beside it: ", name))));
    Remove(name);
  }
  Write("notes.model", "no model");
  EXPECT_THAT(Why(), HasSubstr("there is no .spm"));
  for (const char* name : {"sentencepiece.model", "spiece.model", "sentencepiece.bpe.model"}) {
    Copy(kSource, name);
    EXPECT_TRUE(Open().ok()) << name << ": " << Open();
    Remove(name);
  }
}

TEST_F(ForeignTokenizer, TheSideWithoutAPieceModelIsNamed) {
  Begin(kCTranslate2);
  Remove("shared_vocabulary.json");
  Write("source_vocabulary.json", kPieces);
  Write("target_vocabulary.json",
        R"(["<s>", "</s>", "<unk>", "\u2581Die", "\u2581Katze", "\u2581schl\u00e4ft"])");
  Copy(kSource, "in.spm");
  Copy(kAlien, "out.spm");
  EXPECT_THAT(Why(), AllOf(HasSubstr("the source vocabulary has 2 pieces"),
                           HasSubstr("beside it: in.spm, out.spm")));
  Remove("in.spm");
  Copy(kSource, "source.spm");
  EXPECT_THAT(Why(), HasSubstr("the target vocabulary has 3 pieces"));
  Remove("out.spm");
  Copy(kAlien, "target.spm");
  EXPECT_TRUE(Open().ok()) << Open();
}

TEST_F(ForeignTokenizer, AVocabularyOfWordsMayHaveTheSignItself) {
  Begin(kCTranslate2);
  const auto set_piece = [this](const char* piece) {
    Write("shared_vocabulary.json",
          absl::StrReplaceAll(kPieces, {{"\\u2581The", piece}, {"\\u2581cat", "cat"}}));
  };
  for (const char* sign : {"\\u2581", "\\u2581@@", "\\u2581\\u2582\\u2583", "a\\u2581b"}) {
    set_piece(sign);
    EXPECT_TRUE(Open().ok()) << sign << ": " << Open();
  }
  for (const char* piece : {"\\u2581a", "\\u25817", "\\u2581\\u00e4", "\\u2581\\u732b"}) {
    set_piece(piece);
    EXPECT_THAT(Why(), HasSubstr("has 1 pieces")) << piece;
  }
}

// As in archives of OPUS-MT: Marian's vocabulary lists pieces that models beside it make.
TEST_F(ForeignTokenizer, AListOfPiecesIsNoVocabularyOfWords) {
  Begin(kMarianWords);
  EXPECT_TRUE(Open().ok()) << Open();
  const std::string words = FileContent(directory_ / "tok.en.yml");
  Write("tok.en.yml", absl::StrReplaceAll(words, {{"\nthe", "\n▁the"}, {"\nbig", "\n▁big"}}));
  EXPECT_THAT(Why(), AllOf(HasSubstr("the source vocabulary has"), HasSubstr("there is no .spm")));
  Copy(kSource, "source.spm");
  Copy("tests/golden/models/marian-trained/target.spm", "target.spm");
  EXPECT_THAT(Why(), HasSubstr("pieces are not in the vocabulary beside it"));
}

TEST_F(ForeignTokenizer, AMissingPieceModelIsNamed) {
  for (const Family& family : kFamilies) {
    BeginFamily(family);
    Remove(family.pieces);
    Copy(kAlien, "joint.spm.model");
    EXPECT_EQ(Open().code(), absl::StatusCode::kNotFound) << family.model;
    EXPECT_THAT(Why(), HasSubstr(family.pieces));
  }
}

TEST_F(ForeignTokenizer, APieceModelOfOtherPiecesThatNothingReadsIsRefused) {
  for (const Family& family : kFamilies) {
    SCOPED_TRACE(family.model);
    BeginFamily(family);
    for (const char* name : {"alien.spm", "joint.spm.model", "spm.128k.model"}) {
      Copy(kAlien, name);
      EXPECT_EQ(Open().code(), absl::StatusCode::kUnimplemented);
      EXPECT_THAT(Why(), AllOf(HasSubstr(absl::StrCat(name, ": nothing reads it")),
                               HasSubstr("of its 432 pieces")));
      Remove(name);
    }
    Write("one.spm", PieceList({"<unk>", "<s>", "</s>", "a", "▁Rhinozeros"}));
    EXPECT_THAT(Why(), HasSubstr("1 of its 5 pieces"));
  }
}

constexpr char kNllb[] = "tests/golden/models/nllb-trained-v5";

TEST_F(ForeignTokenizer, ATokenizerJsonOfOtherPiecesIsRefusedAndOneOfTheSameIsNot) {
  for (const Family& family : kFamilies) {
    SCOPED_TRACE(family.model);
    BeginFamily(family);
    Copy(fs::path(kNllb) / "tokenizer.json", "tokenizer.json");
    // M2M100's model of the goldens has the same pieces as NLLB's.
    if (std::string_view(family.known) == "NllbTokenizer" ||
        std::string_view(family.known) == "M2M100Tokenizer") {
      EXPECT_TRUE(Open().ok()) << Open();
      continue;
    }
    EXPECT_EQ(Open().code(), absl::StatusCode::kUnimplemented);
    EXPECT_THAT(Why(), AllOf(HasSubstr("tokenizer.json: nothing reads it"),
                             HasSubstr("of its 601 pieces")));
  }
}

TEST_F(ForeignTokenizer, ATokenizerJsonWithOtherTokensAroundATextIsRefused) {
  Begin(kNllb);
  EXPECT_TRUE(Open().ok()) << Open();
  auto json = nlohmann::json::parse(FileContent(directory_ / "tokenizer.json"));
  nlohmann::json& single = json["post_processor"]["single"];
  const nlohmann::json before = single;
  single.erase(0);
  Write("tokenizer.json", json.dump());
  EXPECT_EQ(Open().code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(Why(), HasSubstr("post_processor puts the tokens [] and [2] around a text"));
  // Another language of the model is no difference.
  single = before;
  json["post_processor"]["special_tokens"]["eng_Latn"]["ids"] = {643};
  Write("tokenizer.json", json.dump());
  EXPECT_TRUE(Open().ok()) << Open();
}

TEST_F(ForeignTokenizer, WhatAConversionLeftOverIsNot) {
  for (const Family& family : kFamilies) {
    SCOPED_TRACE(family.model);
    BeginFamily(family);
    Copy(directory_ / family.pieces, "copy.model");
    Copy(directory_ / family.pieces, "old.spm");
    const auto tokenizer = OpenTokenizer(directory_.string());
    ASSERT_TRUE(tokenizer.ok()) << tokenizer.status();
    // Some of the pieces in another order, and control tokens of another toolkit.
    std::vector<std::string> some = {"<pad>", "<unk>", "<2de>", "<0x0A>"};
    for (int id = (*tokenizer)->target_vocabulary_size(); id-- > 0;) {
      const std::string& piece = (*tokenizer)->TargetPiece(id);
      if (id % 3 == 0 && piece.size() < 100) some.push_back(piece);
    }
    Write("some.spm", PieceList(some));
    Write("truecase.model", "the (5/9) The (4)\n");
    EXPECT_TRUE(Open().ok()) << Open();
  }
}

TEST_F(ForeignTokenizer, PieceModelsOfOtherFormatsAreComparedToo) {
  Begin(kCTranslate2);
  Copy(kAlien, "alien.spm");
  EXPECT_THAT(Why(), HasSubstr("alien.spm: nothing reads it"));
  Write("alien.spm", PieceList({"<unk>", "The", "cat"}));
  EXPECT_TRUE(Open().ok()) << Open();

  Begin("tests/golden/marian/models/nematus-ln");
  Copy(kAlien, "copy.model");
  EXPECT_TRUE(Open().ok()) << Open();
  Copy(kSource, "source.model");
  EXPECT_THAT(Why(), HasSubstr("source.model: nothing reads it"));

  // An Argos package.
  fs::remove_all(directory_);
  fs::create_directories(directory_ / "model");
  for (const auto& entry : fs::directory_iterator(kCTranslate2)) {
    Copy(entry.path(), absl::StrCat("model/", entry.path().filename().string()));
  }
  Copy(kSource, "sentencepiece.model");
  Write("metadata.json", R"({"from_code": "en", "to_code": "de"})");
  EXPECT_TRUE(Open().ok()) << Open();
  Copy(kSource, "model/source.spm");
  EXPECT_TRUE(Open().ok()) << Open();
  Copy(kAlien, "model/alien.spm");
  EXPECT_THAT(Why(), HasSubstr("model/alien.spm: nothing reads it"));
}

TEST_F(ForeignTokenizer, AClassThatIsNotKnownIsRefused) {
  const auto set_class = [this](const char* file, const nlohmann::json& name) {
    auto json = nlohmann::json::parse(FileContent(directory_ / file));
    json["tokenizer_class"] = name;
    Write(file, json.dump());
  };
  for (const Family& family : kFamilies) {
    SCOPED_TRACE(family.model);
    BeginFamily(family);
    for (const char* name : {"SMALL101Tokenizer", "CanineTokenizer", "Tokenizer", "Fast",
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
    Write("tokenizer_config.json", R"({"tokenizer_class": "SMALL101Tokenizer"})");
    EXPECT_THAT(Why(), HasSubstr("tokenizer_class is \"SMALL101Tokenizer\", want"));
  }
  Begin(kCTranslate2);
  for (const Family& family : kFamilies) {
    Write("tokenizer_config.json", absl::StrCat(R"({"tokenizer_class": ")", family.known, "\"}"));
    EXPECT_TRUE(Open().ok()) << family.known << ": " << Open();
  }
}

}  // namespace
}  // namespace dragoman::foreign_tokenizer_test
