#include "engine/families/ctranslate2.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>

#include "engine/families/ctranslate2_facts.h"
#include "engine/families/model_directory.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dragoman::ctranslate2_test {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kDirectory[] = "tests/golden/formats/ctranslate2";  // width 4, one layer each

class CTranslate2Directory : public ::testing::Test {
 protected:
  void SetUp() override { fs::copy(kDirectory, path_, fs::copy_options::recursive); }
  void TearDown() override { fs::remove_all(path_); }

  void Write(const std::string& file, const std::string& content) {
    std::ofstream(path_ + "/" + file, std::ios::binary) << content;
  }
  std::string ReadFile(const std::string& file) {
    std::ifstream in(path_ + "/" + file, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(in), {});
  }
  // Replaces the first `from` in the model's file.
  void Change(const std::string& from, const std::string& to) {
    std::string bytes = ReadFile("model.bin");
    ASSERT_NE(bytes.find(from), bytes.npos);
    Write("model.bin", bytes.replace(bytes.find(from), from.size(), to));
  }
  std::string Why() { return std::string(OpenModelDirectory(path_).status().message()); }

  const std::string path_ =
      ::testing::TempDir() + "/" + ::testing::UnitTest::GetInstance()->current_test_info()->name();
};

TEST_F(CTranslate2Directory, FactsBecomeASpec) {
  const absl::StatusOr<ModelDirectory> model = OpenModelDirectory(path_);
  ASSERT_TRUE(model.ok()) << model.status();
  const ModelSpec& spec = model->config.spec;
  EXPECT_EQ(spec.architecture, "TransformerSpec");
  EXPECT_EQ(spec.d_model, 4);
  EXPECT_EQ(spec.encoder_layers, 1);
  EXPECT_EQ(spec.decoder_layers, 1);
  EXPECT_EQ(spec.encoder_heads, 2);
  EXPECT_EQ(spec.encoder_head_width(), 2);
  EXPECT_EQ(spec.decoder_ffn, 6);
  EXPECT_TRUE(spec.pre_norm);
  EXPECT_TRUE(spec.final_norm);
  EXPECT_TRUE(spec.tied_output);
  EXPECT_FALSE(spec.share_embeddings);
  EXPECT_FLOAT_EQ(spec.embedding_scale, 2.0f);
  EXPECT_EQ(spec.positions.kind, Positions::kSinusoids);
  EXPECT_EQ(spec.positions.first, 1);
  EXPECT_TRUE(spec.positions.to_the_end);
  EXPECT_EQ(spec.eos_id, 1);
  EXPECT_EQ(spec.decoder_start_id, 0);
}

TEST_F(CTranslate2Directory, FusedProjectionsAreSplit) {
  const absl::StatusOr<ModelDirectory> model = OpenModelDirectory(path_);
  ASSERT_TRUE(model.ok()) << model.status();
  const auto file = OpenCTranslate2File(path_ + "/model.bin");
  ASSERT_TRUE(file.ok()) << file.status();
  const Matrix<float> fused =
      *file->variables.ReadMatrix("decoder/layer_0/attention/linear_1/weight", 8, 4);
  const std::string attention = "model.decoder.layers.0.encoder_attn.";
  const Matrix<float> k = *model->checkpoint.ReadMatrix(attention + "k_proj.weight", 4, 4);
  const Matrix<float> v = *model->checkpoint.ReadMatrix(attention + "v_proj.weight", 4, 4);
  for (int r = 0; r < 4; ++r) {
    EXPECT_EQ(k.Row(r), fused.Row(r));
    EXPECT_EQ(v.Row(r), fused.Row(4 + r));
  }
  EXPECT_TRUE(model->checkpoint.ReadVector(attention + "q_proj.bias", 4).ok());
}

TEST_F(CTranslate2Directory, WithoutATokenizerWordsAndCharactersAreTokens) {
  const absl::StatusOr<ModelDirectory> model = OpenModelDirectory(path_);
  ASSERT_TRUE(model.ok()) << model.status();
  // <s> </s> <unk> The cat .
  EXPECT_THAT(model->tokenizer->Encode(" The cat  .").ids, ElementsAre(3, 4, 5));
  EXPECT_THAT(model->tokenizer->Encode("The ..x").ids, ElementsAre(3, 5, 5, 2));
  EXPECT_EQ(model->tokenizer->Decode({3, 4, 5, 1}), "The cat .");
}

// >>deu<< and >>fra<< name languages, unless the configuration puts one of them before each text.
TEST_F(CTranslate2Directory, ALanguageTagFollowsTheTokensOfTheConfiguration) {
  Write("shared_vocabulary.json", R"(["<s>", "</s>", "<unk>", ">>deu<<", ">>fra<<", "cat"])");
  Write("config.json", R"({"add_source_bos": true, "decoder_start_token": "<s>"})");
  absl::StatusOr<ModelDirectory> model = OpenModelDirectory(path_);
  ASSERT_TRUE(model.ok()) << model.status();
  const Tokenizer* tokenizer = model->tokenizer.get();
  EXPECT_THAT(tokenizer->Encode("cat").ids, ElementsAre(0, 5, 1));
  const Frame frame = tokenizer->FrameOf({"", "fra"});
  EXPECT_THAT(tokenizer->Encode("cat", frame).ids, ElementsAre(0, 4, 5, 1));
  Write("config.json",
        R"({"bos_token": ">>deu<<", "add_source_bos": true, "decoder_start_token": "<s>"})");
  model = OpenModelDirectory(path_);
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_THAT(model->tokenizer->Encode("cat").ids, ElementsAre(3, 5));
}

// CheckAllIsRead refuses what is left over.
TEST_F(CTranslate2Directory, WhatIsNotKnownIsLeftOver) {
  Change("encoder/pre_norm", "encoder/rope_dim");
  const absl::StatusOr<ModelDirectory> model = OpenModelDirectory(path_);
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_TRUE(model->checkpoint.Has("encoder/rope_dim"));
  EXPECT_FALSE(model->checkpoint.Has("decoder/pre_norm"));
}

// A string of the file: its size with the final zero, in two bytes, and that.
std::string Stored(const std::string& text) {
  return std::string{static_cast<char>(text.size() + 1), '\0'} + text + '\0';
}

TEST_F(CTranslate2Directory, FeaturesThatNothingHereHasAreRefused) {
  Change(Stored("decoder/pre_norm"), Stored("decoder/alibi"));
  EXPECT_THAT(Why(), HasSubstr("decoder/alibi is 1, want 0"));
}

TEST_F(CTranslate2Directory, ARevisionThatIsNotKnownIsRefused) {
  const std::string name = Stored("TransformerSpec");
  Change(name + '\7', name + '\10');
  EXPECT_THAT(Why(), HasSubstr("the revision of TransformerSpec is 8, want at most 7"));
}

// Facts at the root of an old file, and those of its stacks.
TEST(CTranslate2Facts, RootFactsOfOldRevisionsCountForTheStacksThatHaveNone) {
  const std::byte bytes[] = {std::byte{0}, std::byte{1}};
  const Tensor root{DType::kI8, {}, absl::MakeConstSpan(bytes).first(1)};
  const Tensor own{DType::kI8, {}, absl::MakeConstSpan(bytes).last(1)};
  for (const uint32_t revision : {4, 5}) {
    const std::map<std::string, Tensor> variables = {
        {"pre_norm", root}, {"alignment_heads", root}, {"encoder/pre_norm", own}};
    CTranslate2File file{4, "TransformerSpec", revision, Checkpoint("model.bin", {}, variables)};
    MoveRootFacts(&file);
    const CTranslate2Facts facts(file.variables);
    EXPECT_EQ(*facts.Number("encoder/pre_norm", 7), 1);
    EXPECT_EQ(*facts.Number("decoder/pre_norm", 7), revision < 5 ? 0 : 7);
    EXPECT_EQ(*facts.Number("decoder/alignment_heads", 7), revision < 5 ? 0 : 7);
    EXPECT_FALSE(facts.Has("encoder/alignment_heads"));
    EXPECT_EQ(file.variables.Unread().empty(), revision < 5);
  }
}

TEST_F(CTranslate2Directory, MissingFilesAndVariablesAreNamed) {
  Change("decoder/layer_0/ffn/layer_norm/gamma", "decoder/layer_0/ffn/layer_norm/gimme");
  EXPECT_THAT(Why(), HasSubstr("there is no tensor decoder/layer_0/ffn/layer_norm/gamma"));
}

TEST_F(CTranslate2Directory, VocabulariesMustFit) {
  Write("shared_vocabulary.json", R"(["<s>", "</s>", "<unk>", "a", "b", "c", "d"])");
  EXPECT_THAT(Why(), HasSubstr("the vocabularies have 7 and 7 tokens, but the embeddings 6 and 6"));
  Write("shared_vocabulary.json", R"(["<s>", "<unk>"])");
  EXPECT_THAT(Why(), HasSubstr("the target vocabulary has no </s>"));
  Write("shared_vocabulary.json", R"(["<s>", 7])");
  EXPECT_THAT(Why(), HasSubstr("token 1 is not a string"));
  fs::remove(path_ + "/shared_vocabulary.json");
  EXPECT_THAT(Why(), HasSubstr("target_vocabulary"));
}

TEST_F(CTranslate2Directory, ATextVocabularyMayLackTheUnknownToken) {
  fs::remove(path_ + "/shared_vocabulary.json");
  Write("source_vocabulary.txt", "<s>\r\n</s>\r\nx\r\ny\r\nz\r\n");
  Write("target_vocabulary.txt", "<s>\n</s>\n<unk>\nx\r\ny\nz\n");
  const absl::StatusOr<ModelDirectory> model = OpenModelDirectory(path_);
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_THAT(model->tokenizer->Encode("x ? z").ids, ElementsAre(2, 5, 4));
  EXPECT_EQ(model->tokenizer->TargetPiece(3), "x\r");
}

// An Argos package of the model: CTranslate2 adds tokens, and nobody else does.
class ArgosPackage : public CTranslate2Directory {
 protected:
  void SetUp() override {
    fs::create_directory(path_);
    fs::copy(kDirectory, path_ + "/model", fs::copy_options::recursive);
    fs::copy("tests/golden/models/marian-trained/source.spm", path_ + "/sentencepiece.model");
    Write("model/shared_vocabulary.json",
          R"(["<s>", "</s>", "<unk>", ">>deu<<", ">>fra<<", "\u2581house"])");
    Write("metadata.json", R"({"from_code": "en", "to_code": "de"})");
  }
};

TEST_F(ArgosPackage, HasTheTokensThatItsConfigurationSays) {
  Write("model/config.json", R"({"decoder_start_token": "<s>"})");
  EXPECT_THAT(OpenModelDirectory(path_)->tokenizer->Encode("house").ids, ElementsAre(5));
  Write("model/config.json",
        R"({"bos_token": ">>deu<<", "add_source_bos": true, "decoder_start_token": "gone"})");
  absl::StatusOr<ModelDirectory> model = OpenModelDirectory(path_);
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_THAT(model->tokenizer->Encode("house").ids, ElementsAre(3, 5));
  EXPECT_EQ(model->config.spec.decoder_start_id, 2);
  Write("model/config.json",
        R"({"bos_token": "gone", "add_source_bos": true, "add_source_eos": true})");
  Write("metadata.json", R"({"from_code": "en", "to_code": "de", "target_prefix": ">>fra<<"})");
  model = OpenModelDirectory(path_);
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_THAT(model->tokenizer->Encode("house").ids, ElementsAre(2, 5, 1));
}

TEST_F(ArgosPackage, LanguagesAreReadWithoutTheTokenizer) {
  Write("model/config.json", R"({"decoder_start_token": "<s>"})");
  Write("sentencepiece.model", "no tokenizer");  // which nobody reads
  const absl::StatusOr<Languages> languages = ReadLanguages(path_);
  ASSERT_TRUE(languages.ok()) << languages.status();
  EXPECT_THAT(languages->sources(), ElementsAre("en"));
  EXPECT_THAT(languages->targets(), ElementsAre("de"));
  Write("metadata.json", "{}");  // only the tokenizer may know them
  EXPECT_FALSE(ReadLanguages(path_).ok());
}

TEST_F(ArgosPackage, WithoutAnythingToStartWithIsRefused) {
  Write("model/config.json", R"({"decoder_start_token": null})");
  EXPECT_THAT(Why(), HasSubstr("no target_prefix"));
}

}  // namespace
}  // namespace dragoman::ctranslate2_test
