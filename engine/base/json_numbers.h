// A quick way to read large JSON objects of a simple kind.

#ifndef DRAGOMAN_ENGINE_BASE_JSON_NUMBERS_H_
#define DRAGOMAN_ENGINE_BASE_JSON_NUMBERS_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/functional/function_ref.h"

namespace dragoman {

// Reads an object that has nothing but whole numbers: calls add(key, number) for each as it comes,
// without keeping them.  False if the text is anything else, or if `add` is; ParseJsonObject may
// still accept it, or say what is wrong.  Keys that occur twice are for `add` to notice.
bool ForEachNumber(std::string_view text, absl::FunctionRef<bool(std::string key, uint64_t)> add);

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_BASE_JSON_NUMBERS_H_
