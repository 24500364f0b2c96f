// The server that a user means, and why it could not be reached: turns what people type into gRPC's
// form, and gRPC's error messages into ones for people.

#ifndef DRAGOMAN_CLIENT_SERVER_ADDRESS_H_
#define DRAGOMAN_CLIENT_SERVER_ADDRESS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/credentials.h"

namespace dragoman {

struct ServerAddress {
  std::string target;  // what gRPC understands: "127.0.0.1:50051", "dns:///mt.example:50051"
  bool tls = false;    // it was given with https://
};

// Parses HOST:PORT, or HOST alone for the default port, with or without http:// or https:// in
// front.  Any other target of gRPC (dns:///..., unix:..., ipv4:...) is left unchanged.
// INVALID_ARGUMENT if it is empty, or a URL with a path.
absl::StatusOr<ServerAddress> ParseServerAddress(const std::string& text);

// A host name and its addresses.
struct ResolvedName {
  std::string host;
  std::vector<std::string> targets;  // for gRPC: "ipv6:[::1]:50051", "ipv4:127.0.0.1:50051"
};

// Looks up the name in a target such as "localhost:50051".  No targets if it has none.
ResolvedName ResolveName(const std::string& target);

// What ExplainUnreachable says of an address at which no process listens.
inline constexpr char kNothingListens[] = "nothing listens there";

// Explains, from gRPC's message, why no connection was made.  `tls` is what the client used; null:
// plain text.
std::string ExplainUnreachable(const std::string& grpc_message, const ClientTls* tls);

}  // namespace dragoman

#endif  // DRAGOMAN_CLIENT_SERVER_ADDRESS_H_
