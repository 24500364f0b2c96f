#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <variant>

#include "engine/base/json.h"
#include "engine/families/model_directory.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dragoman::marian_test {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using Json = nlohmann::json;

Json GoodConfig() {
  return Json{{"model_type", "marian"},
              {"architectures", {"MarianMTModel"}},
              {"d_model", 8},
              {"encoder_layers", 2},
              {"decoder_layers", 3},
              {"encoder_attention_heads", 2},
              {"decoder_attention_heads", 4},
              {"encoder_ffn_dim", 16},
              {"decoder_ffn_dim", 32},
              {"vocab_size", 100},
              {"eos_token_id", 0},
              {"pad_token_id", 99}};
}

class Marian : public ::testing::Test {
 protected:
  void SetUp() override {
    directory_ = fs::path(::testing::TempDir()) / ("marian_test." + std::to_string(getpid()));
    fs::remove_all(directory_);
    fs::create_directories(directory_);
  }
  void TearDown() override { fs::remove_all(directory_); }

  void Write(const char* file, const std::string& text) {
    std::ofstream(directory_ / file) << text;
  }
  absl::StatusOr<ModelConfig> Read() const { return ReadModelConfig(directory_.string()); }
  absl::StatusOr<ModelConfig> Read(const Json& config) {
    Write("config.json", config.dump());
    return Read();
  }
  absl::StatusOr<ModelConfig> Read(const Json& config, const Json& generation) {
    Write("generation_config.json", generation.dump());
    return Read(config);
  }

  fs::path directory_;
};

TEST_F(Marian, ReadsTheEmbeddedModel) {
  const absl::StatusOr<ModelConfig> config = ReadModelConfig("tests/golden/models/en-de");
  ASSERT_TRUE(config.ok()) << config.status();
  const ModelSpec& model = config->spec;
  EXPECT_EQ(model.architecture, "MarianMTModel");
  EXPECT_EQ(model.d_model, 256);
  EXPECT_EQ(model.encoder_layers, 4);
  EXPECT_EQ(model.decoder_layers, 2);
  EXPECT_EQ(model.encoder_heads, 4);
  EXPECT_EQ(model.decoder_heads, 4);
  EXPECT_EQ(model.encoder_ffn, 1024);
  EXPECT_EQ(model.decoder_ffn, 1024);
  EXPECT_EQ(model.activation, Activation::kRelu);
  EXPECT_EQ(model.embedding_scale, 16.0f);
  EXPECT_EQ(model.source_vocabulary, 8001);
  EXPECT_EQ(model.target_vocabulary, 8001);
  EXPECT_EQ(model.max_positions, 512);
  EXPECT_EQ(model.decoder_start_id, 8000);
  EXPECT_EQ(model.eos_id, 0);
  EXPECT_TRUE(config->spec.share_embeddings);
  EXPECT_EQ(config->generation.options.beam_size, 4);
  EXPECT_EQ(config->generation.options.max_length, 255);
  EXPECT_EQ(config->generation.options.renormalize_logits, true);
  EXPECT_EQ(config->generation.options.forced_eos_id, 0);
  EXPECT_EQ(config->generation.options.forced_bos_id, std::nullopt);
  EXPECT_THAT(config->generation.bad_words_ids, ElementsAre(ElementsAre(8000)));
}

TEST_F(Marian, ReadsTheGoldenModels) {
  for (const char* name :
       {"marian-trained", "marian-rand", "marian-rand-fp16", "marian-padheavy-renorm"}) {
    const auto config = ReadModelConfig(std::string("tests/golden/models/") + name);
    ASSERT_TRUE(config.ok()) << config.status();
    EXPECT_EQ(config->spec.activation, Activation::kSilu);
    EXPECT_EQ(config->generation.options.renormalize_logits.value_or(false),
              std::string(name).ends_with("renorm"));
  }
}

TEST_F(Marian, MissingFieldsHaveTheDefaultsOfHuggingFace) {
  const absl::StatusOr<ModelConfig> config = Read(GoodConfig());
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->spec.decoder_layers, 3);
  EXPECT_EQ(config->spec.decoder_heads, 4);
  EXPECT_EQ(config->spec.decoder_ffn, 32);
  EXPECT_EQ(config->spec.target_vocabulary, 100);
  EXPECT_EQ(config->spec.max_positions, 1024);
  EXPECT_EQ(config->spec.activation, Activation::kGelu);
  EXPECT_EQ(config->spec.embedding_scale, 1.0f);
  EXPECT_EQ(config->spec.decoder_start_id, 99);
  EXPECT_TRUE(config->spec.share_embeddings);
  const GenerationConfig& generation = config->generation;
  for (const Option& option : kOptionTable) {
    const auto said = [&](const auto& members) {
      return (generation.options.*members.said).has_value();
    };
    EXPECT_FALSE(std::visit(said, option.members)) << option.name;
  }
  EXPECT_THAT(generation.bad_words_ids, IsEmpty());
}

TEST_F(Marian, GenerationConfigOverridesConfigAndNullIsUnset) {
  Json config = GoodConfig();
  config.update({{"num_beams", 6}, {"length_penalty", 0.5}, {"max_length", 300}});
  const Json generation = {{"num_beams", 2},
                           {"length_penalty", nullptr},
                           {"min_length", 3},
                           {"no_repeat_ngram_size", 4},
                           {"repetition_penalty", 1.5},
                           {"decoder_start_token_id", 98},
                           {"forced_bos_token_id", 7},
                           {"eos_token_id", {1}}};
  const absl::StatusOr<ModelConfig> read = Read(config, generation);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->generation.options.beam_size, 2);
  EXPECT_EQ(read->generation.options.length_penalty, 0.5f);
  EXPECT_EQ(read->generation.options.max_length, 299);
  EXPECT_EQ(read->generation.options.min_length, 2);
  EXPECT_EQ(read->generation.options.no_repeat_ngram_size, 4);
  EXPECT_EQ(read->generation.options.repetition_penalty, 1.5f);
  EXPECT_EQ(read->generation.options.forced_bos_id, 7);
  EXPECT_EQ(read->spec.decoder_start_id, 98);
  EXPECT_EQ(read->spec.eos_id, 1);
}

TEST_F(Marian, NewTokensAreCountedWithoutTheDecoderStart) {
  Json config = GoodConfig();
  config.update({{"max_length", 300}, {"max_new_tokens", 20}, {"min_new_tokens", 5}});
  const absl::StatusOr<ModelConfig> read = Read(config);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->generation.options.max_length, 20);
  EXPECT_EQ(read->generation.options.min_length, 5);
}

TEST_F(Marian, EarlyStoppingIsABooleanOrNever) {
  const std::pair<Json, EarlyStopping> cases[] = {{false, EarlyStopping::kHeuristic},
                                                  {true, EarlyStopping::kFull},
                                                  {"never", EarlyStopping::kNever}};
  for (const auto& [value, expected] : cases) {
    const absl::StatusOr<ModelConfig> read = Read(GoodConfig(), {{"early_stopping", value}});
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_EQ(read->generation.options.early_stopping.value_or(EarlyStopping::kHeuristic),
              expected);
  }
}

TEST_F(Marian, EosAloneIsNotABadWord) {
  const Json words = {{99}, {0}, {0, 5}, {5, 0}};
  const absl::StatusOr<ModelConfig> read = Read(GoodConfig(), {{"bad_words_ids", words}});
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_THAT(read->generation.bad_words_ids,
              ElementsAre(ElementsAre(99), ElementsAre(0, 5), ElementsAre(5, 0)));
}

TEST_F(Marian, SeparateEmbeddingsHaveTheirOwnVocabulary) {
  Json config = GoodConfig();
  config.update({{"share_encoder_decoder_embeddings", false}, {"decoder_vocab_size", 200}});
  const absl::StatusOr<ModelConfig> read = Read(config, {{"pad_token_id", 199}});
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_FALSE(read->spec.share_embeddings);
  EXPECT_EQ(read->spec.source_vocabulary, 100);
  EXPECT_EQ(read->spec.target_vocabulary, 200);
  EXPECT_EQ(read->spec.decoder_start_id, 199);
}

TEST_F(Marian, AMissingConfigIsNotFound) {
  const absl::Status status = Read().status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(status.message()), HasSubstr("config.json"));
}

TEST_F(Marian, WhatIsOutOfRangeIsRefusedByFieldAndValue) {
  const std::tuple<const char*, Json, const char*> cases[] = {
      {"d_model", 0, "d_model is 0"},
      {"d_model", -8, "d_model is -8"},
      {"d_model", "wide", "d_model is \"wide\""},
      {"d_model", 8.0, "d_model is 8.0"},
      {"d_model", 7, "want an even number"},
      {"d_model", 1 << 30, "want a whole number"},
      {"d_model", nullptr, "has no d_model"},
      {"encoder_layers", 0, "encoder_layers is 0"},
      {"decoder_layers", 18446744073709551615u, "decoder_layers is 18446744073709551615"},
      {"encoder_attention_heads", 3, "want a divisor of d_model, which is 8"},
      {"decoder_attention_heads", 16, "decoder_attention_heads is 16"},
      {"encoder_ffn_dim", {16}, "encoder_ffn_dim is [16]"},
      {"decoder_ffn_dim", true, "decoder_ffn_dim is true"},
      {"vocab_size", 0, "vocab_size is 0"},
      {"vocab_size", 10'000'001, "vocab_size is 10000001"},
      {"max_position_embeddings", 0, "max_position_embeddings is 0"},
      {"scale_embedding", 1, "want true or false"},
      {"share_encoder_decoder_embeddings", "yes", "want true or false"},
      {"eos_token_id", 100, "eos_token_id is 100"},
      {"eos_token_id", Json::array(), "eos_token_id is []"},
      {"eos_token_id", {-1}, "eos_token_id is [-1]"},
      {"pad_token_id", -1, "pad_token_id is -1"},
      {"decoder_start_token_id", 100, "want a whole number from 0 to 99"},
      {"forced_eos_token_id", 100, "forced_eos_token_id is 100"},
      {"forced_bos_token_id", 0.5, "forced_bos_token_id is 0.5"},
      {"num_beams", 0, "num_beams is 0"},
      {"max_length", 0, "max_length is 0"},
      {"min_length", -1, "min_length is -1"},
      {"length_penalty", "1", "want a finite number"},
      {"length_penalty", 1e300, "want a finite number"},
      {"repetition_penalty", 0, "want a number above 0"},
      {"no_repeat_ngram_size", -1, "no_repeat_ngram_size is -1"},
      {"early_stopping", "sometimes", "want true, false or \"never\""},
      {"bad_words_ids", 5, "bad_words_ids is 5"},
      {"bad_words_ids", Json::parse("[5]"), "bad_words_ids is [5]"},
      {"bad_words_ids", Json::parse("[[]]"), "bad_words_ids is [[]]"},
      {"bad_words_ids", {{100}}, "want lists of tokens from 0 to 99"},
  };
  for (const auto& [field, value, message] : cases) {
    SCOPED_TRACE(field);
    Json config = GoodConfig();
    config[field] = value;
    const absl::Status status = Read(config).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << value;
    EXPECT_THAT(std::string(status.message()), AllOf(HasSubstr("config.json"), HasSubstr(message)));
  }
}

// The table of positions is computed when a model loads, so no file bounds its size.
TEST_F(Marian, PositionsAreBoundedByTheWidth) {
  Json config = GoodConfig();
  config["d_model"] = 4096;
  config["max_position_embeddings"] = 8192;
  EXPECT_TRUE(Read(config).ok()) << Read(config).status();
  config["max_position_embeddings"] = 8193;
  EXPECT_THAT(std::string(Read(config).status().message()),
              HasSubstr("max_position_embeddings is 8193, want a whole number from 1 to 8192"));
}

TEST_F(Marian, WhatTheEngineDoesNotKnowIsUnimplementedByName) {
  const std::tuple<const char*, Json, const char*> cases[] = {
      {"model_type", "bart", "model_type is \"bart\", which is BART; want"},
      {"model_type", "IndicTrans",
       "have to go through the IndicProcessor of IndicTransToolkit first"},
      {"model_type", "t5gemma", "which is T5Gemma; want"},
      {"model_type", "mars", "model_type is \"mars\"; want"},
      {"architectures", {"MarianForCausalLM"}, "MarianForCausalLM"},
      {"activation_function", "mish", "want swish, silu, relu, gelu, gelu_new or quick_gelu"},
      {"tie_word_embeddings", false, "tie_word_embeddings"},
      {"eos_token_id", {0, 2}, "want one token"},
      {"do_sample", true, "do_sample"},
      {"num_beam_groups", 2, "num_beam_groups"},
      {"suppress_tokens", {3}, "suppress_tokens"},
  };
  for (const auto& [field, value, message] : cases) {
    Json config = GoodConfig();
    config[field] = value;
    const absl::Status status = Read(config).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented) << field;
    EXPECT_THAT(std::string(status.message()), HasSubstr(message));
  }
  Json nameless = GoodConfig();
  nameless.erase("model_type");
  EXPECT_TRUE(Read(nameless).ok());  // the architecture identifies the family as well
  nameless.erase("architectures");
  EXPECT_EQ(Read(nameless).status().code(), absl::StatusCode::kUnimplemented);
}

TEST_F(Marian, UnknownOptionsThatAskForNothingAreFine) {
  const absl::StatusOr<ModelConfig> read = Read(GoodConfig(), {{"do_sample", false},
                                                               {"num_beam_groups", 1},
                                                               {"diversity_penalty", 0.0},
                                                               {"suppress_tokens", nullptr},
                                                               {"sequence_bias", Json::array()}});
  EXPECT_TRUE(read.ok()) << read.status();
}

TEST_F(Marian, AMalformedFileIsRefusedByName) {
  for (const char* text : {"", "{", "[]", "{\"d_model\": 8, \"d_model\": 16}", "\xFF"}) {
    Write("config.json", text);
    EXPECT_EQ(Read().status().code(), absl::StatusCode::kInvalidArgument) << text;
    Write("config.json", GoodConfig().dump());
    Write("generation_config.json", text);
    const absl::Status status = Read().status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << text;
    EXPECT_THAT(std::string(status.message()), HasSubstr("generation_config.json"));
    fs::remove(directory_ / "generation_config.json");
  }
}

// The codes are pieces of vocab.json, which is parsed only if it may have some.
TEST_F(Marian, LanguagesAreReadWithoutTheTokenizer) {
  Write("config.json", GoodConfig().dump());
  Write("tokenizer_config.json", R"({"source_lang": "eng", "target_lang": "deu+fra"})");
  const auto targets = [&](const std::string& vocabulary) {
    Write("vocab.json", vocabulary);
    const absl::StatusOr<Languages> languages = ReadLanguages(directory_.string());
    EXPECT_TRUE(languages.ok()) << vocabulary << ": " << languages.status();
    return languages.ok() ? languages->targets() : std::vector<std::string>();
  };
  const auto with = [](const std::string& piece) {
    return R"({"</s>": 0, "<unk>": 1, "<pad>": 2, )" + piece + ": 3}";
  };
  EXPECT_THAT(targets(with(R"(">>deu<<")")), ElementsAre("deu"));
  EXPECT_THAT(targets(with(R"("\u003E>deu<<")")), ElementsAre("deu"));
  EXPECT_THAT(targets(with(R"(">>a\"<<")")), ElementsAre("a\""));
  for (const char* none :
       {R"(">>")", R"(">><<")", R"("▁>>deu<<")", R"("<<>>")", R"("\"\">>a<<b")"}) {
    EXPECT_THAT(targets(with(none)), ElementsAre("deu+fra")) << none;
  }
  Write("vocab.json", "no JSON");  // which nobody reads
  EXPECT_TRUE(ReadLanguages(directory_.string()).ok());
  fs::remove(directory_ / "vocab.json");
  EXPECT_FALSE(ReadLanguages(directory_.string()).ok());
}

void ExpectSameLanguages(const std::string& directory) {
  const auto tokenizer = OpenTokenizer(directory);
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.status();
  const absl::StatusOr<Languages> languages = ReadLanguages(directory);
  ASSERT_TRUE(languages.ok()) << languages.status();
  EXPECT_EQ(languages->Tags(), (*tokenizer)->languages().Tags()) << directory;
  EXPECT_EQ(languages->sources(), (*tokenizer)->languages().sources()) << directory;
  EXPECT_EQ(languages->targets(), (*tokenizer)->languages().targets()) << directory;
  const auto own = languages->Resolve("", ""), same = (*tokenizer)->languages().Resolve("", "");
  ASSERT_EQ(own.ok(), same.ok()) << directory;
  if (own.ok()) {
    EXPECT_EQ(own->source + own->target, same->source + same->target) << directory;
  }
}

TEST(Languages, AreTheSameWithoutTheTokenizer) {
  for (const char* name : {"models/en-de", "models/marian-trained", "models/m2m100-trained",
                           "models/nllb-trained", "models/t5v11-trained", "models/mbart50-trained",
                           "marian/models/student-ssru", "marian/models/tr-gelu-yml"}) {
    ExpectSameLanguages(std::string("tests/golden/") + name);
  }
}

// Without the files that list the ids of languages, they follow the pieces.
TEST_F(Marian, LanguagesThatFollowThePiecesAreTheSame) {
  for (const char* name : {"nllb-trained", "mbart50-trained"}) {
    fs::remove_all(directory_);
    fs::copy(std::string("tests/golden/models/") + name, directory_);
    fs::permissions(directory_, fs::perms::owner_all);
    for (const char* file : {"tokenizer_config.json", "added_tokens.json"}) {
      fs::remove(directory_ / file);
    }
    ExpectSameLanguages(directory_.string());
  }
}

}  // namespace
}  // namespace dragoman::marian_test
