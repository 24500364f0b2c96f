// The numbers with which attention and positions are often explained, from the kernel of attention,
// from the naive Transformer, and from the engine's table of positions.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "engine/base/json.h"
#include "engine/math/attend.h"
#include "engine/model/layers.h"
#include "gtest/gtest.h"
#include "tests/math/instruction_sets.h"
#include "tests/math/packed_key_values.h"
#include "tests/reference/any_transformer.h"
#include "tests/reference/transformer.h"

namespace dragoman::worked_examples_test {
namespace {

using reference::Vector;
using Rows = reference::Matrix;

// A head of attention, as the explanations write it: each matrix is [outputs, inputs].
struct Head {
  Rows query, key, value;
};

Rows Identity(int size) {
  Rows identity(size, Vector(size, 0.0f));
  for (int i = 0; i < size; ++i) identity[i][i] = 1.0f;
  return identity;
}

Vector Times(const Rows& matrix, const Vector& x) {
  Vector y;
  for (const Vector& row : matrix) {
    y.push_back(std::inner_product(row.begin(), row.end(), x.begin(), 0.0f));
  }
  return y;
}

// What a vector makes of the memory, by the kernel.  `attention` receives the share of each row.
Vector ByTheKernel(const Head& head, const Vector& x, const Rows& memory, Vector* attention) {
  const int width = static_cast<int>(x.size()), rows = static_cast<int>(memory.size());
  Matrix<float> q(1, width), keys_values(rows, 2 * width), out(1, width);
  const Vector query = Times(head.query, x);
  for (int i = 0; i < width; ++i) q.Row(0)[i] = query[i] / std::sqrt(static_cast<float>(width));
  std::vector<int32_t> positions;
  for (int r = 0; r < rows; ++r) {
    const Vector key = Times(head.key, memory[r]), value = Times(head.value, memory[r]);
    std::copy(key.begin(), key.end(), keys_values.Row(r).begin());
    std::copy(value.begin(), value.end(), keys_values.Row(r).begin() + width);
    positions.push_back(r);
  }
  const PackedKeyValues packed({Precision::kFloat32, 1, width}, keys_values);
  std::vector<float> scratch(AttendScratch(1, rows, 1));
  attention->assign(rows, 0.0f);
  float* const told = attention->data();
  const float weight = 1.0f;
  Attend(packed.format(), q.view(), packed.Rows(positions), absl::MakeSpan(scratch), out.view(),
         {.attention = {&told, 1}, .head_weights = {&weight, 1}});
  return Vector(out.Row(0).begin(), out.Row(0).end());
}

reference::Linear Projection(const Rows& matrix) {
  reference::Linear linear{Rows(matrix[0].size(), Vector(matrix.size())), Vector(matrix.size())};
  for (size_t o = 0; o < matrix.size(); ++o) {
    for (size_t i = 0; i < matrix[o].size(); ++i) linear.W[i][o] = matrix[o][i];
  }
  return linear;
}

Vector ByTheReference(const Head& head, const Vector& x, const Rows& memory) {
  const int width = static_cast<int>(x.size());
  return reference::MultiHeadAttention({Projection(head.query), Projection(head.key),
                                        Projection(head.value), Projection(Identity(width))},
                                       {x}, memory, /*heads=*/1, /*causal=*/false)[0];
}

void ExpectNear(const Vector& have, const Vector& want, float tolerance) {
  ASSERT_EQ(have.size(), want.size());
  for (size_t i = 0; i < want.size(); ++i) EXPECT_NEAR(have[i], want[i], tolerance) << i;
}

// Expects it of both; returns the kernel's attention.
Vector ExpectContext(const Head& head, const Vector& x, const Rows& memory, const Vector& want,
                     float tolerance) {
  Vector attention;
  ExpectNear(ByTheReference(head, x, memory), want, tolerance);
  ForEachInstructionSet(
      [&] { ExpectNear(ByTheKernel(head, x, memory, &attention), want, tolerance); });
  return attention;
}

TEST(WorkedExamples, ScoresAreDividedByEightAndBecomeShares) {
  const Head head = {Identity(64), Identity(64), Identity(64)};
  const struct {
    float scores[2];
    Vector shares;
  } kExamples[] = {{{112.0f, 96.0f}, {0.88079708f, 0.11920292f}},  // 14 and 12
                   {{8.0f, 16.0f}, {0.26894142f, 0.73105858f}},    // 1 and 2
                   {{80.0f, 160.0f}, {4.5397869e-05f, 0.99995460f}}};
  for (const auto& [scores, shares] : kExamples) {
    Vector x(64, 0.0f), want(64, 0.0f);
    Rows memory(2, x);
    x[0] = 1.0f;
    for (int r : {0, 1}) {
      memory[r][0] = scores[r];
      memory[r][1 + r] = 1.0f;
      want[0] += shares[r] * scores[r];
      want[1 + r] = shares[r];
    }
    ExpectNear(ExpectContext(head, x, memory, want, 2e-5f), shares, 1e-7f);
  }
}

class Lecture : public ::testing::Test {
 protected:
  void SetUp() override {
    absl::StatusOr<nlohmann::json> read = ReadJsonObject("tests/golden/attention.json");
    ASSERT_TRUE(read.ok()) << read.status();
    json_ = *std::move(read);
    words_ = json_["words"].get<Rows>();
  }

  nlohmann::json json_;
  Rows words_;
};

TEST_F(Lecture, TheSecondWordAttendsToTheFifthAndTheSixth) {
  const Vector attention = ExpectContext({json_["query"], json_["key"], json_["value"]}, words_[1],
                                         words_, json_["context"], 1e-4f);
  ExpectNear(attention, json_["attention"], 1e-5f);
}

TEST_F(Lecture, WithoutProjectionsAndWithoutAScaleAWordAttendsToItself) {
  Rows four = Identity(16);  // undoes the division by sqrt(16)
  for (int i = 0; i < 16; ++i) four[i][i] = 4.0f;
  ExpectContext({four, Identity(16), Identity(16)}, words_[1], words_,
                json_["context_without_projections"], 1e-5f);
}

// What attends to a single row returns its value.
TEST_F(Lecture, TheThirdHeadHasAKeyOfItsOwn) {
  ExpectContext({Identity(16), Identity(16), json_["third_head_key"]}, words_[1], {words_[1]},
                json_["third_head_key_of_second"], 1e-5f);
}

// [rows, width] from the engine, which are those of the naive Transformer without any layers.
Rows PositionsOf(const Positions& positions, int rows, int width) {
  reference::NamedWeights model;
  model.spec.d_model = width;
  model.spec.encoder_layers = 0;
  model.spec.max_positions = rows;
  model.spec.positions = positions;
  model.spec.share_embeddings = true;
  model.tensors["model.shared.weight"] = {1, width, Vector(width, 0.0f)};
  const reference::Rows naive = EncodeAny(model, std::vector<int32_t>(rows, 0));
  const auto embedding =
      Embedding::Create(Checkpoint("none", {}, {}), "model.encoder", nullptr, model.spec);
  EXPECT_TRUE(embedding.ok()) << embedding.status();
  Rows table(rows, Vector(width));
  for (int r = 0; r < rows; ++r) {
    embedding->EmbedPosition(r, absl::MakeSpan(table[r]));
    ExpectNear(table[r], Vector(naive[r].begin(), naive[r].end()), 1e-7f);
  }
  return table;
}

const Positions kHalves;
const Positions kInterleaved = {.kind = Positions::kInterleaved};
const Positions kTensor2Tensor = {.to_the_end = true};

TEST(Positions, OfFourNumbers) {
  const Rows want = {{0.0f, 1.0f, 0.0f, 1.0f},
                     {0.84147098f, 0.54030231f, 0.00999983f, 0.99995000f},
                     {0.90929743f, -0.41614684f, 0.01999867f, 0.99980001f},
                     {0.14112001f, -0.98999250f, 0.02999550f, 0.99955003f}};
  const Rows interleaved = PositionsOf(kInterleaved, 4, 4), halves = PositionsOf(kHalves, 4, 4);
  for (int p = 0; p < 4; ++p) {
    ExpectNear(interleaved[p], want[p], 1e-7f);
    ExpectNear(halves[p], {want[p][0], want[p][2], want[p][1], want[p][3]}, 1e-7f);
  }
  // Tensor2Tensor's frequencies are 1 and 1 / 10000.
  ExpectNear(PositionsOf(kTensor2Tensor, 4, 4)[3],
             {0.14112001f, 0.0003f, -0.98999250f, 0.99999996f}, 1e-7f);
}

TEST(Positions, OfTwentyWordsInFiveHundredAndTwelveNumbers) {
  // Sine and cosine of frequencies 0, 1, 128 and 255 at the last word.
  const std::vector<std::pair<float, float>> paper = {{0.14987721f, 0.98870462f},
                                                      {-0.49773482f, 0.86732926f},
                                                      {0.18885889f, 0.98200424f},
                                                      {0.00196960f, 0.99999806f}};
  const std::vector<std::pair<float, float>> tensor2tensor = {{0.14987721f, 0.98870462f},
                                                              {-0.49997589f, 0.86603932f},
                                                              {0.18551850f, 0.98264077f},
                                                              {0.00190000f, 0.99999820f}};
  const Vector halves = PositionsOf(kHalves, 20, 512)[19];
  const Vector interleaved = PositionsOf(kInterleaved, 20, 512)[19];
  const Vector t2t = PositionsOf(kTensor2Tensor, 20, 512)[19];
  const int kFrequencies[] = {0, 1, 128, 255};
  for (int n = 0; n < 4; ++n) {
    const int i = kFrequencies[n];
    ExpectNear({halves[i], halves[256 + i]}, {paper[n].first, paper[n].second}, 1e-7f);
    ExpectNear({interleaved[2 * i], interleaved[2 * i + 1]}, {paper[n].first, paper[n].second},
               1e-7f);
    ExpectNear({t2t[i], t2t[256 + i]}, {tensor2tensor[n].first, tensor2tensor[n].second}, 1e-7f);
  }
}

}  // namespace
}  // namespace dragoman::worked_examples_test
