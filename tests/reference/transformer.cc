#include "tests/reference/transformer.h"

#include <algorithm>
#include <cmath>

namespace dragoman::reference {
namespace {

constexpr float kLayerNormEpsilon = 1e-5f;

Vector Apply(const Linear& linear, const Vector& x) {
  Vector y = linear.b;
  for (size_t i = 0; i < x.size(); ++i) {
    for (size_t o = 0; o < y.size(); ++o) y[o] += x[i] * linear.W[i][o];
  }
  return y;
}

Matrix Apply(const Linear& linear, const Matrix& x) {
  Matrix y;
  for (const Vector& row : x) y.push_back(Apply(linear, row));
  return y;
}

float Dot(const float* a, const float* b, int size) {
  float sum = 0.0f;
  for (int i = 0; i < size; ++i) sum += a[i] * b[i];
  return sum;
}

void Softmax(Vector* x) {
  const float max = *std::max_element(x->begin(), x->end());
  float sum = 0.0f;
  for (float& value : *x) sum += value = std::exp(value - max);
  for (float& value : *x) value /= sum;
}

// Section 3.1: LayerNorm(x + Sublayer(x)), for every row.
void AddAndNormalize(const Matrix& sublayer, const LayerNorm& norm, Matrix* x) {
  for (size_t t = 0; t < x->size(); ++t) {
    Vector& row = (*x)[t];
    const float size = static_cast<float>(row.size());
    float mean = 0.0f;
    for (size_t i = 0; i < row.size(); ++i) mean += row[i] += sublayer[t][i];
    mean /= size;
    float variance = 0.0f;
    for (float value : row) variance += (value - mean) * (value - mean);
    variance /= size;
    const float deviation = std::sqrt(variance + kLayerNormEpsilon);
    for (size_t i = 0; i < row.size(); ++i) {
      row[i] = (row[i] - mean) / deviation * norm.gain[i] + norm.bias[i];
    }
  }
}

float Activate(Activation activation, float x) {
  switch (activation) {
    case Activation::kNone:
      return x;
    case Activation::kRelu:
      return std::max(0.0f, x);
    case Activation::kSilu:
      return x / (1.0f + std::exp(-x));
    case Activation::kGelu:
      return 0.5f * x * (1.0f + std::erf(x / std::sqrt(2.0f)));
    case Activation::kGeluTanh:
    case Activation::kGeluSigmoid:
      break;  // only in other models (any_transformer.h)
  }
  return x;
}

// Equation 2: FFN(x) = max(0, x W_1 + b_1) W_2 + b_2, or with another activation.
Matrix Apply(const FeedForward& feed_forward, Activation activation, const Matrix& x) {
  Matrix inner = Apply(feed_forward.inner, x);
  for (Vector& row : inner) {
    for (float& value : row) value = Activate(activation, value);
  }
  return Apply(feed_forward.outer, inner);
}

// Section 3.4 and 3.5: embeddings times sqrt(d_model), plus the positions
// PE(p, i) = sin(p / 10000^(2i / d_model)) in the first half and cos of the same in the second.
Matrix Embed(const ModelSpec& config, const Matrix& embedding, const std::vector<int32_t>& tokens) {
  const int d_model = config.d_model;
  const float scale = config.embedding_scale;
  Matrix x;
  for (size_t p = 0; p < tokens.size(); ++p) {
    Vector row = embedding[tokens[p]];
    for (float& value : row) value *= scale;
    for (int i = 0; i < d_model / 2; ++i) {
      const double angle = static_cast<double>(p) / std::pow(10000.0, 2.0 * i / d_model);
      row[i] += static_cast<float>(std::sin(angle));
      row[d_model / 2 + i] += static_cast<float>(std::cos(angle));
    }
    x.push_back(row);
  }
  return x;
}

// Section 3.1, the decoder: its output [tokens, d_model].
Matrix Decode(const Transformer& model, const Matrix& encoded, const std::vector<int32_t>& tokens) {
  const ModelSpec& config = model.config;
  const int heads = config.decoder_heads;
  Matrix x = Embed(config, model.weights.target_embedding, tokens);
  for (const DecoderLayer& layer : model.weights.decoder) {
    AddAndNormalize(MultiHeadAttention(layer.self_attention, x, x, heads, /*causal=*/true),
                    layer.self_attention_norm, &x);
    AddAndNormalize(MultiHeadAttention(layer.cross_attention, x, encoded, heads, /*causal=*/false),
                    layer.cross_attention_norm, &x);
    AddAndNormalize(Apply(layer.feed_forward, config.activation, x), layer.feed_forward_norm, &x);
  }
  return x;
}

// Section 3.4: the output projection shares the embedding's matrix.
Vector Project(const Transformer& model, const Vector& x) {
  Vector logits = model.weights.output_bias;
  for (size_t token = 0; token < logits.size(); ++token) {
    logits[token] +=
        Dot(x.data(), model.weights.target_embedding[token].data(), model.config.d_model);
  }
  return logits;
}

}  // namespace

Matrix MultiHeadAttention(const Attention& attention, const Matrix& x, const Matrix& memory,
                          int heads, bool causal) {
  const Matrix q = Apply(attention.q, x);
  const Matrix k = Apply(attention.k, memory);
  const Matrix v = Apply(attention.v, memory);
  const int width = static_cast<int>(q[0].size());
  const int d_k = width / heads;
  const float scale = 1.0f / std::sqrt(static_cast<float>(d_k));
  Matrix concatenated(x.size(), Vector(width, 0.0f));
  for (size_t t = 0; t < x.size(); ++t) {
    for (int head = 0; head < heads; ++head) {
      const int first = head * d_k;
      // Equation 1: Attention(Q, K, V) = softmax(Q K^T / sqrt(d_k)) V.
      Vector weights(causal ? t + 1 : memory.size());
      for (size_t s = 0; s < weights.size(); ++s) {
        weights[s] = Dot(&q[t][first], &k[s][first], d_k) * scale;
      }
      Softmax(&weights);
      for (size_t s = 0; s < weights.size(); ++s) {
        for (int i = first; i < first + d_k; ++i) concatenated[t][i] += weights[s] * v[s][i];
      }
    }
  }
  return Apply(attention.out, concatenated);
}

// Section 3.1, the encoder.
Matrix Encode(const Transformer& model, const std::vector<int32_t>& tokens) {
  const ModelSpec& config = model.config;
  Matrix x = Embed(config, model.weights.source_embedding, tokens);
  for (const EncoderLayer& layer : model.weights.encoder) {
    AddAndNormalize(
        MultiHeadAttention(layer.self_attention, x, x, config.encoder_heads, /*causal=*/false),
        layer.self_attention_norm, &x);
    AddAndNormalize(Apply(layer.feed_forward, config.activation, x), layer.feed_forward_norm, &x);
  }
  return x;
}

Matrix Logits(const Transformer& model, const Matrix& encoded, const std::vector<int32_t>& tokens) {
  Matrix logits;
  for (const Vector& row : Decode(model, encoded, tokens)) logits.push_back(Project(model, row));
  return logits;
}

Vector NextLogits(const Transformer& model, const Matrix& encoded,
                  const std::vector<int32_t>& tokens) {
  return Project(model, Decode(model, encoded, tokens).back());
}

}  // namespace dragoman::reference
