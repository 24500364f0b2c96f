#include "server/auth/tls.h"

#include <grpc/grpc.h>
#include <grpc/grpc_security.h>

#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "engine/base/status.h"

namespace dragoman {
namespace {

absl::StatusOr<ServedCertificates> ReadPem(const TlsOptions& options) {
  ServedCertificates pem;
  ASSIGN_OR_RETURN(pem.cert, ReadSmallFile(options.cert));
  ASSIGN_OR_RETURN(pem.key, ReadSmallFile(options.key));
  ASSIGN_OR_RETURN(pem.validity, CheckKeyPair(pem.cert, options.cert, pem.key, options.key));
  if (options.client_ca.empty()) return pem;
  ASSIGN_OR_RETURN(pem.client_ca, ReadSmallFile(options.client_ca));
  RETURN_IF_ERROR(CheckCertificates(pem.client_ca, options.client_ca));
  return pem;
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

// gRPC's C library can ask for certificates at each handshake; its C++ API does not expose that.
class Certificates::Credentials : public grpc::ServerCredentials {
 public:
  explicit Credentials(bool clients_show_theirs)
      : request_type_(clients_show_theirs
                          ? GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY
                          : GRPC_SSL_DONT_REQUEST_CLIENT_CERTIFICATE) {}

  void Use(ServedCertificates pem) {
    absl::MutexLock lock(&mutex_);
    pem_ = std::make_shared<const ServedCertificates>(std::move(pem));
    news_ = true;
  }

  std::shared_ptr<const ServedCertificates> served() const {
    absl::MutexLock lock(&mutex_);
    return pem_;
  }

  void SetAuthMetadataProcessor(const std::shared_ptr<grpc::AuthMetadataProcessor>&) override {
    DRAGOMAN_CHECK(false);  // authorization is up to principals.h
  }

 private:
  int AddPortToServer(const std::string& address, grpc_server* server) override {
    grpc_server_credentials* const credentials = grpc_ssl_server_credentials_create_with_options(
        grpc_ssl_server_credentials_create_options_using_config_fetcher(request_type_, Fetch,
                                                                        this));
    const int port = grpc_server_add_http2_port(server, address.c_str(), credentials);
    grpc_server_credentials_release(credentials);
    return port;
  }

  // Called before the port is open and then at each handshake.
  static grpc_ssl_certificate_config_reload_status Fetch(
      void* self, grpc_ssl_server_certificate_config** config) {
    auto* const credentials = static_cast<Credentials*>(self);
    absl::MutexLock lock(&credentials->mutex_);
    if (!std::exchange(credentials->news_, false))
      return GRPC_SSL_CERTIFICATE_CONFIG_RELOAD_UNCHANGED;
    const ServedCertificates& pem = *credentials->pem_;
    const grpc_ssl_pem_key_cert_pair pair = {pem.key.c_str(), pem.cert.c_str()};
    // gRPC insists on authorities; they have no effect if client certificates are not required.
    const std::string& authorities = pem.client_ca.empty() ? pem.cert : pem.client_ca;
    *config = grpc_ssl_server_certificate_config_create(authorities.c_str(), &pair, 1);
    return GRPC_SSL_CERTIFICATE_CONFIG_RELOAD_NEW;
  }

  const grpc_ssl_client_certificate_request_type request_type_;
  mutable absl::Mutex mutex_;
  std::shared_ptr<const ServedCertificates> pem_ ABSL_GUARDED_BY(mutex_);
  bool news_ ABSL_GUARDED_BY(mutex_) = false;  // gRPC has not fetched them yet
};

Certificates::Certificates(const TlsOptions& options)
    : options_(options),
      credentials_(
          std::make_shared<Credentials>(/*clients_show_theirs=*/!options.client_ca.empty())) {}

Certificates::~Certificates() = default;

absl::StatusOr<std::unique_ptr<Certificates>> Certificates::Open(const TlsOptions& options,
                                                                 FileWatcher* watcher,
                                                                 const ReadListener& on_read) {
  std::unique_ptr<Certificates> certificates(new Certificates(options));
  Certificates* const self = certificates.get();
  const auto tell = [self, on_read](const absl::Status& status) {
    on_read(status.ok() ? absl::StatusOr<Validity>(self->served()->validity) : status);
  };
  RETURN_IF_ERROR(watcher->Add({.what = "certificates",
                                .paths = {options.cert, options.key, options.client_ca},
                                .read = [self] { return self->Read(); },
                                .on_read = tell}));
  return certificates;
}

std::shared_ptr<const ServedCertificates> Certificates::served() const {
  return credentials_->served();
}

std::shared_ptr<grpc::ServerCredentials> Certificates::credentials() const { return credentials_; }

absl::Status Certificates::Read() {
  absl::StatusOr<ServedCertificates> pem = ReadPem(options_);
  if (!pem.ok()) return Annotate(pem.status(), "tls: ");
  credentials_->Use(*std::move(pem));
  return absl::OkStatus();
}

}  // namespace dragoman
