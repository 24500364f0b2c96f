#include "server/http/gzip.h"

#include <zlib.h>

#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "engine/base/status.h"

namespace dragoman {

bool AcceptsGzip(std::string_view accept_encoding) {
  for (const absl::string_view coding :
       absl::StrSplit(absl::string_view(accept_encoding.data(), accept_encoding.size()), ',')) {
    const std::vector<std::string> parts = absl::StrSplit(coding, ';');
    if (!absl::EqualsIgnoreCase(absl::StripAsciiWhitespace(parts[0]), "gzip")) continue;
    return parts.size() < 2 || !absl::StartsWith(absl::StripAsciiWhitespace(parts[1]), "q=0") ||
           parts[1].find_first_of("123456789") != std::string::npos;
  }
  return false;
}

std::string Gzip(std::string_view text) {
  constexpr int kGzipHeader = 16, kMemoryLevel = 8;
  z_stream stream = {};
  DRAGOMAN_CHECK(deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, MAX_WBITS + kGzipHeader,
                              kMemoryLevel, Z_DEFAULT_STRATEGY) == Z_OK);
  std::string packed(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  const int result = deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  DRAGOMAN_CHECK(result == Z_STREAM_END);
  return packed;
}

}  // namespace dragoman
