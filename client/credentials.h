// How a client authenticates itself and verifies the server: certificates and bearer tokens, read
// from files and checked.

#ifndef DRAGOMAN_CLIENT_CREDENTIALS_H_
#define DRAGOMAN_CLIENT_CREDENTIALS_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace dragoman {

struct ClientTls {
  std::string ca;    // PEM: the authorities to trust for the server's certificate
                     // (empty: those that the system trusts)
  std::string cert;  // PEM: the client's own certificate chain, for mutual TLS, or empty
  std::string key;   // PEM: its private key
  std::string
      server_name;  // the name that the server's certificate must have; empty: the target's host
};

// Reads and checks the files; empty paths are skipped.  Errors name the file.
absl::StatusOr<ClientTls> LoadClientTls(const std::string& ca_path, const std::string& cert_path,
                                        const std::string& key_path);

// INVALID_ARGUMENT, without quoting the token, if it is empty or contains anything but visible
// ASCII characters.
absl::Status CheckToken(const std::string& token);

// The token in a file, without surrounding white space.  Errors name the file.
absl::StatusOr<std::string> LoadToken(const std::string& path);

}  // namespace dragoman

#endif  // DRAGOMAN_CLIENT_CREDENTIALS_H_
