#include "tests/reference/random_weights.h"

#include <cmath>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "engine/spec/recurrent_spec.h"

namespace dragoman::reference {
namespace {

// Creates random tensors.
class Maker {
 public:
  Maker(NamedWeights* model, uint64_t seed) : model_(model), random_(seed) {}

  // Numbers from `center` - `spread` to `center` + `spread`.
  void Tensor(const std::string& name, int rows, int cols, float center, float spread) {
    NamedWeights::Tensor tensor{rows, cols, std::vector<float>(rows * cols)};
    for (float& value : tensor.values) {
      const float unit = static_cast<float>(random_() >> 40) * 0x1p-24f;  // [0, 1)
      value = center + spread * (2.0f * unit - 1.0f);
    }
    model_->tensors[name] = std::move(tensor);
  }

 protected:
  const ModelSpec& spec() const { return model_->spec; }
  bool Toss() { return random_() % 2 == 0; }

  NamedWeights* model_;
  std::mt19937_64 random_;
};

class TransformerMaker : public Maker {
 public:
  using Maker::Maker;

  void Stack(const std::string& stack, int layers, int heads, int head_width, int ffn, bool cross) {
    const ModelSpec& spec = this->spec();
    for (int l = 0; l < layers; ++l) {
      const std::string layer = stack + ".layers." + std::to_string(l);
      if (cross && spec.history == "ssru") {
        Recurrence(layer + ".rnn");
      } else if (cross && spec.history == "average_attention") {
        Average(layer + ".aan");
      } else {
        Attention(layer + ".self_attn", heads * head_width);
        Around(layer + ".self_attn");
      }
      if (cross) {
        Attention(layer + ".encoder_attn", heads * head_width);
        Around(layer + ".encoder_attn");
      }
      const int depth = cross ? spec.decoder_ffn_layers : spec.encoder_ffn_layers;
      int width = spec.d_model;
      for (int i = 1; i < depth; ++i, width = ffn) {
        Linear(layer + (i == 1 ? ".fc1" : ".fc1_" + std::to_string(i)), ffn, width);
      }
      if (spec.gated) Linear(layer + ".fc1_linear", ffn, spec.d_model);
      Linear(layer + ".fc2", spec.d_model, width);
      Around(layer + ".final");
    }
    if (spec.embedding_norm) Norm(stack + ".layernorm_embedding");
    if (spec.final_norm) Norm(stack + ".layer_norm");
    if (spec.positions.kind == Positions::kTable) {
      Tensor(stack + ".embed_positions.weight", spec.positions.first + spec.max_positions,
             spec.d_model, 0.0f, 1.0f);
    }
    if (spec.positions.kind == Positions::kRelative) {
      for (int l = 0; l < (spec.positions.per_layer ? layers : 1); ++l) {
        const std::string owner =
            spec.positions.per_layer ? stack + ".layers." + std::to_string(l) : stack;
        Tensor(owner + ".relative_attention_bias.weight", spec.positions.buckets, heads, 0.0f,
               1.0f);
      }
    }
  }

 private:
  void Linear(const std::string& name, int outputs, int inputs, float scale = 1.0f) {
    Tensor(name + ".weight", outputs, inputs, 0.0f,
           scale * std::sqrt(3.0f / static_cast<float>(inputs)));
    if (spec().biases) Tensor(name + ".bias", 1, outputs, 0.0f, 0.1f);
  }
  void Norm(const std::string& name) {
    const int d = spec().d_model;
    Tensor(name + ".weight", 1, d, 1.0f, 0.2f);
    if (spec().norm == Norm::kLayer) Tensor(name + ".bias", 1, d, 0.0f, 0.1f);
  }
  // The norms around a sublayer.
  void Around(const std::string& sublayer) {
    const Processing around = spec().around();
    Norm(sublayer + "_layer_norm");
    if (NormedTwice(spec())) Norm(sublayer + "_layer_norm_before");
    if (around.after.find('h') != around.after.npos) Biased(sublayer + "_highway");
  }
  // Has a bias even if the specification has none elsewhere.
  void Biased(const std::string& name, int outputs, int inputs) {
    Tensor(name + ".weight", outputs, inputs, 0.0f, std::sqrt(3.0f / static_cast<float>(inputs)));
    Tensor(name + ".bias", 1, outputs, 0.0f, 0.1f);
  }
  void Biased(const std::string& name) { Biased(name, spec().d_model, spec().d_model); }
  void Average(const std::string& name) {
    const int d = spec().d_model, inner = Toss() ? d : 72;
    const int layers = static_cast<int>(random_() % 3);
    int width = d;
    for (int i = 1; i <= layers; ++i, width = inner) {
      Biased(name + ".fc" + std::to_string(i), inner, width);
    }
    if (width != d || Toss()) Biased(name + ".out_proj", d, width);
    if (Toss()) {
      Biased(name + ".input");
      Biased(name + ".forget");
    }
    Around(name);
  }
  void Recurrence(const std::string& name) {
    const int d = spec().d_model;
    Tensor(name + ".input.weight", d, d, 0.0f, std::sqrt(3.0f / static_cast<float>(d)));
    Biased(name + ".forget");
    if (Toss()) Biased(name + ".reset");
    if (Toss()) Biased(name + ".out_proj");
    Around(name);
  }
  void Attention(const std::string& name, int width) {
    const int d = spec().d_model;
    // If queries are not scaled, their weights are smaller instead.
    Linear(name + ".q_proj", width, d, spec().scaled_queries ? 1.0f : 0.3f);
    Linear(name + ".k_proj", width, d);
    Linear(name + ".v_proj", width, d);
    Linear(name + ".out_proj", d, width);
  }
};

class RecurrentMaker : public Maker {
 public:
  // With layer normalization if `normed`.
  RecurrentMaker(NamedWeights* model, bool normed, uint64_t seed)
      : Maker(model, seed),
        details_(dynamic_cast<const RecurrentSpec&>(*model->spec.details)),
        normed_(normed),
        width_(details_.state_width) {}

  void Encoder() {
    for (int l = 1; l <= spec().encoder_layers; ++l) {
      for (int c = 1; c <= details_.encoder_cells; ++c) {
        const std::string own = "_cell" + std::to_string(c);
        if (OneLayer() && l > 1) {
          Cell("encoder_l" + std::to_string(l) + own, c > 1 ? 0 : l == 2 ? 2 * width_ : width_);
          continue;
        }
        for (const std::string prefix : {"encoder_bi", "encoder_bi_r"}) {
          const std::string layer = l == 1 ? prefix : prefix + "_l" + std::to_string(l);
          Cell(l == 1 && c == 1 ? layer : layer + own, c > 1    ? 0
                                                       : l == 1 ? spec().d_model
                                                                : width_);
        }
      }
    }
  }
  void Decoder() {
    for (int c = 1; c <= details_.decoder_base_cells; ++c) {
      Cell("decoder_cell" + std::to_string(c), c == 1 ? spec().d_model : c == 2 ? Context() : 0);
    }
    for (int l = 2; l <= spec().decoder_layers; ++l) {
      for (int c = 1; c <= details_.decoder_high_cells; ++c) {
        Cell("decoder_l" + std::to_string(l) + "_cell" + std::to_string(c), c == 1 ? width_ : 0);
      }
    }
  }
  void Attention() {
    Matrix("decoder_W_comb_att", Context(), width_);
    Matrix("decoder_Wc_att", Context(), Context());
    Tensor("decoder_b_att", 1, Context(), 0.0f, 0.3f);
    Tensor("decoder_U_att", 1, Context(), 0.0f, 1.0f);
    Gain("decoder_att_gamma1", Context());
    Gain("decoder_att_gamma2", Context());
  }
  // The layers from the contexts to the first state, and from the states to the logits.
  void FeedForward() {
    Dense("decoder_ff_state_", "", width_, Context());
    Dense("decoder_ff_logit_l1_", "0", spec().d_model, spec().d_model);
    Dense("decoder_ff_logit_l1_", "1", spec().d_model, width_);
    Dense("decoder_ff_logit_l1_", "2", spec().d_model, Context());
  }

 private:
  // Whether only the first layer of the encoder reads both ways.
  bool OneLayer() const { return details_.encoder == RecurrentSpec::kBiUnidirectional; }
  // The numbers for each source token.
  int Context() const { return OneLayer() && spec().encoder_layers > 1 ? width_ : 2 * width_; }

  void Matrix(const std::string& name, int outputs, int inputs) {
    Tensor(name, outputs, inputs, 0.0f, 2.0f / std::sqrt(static_cast<float>(inputs)));
  }
  void Gain(const std::string& name, int n) {
    if (normed_) Tensor(name, 1, n, 1.0f, 0.2f);
  }
  void Dense(const std::string& p, const std::string& n, int outputs, int inputs) {
    Matrix(p + "W" + n, outputs, inputs);
    Tensor(p + "b" + n, 1, outputs, 0.0f, 0.3f);
    Gain(p + "gamma" + n, outputs);
  }
  // `inputs` is 0 for a cell that only changes the state.
  void Cell(const std::string& p, int inputs) {
    if (inputs > 0) {
      Matrix(p + "_W", 2 * width_, inputs);
      Matrix(p + "_Wx", width_, inputs);
      Gain(p + "_gamma1", 3 * width_);
    }
    Matrix(p + "_U", 2 * width_, width_);
    Matrix(p + "_Ux", width_, width_);
    Tensor(p + "_b", 1, 2 * width_, 0.0f, 0.3f);
    Tensor(p + "_bx", 1, width_, 0.0f, 0.3f);
    Gain(p + "_gamma2", 3 * width_);
  }

  const RecurrentSpec& details_;
  const bool normed_;
  const int width_;  // of a state
};

}  // namespace

NamedWeights RandomWeights(const ModelSpec& spec, uint64_t seed) {
  NamedWeights model{spec, {}};
  TransformerMaker make(&model, seed);
  const float spread = 5.0f / std::sqrt(static_cast<float>(spec.d_model));
  if (spec.share_embeddings) {
    make.Tensor("model.shared.weight", spec.target_vocabulary, spec.d_model, 0.0f, spread);
  } else {
    make.Tensor("model.encoder.embed_tokens.weight", spec.source_vocabulary, spec.d_model, 0.0f,
                spread);
    make.Tensor("model.decoder.embed_tokens.weight", spec.target_vocabulary, spec.d_model, 0.0f,
                spread);
  }
  if (!spec.tied_output) {
    make.Tensor("lm_head.weight", spec.target_vocabulary, spec.d_model, 0.0f, spread);
  }
  make.Stack("model.encoder", spec.encoder_layers, spec.encoder_heads, spec.encoder_head_width(),
             spec.encoder_ffn, /*cross=*/false);
  make.Stack("model.decoder", spec.decoder_layers, spec.decoder_heads, spec.decoder_head_width(),
             spec.decoder_ffn, /*cross=*/true);
  return model;
}

NamedWeights RandomRecurrent(const ModelSpec& spec, bool normed, uint64_t seed) {
  NamedWeights model{spec, {}};
  RecurrentMaker make(&model, normed, seed);
  make.Tensor("model.shared.weight", spec.target_vocabulary, spec.d_model, 0.0f, 1.0f);
  make.Tensor("final_logits_bias", 1, spec.target_vocabulary, 0.0f, 0.3f);
  make.Encoder();
  make.Decoder();
  make.Attention();
  make.FeedForward();
  return model;
}

}  // namespace dragoman::reference
