// A stack machine that runs Python's pickles as far as they describe tensors, and nothing else.
//
// A value is pushed by one instruction and taken by a later one:
//
//   X "weight"          push a string
//   c torch._utils _rebuild_tensor_v2, (, ..., t, R     call a function with a tuple
//
// Functions are mere names here.  The machine accepts those that describe a tensor and refuses all
// others, so no code in a pickle is ever run.  Opcodes as in Python's pickletools.

#ifndef DRAGOMAN_ENGINE_FORMATS_PICKLE_MACHINE_H_
#define DRAGOMAN_ENGINE_FORMATS_PICKLE_MACHINE_H_

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "engine/formats/checkpoint.h"

namespace dragoman {

enum class PickleKind { kMark, kNone, kNumber, kString, kItems, kGlobal, kStorage, kTensor };

// A value of the machine.  Values refer to each other by their index in Pickle::values, so a
// value that contains itself does no harm.
struct PickleValue {
  PickleKind kind = PickleKind::kNone;
  int64_t number = 0;         // kNumber; kStorage: elements; kTensor: the offset
  std::string_view text;      // kString; kGlobal: module; kStorage: key
  std::string_view name;      // kGlobal
  DType dtype = DType::kF32;  // kStorage
  int storage = -1;           // kTensor: the index of its storage
  // kItems: the elements of a tuple or list; for a dictionary: key, value, key, value. kTensor: the
  // shape, then the strides.
  std::vector<int64_t> items;
};

// INVALID_ARGUMENT: "the pickle `what`".
absl::Status PickleError(std::string_view what);

// What a pickle describes.  Its values refer to its bytes.
struct Pickle {
  const PickleValue& at(int64_t place) const { return values[place]; }

  std::vector<PickleValue> values;
  int root = 0;  // the place of the value of the whole
};

// Runs the pickle that the bytes begin with, and removes it from them.
absl::StatusOr<Pickle> RunPickle(absl::Span<const std::byte>* bytes);

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_FORMATS_PICKLE_MACHINE_H_
