// Which server a user means, and why it could not be reached: what people type, and what gRPC says,
// in words.

#ifndef DRAGOMAN_CLIENT_SERVER_ADDRESS_H_
#define DRAGOMAN_CLIENT_SERVER_ADDRESS_H_

#include <string>

#include "absl/status/statusor.h"
#include "client/credentials.h"

namespace dragoman {

struct ServerAddress {
  std::string target;  // what gRPC understands: "127.0.0.1:50051", "dns:///mt.example:50051"
  bool tls = false;    // https:// was written before it
};

// What `text` means: HOST:PORT, or HOST alone for the default port, perhaps after http:// or
// https://; any other target of gRPC's (dns:///..., unix:..., ipv4:...) is left as it is.
// INVALID_ARGUMENT if it is empty, or a URL with a path.
absl::StatusOr<ServerAddress> ParseServerAddress(const std::string& text);

// Why no connection was made, for people, from the message of gRPC's error.  `tls` is what the
// client spoke; null: plain text.
std::string ExplainUnreachable(const std::string& grpc_message, const ClientTls* tls);

}  // namespace dragoman

#endif  // DRAGOMAN_CLIENT_SERVER_ADDRESS_H_
