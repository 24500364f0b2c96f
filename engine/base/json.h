// Parsing of untrusted JSON, the files of a model directory; and the only way to write JSON.

#ifndef DRAGOMAN_ENGINE_BASE_JSON_H_
#define DRAGOMAN_ENGINE_BASE_JSON_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "nlohmann/json.hpp"

namespace dragoman {

// Parses one JSON object.  INVALID_ARGUMENT, with a message that begins with `name`, if the text is
// not JSON or not an object, if a key occurs twice in one object, or if it nests deeper than
// kMaxJsonDepth.
absl::StatusOr<nlohmann::json> ParseJsonObject(std::string_view text, const std::string& name);

// Parses one JSON array, with the errors of ParseJsonObject.
absl::StatusOr<nlohmann::json> ParseJsonArray(std::string_view text, const std::string& name);

inline constexpr int kMaxJsonDepth = 32;

// Parses a file that holds an object, or an array.  NOT_FOUND if there is none at `path`.
absl::StatusOr<nlohmann::json> ReadJsonObject(const std::string& path);
absl::StatusOr<nlohmann::json> ReadJsonArray(const std::string& path);

// A member of an object; null if there is none, or if `value` is no object.
const nlohmann::json& Member(const nlohmann::json& value, const char* name);
// A member that is a text; "" if there is none.
std::string TextIn(const nlohmann::json& value, const char* name);

// The text of a value (json or ordered_json): in one line, or with so many spaces for each level.
// Bytes that are not UTF-8 are replaced, where the library's own dump() throws.
template <typename Value>
std::string WriteJson(const Value& value, int indent = -1) {
  return value.dump(indent, ' ', /*ensure_ascii=*/false, Value::error_handler_t::replace);
}

// A value as JSON, for a message: its first 80 bytes if it is longer, and bytes that are not UTF-8
// (YAML files may have them) replaced.
std::string Describe(const nlohmann::json& value);

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_BASE_JSON_H_
