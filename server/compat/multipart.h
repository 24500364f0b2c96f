// Forms as browsers send them for `new FormData()`, and curl for -F (RFC 7578):
//
//   Content-Type: multipart/form-data; boundary=XY
//
//   --XY
//   Content-Disposition: form-data; name="q"
//
//   Good morning.
//   --XY--

#ifndef DRAGOMAN_SERVER_COMPAT_MULTIPART_H_
#define DRAGOMAN_SERVER_COMPAT_MULTIPART_H_

#include <string_view>

#include "absl/status/status.h"
#include "server/http/message.h"

namespace dragoman {

inline constexpr char kMultipart[] = "multipart/form-data";

// Adds the fields of `body`, in their order.  INVALID_ARGUMENT if the body is truncated, has no
// boundary, or contains something other than plain fields: a file, or a value with a transfer
// encoding.
absl::Status ParseMultipart(std::string_view content_type, std::string_view body,
                            HttpHeaders* fields);

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_COMPAT_MULTIPART_H_
