#include "server/auth/caller.h"

#include <strings.h>

#include "engine/base/utf8.h"

namespace dragoman {

std::string HolderOf(const std::string& principal, std::string_view peer) {
  if (!principal.empty()) return principal;
  const bool has_port = !peer.starts_with("unix:");
  return std::string(has_port ? peer.substr(0, peer.rfind(':')) : peer);
}

absl::Status CheckCallerName(std::string_view name) {
  if (!IsValidUtf8(name)) return absl::InvalidArgumentError("its name is not valid UTF-8");
  for (size_t i = 0; i < name.size();) {
    const char32_t c = NextCodePoint(name, &i);
    if (c < 0x20 || (c >= 0x7F && c < 0xA0)) {
      return absl::InvalidArgumentError("its name has a control character");
    }
  }
  if (StripWhiteSpace(name) != name) {
    return absl::InvalidArgumentError("its name has white space at an end");
  }
  return absl::OkStatus();
}

std::string_view BearerToken(std::string_view authorization) {
  constexpr std::string_view kScheme = "Bearer ";
  if (authorization.size() <= kScheme.size() ||
      strncasecmp(authorization.data(), kScheme.data(), kScheme.size()) != 0) {
    return {};
  }
  return authorization.substr(kScheme.size());
}

}  // namespace dragoman
