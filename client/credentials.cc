#include "client/credentials.h"

#include "absl/algorithm/container.h"
#include "crypto/pem_files.h"
#include "engine/base/status.h"

namespace dragoman {

absl::StatusOr<ClientTls> LoadClientTls(const std::string& ca_path, const std::string& cert_path,
                                        const std::string& key_path) {
  ClientTls tls;
  if (!ca_path.empty()) {
    ASSIGN_OR_RETURN(tls.ca, ReadSmallFile(ca_path));
    RETURN_IF_ERROR(CheckCertificates(tls.ca, ca_path));
  }
  if (cert_path.empty() != key_path.empty()) {
    return InvalidArgumentError("a client certificate and its key go together: ", cert_path,
                                key_path, " is given alone");
  }
  if (!cert_path.empty()) {
    ASSIGN_OR_RETURN(tls.cert, ReadSmallFile(cert_path));
    ASSIGN_OR_RETURN(tls.key, ReadSmallFile(key_path));
    RETURN_IF_ERROR(CheckKeyPair(tls.cert, cert_path, tls.key, key_path).status());
  }
  return tls;
}

absl::Status CheckToken(const std::string& token) {
  const bool visible = absl::c_all_of(token, [](char c) { return c > ' ' && c < 0x7f; });
  if (token.empty() || !visible) {
    return absl::InvalidArgumentError(
        token.empty() ? "the token is empty"
                      : "the token contains characters that are not visible ASCII");
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> LoadToken(const std::string& path) {
  constexpr char kSpace[] = " \t\r\n";
  ASSIGN_OR_RETURN(std::string token, ReadSmallFile(path));
  token.erase(0, token.find_first_not_of(kSpace));
  token.erase(token.find_last_not_of(kSpace) + 1);
  if (const absl::Status status = CheckToken(token); !status.ok()) {
    return Annotate(status, path, ": ");
  }
  return token;
}

}  // namespace dragoman
