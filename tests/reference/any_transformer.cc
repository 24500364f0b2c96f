#include "tests/reference/any_transformer.h"

#include <algorithm>
#include <cmath>

namespace dragoman::reference {
namespace {

using Row = std::vector<double>;

// y = x W^T + b, with W [outputs, inputs]; b may be absent.
Rows Linear(const NamedWeights& model, const std::string& name, const Rows& x) {
  const NamedWeights::Tensor& w = model.tensors.at(name + ".weight");
  const auto b = model.tensors.find(name + ".bias");
  Rows y;
  for (const Row& row : x) {
    Row out(w.rows);
    for (int o = 0; o < w.rows; ++o) {
      out[o] = b != model.tensors.end() ? b->second.values[o] : 0.0;
      for (int i = 0; i < w.cols; ++i) out[o] += row[i] * w.values[o * w.cols + i];
    }
    y.push_back(out);
  }
  return y;
}

Rows Normalize(const NamedWeights& model, const std::string& name, const Rows& x) {
  const ModelSpec& spec = model.spec;
  const NamedWeights::Tensor& gain = model.tensors.at(name + ".weight");
  Rows y = x;
  for (Row& row : y) {
    const double n = static_cast<double>(row.size());
    double mean = 0.0, squares = 0.0;
    if (spec.norm == Norm::kLayer) {
      for (const double v : row) mean += v / n;
    }
    for (const double v : row) squares += (v - mean) * (v - mean) / n;
    const double deviation = std::sqrt(squares + spec.norm_epsilon);
    for (size_t i = 0; i < row.size(); ++i) {
      row[i] = (row[i] - mean) / deviation * gain.values[i];
      if (spec.norm == Norm::kLayer) row[i] += model.tensors.at(name + ".bias").values[i];
    }
  }
  return y;
}

Rows Sum(const Rows& a, const Rows& b) {
  Rows sum = a;
  for (size_t t = 0; t < a.size(); ++t) {
    for (size_t i = 0; i < a[t].size(); ++i) sum[t][i] += b[t][i];
  }
  return sum;
}

double Sigma(double x) { return 1.0 / (1.0 + std::exp(-x)); }

// g a + (1 - g) b, with g = sigma(gate).
Rows Mix(const Rows& gate, const Rows& a, const Rows& b) {
  Rows mixed = a;
  for (size_t t = 0; t < a.size(); ++t) {
    for (size_t i = 0; i < a[t].size(); ++i) {
      const double g = Sigma(gate[t][i]);
      mixed[t][i] = g * a[t][i] + (1.0 - g) * b[t][i];
    }
  }
  return mixed;
}

// The input of a sublayer, from x.
Rows Before(const NamedWeights& model, const std::string& sublayer, const Rows& x) {
  const std::string norm = sublayer + "_layer_norm";
  if (model.spec.around().before.empty()) return x;
  return Normalize(model, NormedTwice(model.spec) ? norm + "_before" : norm, x);
}

// The sum of a sublayer's input x and output y, processed as the model says.
Rows After(const NamedWeights& model, const std::string& sublayer, const Rows& x, Rows y) {
  for (const char step : model.spec.around().after) {
    if (step == 'a') y = Sum(y, x);
    if (step == 'n') y = Normalize(model, sublayer + "_layer_norm", y);
    if (step == 'h') y = Mix(Linear(model, sublayer + "_highway", x), y, x);
  }
  return y;
}

// A whole sublayer: norm(x + f(x)), x + f(norm(x)), or other steps.
template <typename Sublayer>
Rows Connect(const NamedWeights& model, const std::string& sublayer, const Rows& x,
             const Sublayer& f) {
  return After(model, sublayer, x, f(Before(model, sublayer, x)));
}

// Raffel et al. 2020: of the buckets (of each direction), half are for one distance each, the rest
// for logarithmic ranges of distances up to max_distance.
int Bucket(const Positions& positions, bool causal, int key_minus_query) {
  int buckets = positions.buckets, first = 0, distance = -key_minus_query;
  if (!causal) {
    buckets /= 2;
    if (distance < 0) first = buckets;
    distance = std::abs(distance);
  }
  distance = std::max(distance, 0);
  const int exact = buckets / 2;
  if (distance < exact) return first + distance;
  const double steps = std::log(static_cast<double>(distance) / exact) /
                       std::log(static_cast<double>(positions.max_distance) / exact);
  return first + std::min(buckets - 1, exact + static_cast<int>(steps * (buckets - exact) + 1e-6));
}

// What names the relative bias of a layer; "" for none.
std::string BiasOf(const ModelSpec& spec, const std::string& stack, int layer) {
  if (spec.positions.kind != Positions::kRelative) return "";
  return spec.positions.per_layer ? stack + ".layers." + std::to_string(layer) : stack;
}

// `bias_of` names the stack or the layer whose relative bias is added; "" for none.  Unless
// `spread` is null, it receives the attention weights of the positions, averaged over all heads;
// and `by_head`, unless it is null, those of each head.
Rows Attend(const NamedWeights& model, const std::string& name, int heads, const Rows& x,
            const Rows& memory, bool causal, const std::string& bias_of, Rows* spread = nullptr,
            HeadRows* by_head = nullptr) {
  const Rows none(x.size(), Row(memory.size(), 0.0));
  if (spread != nullptr) *spread = none;
  if (by_head != nullptr) by_head->emplace_back(heads, none);
  const Rows q = Linear(model, name + ".q_proj", x);
  const Rows k = Linear(model, name + ".k_proj", memory);
  const Rows v = Linear(model, name + ".v_proj", memory);
  const int width = static_cast<int>(q[0].size()) / heads;
  const double scale = model.spec.scaled_queries ? 1.0 / std::sqrt(width) : 1.0;
  Rows context(x.size(), Row(q[0].size(), 0.0));
  for (size_t t = 0; t < x.size(); ++t) {
    for (int h = 0; h < heads; ++h) {
      Row weights(causal ? t + 1 : memory.size());
      double sum = 0.0;
      for (size_t s = 0; s < weights.size(); ++s) {
        double score = 0.0;
        for (int i = h * width; i < (h + 1) * width; ++i) score += q[t][i] * k[s][i];
        score *= scale;
        if (!bias_of.empty()) {
          const auto& table = model.tensors.at(bias_of + ".relative_attention_bias.weight");
          const int distance = static_cast<int>(s) - static_cast<int>(t);
          score += table.values[Bucket(model.spec.positions, causal, distance) * heads + h];
        }
        sum += weights[s] = std::exp(score);
      }
      for (size_t s = 0; s < weights.size(); ++s) {
        if (spread != nullptr) (*spread)[t][s] += weights[s] / sum / heads;
        if (by_head != nullptr) by_head->back()[h][t][s] = weights[s] / sum;
        for (int i = h * width; i < (h + 1) * width; ++i) {
          context[t][i] += weights[s] / sum * v[s][i];
        }
      }
    }
  }
  return Linear(model, name + ".out_proj", context);
}

double Activate(Activation activation, double x) {
  switch (activation) {
    case Activation::kNone:
      return x;
    case Activation::kRelu:
      return std::max(0.0, x);
    case Activation::kSilu:
      return x / (1.0 + std::exp(-x));
    case Activation::kGelu:
      return 0.5 * x * (1.0 + std::erf(x / std::sqrt(2.0)));
    case Activation::kGeluTanh:
      return 0.5 * x * (1.0 + std::tanh(std::sqrt(2.0 / M_PI) * (x + 0.044715 * x * x * x)));
    case Activation::kGeluSigmoid:
      return x / (1.0 + std::exp(-1.702 * x));
  }
  return x;
}

Rows FeedForward(const NamedWeights& model, const std::string& layer, const Rows& x, int layers) {
  Rows inner = x;
  for (int i = 1; i < layers; ++i) {
    inner = Linear(model, layer + (i == 1 ? ".fc1" : ".fc1_" + std::to_string(i)), inner);
    for (Row& row : inner) {
      for (double& v : row) v = Activate(model.spec.activation, v);
    }
  }
  if (model.spec.gated) {
    const Rows gate = Linear(model, layer + ".fc1_linear", x);
    for (size_t t = 0; t < inner.size(); ++t) {
      for (size_t i = 0; i < inner[t].size(); ++i) inner[t][i] *= gate[t][i];
    }
  }
  return Linear(model, layer + ".fc2", inner);
}

// The simpler simple recurrent unit (engine/model/ssru.cc) over the tokens of a sentence: gate f is
// the share of the state c that stays, and y W fills up the rest.
Rows Recur(const NamedWeights& model, const std::string& name, const Rows& y) {
  const Rows input = Linear(model, name + ".input", y), forget = Linear(model, name + ".forget", y);
  const bool resets = model.tensors.count(name + ".reset.weight") > 0;
  Rows out;
  Row c(input[0].size(), 0.0);
  for (size_t t = 0; t < y.size(); ++t) {
    Row o(c.size());
    for (size_t i = 0; i < c.size(); ++i) {
      const double f = Sigma(forget[t][i]);
      c[i] = f * c[i] + (1.0 - f) * input[t][i];
      o[i] = resets ? std::tanh(c[i]) : std::max(0.0, c[i]);
    }
    out.push_back(o);
  }
  if (resets) out = Mix(Linear(model, name + ".reset", y), out, y);
  const bool projects = model.tensors.count(name + ".out_proj.weight") > 0;
  return projects ? Linear(model, name + ".out_proj", out) : out;
}

// Average attention (engine/model/average_attention.cc) with the steps around it.  A norm before it
// is applied to the mean.
Rows Average(const NamedWeights& model, const std::string& name, const Rows& x) {
  Rows mean = x;
  for (size_t t = 1; t < x.size(); ++t) {
    for (size_t i = 0; i < x[t].size(); ++i) {
      double sum = 0.0;
      for (size_t s = 0; s <= t; ++s) sum += x[s][i];
      mean[t][i] = sum / static_cast<double>(t + 1);
    }
  }
  Rows y = Before(model, name, mean);
  for (int i = 1; model.tensors.count(name + ".fc" + std::to_string(i) + ".weight") > 0; ++i) {
    y = Linear(model, name + ".fc" + std::to_string(i), y);
    for (Row& row : y) {
      for (double& v : row) v = Activate(model.spec.history_activation, v);
    }
  }
  if (model.tensors.count(name + ".out_proj.weight") > 0) y = Linear(model, name + ".out_proj", y);
  if (model.tensors.count(name + ".input.weight") > 0) {
    const Rows take = Linear(model, name + ".input", x), keep = Linear(model, name + ".forget", y);
    for (size_t t = 0; t < x.size(); ++t) {
      for (size_t i = 0; i < x[t].size(); ++i) {
        y[t][i] = Sigma(take[t][i]) * x[t][i] + Sigma(keep[t][i]) * y[t][i];
      }
    }
  }
  return After(model, name, x, y);
}

double Position(const NamedWeights& model, const std::string& stack, int position, int i) {
  const Positions& positions = model.spec.positions;
  const int d_model = model.spec.d_model;
  const int half = d_model / 2, p = positions.first + position;
  const double steps = positions.to_the_end ? half - 1 : half;
  const auto angle = [&](int j) { return p * std::pow(10000.0, -j / steps); };
  switch (positions.kind) {
    case Positions::kTable:
      return model.tensors.at(stack + ".embed_positions.weight").values[p * d_model + i];
    case Positions::kSinusoids:
      return i < half ? std::sin(angle(i)) : std::cos(angle(i - half));
    case Positions::kInterleaved:
      return i % 2 == 0 ? std::sin(angle(i / 2)) : std::cos(angle(i / 2));
    case Positions::kRelative:
    case Positions::kNone:
      return 0.0;
  }
  return 0.0;
}

Rows Embed(const NamedWeights& model, const std::string& stack,
           const std::vector<int32_t>& tokens) {
  const ModelSpec& spec = model.spec;
  const auto& table = model.tensors.at(spec.share_embeddings ? "model.shared.weight"
                                                             : stack + ".embed_tokens.weight");
  Rows x;
  for (size_t p = 0; p < tokens.size(); ++p) {
    const bool zero = spec.zero_start && stack == "model.decoder" && p == 0;
    Row row(spec.d_model);
    for (int i = 0; i < spec.d_model; ++i) {
      const double value = zero ? 0.0 : table.values[tokens[p] * spec.d_model + i];
      row[i] = value * spec.embedding_scale + Position(model, stack, static_cast<int>(p), i);
    }
    x.push_back(row);
  }
  return spec.embedding_norm ? Normalize(model, stack + ".layernorm_embedding", x) : x;
}

}  // namespace

bool NormedTwice(const ModelSpec& spec) {
  return !spec.around().before.empty() && spec.around().norms_after();
}

Rows EncodeAny(const NamedWeights& model, const std::vector<int32_t>& tokens) {
  return EncodeAny(model, tokens, nullptr);
}

Rows EncodeAny(const NamedWeights& model, const std::vector<int32_t>& tokens, HeadRows* heads) {
  const ModelSpec& spec = model.spec;
  const std::string stack = "model.encoder";
  Rows x = Embed(model, stack, tokens);
  for (int l = 0; l < spec.encoder_layers; ++l) {
    const std::string layer = stack + ".layers." + std::to_string(l);
    x = Connect(model, layer + ".self_attn", x, [&](const Rows& in) {
      return Attend(model, layer + ".self_attn", spec.encoder_heads, in, in, false,
                    BiasOf(spec, stack, l), nullptr, heads);
    });
    x = Connect(model, layer + ".final", x, [&](const Rows& in) {
      return FeedForward(model, layer, in, spec.encoder_ffn_layers);
    });
  }
  return spec.final_norm ? Normalize(model, stack + ".layer_norm", x) : x;
}

Rows LogitsOfAny(const NamedWeights& model, const Rows& encoded, const std::vector<int32_t>& tokens,
                 Rows* attention) {
  return LogitsOfAny(model, encoded, tokens, attention, nullptr, nullptr);
}

Rows LogitsOfAny(const NamedWeights& model, const Rows& encoded, const std::vector<int32_t>& tokens,
                 Rows* attention, HeadRows* heads, HeadRows* decoder_heads) {
  const ModelSpec& spec = model.spec;
  const int told = (spec.alignment.layer + spec.decoder_layers) % spec.decoder_layers;
  const std::string stack = "model.decoder";
  Rows x = Embed(model, stack, tokens);
  for (int l = 0; l < spec.decoder_layers; ++l) {
    const std::string layer = stack + ".layers." + std::to_string(l);
    if (spec.history == "ssru") {
      x = Connect(model, layer + ".rnn", x,
                  [&](const Rows& in) { return Recur(model, layer + ".rnn", in); });
    } else if (spec.history == "average_attention") {
      x = Average(model, layer + ".aan", x);
    } else {
      x = Connect(model, layer + ".self_attn", x, [&](const Rows& in) {
        return Attend(model, layer + ".self_attn", spec.decoder_heads, in, in, true,
                      BiasOf(spec, stack, l), nullptr, decoder_heads);
      });
    }
    x = Connect(model, layer + ".encoder_attn", x, [&](const Rows& in) {
      return Attend(model, layer + ".encoder_attn", spec.decoder_heads, in, encoded, false, "",
                    l == told ? attention : nullptr, heads);
    });
    x = Connect(model, layer + ".final", x, [&](const Rows& in) {
      return FeedForward(model, layer, in, spec.decoder_ffn_layers);
    });
  }
  if (spec.final_norm) x = Normalize(model, stack + ".layer_norm", x);
  const std::string table = !spec.tied_output       ? "lm_head.weight"
                            : spec.share_embeddings ? "model.shared.weight"
                                                    : "model.decoder.embed_tokens.weight";
  const NamedWeights::Tensor& e = model.tensors.at(table);
  Rows logits;
  for (const Row& row : x) {
    Row out(e.rows, 0.0);
    for (int o = 0; o < e.rows; ++o) {
      for (int i = 0; i < e.cols; ++i)
        out[o] += row[i] * spec.logit_scale * e.values[o * e.cols + i];
    }
    logits.push_back(out);
  }
  return logits;
}

}  // namespace dragoman::reference
