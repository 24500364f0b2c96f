// Reads a binary file from its beginning.

#ifndef DRAGOMAN_ENGINE_FORMATS_BYTE_READER_H_
#define DRAGOMAN_ENGINE_FORMATS_BYTE_READER_H_

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "engine/base/status.h"

namespace dragoman {

struct ByteReader {
  // INVALID_ARGUMENT if fewer are left.
  absl::StatusOr<absl::Span<const std::byte>> Take(uint64_t count) {
    if (count > left.size()) return absl::InvalidArgumentError("is cut off");
    const absl::Span<const std::byte> taken = left.first(count);
    left.remove_prefix(count);
    return taken;
  }
  // A little-endian number.
  template <typename Number>
  absl::StatusOr<Number> Read() {
    ASSIGN_OR_RETURN(const absl::Span<const std::byte> raw, Take(sizeof(Number)));
    Number number;
    std::memcpy(&number, raw.data(), sizeof(number));
    return number;
  }

  absl::Span<const std::byte> left;
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_FORMATS_BYTE_READER_H_
