// What a client shows of itself, and how it knows the server: certificates and bearer tokens, read
// from files and checked.

#ifndef DRAGOMAN_CLIENT_CREDENTIALS_H_
#define DRAGOMAN_CLIENT_CREDENTIALS_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace dragoman {

struct ClientTls {
  std::string ca;           // PEM: the authorities that the server's certificate may come from
                            // (empty: those that the system trusts)
  std::string cert;         // PEM: the client's own certificate chain, for mutual TLS, or empty
  std::string key;          // PEM: its private key
  std::string server_name;  // that the server's certificate must have; empty: the target's host
};

// Reads and checks the files; those whose path is empty are none.  Errors name the file.
absl::StatusOr<ClientTls> LoadClientTls(const std::string& ca_path, const std::string& cert_path,
                                        const std::string& key_path);

// INVALID_ARGUMENT, which does not quote it, if the token is empty or holds anything but visible
// ASCII characters.
absl::Status CheckToken(const std::string& token);

// The token in a file, without the white space around it.  Errors name the file.
absl::StatusOr<std::string> LoadToken(const std::string& path);

}  // namespace dragoman

#endif  // DRAGOMAN_CLIENT_CREDENTIALS_H_
