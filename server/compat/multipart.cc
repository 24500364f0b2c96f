#include "server/compat/multipart.h"

#include <optional>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace dragoman {
namespace {

constexpr std::string_view kLine = "\r\n";
constexpr std::string_view kBlankLine = "\r\n\r\n";
constexpr size_t kMaxBoundary = 70;  // RFC 2046, 5.1.1

absl::string_view ToAbsl(std::string_view text) { return {text.data(), text.size()}; }

std::string_view Trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

// Takes the text before the next `mark`, and the mark; all of the text if there is none.
std::string_view TakeUntil(std::string_view mark, std::string_view* text) {
  const size_t end = text->find(mark);
  const std::string_view before = text->substr(0, end);
  text->remove_prefix(end == text->npos ? text->size() : end + mark.size());
  return before;
}

// The parameter `name` of a header such as `form-data; name="q"; filename=x`.
std::optional<std::string> Parameter(std::string_view header, std::string_view name) {
  TakeUntil(";", &header);
  while (!header.empty()) {
    const std::string_view key = Trim(TakeUntil("=", &header));
    std::string value;
    if (!header.empty() && header.front() == '"') {
      header.remove_prefix(1);
      value = TakeUntil("\"", &header);
      TakeUntil(";", &header);
    } else {
      value = Trim(TakeUntil(";", &header));
    }
    if (absl::EqualsIgnoreCase(ToAbsl(key), ToAbsl(name))) return value;
  }
  return std::nullopt;
}

// The name of a field, by the headers of its part.
absl::StatusOr<std::string> NameOf(std::string_view headers) {
  std::optional<std::string> name;
  while (!headers.empty()) {
    std::string_view value = TakeUntil(kLine, &headers);
    const absl::string_view header = ToAbsl(Trim(TakeUntil(":", &value)));
    value = Trim(value);
    if (absl::EqualsIgnoreCase(header, "content-transfer-encoding") &&
        !absl::EqualsIgnoreCase(ToAbsl(value), "8bit") &&
        !absl::EqualsIgnoreCase(ToAbsl(value), "binary") &&
        !absl::EqualsIgnoreCase(ToAbsl(value), "7bit")) {
      return absl::InvalidArgumentError("a field of the form has a Content-Transfer-Encoding");
    }
    if (!absl::EqualsIgnoreCase(header, "content-disposition")) continue;
    name = Parameter(value, "name");
    if (Parameter(value, "filename").has_value() || Parameter(value, "filename*").has_value()) {
      return absl::InvalidArgumentError(
          absl::StrCat(name.value_or("the form"), ": is a file, want a text"));
    }
  }
  if (!name.has_value()) return absl::InvalidArgumentError("a field of the form has no name");
  return *std::move(name);
}

}  // namespace

absl::Status ParseMultipart(std::string_view content_type, std::string_view body,
                            HttpHeaders* fields) {
  const std::optional<std::string> boundary = Parameter(content_type, "boundary");
  if (!boundary.has_value() || boundary->empty() || boundary->size() > kMaxBoundary) {
    return absl::InvalidArgumentError("the form's Content-Type has no boundary");
  }
  const std::string first = "--" + *boundary;
  const std::string next = std::string(kLine) + first;
  const absl::Status cut = absl::InvalidArgumentError("the form is truncated or malformed");
  if (body.substr(0, first.size()) != first) return cut;
  body.remove_prefix(first.size());
  while (body.substr(0, 2) != "--") {
    if (body.substr(0, kLine.size()) != kLine) return cut;
    body.remove_prefix(kLine.size());
    const size_t head = body.find(kBlankLine);
    if (head == body.npos) return cut;
    absl::StatusOr<std::string> name = NameOf(body.substr(0, head));
    if (!name.ok()) return name.status();
    body.remove_prefix(head + kBlankLine.size());
    const size_t end = body.find(next);
    if (end == body.npos) return cut;
    fields->emplace_back(*std::move(name), body.substr(0, end));
    body.remove_prefix(end + next.size());
  }
  return absl::OkStatus();
}

}  // namespace dragoman
