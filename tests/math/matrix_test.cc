#include "engine/math/matrix.h"

#include "gtest/gtest.h"

namespace dragoman::matrix_test {
namespace {

TEST(Matrix, RowsLieEndToEndAndAligned) {
  Matrix<float> m(3, 5);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(m.Row(0).data()) % Matrix<float>::kAlignment, 0u);
  EXPECT_EQ(m.Row(2).data(), m.Row(0).data() + 10);
  EXPECT_EQ(m.Row(1).size(), 5u);
  EXPECT_TRUE(m.view().contiguous());
}

TEST(Matrix, KeepsItsMemoryWhenItShrinksAndGrowsBack) {
  Matrix<int> m(8, 8);
  const int* const data = m.view().data();
  m.Resize(2, 3);
  m.Resize(16, 4);
  EXPECT_EQ(m.view().data(), data);
  EXPECT_EQ(m.rows(), 16);
  EXPECT_EQ(m.cols(), 4);
}

TEST(MatrixView, ABlockOfRowsAndColumnsIsAView) {
  Matrix<int> m(4, 6);
  for (int r = 0; r < 4; ++r) {
    for (int c = 0; c < 6; ++c) m.Row(r)[c] = 10 * r + c;
  }
  const MatrixView<const int> block = m.view().Rows(1, 2).Cols(3, 2);
  EXPECT_EQ(block.rows(), 2);
  EXPECT_EQ(block.cols(), 2);
  EXPECT_FALSE(block.contiguous());
  EXPECT_EQ(block.at(0, 0), 13);
  EXPECT_EQ(block.Row(1)[1], 24);
}

}  // namespace
}  // namespace dragoman::matrix_test
