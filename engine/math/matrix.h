// A matrix is rows x cols of T in row-major order, and there is nothing else: no rank three, no
// padding, no strides per dimension.  A row is a source token (encoder) or a live hypothesis
// (decoder); a head is a block of columns; a batch is a block of rows.
//
// MatrixView owns nothing and is cheap to copy.  Matrix owns its memory and keeps it when it
// shrinks, so that a loop that has seen its largest batch allocates no more.

#ifndef DRAGOMAN_ENGINE_MATH_MATRIX_H_
#define DRAGOMAN_ENGINE_MATH_MATRIX_H_

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <type_traits>

#include "absl/types/span.h"
#include "engine/base/status.h"

namespace dragoman {

// A view of rows x cols elements; row r begins at data() + r * stride().
template <typename T>
class MatrixView {
 public:
  MatrixView() = default;
  MatrixView(T* data, int rows, int cols) : MatrixView(data, rows, cols, cols) {}
  // REQUIRES: stride >= cols.
  MatrixView(T* data, int rows, int cols, int stride)
      : data_(data), rows_(rows), cols_(cols), stride_(stride) {}
  // A view of T converts to a view of const T.
  template <typename U, typename = std::enable_if_t<std::is_same_v<const U, T>>>
  MatrixView(const MatrixView<U>& other)  // NOLINT(google-explicit-constructor)
      : MatrixView(other.data(), other.rows(), other.cols(), other.stride()) {}

  int rows() const { return rows_; }
  int cols() const { return cols_; }
  int stride() const { return stride_; }  // elements from one row to the next
  T* data() const { return data_; }
  bool contiguous() const { return stride_ == cols_ || rows_ <= 1; }

  // REQUIRES: 0 <= r < rows().
  absl::Span<T> Row(int r) const {
    return absl::Span<T>(data_ + static_cast<ptrdiff_t>(r) * stride_, cols_);
  }
  T& at(int r, int c) const { return data_[static_cast<ptrdiff_t>(r) * stride_ + c]; }

  // Rows [first, first + count): a sub-batch.
  MatrixView Rows(int first, int count) const {
    return MatrixView(data_ + static_cast<ptrdiff_t>(first) * stride_, count, cols_, stride_);
  }
  // Columns [first, first + count): a head.
  MatrixView Cols(int first, int count) const {
    return MatrixView(data_ + first, rows_, count, stride_);
  }

 private:
  T* data_ = nullptr;
  int rows_ = 0;
  int cols_ = 0;
  int stride_ = 0;
};

// Owns rows x cols elements, aligned to a cache line.  Elements are not initialized.
template <typename T>
class Matrix {
  static_assert(std::is_trivial_v<T>);

 public:
  static constexpr size_t kAlignment = 64;  // bytes

  Matrix() = default;
  Matrix(int rows, int cols) { Resize(rows, cols); }

  // Makes the matrix rows x cols with unspecified content.  Allocates only to grow.
  void Resize(int rows, int cols) {
    const size_t needed = static_cast<size_t>(rows) * static_cast<size_t>(cols);
    if (needed > capacity_) {
      data_.reset(
          static_cast<T*>(::operator new (needed * sizeof(T), std::align_val_t{kAlignment})));
      capacity_ = needed;
    }
    rows_ = rows;
    cols_ = cols;
  }

  int rows() const { return rows_; }
  int cols() const { return cols_; }
  MatrixView<T> view() { return MatrixView<T>(data_.get(), rows_, cols_); }
  MatrixView<const T> view() const { return MatrixView<const T>(data_.get(), rows_, cols_); }
  absl::Span<T> Row(int r) { return view().Row(r); }
  absl::Span<const T> Row(int r) const { return view().Row(r); }

 private:
  struct Free {
    void operator()(T* p) const { ::operator delete (p, std::align_val_t{kAlignment}); }
  };

  std::unique_ptr<T, Free> data_;
  size_t capacity_ = 0;
  int rows_ = 0;
  int cols_ = 0;
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_MATH_MATRIX_H_
