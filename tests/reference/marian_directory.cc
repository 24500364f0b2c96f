#include "tests/reference/marian_directory.h"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <vector>

#include "engine/base/status.h"
#include "engine/formats/safetensors.h"

namespace dragoman::reference {
namespace {

using nlohmann::json;

constexpr char kTokenizerDirectory[] = "tests/golden/models/marian-trained";

// A tensor of the file and its place in Weights: a matrix or a vector.
struct NamedTensor {
  std::string name;
  int rows = 0;  // as in the file; 1 for a vector
  int cols = 0;
  Matrix* matrix = nullptr;
  Vector* vector = nullptr;
  bool transposed = false;  // the file has [outputs, inputs], the paper [inputs, outputs]
  // Random weights are uniform in [center - spread, center + spread].
  float center = 0.0f;
  float spread = 0.0f;
};

// Visits all tensors of the weights by their names in a Marian checkpoint.
class Tensors {
 public:
  Tensors(const ModelSpec& config, Weights* weights) : d_(config.d_model) {
    weights->encoder.resize(config.encoder_layers);
    weights->decoder.resize(config.decoder_layers);
    const float spread = 5.0f / std::sqrt(static_cast<float>(d_));  // gives logits a deviation of 3
    list_.push_back({"model.shared.weight", config.target_vocabulary, d_,
                     &weights->target_embedding, nullptr, false, 0.0f, spread});
    list_.push_back({"final_logits_bias", 1, config.target_vocabulary, nullptr,
                     &weights->output_bias, false, 0.0f, 0.5f});
    for (size_t i = 0; i < weights->encoder.size(); ++i) {
      const std::string prefix = "model.encoder.layers." + std::to_string(i) + ".";
      EncoderLayer& layer = weights->encoder[i];
      Add(prefix + "self_attn", &layer.self_attention);
      Add(prefix + "self_attn_layer_norm", &layer.self_attention_norm);
      Add(prefix, config.encoder_ffn, &layer.feed_forward);
      Add(prefix + "final_layer_norm", &layer.feed_forward_norm);
    }
    for (size_t i = 0; i < weights->decoder.size(); ++i) {
      const std::string prefix = "model.decoder.layers." + std::to_string(i) + ".";
      DecoderLayer& layer = weights->decoder[i];
      Add(prefix + "self_attn", &layer.self_attention);
      Add(prefix + "self_attn_layer_norm", &layer.self_attention_norm);
      Add(prefix + "encoder_attn", &layer.cross_attention);
      Add(prefix + "encoder_attn_layer_norm", &layer.cross_attention_norm);
      Add(prefix, config.decoder_ffn, &layer.feed_forward);
      Add(prefix + "final_layer_norm", &layer.feed_forward_norm);
    }
  }

  std::vector<NamedTensor> list() const { return list_; }

 private:
  void Add(const std::string& name, int inputs, int outputs, Linear* linear) {
    const float spread = std::sqrt(3.0f / static_cast<float>(inputs));  // a deviation of one
    list_.push_back({name + ".weight", outputs, inputs, &linear->W, nullptr, true, 0.0f, spread});
    list_.push_back({name + ".bias", 1, outputs, nullptr, &linear->b, false, 0.0f, 0.1f});
  }

  void Add(const std::string& name, Attention* attention) {
    Add(name + ".q_proj", d_, d_, &attention->q);
    Add(name + ".k_proj", d_, d_, &attention->k);
    Add(name + ".v_proj", d_, d_, &attention->v);
    Add(name + ".out_proj", d_, d_, &attention->out);
  }

  void Add(const std::string& prefix, int ffn, FeedForward* feed_forward) {
    Add(prefix + "fc1", d_, ffn, &feed_forward->inner);
    Add(prefix + "fc2", ffn, d_, &feed_forward->outer);
  }

  void Add(const std::string& name, LayerNorm* norm) {
    list_.push_back({name + ".weight", 1, d_, nullptr, &norm->gain, false, 1.0f, 0.2f});
    list_.push_back({name + ".bias", 1, d_, nullptr, &norm->bias, false, 0.0f, 0.1f});
  }

  int d_;
  std::vector<NamedTensor> list_;
};

// Stores the values of a tensor, which come in the file's order, in the Weights.
void Assign(const NamedTensor& tensor, const std::vector<float>& values) {
  if (tensor.vector != nullptr) {
    *tensor.vector = values;
    return;
  }
  const int rows = tensor.transposed ? tensor.cols : tensor.rows;
  const int cols = tensor.transposed ? tensor.rows : tensor.cols;
  tensor.matrix->assign(rows, Vector(cols));
  for (int r = 0; r < rows; ++r) {
    for (int c = 0; c < cols; ++c) {
      (*tensor.matrix)[r][c] = tensor.transposed ? values[c * rows + r] : values[r * cols + c];
    }
  }
}

// The values of a tensor in the file's order.
std::vector<float> Values(const NamedTensor& tensor) {
  if (tensor.vector != nullptr) return *tensor.vector;
  std::vector<float> values;
  for (int r = 0; r < tensor.rows; ++r) {
    for (int c = 0; c < tensor.cols; ++c) {
      values.push_back(tensor.transposed ? (*tensor.matrix)[c][r] : (*tensor.matrix)[r][c]);
    }
  }
  return values;
}

const std::map<std::string, Activation>& Activations() {
  static const auto* const activations = new std::map<std::string, Activation>{
      {"relu", Activation::kRelu}, {"swish", Activation::kSilu}, {"gelu", Activation::kGelu}};
  return *activations;
}

json ConfigJson(const ModelSpec& config) {
  json result = {{"architectures", {"MarianMTModel"}},
                 {"model_type", "marian"},
                 {"d_model", config.d_model},
                 {"encoder_layers", config.encoder_layers},
                 {"decoder_layers", config.decoder_layers},
                 {"encoder_attention_heads", config.encoder_heads},
                 {"decoder_attention_heads", config.decoder_heads},
                 {"encoder_ffn_dim", config.encoder_ffn},
                 {"decoder_ffn_dim", config.decoder_ffn},
                 {"scale_embedding", config.embedding_scale != 1.0f},
                 {"vocab_size", config.source_vocabulary},
                 {"decoder_vocab_size", config.target_vocabulary},
                 {"max_position_embeddings", config.max_positions},
                 {"decoder_start_token_id", config.decoder_start_id},
                 {"eos_token_id", config.eos_id},
                 {"pad_token_id", config.decoder_start_id},
                 {"share_encoder_decoder_embeddings", true},
                 {"static_position_embeddings", true},
                 {"normalize_before", false},
                 {"normalize_embedding", false},
                 {"add_final_layer_norm", false},
                 {"is_encoder_decoder", true}};
  for (const auto& [name, activation] : Activations()) {
    if (activation == config.activation) result["activation_function"] = name;
  }
  return result;
}

json GenerationJson(const ModelSpec& config) {
  return {{"bad_words_ids", {{config.decoder_start_id}}},
          {"decoder_start_token_id", config.decoder_start_id},
          {"eos_token_id", config.eos_id},
          {"forced_eos_token_id", config.eos_id},
          {"max_length", config.max_positions},
          {"num_beams", 4},
          {"pad_token_id", config.decoder_start_id}};
}

// The pieces of marian-trained by id, then made-up names for the ids beyond.
json VocabularyJson(const ModelSpec& config) {
  std::ifstream file(std::string(kTokenizerDirectory) + "/vocab.json");
  const json trained = json::parse(file);
  std::vector<std::string> pieces(config.target_vocabulary);
  for (size_t id = 0; id < pieces.size(); ++id) pieces[id] = "piece" + std::to_string(id);
  for (const auto& [piece, id] : trained.items()) {
    if (piece != "<pad>" && id < pieces.size()) pieces[id] = piece;
  }
  pieces[config.decoder_start_id] = "<pad>";
  json result;
  for (size_t id = 0; id < pieces.size(); ++id) result[pieces[id]] = id;
  return result;
}

void WriteSafetensors(const Transformer& model, const std::string& path) {
  Weights weights = model.weights;
  json header;
  std::string bytes;
  for (const NamedTensor& tensor : Tensors(model.config, &weights).list()) {
    const std::vector<float> values = Values(tensor);
    const size_t begin = bytes.size();
    bytes.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
    json shape = {tensor.rows, tensor.cols};
    if (tensor.vector != nullptr && tensor.name != "final_logits_bias") shape = {tensor.cols};
    header[tensor.name] = {
        {"dtype", "F32"}, {"shape", shape}, {"data_offsets", {begin, bytes.size()}}};
  }
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');
  const uint64_t size = text.size();
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(&size), sizeof(size));
  file << text << bytes;
}

absl::Status CheckWritten(const std::string& path) {
  std::error_code error;
  if (std::filesystem::file_size(path, error) == 0 || error) {
    return absl::UnavailableError("cannot write " + path);
  }
  return absl::OkStatus();
}

}  // namespace

ModelSpec MarianShape(int d_model, int layers, int heads, int ffn, Activation activation,
                      int vocabulary) {
  ModelSpec config;
  config.architecture = "MarianMTModel";
  config.d_model = d_model;
  config.encoder_layers = config.decoder_layers = layers;
  config.encoder_heads = config.decoder_heads = heads;
  config.encoder_ffn = config.decoder_ffn = ffn;
  config.activation = activation;
  config.embedding_scale = std::sqrt(static_cast<float>(d_model));
  config.source_vocabulary = config.target_vocabulary = vocabulary;
  config.max_positions = 512;
  config.eos_id = 0;
  config.decoder_start_id = vocabulary - 1;
  return config;
}

Transformer RandomTransformer(const ModelSpec& config, uint64_t seed) {
  Transformer model;
  model.config = config;
  std::mt19937_64 random(seed);
  for (const NamedTensor& tensor : Tensors(config, &model.weights).list()) {
    std::vector<float> values(static_cast<size_t>(tensor.rows) * tensor.cols);
    for (float& value : values) {
      const float unit = static_cast<float>(random() >> 40) * 0x1p-24f;  // [0, 1)
      value = tensor.center + tensor.spread * (2.0f * unit - 1.0f);
    }
    Assign(tensor, values);
  }
  model.weights.source_embedding = model.weights.target_embedding;
  return model;
}

absl::Status WriteMarianDirectory(const Transformer& model, const std::string& directory) {
  DRAGOMAN_CHECK(model.weights.source_embedding == model.weights.target_embedding);
  const json tokenizer = {{"source_lang", "en"},
                          {"target_lang", "de"},
                          {"separate_vocabs", false},
                          {"tokenizer_class", "MarianTokenizer"}};
  std::ofstream(directory + "/config.json") << ConfigJson(model.config);
  std::ofstream(directory + "/generation_config.json") << GenerationJson(model.config);
  std::ofstream(directory + "/tokenizer_config.json") << tokenizer;
  std::ofstream(directory + "/vocab.json") << VocabularyJson(model.config);
  for (const char* name : {"/source.spm", "/target.spm"}) {
    std::error_code error;  // CheckWritten reports a failure
    std::filesystem::copy_file(kTokenizerDirectory + std::string(name), directory + name,
                               std::filesystem::copy_options::overwrite_existing, error);
  }
  WriteSafetensors(model, directory + "/model.safetensors");
  for (const char* name : {"/config.json", "/generation_config.json", "/tokenizer_config.json",
                           "/vocab.json", "/source.spm", "/target.spm", "/model.safetensors"}) {
    RETURN_IF_ERROR(CheckWritten(directory + name));
  }
  return absl::OkStatus();
}

absl::StatusOr<Transformer> ReadMarianDirectory(const std::string& directory) {
  std::ifstream file(directory + "/config.json");
  const json values = json::parse(file, nullptr, /*allow_exceptions=*/false);
  if (!values.is_object()) return absl::NotFoundError(directory + "/config.json");
  Transformer model;
  ModelSpec& config = model.config;
  config = MarianShape(values["d_model"], values["encoder_layers"],
                       values["encoder_attention_heads"], values["encoder_ffn_dim"],
                       Activations().at(values["activation_function"]), values["vocab_size"]);
  config.decoder_layers = values["decoder_layers"];
  config.decoder_heads = values["decoder_attention_heads"];
  config.decoder_ffn = values["decoder_ffn_dim"];
  if (values["scale_embedding"]) {
    config.embedding_scale = std::sqrt(static_cast<float>(config.d_model));
  }
  config.max_positions = values["max_position_embeddings"];
  config.eos_id = values["eos_token_id"];
  config.decoder_start_id = values["decoder_start_token_id"];

  ASSIGN_OR_RETURN(const Checkpoint checkpoint, OpenSafetensors(directory + "/model.safetensors"));
  for (const NamedTensor& tensor : Tensors(config, &model.weights).list()) {
    if (tensor.vector != nullptr) {
      ASSIGN_OR_RETURN(*tensor.vector, checkpoint.ReadVector(tensor.name, tensor.cols));
      continue;
    }
    ASSIGN_OR_RETURN(const dragoman::Matrix<float> read,
                     checkpoint.ReadMatrix(tensor.name, tensor.rows, tensor.cols));
    const float* first = read.view().data();
    Assign(tensor,
           std::vector<float>(first, first + static_cast<size_t>(tensor.rows) * tensor.cols));
  }
  model.weights.source_embedding = model.weights.target_embedding;
  return model;
}

}  // namespace dragoman::reference
