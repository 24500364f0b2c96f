// Which certificates the server shows, and which it asks its clients for.

#ifndef DRAGOMAN_SERVER_AUTH_TLS_OPTIONS_H_
#define DRAGOMAN_SERVER_AUTH_TLS_OPTIONS_H_

#include <string>

#include "absl/status/status.h"

namespace dragoman {

// Paths of PEM files; all empty: no TLS.
struct TlsOptions {
  std::string cert;       // the server's certificate, then the intermediate ones
  std::string key;        // its private key
  std::string client_ca;  // authorities of client certificates; empty: none are required

  bool enabled() const { return !cert.empty(); }
};

// INVALID_ARGUMENT unless the certificate and the key are both given or neither.
absl::Status Validate(const TlsOptions& options);

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_AUTH_TLS_OPTIONS_H_
