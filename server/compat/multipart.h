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

// Adds the fields of `body`, in their order.  INVALID_ARGUMENT if it is cut, has no boundary, or
// brings what is no plain field: a file, or a value in another encoding than its own bytes.
absl::Status ParseMultipart(std::string_view content_type, std::string_view body,
                            HttpHeaders* fields);

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_COMPAT_MULTIPART_H_
