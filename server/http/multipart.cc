#include "server/http/multipart.h"

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

// The parameter of a field of a form that is the name of a file, as it is or, in newer browsers,
// with %-escapes.
std::optional<std::string> FileNameIn(std::string_view disposition) {
  std::optional<std::string> name = Parameter(disposition, "filename");
  if (name.has_value()) return name;
  const std::optional<std::string> extended = Parameter(disposition, "filename*");
  if (!extended.has_value()) return std::nullopt;
  constexpr std::string_view kUtf8 = "UTF-8''";
  std::string plain;
  if (absl::StartsWithIgnoreCase(*extended, ToAbsl(kUtf8)) &&
      UnescapePercent(std::string_view(*extended).substr(kUtf8.size()), false, &plain)) {
    return plain;
  }
  return extended;
}

// What the headers of a part say.
absl::StatusOr<FormPart> ReadPartHead(std::string_view headers) {
  FormPart part;
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
    part.file_name = FileNameIn(value);
  }
  if (!name.has_value()) return absl::InvalidArgumentError("a field of the form has no name");
  part.name = *std::move(name);
  return part;
}

}  // namespace

absl::StatusOr<std::vector<FormPart>> ReadMultipart(std::string_view content_type,
                                                    std::string_view body) {
  const std::optional<std::string> boundary = Parameter(content_type, "boundary");
  if (!boundary.has_value() || boundary->empty() || boundary->size() > kMaxBoundary) {
    return absl::InvalidArgumentError("the form's Content-Type has no boundary");
  }
  std::vector<FormPart> parts;
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
    absl::StatusOr<FormPart> part = ReadPartHead(body.substr(0, head));
    if (!part.ok()) return part.status();
    body.remove_prefix(head + kBlankLine.size());
    const size_t end = body.find(next);
    if (end == body.npos) return cut;
    part->value = body.substr(0, end);
    parts.push_back(*std::move(part));
    body.remove_prefix(end + next.size());
  }
  return parts;
}

absl::Status ParseMultipart(std::string_view content_type, std::string_view body,
                            HttpHeaders* fields) {
  absl::StatusOr<std::vector<FormPart>> parts = ReadMultipart(content_type, body);
  if (!parts.ok()) return parts.status();
  for (FormPart& part : *parts) {
    if (part.file_name.has_value()) {
      return absl::InvalidArgumentError(absl::StrCat(part.name, ": is a file, want a text"));
    }
    fields->emplace_back(std::move(part.name), part.value);
  }
  return absl::OkStatus();
}

}  // namespace dragoman
