// The configurations of models that people download, with their own field names and values, and the
// ModelSpec that the engine derives from them.  Fields that the engine does not read are left out.

#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>

#include "engine/families/model_directory.h"
#include "gtest/gtest.h"

namespace dragoman::known_models_test {
namespace {

namespace fs = std::filesystem;

ModelSpec SpecOf(const std::string& config) {
  const fs::path directory = fs::path(testing::TempDir()) / "known_model";
  fs::create_directories(directory);
  std::ofstream(directory / "config.json") << config;
  const absl::StatusOr<ModelConfig> read = ReadModelConfig(directory.string());
  EXPECT_TRUE(read.ok()) << read.status();
  fs::remove_all(directory);
  return read.ok() ? read->spec : ModelSpec();
}

TEST(KnownModels, T5) {
  const ModelSpec spec = SpecOf(R"({"architectures": ["T5ForConditionalGeneration"],
      "model_type": "t5", "d_ff": 3072, "d_kv": 64, "d_model": 768, "decoder_start_token_id": 0,
      "eos_token_id": 1, "layer_norm_epsilon": 1e-06, "num_heads": 12, "num_layers": 12,
      "pad_token_id": 0, "relative_attention_num_buckets": 32, "vocab_size": 32128,
      "n_positions": 512, "is_encoder_decoder": true, "output_past": true})");
  EXPECT_TRUE(spec.tied_output);
  EXPECT_FLOAT_EQ(spec.logit_scale, 1.0f / std::sqrt(768.0f));
  EXPECT_FALSE(spec.gated);
  EXPECT_EQ(spec.activation, Activation::kRelu);
  EXPECT_EQ(spec.decoder_layers, 12);
  EXPECT_EQ(spec.norm, Norm::kRootMeanSquare);
  EXPECT_FALSE(spec.scaled_queries);
}

TEST(KnownModels, FlanT5) {
  const ModelSpec spec = SpecOf(R"({"architectures": ["T5ForConditionalGeneration"],
      "model_type": "t5", "d_ff": 2816, "d_kv": 64, "d_model": 1024, "dense_act_fn": "gelu_new",
      "feed_forward_proj": "gated-gelu", "is_gated_act": true, "num_decoder_layers": 24,
      "num_heads": 16, "num_layers": 24, "relative_attention_max_distance": 128,
      "relative_attention_num_buckets": 32, "tie_word_embeddings": false, "vocab_size": 32128,
      "decoder_start_token_id": 0, "eos_token_id": 1, "pad_token_id": 0})");
  EXPECT_FALSE(spec.tied_output);
  EXPECT_FLOAT_EQ(spec.logit_scale, 1.0f);
  EXPECT_TRUE(spec.gated);
  EXPECT_EQ(spec.activation, Activation::kGeluTanh);
}

TEST(KnownModels, MT5HasNarrowHeadsAndAnOutputOfItsOwn) {
  const ModelSpec spec = SpecOf(R"({"architectures": ["MT5ForConditionalGeneration"],
      "model_type": "mt5", "d_ff": 1024, "d_kv": 64, "d_model": 512,
      "feed_forward_proj": "gated-gelu", "num_decoder_layers": 8, "num_heads": 6, "num_layers": 8,
      "tie_word_embeddings": false, "tokenizer_class": "T5Tokenizer", "vocab_size": 250112,
      "decoder_start_token_id": 0, "eos_token_id": 1, "pad_token_id": 0})");
  EXPECT_EQ(spec.decoder_heads * spec.decoder_head_width(), 384);
  EXPECT_FALSE(spec.tied_output);
  EXPECT_EQ(spec.target_vocabulary, 250112);
}

TEST(KnownModels, Madlad400HasHeadsWiderThanItsModel) {
  const ModelSpec spec = SpecOf(R"({"architectures": ["T5ForConditionalGeneration"],
      "model_type": "t5", "d_ff": 8192, "d_kv": 128, "d_model": 1024,
      "feed_forward_proj": "gated-gelu", "num_decoder_layers": 32, "num_heads": 16,
      "num_layers": 32, "tie_word_embeddings": false, "vocab_size": 256000,
      "decoder_start_token_id": 0, "eos_token_id": 2, "pad_token_id": 1})");
  EXPECT_EQ(spec.encoder_heads * spec.encoder_head_width(), 2048);
  EXPECT_EQ(spec.eos_id, 2);
  EXPECT_EQ(spec.decoder_start_id, 0);
  EXPECT_EQ(spec.decoder_layers, 32);
}

TEST(KnownModels, MBart25) {
  const ModelSpec spec = SpecOf(R"({"architectures": ["MBartForConditionalGeneration"],
      "model_type": "mbart", "activation_function": "gelu", "add_final_layer_norm": true,
      "d_model": 1024, "decoder_attention_heads": 16, "decoder_ffn_dim": 4096,
      "decoder_layers": 12, "encoder_attention_heads": 16, "encoder_ffn_dim": 4096,
      "encoder_layers": 12, "eos_token_id": 2, "max_position_embeddings": 1024,
      "normalize_before": true, "normalize_embedding": true, "num_hidden_layers": 12,
      "pad_token_id": 1, "scale_embedding": true, "static_position_embeddings": false,
      "vocab_size": 250027, "extra_pos_embeddings": 2})");
  EXPECT_TRUE(spec.pre_norm && spec.final_norm && spec.embedding_norm);
  EXPECT_EQ(spec.positions.kind, Positions::kTable);
  EXPECT_EQ(spec.positions.first, 2);
  EXPECT_FLOAT_EQ(spec.embedding_scale, 32.0f);
  EXPECT_EQ(spec.activation, Activation::kGelu);
}

TEST(KnownModels, M2M100AndNllb) {
  const ModelSpec spec = SpecOf(R"({"architectures": ["M2M100ForConditionalGeneration"],
      "model_type": "m2m_100", "activation_function": "relu", "d_model": 1024,
      "decoder_attention_heads": 16, "decoder_ffn_dim": 4096, "decoder_layers": 12,
      "decoder_start_token_id": 2, "encoder_attention_heads": 16, "encoder_ffn_dim": 4096,
      "encoder_layers": 12, "eos_token_id": 2, "max_length": 200,
      "max_position_embeddings": 1024, "pad_token_id": 1, "scale_embedding": true,
      "tokenizer_class": "NllbTokenizer", "vocab_size": 256206})");
  EXPECT_TRUE(spec.pre_norm && spec.final_norm);
  EXPECT_FALSE(spec.embedding_norm);
  EXPECT_TRUE(spec.positions.to_the_end);
  EXPECT_EQ(spec.positions.first, 2);
  EXPECT_EQ(spec.decoder_start_id, 2);
}

// tc-big models, and OPUS-MT models of 2020, which have no generation_config.json.
TEST(KnownModels, OpusMt) {
  const std::string common = R"("architectures": ["MarianMTModel"], "model_type": "marian",
      "bad_words_ids": [[54775]], "decoder_start_token_id": 54775, "eos_token_id": 0,
      "pad_token_id": 54775, "vocab_size": 54776, "encoder_layers": 6, "decoder_layers": 6,
      "normalize_before": false, "normalize_embedding": false, "add_final_layer_norm": false,
      "scale_embedding": true, "static_position_embeddings": true)";
  const ModelSpec old = SpecOf("{" + common + R"(, "activation_function": "swish",
      "d_model": 512, "decoder_attention_heads": 8, "encoder_attention_heads": 8,
      "decoder_ffn_dim": 2048, "encoder_ffn_dim": 2048, "max_position_embeddings": 512,
      "num_beams": 6, "max_length": 512})");
  EXPECT_EQ(old.activation, Activation::kSilu);
  EXPECT_FALSE(old.pre_norm);
  EXPECT_EQ(old.max_positions, 512);
  const ModelSpec big = SpecOf("{" + common + R"(, "activation_function": "relu",
      "d_model": 1024, "decoder_attention_heads": 16, "encoder_attention_heads": 16,
      "decoder_ffn_dim": 4096, "encoder_ffn_dim": 4096, "max_position_embeddings": 1024,
      "decoder_vocab_size": 54776, "share_encoder_decoder_embeddings": true,
      "forced_eos_token_id": 0, "num_beams": 4, "max_length": 512})");
  EXPECT_EQ(big.activation, Activation::kRelu);
  EXPECT_TRUE(big.share_embeddings && big.tied_output);
}

}  // namespace
}  // namespace dragoman::known_models_test
