// Every instruction set that fuses multiplications and additions gives the same bytes: the digests
// below are those of all of them, on x86 and on ARM (docs/bytes.md).  A change of a digest is a
// change of the bytes of all translations, so it comes with a new kArithmeticVersion.

#include <cmath>
#include <cstring>
#include <functional>
#include <map>
#include <string>

#include "engine/math/attend.h"
#include "engine/math/gates.h"
#include "engine/math/gemm.h"
#include "engine/math/int8_rows.h"
#include "engine/math/kernels.h"
#include "gtest/gtest.h"
#include "tests/math/instruction_sets.h"
#include "tests/math/packed_key_values.h"

namespace dragoman::same_bytes_test {
namespace {

// Numbers from -2 to 2 that are the same on every machine, unlike those of
// std::normal_distribution.
class Numbers {
 public:
  float Next() {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    const auto bits = static_cast<int32_t>(state_ >> 40);  // 24 of them
    return static_cast<float>(bits - (1 << 23)) / static_cast<float>(1 << 22);
  }
  std::vector<float> Vector(int size) {
    std::vector<float> vector(size);
    for (float& x : vector) x = Next();
    return vector;
  }
  Matrix<float> OfSize(int rows, int cols) {
    Matrix<float> matrix(rows, cols);
    for (int r = 0; r < rows; ++r) {
      for (float& x : matrix.Row(r)) x = Next();
    }
    return matrix;
  }

 private:
  uint64_t state_ = 1;
};

// FNV-1a of the bytes of numbers.
class Digest {
 public:
  void Add(absl::Span<const float> numbers) {
    for (const float number : numbers) {
      uint32_t bits;
      std::memcpy(&bits, &number, sizeof(bits));
      for (int i = 0; i < 4; ++i) value_ = (value_ ^ (bits >> 8 * i & 0xFF)) * 1099511628211u;
    }
  }
  void AddRows(const Matrix<float>& matrix) {
    for (int r = 0; r < matrix.rows(); ++r) Add(matrix.Row(r));
  }
  uint64_t value() const { return value_; }

 private:
  uint64_t value_ = 14695981039346656037u;
};

// Widths that fill all lanes of a sum, some, or a few.
constexpr int kWidths[] = {1, 7, 16, 24, 100, 512};

void Norms(Digest* digest) {
  Numbers numbers;
  for (const int width : kWidths) {
    const Matrix<float> x = numbers.OfSize(2, width), y = numbers.OfSize(2, width);
    const std::vector<float> gain = numbers.Vector(width), bias = numbers.Vector(width);
    Matrix<float> out(2, width);
    AddAndNorm(x.view(), y.view(), gain, bias, 1e-5f, out.view());
    digest->AddRows(out);
    LayerNorm(x.view(), gain, bias, 1e-5f, out.view());
    digest->AddRows(out);
    RootMeanSquareNorm(x.view(), gain, 1e-5f, out.view());
    digest->AddRows(out);
  }
}

void Exponentials(Digest* digest) {
  Numbers numbers;
  for (const int width : kWidths) {
    const std::vector<float> x = numbers.Vector(width);
    digest->Add({SumExp(x, MaxOf(x)), SumExp(x, 2.5f)});
  }
}

void Activations(Digest* digest) {
  Numbers numbers;
  for (const Activation activation :
       {Activation::kSilu, Activation::kGelu, Activation::kGeluTanh, Activation::kGeluSigmoid}) {
    const Matrix<float> x = numbers.OfSize(2, 74);
    Matrix<float> out(2, 37);
    ActivateAndGate(activation, x.view(), out.view());
    digest->AddRows(out);
  }
}

void Gates(Digest* digest) {
  Numbers numbers;
  for (const int width : kWidths) {
    const std::vector<float> a = numbers.Vector(width), b = numbers.Vector(width);
    std::vector<float> y = numbers.Vector(width), out(width);
    Blend(a, b, absl::MakeSpan(y));
    digest->Add(y);
    GatedSum(a, b, y, absl::MakeSpan(y));
    digest->Add(y);
    ForgetAndTake(a, b, y, absl::MakeSpan(y), absl::MakeSpan(out));
    digest->Add(out);
    Tanh(absl::MakeSpan(y));
    digest->Add(y);
    digest->Add({TanhScore(a, b, y)});
  }
}

void Products(Precision precision, Digest* digest) {
  Numbers numbers;
  GemmScratch scratch;
  for (const auto& [inputs, outputs] : {std::pair(512, 130), {33, 70}}) {
    const Matrix<float> weight = numbers.OfSize(outputs, inputs);
    const auto gemm = PackedGemm::Create(weight.view(), numbers.Vector(outputs), Activation::kNone,
                                         {precision, Matmul::kNative});
    ASSERT_TRUE(gemm.ok()) << gemm.status();
    Matrix<float> y(7, outputs);
    gemm->Apply(numbers.OfSize(7, inputs).view(), y.view(), &scratch);
    digest->AddRows(y);
  }
}

void Shortlists(Digest* digest) {
  Numbers numbers;
  Int8Rows rows(20, 100);
  const Matrix<float> weight = numbers.OfSize(20, 100);
  ASSERT_TRUE(rows.Set(0, weight.view(), numbers.Vector(20), 0.0f).ok());
  QuantizedRows x;
  x.Resize(6, 100);
  QuantizeRows(numbers.OfSize(6, 100).view(), 0, 6, &x);
  Matrix<float> y(6, 5);
  rows.Apply(x, {1, 2, 7, 11, 19}, y.view());
  digest->AddRows(y);
}

// Of heads that fill a vector, parts of one or several, and in rows that are too short for vectors.
void Attention(Precision precision, Digest* digest) {
  Numbers numbers;
  for (const int heads : {1, 2, 3, 4, 6, 8, 12, 16, 32}) {
    for (const int head_width : {3, 16, 64}) {
      const int width = heads * head_width;
      const PackedKeyValues packed({precision, heads, width}, numbers.OfSize(11, 2 * width));
      const std::vector<float> head_weights(heads, 0.125f);
      for (const int queries : {1, 3, 4}) {
        Matrix<float> q = numbers.OfSize(queries, width);
        for (int r = 0; r < queries; ++r) {
          for (float& x : q.Row(r)) x *= 0.25f;
        }
        Matrix<float> out(queries, width), attention(queries, 11);
        std::vector<float*> rows;
        for (int r = 0; r < queries; ++r) rows.push_back(attention.Row(r).data());
        std::vector<float> scratch(AttendScratch(heads, 11, queries));
        Attend(packed.format(), q.view(), packed.Rows({0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}),
               absl::MakeSpan(scratch), out.view(),
               {.attention = rows, .head_weights = head_weights});
        digest->AddRows(out);
        digest->AddRows(attention);
      }
    }
  }
}

using Computation = std::function<void(Digest*)>;

const std::map<std::string, std::pair<Computation, uint64_t>>& Computations() {
  static const auto* const computations =
      new std::map<std::string, std::pair<Computation, uint64_t>>{
          {"norms", {Norms, 0xd827629cd4844aa9}},
          {"exponentials", {Exponentials, 0xdd5fbdc0458b180f}},
          {"activations", {Activations, 0x63baee282cdc3b3c}},
          {"gates", {Gates, 0x54e3b59960eab330}},
          {"products in float32",
           {[](Digest* d) { Products(Precision::kFloat32, d); }, 0x4c0393e6c9489f65}},
          {"products in int8",
           {[](Digest* d) { Products(Precision::kInt8, d); }, 0x5b3968bb7b3c94a2}},
          {"shortlists", {Shortlists, 0xf991146c62669d08}},
          {"attention in float32",
           {[](Digest* d) { Attention(Precision::kFloat32, d); }, 0xfb6b168bd7ff5106}},
          {"attention in bfloat16",
           {[](Digest* d) { Attention(Precision::kBFloat16, d); }, 0x9d0a5caca09eaa10}},
          {"attention in int8",
           {[](Digest* d) { Attention(Precision::kInt8, d); }, 0x109f5071820d9cd9}}};
  return *computations;
}

TEST(SameBytes, OnEveryInstructionSetThatFuses) {
  ForEachInstructionSet([] {
    if (!FusesMulAdd()) return;
    for (const auto& [name, computation] : Computations()) {
      Digest digest;
      computation.first(&digest);
      EXPECT_EQ(digest.value(), computation.second) << name;
    }
  });
}

// The others round once more, but their vectors may have any length, too.
TEST(SameBytes, OnEveryInstructionSetThatDoesNotFuse) {
  std::map<std::string, uint64_t> first;
  ForEachInstructionSet([&first] {
    if (FusesMulAdd()) return;
    for (const auto& [name, computation] : Computations()) {
      Digest digest;
      computation.first(&digest);
      EXPECT_EQ(digest.value(), first.emplace(name, digest.value()).first->second) << name;
    }
  });
}

TEST(SameBytes, TheFingerprintSaysWhoseTheyAre) {
  ForEachInstructionSet([] {
    const std::string set = FusesMulAdd() ? "fma" : "mul-add";
    EXPECT_EQ(Fingerprint(Precision::kInt8),
              "int8/" + set + "-" + std::to_string(kArithmeticVersion));
  });
}

// The definition of a sum (row_sums-inl.h), number by number.
float SumInLanes(const std::vector<float>& x, const std::function<float(float, float)>& add) {
  float lanes[16] = {};
  for (size_t i = 0; i < x.size(); ++i) lanes[i % 16] = add(lanes[i % 16], x[i]);
  for (int half = 8; half >= 1; half /= 2) {
    for (int l = 0; l < half; ++l) lanes[l] += lanes[l + half];
  }
  return lanes[0];
}

TEST(SumsOfRows, AreThoseOfSixteenLanesFoldedInHalves) {
  ForEachInstructionSet([] {
    Numbers numbers;
    const auto mul_add = [fuses = FusesMulAdd()](float a, float b, float c) {
      return fuses ? std::fma(a, b, c) : a * b + c;
    };
    for (const int width : kWidths) {
      const Matrix<float> row = numbers.OfSize(1, width);
      const std::vector<float> x(row.Row(0).begin(), row.Row(0).end()),
          gain = numbers.Vector(width);
      const float squares = SumInLanes(x, [&](float sum, float v) { return mul_add(v, v, sum); });
      const float scale = 1.0f / std::sqrt(squares / static_cast<float>(width) + 1e-5f);
      Matrix<float> out(1, width);
      RootMeanSquareNorm(row.view(), gain, 1e-5f, out.view());
      for (int i = 0; i < width; ++i) ASSERT_EQ(out.Row(0)[i], x[i] * scale * gain[i]) << width;

      const auto add = [](float sum, float v) { return sum + v; };
      const float mean = SumInLanes(x, add) / static_cast<float>(width);
      std::vector<float> centered = x;
      for (float& v : centered) v -= mean;
      const float variance =
          SumInLanes(centered, [&](float sum, float v) { return mul_add(v, v, sum); });
      const float factor = 1.0f / std::sqrt(variance / static_cast<float>(width) + 1e-5f);
      const std::vector<float> bias = numbers.Vector(width);
      LayerNorm(row.view(), gain, bias, 1e-5f, out.view());
      for (int i = 0; i < width; ++i) {
        ASSERT_EQ(out.Row(0)[i], mul_add(centered[i] * factor, gain[i], bias[i])) << width;
      }

      // One element alone is its exponential.
      std::vector<float> exponentials;
      for (const float v : x) exponentials.push_back(SumExp({&v, 1}, 2.0f));
      ASSERT_EQ(SumExp(x, 2.0f), SumInLanes(exponentials, add)) << width;
    }
  });
}

}  // namespace
}  // namespace dragoman::same_bytes_test
