#include "server/auth/caller.h"

#include <strings.h>

namespace dragoman {

std::string_view BearerToken(std::string_view authorization) {
  constexpr std::string_view kScheme = "Bearer ";
  if (authorization.size() <= kScheme.size() ||
      strncasecmp(authorization.data(), kScheme.data(), kScheme.size()) != 0) {
    return {};
  }
  return authorization.substr(kScheme.size());
}

}  // namespace dragoman
