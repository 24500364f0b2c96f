// Whatever shape a kernel has, the bytes are the same.

#include "engine/math/kernel_shapes.h"

#include <algorithm>
#include <cstring>
#include <random>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/math/gemm.h"
#include "engine/math/int8_kernels.h"
#include "gtest/gtest.h"
#include "tests/math/instruction_sets.h"
#include "tests/math/random_matrix.h"

namespace dragoman::kernel_shapes_test {
namespace {

constexpr int kMostRows = 40;  // several tiles of any shape

// Calls apply(x, y) for each number of rows and expects what `want` has for them.
template <typename Apply>
void ExpectSameBytes(const Matrix<float>& x, const Matrix<float>& want, Apply apply) {
  Matrix<float> got(want.rows(), want.cols());
  for (int rows = 1; rows <= kMostRows; ++rows) {
    std::fill_n(got.view().data(), size_t{1} * got.rows() * got.cols(), -1.0f);
    apply(x.view().Rows(0, rows), got.view().Rows(0, rows));
    for (int r = 0; r < rows; ++r) {
      ASSERT_EQ(std::memcmp(want.Row(r).data(), got.Row(r).data(), sizeof(float) * want.cols()), 0)
          << "row " << r << " of " << rows << ", " << x.cols() << " x " << want.cols();
    }
  }
}

// The longest one is cut into blocks of inputs that are not equal.
constexpr std::pair<int, int> kSizes[] = {{1, 1}, {33, 17}, {64, 192}, {512, 100}, {2051, 200}};

TEST(KernelShapes, GiveTheSameBytesInFloat32) {
  std::mt19937 random(31);
  for (const auto& [inputs, outputs] : kSizes) {
    const Matrix<float> weight = RandomMatrix(outputs, inputs, &random);
    const Matrix<float> x = RandomMatrix(kMostRows, inputs, &random);
    const std::vector<float> bias = RandomVector(outputs, &random);
    ForEachInstructionSet([&, outputs = outputs] {
      Matrix<float> want(kMostRows, outputs);
      const Float32Gemm first(weight.view(), bias, Activation::kRelu, Float32Gemm::Tiles()[0]);
      for (int r = 0; r < kMostRows; ++r) {
        first.Apply(x.view().Rows(r, 1), 0, first.panels(), want.view().Rows(r, 1));
      }
      for (const Float32Gemm::Tile& tile : Float32Gemm::Tiles()) {
        SCOPED_TRACE(testing::Message() << tile.rows << " x " << tile.outputs);
        const Float32Gemm gemm(weight.view(), bias, Activation::kRelu, tile);
        ExpectSameBytes(x, want, [&](MatrixView<const float> rows, MatrixView<float> y) {
          const int middle = gemm.panels() / 2;  // as two threads would
          gemm.Apply(rows, 0, middle, y);
          gemm.Apply(rows, middle, gemm.panels(), y);
        });
        // The weights are read back from wherever the shape put them.
        std::vector<float> read(inputs, 0.0f);
        gemm.AddWeights(outputs - 1, 1.0f, absl::MakeSpan(read));
        EXPECT_TRUE(std::equal(read.begin(), read.end(), weight.Row(outputs - 1).begin()));
      }
    });
  }
}

TEST(KernelShapes, APanelWidthThatNoKernelHasIsAnError) {
  std::mt19937 random(33);
  const Matrix<float> weight = RandomMatrix(6, 5, &random), x = RandomMatrix(1, 5, &random);
  Matrix<float> y(1, 6);
  const Float32Gemm gemm(weight.view(), {}, Activation::kNone, {.rows = 2, .outputs = 3});
  EXPECT_DEATH(gemm.Apply(x.view(), 0, gemm.panels(), y.view()), "width of the panels");
}

TEST(KernelShapes, AreMeasuredAndDescribed) {
  const Float32Gemm::Tile measured = Float32TileInUse();
  const auto is_measured = [&](const Float32Gemm::Tile& tile) {
    return tile.rows == measured.rows && tile.outputs == measured.outputs;
  };
  const auto tiles = Float32Gemm::Tiles();
  EXPECT_TRUE(std::any_of(tiles.begin(), tiles.end(), is_measured));
  EXPECT_EQ(DescribeShape(Precision::kBFloat16), "");
  EXPECT_EQ(DescribeShape(Precision::kInt8), Int8Extensions().size() > 1 ? "tiles of 6 x 64" : "");

  SetFloat32TileForTest(tiles.back());
  EXPECT_EQ(DescribeShape(Precision::kFloat32),
            absl::StrCat("tiles of ", tiles.back().rows, " x ", tiles.back().outputs));
  SetFloat32TileForTest(std::nullopt);
  EXPECT_TRUE(is_measured(Float32TileInUse())) << "it measured again";
}

}  // namespace
}  // namespace dragoman::kernel_shapes_test
