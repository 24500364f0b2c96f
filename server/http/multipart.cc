#include "server/http/multipart.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "engine/base/status.h"

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

absl::Status Malformed() {
  return absl::InvalidArgumentError("the form is truncated or malformed");
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
  if (name->size() > kMaxPartName) {
    return InvalidArgumentError("the name of a field of the form has ", name->size(),
                                " bytes, want at most ", kMaxPartName);
  }
  part.name = *std::move(name);
  return part;
}

}  // namespace

MultipartReader::MultipartReader(std::string_view content_type, FormEvents events)
    : events_(std::move(events)) {
  const std::optional<std::string> boundary = Parameter(content_type, "boundary");
  if (!boundary.has_value() || boundary->empty() || boundary->size() > kMaxBoundary) return;
  delimiter_ = absl::StrCat(ToAbsl(kLine), "--", *boundary);
}

absl::Status MultipartReader::Add(std::string_view bytes) {
  if (delimiter_.empty()) {
    return absl::InvalidArgumentError("the form's Content-Type has no boundary");
  }
  held_.append(bytes);
  std::string_view rest = held_;
  for (bool more = true; more;) {
    ASSIGN_OR_RETURN(more, Step(&rest));
  }
  held_.erase(0, held_.size() - rest.size());
  return absl::OkStatus();
}

absl::Status MultipartReader::End() const {
  return place_ == Place::kEnd ? absl::OkStatus() : Malformed();
}

// Takes one thing from the front of `rest`; false if more must come first.
absl::StatusOr<bool> MultipartReader::Step(std::string_view* rest) {
  switch (place_) {
    case Place::kStart: {
      const std::string_view first = std::string_view(delimiter_).substr(kLine.size());
      if (!first.starts_with(rest->substr(0, first.size()))) return Malformed();
      if (rest->size() < first.size()) return false;
      rest->remove_prefix(first.size());
      place_ = Place::kBoundary;
      return true;
    }
    case Place::kBoundary: {
      if (rest->size() < 2) return false;
      const std::string_view next = rest->substr(0, 2);
      if (next != "--" && next != kLine) return Malformed();
      if (next == kLine && ++parts_ > kMaxParts) {
        return InvalidArgumentError("the form has more than ", kMaxParts, " parts");
      }
      rest->remove_prefix(2);
      place_ = next == kLine ? Place::kHead : Place::kEnd;
      return true;
    }
    case Place::kHead:
      return ReadHead(rest);
    case Place::kValue:
      return ReadValue(rest);
    case Place::kEnd:
      *rest = {};  // anything may follow
      return false;
  }
  return Malformed();
}

absl::StatusOr<bool> MultipartReader::ReadHead(std::string_view* rest) {
  const size_t end = rest->find(kBlankLine);
  // Without its end yet, it is too long if there is no room left for that.
  if (end == rest->npos ? rest->size() >= kMaxPartHead + kBlankLine.size() : end > kMaxPartHead) {
    return InvalidArgumentError("part ", parts_, " of the form has more than ", kMaxPartHead,
                                " bytes of headers");
  }
  if (end == rest->npos) return false;
  ASSIGN_OR_RETURN(FormPart part, ReadPartHead(rest->substr(0, end)));
  RETURN_IF_ERROR(events_.begin(std::move(part)));
  rest->remove_prefix(end + kBlankLine.size());
  place_ = Place::kValue;
  return true;
}

absl::StatusOr<bool> MultipartReader::ReadValue(std::string_view* rest) {
  const size_t end = rest->find(delimiter_);
  // The last bytes may be the beginning of the delimiter.
  const size_t size =
      end != rest->npos ? end : rest->size() - std::min(rest->size(), delimiter_.size() - 1);
  if (size > 0) RETURN_IF_ERROR(events_.value(rest->substr(0, size)));
  rest->remove_prefix(size);
  if (end == rest->npos) return false;
  RETURN_IF_ERROR(events_.end());
  rest->remove_prefix(delimiter_.size());
  place_ = Place::kBoundary;
  return true;
}

absl::Status ParseMultipart(std::string_view content_type, std::string_view body,
                            HttpHeaders* fields) {
  MultipartReader reader(content_type, {.begin =
                                            [&](FormPart part) {
                                              fields->emplace_back(std::move(part.name), "");
                                              return part.file_name.has_value()
                                                         ? InvalidArgumentError(
                                                               fields->back().first,
                                                               ": is a file, want a text")
                                                         : absl::OkStatus();
                                            },
                                        .value =
                                            [&](std::string_view piece) {
                                              fields->back().second += piece;
                                              return absl::OkStatus();
                                            },
                                        .end = [] { return absl::OkStatus(); }});
  RETURN_IF_ERROR(reader.Add(body));
  return reader.End();
}

}  // namespace dragoman
