// Matrices of seeded random numbers.

#ifndef DRAGOMAN_TESTS_MATH_RANDOM_MATRIX_H_
#define DRAGOMAN_TESTS_MATH_RANDOM_MATRIX_H_

#include <random>
#include <vector>

#include "engine/math/matrix.h"

namespace dragoman {

// A matrix of rows x cols normally distributed numbers with standard deviation `scale`.
inline Matrix<float> RandomMatrix(int rows, int cols, std::mt19937* random, float scale = 1.0f) {
  std::normal_distribution<float> normal(0.0f, scale);
  Matrix<float> matrix(rows, cols);
  for (int r = 0; r < rows; ++r) {
    for (float& value : matrix.Row(r)) value = normal(*random);
  }
  return matrix;
}

inline std::vector<float> RandomVector(int size, std::mt19937* random, float scale = 1.0f) {
  const Matrix<float> row = RandomMatrix(1, size, random, scale);
  return std::vector<float>(row.Row(0).begin(), row.Row(0).end());
}

}  // namespace dragoman

#endif  // DRAGOMAN_TESTS_MATH_RANDOM_MATRIX_H_
