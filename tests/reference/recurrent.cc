#include "tests/reference/recurrent.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "engine/spec/recurrent_spec.h"

namespace dragoman::reference {
namespace {

using Row = std::vector<double>;

const RecurrentSpec& DetailsOf(const NamedWeights& model) {
  return dynamic_cast<const RecurrentSpec&>(*model.spec.details);
}

bool Has(const NamedWeights& model, const std::string& name) {
  return model.tensors.count(name) > 0;
}

Row Doubles(const NamedWeights& model, const std::string& name) {
  const std::vector<float>& values = model.tensors.at(name).values;
  return Row(values.begin(), values.end());
}

// x W; the checkpoint has W^T.
Row Product(const NamedWeights& model, const std::string& name, const Row& x) {
  const NamedWeights::Tensor& w = model.tensors.at(name);
  Row y(w.rows, 0.0);
  for (int o = 0; o < w.rows; ++o) {
    for (int i = 0; i < w.cols; ++i) y[o] += x[i] * w.values[o * w.cols + i];
  }
  return y;
}

Row Sum(Row a, const Row& b) {
  for (size_t i = 0; i < a.size(); ++i) a[i] += b[i];
  return a;
}

Row Join(Row a, const Row& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

// Applies layer normalization if there is a gain of that name.
Row Normed(const NamedWeights& model, const std::string& gain, Row x) {
  if (!Has(model, gain)) return x;
  const Row g = Doubles(model, gain);
  const double n = static_cast<double>(x.size());
  double mean = 0.0, variance = 0.0;
  for (const double v : x) mean += v / n;
  for (const double v : x) variance += (v - mean) * (v - mean) / n;
  for (size_t i = 0; i < x.size(); ++i) x[i] = (x[i] - mean) / std::sqrt(variance + 1e-9) * g[i];
  return x;
}

double Sigma(double x) { return 1.0 / (1.0 + std::exp(-x)); }

// The gated recurrent unit: r is how much of the state the candidate h sees, z how much of the
// state stays.  `x` may be absent.
Row Cell(const NamedWeights& model, const std::string& p, const Row* x, const Row& state,
         bool bias_in_reset) {
  const size_t d = state.size();
  Row in(3 * d, 0.0);
  if (x != nullptr) {
    in = Normed(model, p + "_gamma1",
                Join(Product(model, p + "_W", *x), Product(model, p + "_Wx", *x)));
  }
  const Row s = Normed(model, p + "_gamma2",
                       Join(Product(model, p + "_U", state), Product(model, p + "_Ux", state)));
  const Row b = Join(Doubles(model, p + "_b"), Doubles(model, p + "_bx"));
  Row next(d);
  for (size_t i = 0; i < d; ++i) {
    const double r = Sigma(in[i] + s[i] + b[i]);
    const double z = Sigma(in[d + i] + s[d + i] + b[d + i]);
    const double s3 = s[2 * d + i], b3 = b[2 * d + i];
    const double h = std::tanh(in[2 * d + i] + (bias_in_reset ? (s3 + b3) * r : s3 * r + b3));
    next[i] = (1.0 - z) * h + z * state[i];
  }
  return next;
}

Row EmbeddingOf(const NamedWeights& model, const std::string& table, int32_t token) {
  const int d = model.spec.d_model;
  const std::vector<float>& values = model.tensors.at(table).values;
  return Row(values.begin() + token * d, values.begin() + (token + 1) * d);
}

// One layer of the encoder over a sentence.
Rows ReadSentence(const NamedWeights& model, const std::string& prefix, bool first_layer,
                  bool backward, const Rows& x) {
  const RecurrentSpec& details = DetailsOf(model);
  Rows out(x.size());
  Row state(details.state_width, 0.0);
  for (size_t step = 0; step < x.size(); ++step) {
    const size_t t = backward ? x.size() - 1 - step : step;
    for (int c = 1; c <= details.encoder_cells; ++c) {
      const std::string name =
          first_layer && c == 1 ? prefix : prefix + "_cell" + std::to_string(c);
      state = Cell(model, name, c == 1 ? &x[t] : nullptr, state, false);
    }
    out[t] = state;
  }
  return out;
}

// The attention of each source token, tanh(K_t + Q) . u, normalized to sum to 1.
Row AttentionOf(const NamedWeights& model, const Rows& encoded, const Row& state) {
  const Row query =
      Normed(model, "decoder_att_gamma2", Product(model, "decoder_W_comb_att", state));
  const Row u = Doubles(model, "decoder_U_att"), b = Doubles(model, "decoder_b_att");
  Row weights;
  double sum = 0.0;
  for (const Row& c : encoded) {
    const Row key =
        Sum(Normed(model, "decoder_att_gamma1", Product(model, "decoder_Wc_att", c)), b);
    double score = 0.0;
    for (size_t i = 0; i < u.size(); ++i) score += std::tanh(key[i] + query[i]) * u[i];
    weights.push_back(std::exp(score));
    sum += weights.back();
  }
  for (double& weight : weights) weight /= sum;
  return weights;
}

Row Dense(const NamedWeights& model, const std::string& p, const std::string& n, const Row& x) {
  return Sum(Normed(model, p + "gamma" + n, Product(model, p + "W" + n, x)),
             Doubles(model, p + "b" + n));
}

}  // namespace

Rows EncodeRecurrent(const NamedWeights& model, const std::vector<int32_t>& tokens) {
  const RecurrentSpec& details = DetailsOf(model);
  const bool one_layer = details.encoder == RecurrentSpec::kBiUnidirectional;
  Rows stacks[2];
  for (const bool backward : {false, true}) {
    Rows& x = stacks[backward];
    for (const int32_t token : tokens)
      x.push_back(EmbeddingOf(model, "model.shared.weight", token));
    const std::string prefix = backward ? "encoder_bi_r" : "encoder_bi";
    for (int l = 1; l <= (one_layer ? 1 : model.spec.encoder_layers); ++l) {
      const bool turns = details.encoder == RecurrentSpec::kAlternating && l % 2 == 0;
      const Rows y = ReadSentence(model, l == 1 ? prefix : prefix + "_l" + std::to_string(l),
                                  l == 1, backward != turns, x);
      for (size_t t = 0; t < x.size(); ++t) x[t] = details.skip && l > 1 ? Sum(y[t], x[t]) : y[t];
    }
  }
  Rows encoded;
  for (size_t t = 0; t < tokens.size(); ++t) encoded.push_back(Join(stacks[0][t], stacks[1][t]));
  for (int l = 2; one_layer && l <= model.spec.encoder_layers; ++l) {
    const Rows y = ReadSentence(model, "encoder_l" + std::to_string(l), false, false, encoded);
    for (size_t t = 0; t < y.size(); ++t) {
      encoded[t] = details.skip && l > 2 ? Sum(y[t], encoded[t]) : y[t];
    }
  }
  return encoded;
}

Rows LogitsOfRecurrent(const NamedWeights& model, const Rows& encoded,
                       const std::vector<int32_t>& tokens, Rows* attention) {
  const RecurrentSpec& details = DetailsOf(model);
  Row mean(encoded[0].size(), 0.0);
  for (const Row& c : encoded) {
    for (size_t i = 0; i < c.size(); ++i) mean[i] += c[i] / static_cast<double>(encoded.size());
  }
  Row start = Dense(model, "decoder_ff_state_", "", mean);
  for (double& v : start) v = std::tanh(v);
  Rows states(model.spec.decoder_layers, start);
  Rows logits;
  for (size_t t = 0; t < tokens.size(); ++t) {
    const Row e = t == 0 ? Row(model.spec.d_model, 0.0)
                         : EmbeddingOf(model, "model.shared.weight", tokens[t]);
    Row state = Cell(model, "decoder_cell1", &e, states[0], false);
    attention->push_back(AttentionOf(model, encoded, state));
    Row context(encoded[0].size(), 0.0);
    for (size_t s = 0; s < encoded.size(); ++s) {
      for (size_t i = 0; i < context.size(); ++i) {
        context[i] += attention->back()[s] * encoded[s][i];
      }
    }
    for (int c = 2; c <= details.decoder_base_cells; ++c) {
      state =
          Cell(model, "decoder_cell" + std::to_string(c), c == 2 ? &context : nullptr, state, true);
    }
    states[0] = state;
    Row out = state;
    for (int l = 2; l <= model.spec.decoder_layers; ++l) {
      const Row below = out;
      for (int c = 1; c <= details.decoder_high_cells; ++c) {
        states[l - 1] = Cell(model, "decoder_l" + std::to_string(l) + "_cell" + std::to_string(c),
                             c == 1 ? &below : nullptr, states[l - 1], false);
      }
      out = details.skip ? Sum(states[l - 1], below) : states[l - 1];
    }
    const std::string deep = "decoder_ff_logit_l1_";
    Row hidden = Sum(Sum(Dense(model, deep, "0", e), Dense(model, deep, "1", out)),
                     Dense(model, deep, "2", context));
    for (double& v : hidden) v = std::tanh(v);
    logits.push_back(
        Sum(Product(model, "model.shared.weight", hidden), Doubles(model, "final_logits_bias")));
  }
  return logits;
}

}  // namespace dragoman::reference
