#include "engine/base/field_error.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "engine/base/status.h"

namespace dragoman {

std::optional<ListElement> ParseListElement(std::string_view field) {
  const size_t open = field.find('[');
  if (open == field.npos || field.back() != ']') return std::nullopt;
  ListElement element = {.list = std::string(field.substr(0, open))};
  const std::string digits(field.substr(open + 1, field.size() - open - 2));
  if (!absl::SimpleAtoi(digits, &element.index)) return std::nullopt;
  return element;
}

absl::Status WithField(const absl::Status& status, const std::string& field) {
  const std::string prefix = absl::StrCat(FieldOf(status), ": ");
  absl::Status renamed(status.code(),
                       absl::StrCat(field, ": ", absl::StripPrefix(status.message(), prefix)));
  status.ForEachPayload([&](absl::string_view type, const absl::Cord& payload) {
    renamed.SetPayload(type, payload);
  });
  renamed.SetPayload(kFieldPayload, absl::Cord(field));
  return renamed;
}

}  // namespace dragoman
