// Keys and values of several positions, packed for attention.

#ifndef DRAGOMAN_TESTS_MATH_PACKED_KEY_VALUES_H_
#define DRAGOMAN_TESTS_MATH_PACKED_KEY_VALUES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/math/key_values.h"
#include "engine/math/matrix.h"

namespace dragoman {

class PackedKeyValues {
 public:
  // `keys_values` is [positions, 2 format.width].
  PackedKeyValues(const KeyValueFormat& format, const Matrix<float>& keys_values)
      : format_(format), rows_(keys_values.rows(), static_cast<int>(format.row_bytes())) {
    for (int r = 0; r < keys_values.rows(); ++r) {
      PackKeyValues(format, keys_values.Row(r), rows_.Row(r).data());
    }
  }

  const KeyValueFormat& format() const { return format_; }

  // The addresses of the rows of these positions.
  std::vector<const std::byte*> Rows(const std::vector<int32_t>& positions) const {
    std::vector<const std::byte*> rows;
    for (const int32_t position : positions) rows.push_back(rows_.Row(position).data());
    return rows;
  }

 private:
  const KeyValueFormat format_;
  Matrix<std::byte> rows_;
};

}  // namespace dragoman

#endif  // DRAGOMAN_TESTS_MATH_PACKED_KEY_VALUES_H_
