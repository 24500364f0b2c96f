// TLS for the gRPC port.  The files are read again when they change (gRPC looks every second), so
// that a certificate is renewed without a restart: connections made from then on see the new one.

#ifndef DRAGOMAN_SERVER_TLS_H_
#define DRAGOMAN_SERVER_TLS_H_

#include <grpcpp/grpcpp.h>

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace dragoman {

// Paths of PEM files; all empty: no TLS.
struct TlsOptions {
  std::string cert;       // the server's certificate, then those between it and the authority
  std::string key;        // its private key
  std::string client_ca;  // authorities of client certificates; empty: clients need none

  bool enabled() const { return !cert.empty(); }
};

// INVALID_ARGUMENT unless the certificate and the key are both given or neither.
absl::Status Validate(const TlsOptions& options);

// Plain text if TLS is not enabled.  An error names the file that is missing or wrong.
// REQUIRES: Validate(options) is OK.
absl::StatusOr<std::shared_ptr<grpc::ServerCredentials>> MakeServerCredentials(
    const TlsOptions& options);

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_TLS_H_
