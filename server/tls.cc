#include "server/tls.h"

#include <grpcpp/security/tls_certificate_provider.h>
#include <grpcpp/security/tls_credentials_options.h>

#include "engine/base/pem_files.h"
#include "engine/base/status.h"

namespace dragoman {
namespace {

using grpc::experimental::FileWatcherCertificateProvider;

constexpr unsigned kRefreshSeconds = 1;

absl::Status CheckFiles(const TlsOptions& options) {
  ASSIGN_OR_RETURN(const std::string cert, ReadSmallFile(options.cert));
  ASSIGN_OR_RETURN(const std::string key, ReadSmallFile(options.key));
  RETURN_IF_ERROR(CheckKeyPair(cert, options.cert, key, options.key));
  if (options.client_ca.empty()) return absl::OkStatus();
  ASSIGN_OR_RETURN(const std::string authorities, ReadSmallFile(options.client_ca));
  return CheckCertificates(authorities, options.client_ca);
}

}  // namespace

absl::Status Validate(const TlsOptions& options) {
  if (options.cert.empty() != options.key.empty()) {
    return absl::InvalidArgumentError(options.key.empty() ? "tls-cert is given without tls-key"
                                                          : "tls-key is given without tls-cert");
  }
  if (!options.client_ca.empty() && !options.enabled()) {
    return absl::InvalidArgumentError("tls-client-ca is given without tls-cert and tls-key");
  }
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<grpc::ServerCredentials>> MakeServerCredentials(
    const TlsOptions& options) {
  if (!options.enabled()) return grpc::InsecureServerCredentials();
  if (const absl::Status status = CheckFiles(options); !status.ok()) {
    return absl::Status(status.code(), "tls: " + std::string(status.message()));
  }
  grpc::experimental::TlsServerCredentialsOptions tls(
      std::make_shared<FileWatcherCertificateProvider>(options.key, options.cert, options.client_ca,
                                                       kRefreshSeconds));
  tls.watch_identity_key_cert_pairs();
  if (!options.client_ca.empty()) {
    tls.watch_root_certs();
    tls.set_cert_request_type(GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
  }
  return grpc::experimental::TlsServerCredentials(tls);
}

}  // namespace dragoman
