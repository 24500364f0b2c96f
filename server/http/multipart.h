// Forms as browsers send them for `new FormData()`, and curl for -F (RFC 7578):
//
//   Content-Type: multipart/form-data; boundary=XY
//
//   --XY
//   Content-Disposition: form-data; name="q"
//
//   Good morning.
//   --XY--

#ifndef DRAGOMAN_SERVER_HTTP_MULTIPART_H_
#define DRAGOMAN_SERVER_HTTP_MULTIPART_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/http/message.h"

namespace dragoman {

inline constexpr char kMultipart[] = "multipart/form-data";

// A field, or a file.
struct FormPart {
  std::string name;
  std::optional<std::string> file_name;  // nothing: it is a plain field
  std::string_view value;                // a part of the body
};

// The parts of `body`, in their order.  INVALID_ARGUMENT if the body is truncated, has no boundary,
// or contains a value with a transfer encoding.
absl::StatusOr<std::vector<FormPart>> ReadMultipart(std::string_view content_type,
                                                    std::string_view body);

// Adds the fields of `body`, in their order.  Also INVALID_ARGUMENT for a file.
absl::Status ParseMultipart(std::string_view content_type, std::string_view body,
                            HttpHeaders* fields);

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_HTTP_MULTIPART_H_
