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

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/http/message.h"

namespace dragoman {

inline constexpr char kMultipart[] = "multipart/form-data";

// The limits of a form.
inline constexpr int kMaxParts = 10'000;
inline constexpr size_t kMaxPartHead = 4 << 10;  // bytes of the headers of a part
inline constexpr size_t kMaxPartName = 256;

// A field, or a file.
struct FormPart {
  std::string name;
  std::optional<std::string> file_name;  // nothing: it is a plain field
};

// What is done with a part: `begin` it, take its `value` in pieces, `end` it.  An error ends the
// form.
struct FormEvents {
  std::function<absl::Status(FormPart part)> begin;
  std::function<absl::Status(std::string_view piece)> value;
  std::function<absl::Status()> end;
};

// Takes a form apart while it arrives.  It keeps the headers of one part at most, so its memory is
// bounded whatever is sent.  INVALID_ARGUMENT if the form is malformed, has no boundary, is over a
// limit, or contains a value with a transfer encoding.
class MultipartReader {
 public:
  MultipartReader(std::string_view content_type, FormEvents events);

  // More of the body.  REQUIRES: there was no error before.
  absl::Status Add(std::string_view bytes);
  // All of it has come.
  absl::Status End() const;

 private:
  enum class Place { kStart, kBoundary, kHead, kValue, kEnd };

  absl::StatusOr<bool> Step(std::string_view* rest);
  absl::StatusOr<bool> ReadHead(std::string_view* rest);
  absl::StatusOr<bool> ReadValue(std::string_view* rest);

  const FormEvents events_;
  std::string delimiter_;  // "\r\n--XY"; "": the type has no boundary
  std::string held_;       // has come, but is not understood yet
  Place place_ = Place::kStart;
  int parts_ = 0;  // so far
};

// Adds the fields of `body`, in their order.  Also INVALID_ARGUMENT for a file.
absl::Status ParseMultipart(std::string_view content_type, std::string_view body,
                            HttpHeaders* fields);

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_HTTP_MULTIPART_H_
