// Whole directories of models that people download: the files, the fields and values of config.json
// (except sizes, which are small here) and the names of the tensors.  Weights are random, and the
// engine must give the results of the naive Transformer.
//
// What the published files look like is known from
//
//   - T5: the config.json of t5-small, as transformers prints it (huggingface/transformers, pull
//     request 17607), and its tensors without lm_head (issue 14843)
//   - mT5: the config.json of google/mt5-small
//   - MADLAD-400: decoder.embed_tokens.weight in place of shared.weight (issue 48154), and a
//     decoder start that is not the padding (OpenNMT/CTranslate2, pull request 1552)
//   - what transformers 5 saves: tie_word_embeddings is always true, and scale_decoder_outputs has
//     the value that it had before (pull request 48238)

#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "engine/families/model_directory.h"
#include "engine/model/model.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/model/teacher_forcing.h"
#include "tests/reference/any_transformer.h"
#include "tests/reference/random_weights.h"

namespace dragoman::whole_directory_test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using reference::NamedWeights;
using reference::Rows;
using testing::ElementsAre;

// Maps a canonical tensor name to the name in the files; "" leaves the tensor out.
using FileName = std::function<std::string(const std::string&)>;

std::string SameName(const std::string& name) { return name; }

std::string T5Name(const std::string& canonical) {
  if (canonical == "lm_head.weight") return canonical;
  if (canonical == "model.shared.weight") return "shared.weight";
  const bool decoder = absl::StartsWith(canonical, "model.decoder.");
  const std::string ffn = decoder ? ".layer.2" : ".layer.1";
  const std::string dense = ffn + ".DenseReluDense";
  return absl::StrReplaceAll(canonical,
                             {{"model.", ""},
                              {".layers.", ".block."},
                              {"coder.relative_attention_bias",
                               "coder.block.0.layer.0.SelfAttention.relative_attention_bias"},
                              {"coder.layer_norm", "coder.final_layer_norm"},
                              {".self_attn_layer_norm", ".layer.0.layer_norm"},
                              {".encoder_attn_layer_norm", ".layer.1.layer_norm"},
                              {".final_layer_norm", ffn + ".layer_norm"},
                              {".self_attn.q_proj", ".layer.0.SelfAttention.q"},
                              {".self_attn.k_proj", ".layer.0.SelfAttention.k"},
                              {".self_attn.v_proj", ".layer.0.SelfAttention.v"},
                              {".self_attn.out_proj", ".layer.0.SelfAttention.o"},
                              {".encoder_attn.q_proj", ".layer.1.EncDecAttention.q"},
                              {".encoder_attn.k_proj", ".layer.1.EncDecAttention.k"},
                              {".encoder_attn.v_proj", ".layer.1.EncDecAttention.v"},
                              {".encoder_attn.out_proj", ".layer.1.EncDecAttention.o"},
                              {".fc1_linear", dense + ".wi_1"},
                              {".fc1", dense + ".wi_0"},
                              {".fc2", dense + ".wo"}});
}

std::string UngatedT5Name(const std::string& canonical) {
  return absl::StrReplaceAll(T5Name(canonical), {{".wi_0.", ".wi."}});
}

// MADLAD-400 stores its table only under the decoder's name.
std::string MadladName(const std::string& canonical) {
  return canonical == "model.shared.weight" ? "decoder.embed_tokens.weight" : T5Name(canonical);
}

std::string ReadFile(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  EXPECT_TRUE(in) << path;
  return {std::istreambuf_iterator<char>(in), {}};
}

// Appends a piece to a SentencePiece model: field 1 of ModelProto, with the piece, its score and
// the type USER_DEFINED.  Concatenated protobuf messages are merged when they are parsed.
std::string Piece(const std::string& text) {
  const std::string piece = absl::StrCat("\x0a", std::string(1, static_cast<char>(text.size())),
                                         text, std::string("\x15\0\0\0\0\x18\x04", 7));
  return absl::StrCat("\x0a", std::string(1, static_cast<char>(piece.size())), piece);
}

class WholeDirectory : public testing::Test {
 protected:
  void SetUp() override {
    const auto* const test = testing::UnitTest::GetInstance()->current_test_info();
    directory_ = fs::path(testing::TempDir()) / absl::StrCat("whole", getpid(), "_", test->name());
    fs::remove_all(directory_);
    fs::create_directories(directory_);
  }
  void TearDown() override { fs::remove_all(directory_); }

  static fs::path Golden(const std::string& model) {
    return fs::path("tests/golden/models") / model;
  }
  void Copy(const std::string& model, const std::string& file) {
    fs::copy_file(Golden(model) / file, directory_ / file);
  }
  void Write(const std::string& file, const std::string& content) {
    std::ofstream(directory_ / file, std::ios::binary) << content;
  }

  // Writes config.json and random tensors to match, loads the directory, and compares the engine
  // with the naive Transformer.
  void Load(const json& config, const FileName& name) {
    Write("config.json", config.dump(2));
    const absl::StatusOr<ModelConfig> read = ReadModelConfig(directory_.string());
    ASSERT_TRUE(read.ok()) << read.status();
    weights_ = reference::RandomWeights(read->spec, 1);
    WriteTensors(name);
    absl::StatusOr<std::shared_ptr<const Model>> model =
        Model::Load("whole", directory_.string(), {.precision = Precision::kFloat32});
    ASSERT_TRUE(model.ok()) << model.status();
    model_ = *model;
    ExpectEngineAgrees();
  }

  const ModelSpec& spec() const { return weights_.spec; }
  // Returns the ids of "red" in the frame of a language pair, and that frame.
  std::pair<std::vector<int32_t>, Frame> Encode(const std::string& source,
                                                const std::string& target) const {
    const absl::StatusOr<LanguagePair> pair =
        model_->tokenizer().languages().Resolve(source, target);
    EXPECT_TRUE(pair.ok()) << pair.status();
    if (!pair.ok()) return {};
    const Frame frame = model_->tokenizer().FrameOf(*pair);
    return {model_->tokenizer().Encode("red", frame).ids, frame};
  }

  fs::path directory_;
  NamedWeights weights_;
  std::shared_ptr<const Model> model_;

 private:
  void WriteTensors(const FileName& name) {
    json header;
    std::string bytes;
    for (const auto& [canonical, tensor] : weights_.tensors) {
      const size_t begin = bytes.size();
      bytes.append(reinterpret_cast<const char*>(tensor.values.data()),
                   tensor.values.size() * sizeof(float));
      json shape = {tensor.rows, tensor.cols};
      if (tensor.rows == 1 && canonical != "final_logits_bias") shape = {tensor.cols};
      header[name(canonical)] = {
          {"dtype", "F32"}, {"shape", shape}, {"data_offsets", {begin, bytes.size()}}};
    }
    const std::string text = header.dump();
    const uint64_t size = text.size();
    std::string file(sizeof(size), '\0');
    std::memcpy(file.data(), &size, sizeof(size));
    Write("model.safetensors", file + text + bytes);
  }

  void ExpectEngineAgrees() const {
    std::mt19937_64 random(2);
    const auto tokens = [&](int count, int vocabulary) {
      std::vector<int32_t> ids;
      for (int i = 0; i < count; ++i) ids.push_back(static_cast<int32_t>(random() % vocabulary));
      return ids;
    };
    const std::vector<ForcedPair> pairs = {
        {tokens(7, spec().source_vocabulary), tokens(5, spec().target_vocabulary)}};
    const std::vector<ForcedOutput> outputs = ForceTeacher(*model_, pairs);
    const Rows encoded = reference::EncodeAny(weights_, pairs[0].source);
    const Rows logits = reference::LogitsOfAny(weights_, encoded, pairs[0].decoder_inputs);
    ASSERT_EQ(outputs[0].logits.size(), logits.size());
    for (size_t r = 0; r < logits.size(); ++r) {
      for (size_t c = 0; c < logits[r].size(); ++c) {
        ASSERT_NEAR(outputs[0].logits[r][c], logits[r][c], 5e-4) << r << ", " << c;
      }
    }
  }
};

// Size of the SentencePiece model that the directories share.
constexpr int kT5Pieces = 800;

json T5Config() {
  return {{"architectures", {"T5ForConditionalGeneration"}},
          {"model_type", "t5"},
          {"d_ff", 96},
          {"d_kv", 16},
          {"d_model", 64},
          {"decoder_start_token_id", 0},
          {"dropout_rate", 0.1},
          {"eos_token_id", 1},
          {"initializer_factor", 1.0},
          {"is_encoder_decoder", true},
          {"layer_norm_epsilon", 1e-06},
          {"num_heads", 4},
          {"num_layers", 2},
          {"pad_token_id", 0},
          {"relative_attention_num_buckets", 32},
          {"vocab_size", kT5Pieces + 100}};
}

TEST_F(WholeDirectory, T5) {
  json config = T5Config();
  config["n_positions"] = 512;
  config["output_past"] = true;
  config["task_specific_params"] = {
      {"summarization", {{"early_stopping", true}, {"num_beams", 4}, {"prefix", "summarize: "}}},
      {"translation_en_to_de",
       {{"early_stopping", true},
        {"max_length", 300},
        {"num_beams", 4},
        {"prefix", "translate English to German: "}}}};
  Copy("t5v11-trained", "spiece.model");
  Load(config, UngatedT5Name);
  ASSERT_NE(model_, nullptr);
  EXPECT_TRUE(spec().tied_output);
  EXPECT_FALSE(spec().gated);
  const auto [ids, frame] = Encode("en", "de");
  EXPECT_EQ(frame.text_prefix, "translate English to German: ");
  EXPECT_EQ(ids, model_->tokenizer().Encode("translate English to German: red").ids);
  EXPECT_FALSE(model_->tokenizer().languages().Resolve("en", "fr").ok());
}

TEST_F(WholeDirectory, T5OfTheFirstName) {
  json config = T5Config();
  config["architectures"] = {"T5WithLMHeadModel"};
  Copy("t5v11-trained", "spiece.model");
  Load(config, UngatedT5Name);
  ASSERT_NE(model_, nullptr);
  EXPECT_EQ(Encode("en", "fr").second.text_prefix, "translate English to French: ");
}

TEST_F(WholeDirectory, FlanT5AsTransformers5SavesIt) {
  json config = T5Config();
  config["feed_forward_proj"] = "gated-gelu";
  config["dense_act_fn"] = "gelu_new";
  config["is_gated_act"] = true;
  config["num_decoder_layers"] = 2;
  config["tie_word_embeddings"] = true;
  config["scale_decoder_outputs"] = false;
  Copy("t5v11-trained", "spiece.model");
  Copy("t5v11-trained", "tokenizer_config.json");
  Load(config, T5Name);
  ASSERT_NE(model_, nullptr);
  EXPECT_FALSE(spec().tied_output);
  EXPECT_FLOAT_EQ(spec().logit_scale, 1.0f);
}

TEST_F(WholeDirectory, MT5) {
  json config = T5Config();
  config["architectures"] = {"MT5ForConditionalGeneration"};
  config["model_type"] = "mt5";
  config["num_heads"] = 3;  // 48 columns, fewer than d_model
  config["num_decoder_layers"] = 2;
  config["feed_forward_proj"] = "gated-gelu";
  config["relative_attention_max_distance"] = 128;
  config["tie_word_embeddings"] = true;  // as transformers 5 writes it, whatever the file has
  config["tokenizer_class"] = "T5Tokenizer";
  config["vocab_size"] = kT5Pieces + 12;
  Copy("t5v11-trained", "spiece.model");
  Write("special_tokens_map.json",
        R"({"eos_token": "</s>", "unk_token": "<unk>", "pad_token": "<pad>"})");
  Write("tokenizer_config.json",
        R"({"eos_token": "</s>", "unk_token": "<unk>", "pad_token": "<pad>", "extra_ids": 0,
            "additional_special_tokens": null, "tokenizer_class": "T5Tokenizer"})");
  Load(config, T5Name);
  ASSERT_NE(model_, nullptr);
  EXPECT_FALSE(spec().tied_output);
  EXPECT_TRUE(spec().gated);
  EXPECT_EQ(model_->tokenizer().Encode("red").ids.back(), 1);
  EXPECT_EQ(model_->tokenizer().source_vocabulary_size(), kT5Pieces);
}

TEST_F(WholeDirectory, Madlad400) {
  json config = T5Config();
  config["d_kv"] = 32;  // 128 columns, more than d_model
  config["num_decoder_layers"] = 2;
  config["feed_forward_proj"] = "gated-gelu";
  config["tie_word_embeddings"] = false;
  config["pad_token_id"] = 1;
  config["eos_token_id"] = 2;
  config["vocab_size"] = kT5Pieces + 2;
  Write("spiece.model",
        ReadFile(Golden("t5v11-trained") / "spiece.model") + Piece("<2de>") + Piece("<2zh_Hant>"));
  Write("tokenizer_config.json", R"({"extra_ids": 0, "tokenizer_class": "T5Tokenizer"})");
  Load(config, MadladName);
  ASSERT_NE(model_, nullptr);
  const auto [ids, frame] = Encode("", "de-AT");
  EXPECT_EQ(frame.text_prefix, "<2de> ");
  EXPECT_THAT(ids, testing::Contains(kT5Pieces));
  EXPECT_EQ(ids.back(), 2);
  EXPECT_EQ(Encode("en", "zh-TW").second.text_prefix, "<2zh_Hant> ");
  EXPECT_EQ(spec().decoder_start_id, 0);
}

// ar_AR has id 801, and the others follow.  The decoder starts with the target language.
TEST_F(WholeDirectory, MBart25) {
  const json config = {
      {"_num_labels", 3},
      {"activation_dropout", 0.0},
      {"activation_function", "gelu"},
      {"add_bias_logits", false},
      {"add_final_layer_norm", true},
      {"architectures", {"MBartForConditionalGeneration"}},
      {"bos_token_id", 0},
      {"d_model", 64},
      {"decoder_attention_heads", 4},
      {"decoder_ffn_dim", 96},
      {"decoder_layers", 2},
      {"encoder_attention_heads", 4},
      {"encoder_ffn_dim", 96},
      {"encoder_layers", 2},
      {"eos_token_id", 2},
      {"extra_pos_embeddings", 2},
      {"is_encoder_decoder", true},
      {"max_length", 200},
      {"max_position_embeddings", 200},
      {"model_type", "mbart"},
      {"normalize_before", true},
      {"normalize_embedding", true},
      {"num_beams", 5},
      {"num_hidden_layers", 2},
      {"output_past", true},
      {"pad_token_id", 1},
      {"scale_embedding", true},
      {"static_position_embeddings", false},
      {"task_specific_params", {{"translation_en_to_ro", {{"decoder_start_token_id", 820}}}}},
      {"vocab_size", 800 + 1 + 25 + 1}};
  Copy("mbart50-trained", "sentencepiece.bpe.model");
  Load(config, SameName);
  ASSERT_NE(model_, nullptr);
  const auto [ids, frame] = Encode("en", "ro");
  EXPECT_THAT(frame.before, testing::IsEmpty());
  EXPECT_THAT(frame.after, ElementsAre(2, 801 + 3));  // </s> en_XX
  EXPECT_EQ(frame.decoder_start, 801 + 19);           // ro_RO
  EXPECT_EQ(ids.back(), 801 + 3);
  EXPECT_FALSE(model_->tokenizer().languages().Resolve("en", "pl").ok());  // one of the 50
}

// A model of several targets, each with a token of its own, with which a source text begins.
TEST_F(WholeDirectory, OpusMtTcBigWithSeveralTargets) {
  json vocabulary = json::parse(ReadFile(Golden("marian-trained") / "vocab.json"));
  int next = vocabulary["<pad>"];
  const int catalan = next++;
  vocabulary[">>cat<<"] = catalan;
  vocabulary[">>spa<<"] = next++;
  vocabulary["<pad>"] = next;
  const json config = {{"activation_dropout", 0.0},
                       {"activation_function", "relu"},
                       {"architectures", {"MarianMTModel"}},
                       {"bad_words_ids", {{next}}},
                       {"bos_token_id", 0},
                       {"d_model", 64},
                       {"decoder_attention_heads", 4},
                       {"decoder_ffn_dim", 96},
                       {"decoder_layers", 2},
                       {"decoder_start_token_id", next},
                       {"decoder_vocab_size", next + 1},
                       {"encoder_attention_heads", 4},
                       {"encoder_ffn_dim", 96},
                       {"encoder_layers", 2},
                       {"eos_token_id", 0},
                       {"forced_eos_token_id", 0},
                       {"is_encoder_decoder", true},
                       {"max_length", 200},
                       {"max_position_embeddings", 200},
                       {"model_type", "marian"},
                       {"normalize_embedding", false},
                       {"num_beams", 4},
                       {"num_hidden_layers", 2},
                       {"pad_token_id", next},
                       {"scale_embedding", true},
                       {"share_encoder_decoder_embeddings", true},
                       {"static_position_embeddings", true},
                       {"torch_dtype", "float16"},
                       {"use_cache", true},
                       {"vocab_size", next + 1}};
  Copy("marian-trained", "source.spm");
  Copy("marian-trained", "target.spm");
  Write("vocab.json", vocabulary.dump());
  Write("tokenizer_config.json",
        R"({"source_lang": "eng", "target_lang": "cat+spa", "separate_vocabs": false,
            "model_max_length": 512, "sp_model_kwargs": {}, "tokenizer_class": "MarianTokenizer"})");
  Load(config, SameName);
  ASSERT_NE(model_, nullptr);
  const auto [ids, frame] = Encode("en", "ca");
  EXPECT_EQ(ids.front(), catalan);
  EXPECT_EQ(ids.back(), 0);
  EXPECT_EQ(model_->tokenizer().Encode(">>cat<< red").ids, ids);
  EXPECT_FALSE(model_->tokenizer().languages().Resolve("en", "sv").ok());
}

}  // namespace
}  // namespace dragoman::whole_directory_test
