// Checks the certificates and keys that TLS is to use before it uses them: gRPC takes whatever it
// is given and would fail at every handshake instead.  The only door to OpenSSL.
//
// Thread-safe.

#ifndef DRAGOMAN_ENGINE_BASE_PEM_FILES_H_
#define DRAGOMAN_ENGINE_BASE_PEM_FILES_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace dragoman {

// All of a small file.  NOT_FOUND names it and says why it cannot be read.
absl::StatusOr<std::string> ReadSmallFile(const std::string& path);

// `certificates` holds at least one certificate in PEM and nothing that is broken.  Errors name
// `path`, where it was read.
absl::Status CheckCertificates(const std::string& certificates, const std::string& path);

// The same, and that `key` is the private key, without a password, of the first certificate.  An
// error names the files and never quotes the key.
absl::Status CheckKeyPair(const std::string& certificates, const std::string& certificates_path,
                          const std::string& key, const std::string& key_path);

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_BASE_PEM_FILES_H_
