// Messages of the API as JSON, in protobuf's own mapping
// (https://protobuf.dev/programming-guides/json): names in lowerCamelCase (the names in the proto
// file are accepted as well), enums by name, durations as "1.5s"; fields with their default value
// are omitted.

#ifndef DRAGOMAN_SERVER_HTTP_JSON_H_
#define DRAGOMAN_SERVER_HTTP_JSON_H_

#include <google/protobuf/message.h>

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace dragoman {

inline constexpr char kJson[] = "application/json";

// INVALID_ARGUMENT says what is wrong with `json` for a message of that type: it is not UTF-8 or
// not JSON, it nests too deeply, a field is unknown or of another type.
absl::Status FromJson(std::string_view json, google::protobuf::Message* message);

// Calls `see` with the place of each brace, bracket, comma and colon of JSON that is in no text.
template <typename See>
void ForEachMark(std::string_view json, See see) {
  for (size_t i = 0; i < json.size(); ++i) {
    switch (json[i]) {
      case '"':
        for (++i; i < json.size() && json[i] != '"'; ++i) i += json[i] == '\\';
        break;
      case '{':
      case '}':
      case '[':
      case ']':
      case ',':
      case ':':
        see(i);
    }
  }
}

// What the values in JSON take when it is read, however few bytes they have: "{},{}".
size_t MemoryOfValues(std::string_view json);

// INTERNAL if the message cannot be written as JSON: a string in it is not UTF-8.
absl::StatusOr<std::string> ToJson(const google::protobuf::Message& message);

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_HTTP_JSON_H_
