#include "server/auth/caller.h"

#include <arpa/inet.h>
#include <strings.h>

#include <algorithm>

#include "engine/base/utf8.h"

namespace dragoman {

namespace {

// The network of an address as HTTP ("2001:db8::1", "10.0.0.1") or gRPC has it
// ("ipv6:%5B2001:db8::1%5D", "ipv4:10.0.0.1"): an IPv4 address, also in an IPv6 one; of any other
// IPv6 address the first 64 bits, as whoever has such a network has all its addresses.
std::string NetworkOf(std::string_view address) {
  std::string bare(address);
  for (const std::string_view frame : {"ipv4:", "ipv6:", "%5B", "%5D", "[", "]"}) {
    if (const size_t at = bare.find(frame); at != bare.npos) bare.erase(at, frame.size());
  }
  bare.erase(std::min(bare.find('%'), bare.size()));  // the zone of "fe80::1%eth0"
  in6_addr bits;
  if (inet_pton(AF_INET6, bare.c_str(), &bits) != 1) return bare;
  char text[INET6_ADDRSTRLEN];
  if (IN6_IS_ADDR_V4MAPPED(&bits)) return inet_ntop(AF_INET, bits.s6_addr + 12, text, sizeof(text));
  std::fill(bits.s6_addr + 8, std::end(bits.s6_addr), 0);
  return inet_ntop(AF_INET6, &bits, text, sizeof(text));
}

}  // namespace

std::string HolderOf(const std::string& principal, std::string_view peer) {
  if (!principal.empty()) return principal;
  if (peer.starts_with("unix:")) return " unix";  // its client gives it a name
  return " " + NetworkOf(peer.substr(0, peer.rfind(':')));
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
