// Checks certificates and keys before TLS uses them: gRPC accepts whatever it is given and would
// then fail at every handshake.  Also SHA-256. Most of the project's use of OpenSSL is here.
//
// Thread-safe.

#ifndef DRAGOMAN_CRYPTO_PEM_FILES_H_
#define DRAGOMAN_CRYPTO_PEM_FILES_H_

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace dragoman {

// The content of a small file.  NOT_FOUND names the file and says why it cannot be read.
absl::StatusOr<std::string> ReadSmallFile(const std::string& path);

// Checks that `certificates` holds at least one certificate in PEM and nothing broken.  Errors name
// `path`, where it was read from.
absl::Status CheckCertificates(const std::string& certificates, const std::string& path);

// When all the certificates of a chain are valid.
struct Validity {
  absl::Time not_before;
  absl::Time not_after;
};

// Also checks that `key` is the private key of the first certificate, without a password, and that
// both are strong enough for TLS. An error names the files and never quotes the key.  Whether they
// are valid now is not checked.
absl::StatusOr<Validity> CheckKeyPair(const std::string& certificates,
                                      const std::string& certificates_path, const std::string& key,
                                      const std::string& key_path);

using Sha256Digest = std::array<uint64_t, 4>;  // its 32 bytes
Sha256Digest Sha256(std::string_view text);
// Its numbers, each in 16 hexadecimal digits.
std::string HexSha256(std::string_view text);

}  // namespace dragoman

#endif  // DRAGOMAN_CRYPTO_PEM_FILES_H_
