// What a model is (its shape and its special tokens) and its default search settings: the content
// of a checkpoint's config.json and generation_config.json.

#ifndef DRAGOMAN_ENGINE_SPEC_CONFIG_H_
#define DRAGOMAN_ENGINE_SPEC_CONFIG_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/math/activation.h"
#include "engine/math/precision.h"
#include "engine/options/options.h"

namespace dragoman {

// The norm that a model uses everywhere.
enum class Norm {
  kLayer,           // (v - mean) / sqrt(variance + epsilon) * gain + bias
  kRootMeanSquare,  // v / sqrt(mean of squares + epsilon) * gain
};

// How the network is told the position of a token in its sentence.
struct Positions {
  enum Kind {
    kSinusoids,    // [sin(p w_i) | cos(p w_i)]: two halves side by side
    kInterleaved,  // sin(p w_0), cos(p w_0), sin(p w_1), ...
    kTable,        // rows of ENCODER_OR_DECODER.embed_positions.weight
    kRelative,     // a bias on the scores of self-attention, by distance
    kNone,
  };
  Kind kind = kSinusoids;
  int first = 0;  // the position, or the row of the table, of a sentence's first token
  // Sinusoids have n = d_model / 2 frequencies w_i.  They are 10000^(-i / n) or, if they are to
  // reach 1 / 10000, 10000^(-i / (n - 1)).
  bool to_the_end = false;
  int buckets = 0;         // of relative positions: the number of biases per head
  int max_distance = 0;    // beyond which all distances share one bias
  bool per_layer = false;  // each layer has biases of its own
};

// The heads whose attention to the source tells which source token a target token came from.
struct AlignmentHeads {
  int layer = -1;          // of the decoder; -1 is the last one, -2 the one before it
  std::vector<int> heads;  // of that layer, to be averaged; empty: all of them
};

// What happens to the input x of a sublayer f and to its output y, one letter per step, in order:
// n, y = norm(y); a, y = y + x; h, y = g y + (1 - g) x with the gate g = sigmoid(x W + b)
// (Srivastava et al. 2015).  So "" and "an" is norm(x + f(x)); "n" and "a" is x + f(norm(x)).
struct Processing {
  std::string before;  // n only
  std::string after;

  bool norms_after() const { return after.find('n') != after.npos; }
};

// The base class for facts that only one kind of network needs.  Only that network, and the code
// that configures it, know the derived class.
struct ModelSpec;
struct NetworkDetails {
  virtual ~NetworkDetails() = default;
  // About how many weights the network has besides its embeddings and its output.
  virtual double Weights(const ModelSpec& spec) const = 0;
};

// An encoder-decoder Transformer ("Attention Is All You Need", section 3) as data: its shape, and
// the points where models compute something different.  The defaults are those of the paper.
struct ModelSpec {
  std::string architecture;                       // "MarianMTModel"
  std::string network = "transformer";            // the one that computes it (network_kind.h)
  std::shared_ptr<const NetworkDetails> details;  // of a network that has them
  std::string history = "self_attention";         // of a Transformer's decoder (history.h)

  int d_model = 0;  // width of every layer's input and output
  int encoder_layers = 0;
  int decoder_layers = 0;
  int encoder_heads = 0;
  int decoder_heads = 0;
  int head_width = 0;   // of queries, keys and values; 0: d_model / heads
  int encoder_ffn = 0;  // inner width of the feed-forward layers
  int decoder_ffn = 0;

  Norm norm = Norm::kLayer;
  float norm_epsilon = 1e-5f;
  bool pre_norm = false;                 // x + f(norm(x)), else norm(x + f(x))
  std::optional<Processing> processing;  // instead of either
  bool embedding_norm = false;           // of the sum of embedding and position
  bool final_norm = false;               // of each stack's output; goes with pre_norm
  bool biases = true;                    // of all projections
  bool attention_output = true;          // attention has a projection of its output
  bool scaled_queries = true;            // by 1 / sqrt(head width)

  Activation activation = Activation::kRelu;  // of the feed-forward layers
  // The number of feed-forward layers in a sublayer, including the last one, which has no
  // activation.
  int encoder_ffn_layers = 2;
  int decoder_ffn_layers = 2;
  Activation history_activation = Activation::kRelu;  // where the history has one
  bool gated = false;  // W2 (activation(W1 x) * (W3 x)) instead of W2 activation(W1 x)

  Positions positions;
  float embedding_scale = 1.0f;
  bool zero_start = false;  // the decoder start has no embedding, only a position

  bool share_embeddings = true;  // source and target have one table
  bool tied_output = true;       // the output projection is the target's table
  float logit_scale = 1.0f;      // of the decoder's output before that projection

  int source_vocabulary = 0;
  int target_vocabulary = 0;
  int max_positions = 0;  // the most tokens that a sentence may have on either side

  AlignmentHeads alignment;

  int32_t decoder_start_id = 0;  // the input before the first generated token
  int32_t eos_id = 0;

  Processing around() const {
    return processing.value_or(pre_norm ? Processing{"n", "a"} : Processing{"", "an"});
  }
  // 0 for a network without heads.
  int encoder_head_width() const { return HeadWidth(encoder_heads); }
  int decoder_head_width() const { return HeadWidth(decoder_heads); }
  int HeadWidth(int heads) const {
    return head_width > 0 || heads == 0 ? head_width : d_model / heads;
  }
};

// How a network is to compute; not a property of the model.
struct NetworkOptions {
  Arithmetic arithmetic = Precision::kFloat32;  // its precision is never kAuto
  Precision keys_values = Precision::kFloat32;  // the decoder's; never kAuto
  bool selective_output = false;                // rows with a shortlist must be fast
  // A table that would take more bytes in float32 or bfloat16 is not copied (embedding_table.h).
  size_t large_table = size_t{64} << 20;
};

// The search that generation_config.json asks for, where a request does not say otherwise.
struct GenerationConfig {
  DecodingOptions options;           // without a value: the default of the search holds
  bool split_sentences = true;       // ours: false for a model that was trained on whole documents
  std::optional<int> length_margin;  // tokens allowed beyond those in proportion to the source
  std::vector<std::vector<int32_t>> bad_words_ids;  // no entry is empty; a lone [eos] is dropped
};

// What the configuration files of a model directory say.
struct ModelConfig {
  ModelSpec spec;
  GenerationConfig generation;
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_SPEC_CONFIG_H_
