// Gives an error about a field (InvalidField, status.h) another field name, for calls that run as a
// call of another shape: a client must see the name of what it sent.
//
//   Score translates the sources of its pairs       contents[3]  is  pairs[3].source
//   "auto" translates the texts of each language    contents[0]  is  contents[2] of the request

#ifndef DRAGOMAN_ENGINE_BASE_FIELD_ERROR_H_
#define DRAGOMAN_ENGINE_BASE_FIELD_ERROR_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace dragoman {

// "contents[3]" is element 3 of the list "contents".
struct ListElement {
  std::string list;
  size_t index = 0;
};

// The list element that a field names; nothing if it names none.
std::optional<ListElement> ParseListElement(std::string_view field);

// `status` as an error about another field.  Its code and other payloads stay.  REQUIRES: its message begins
// with its field, as that of InvalidField.
absl::Status WithField(const absl::Status& status, const std::string& field);

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_BASE_FIELD_ERROR_H_
