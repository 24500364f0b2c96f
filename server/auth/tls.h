// TLS for both ports.  The files are read again when they change, so that a certificate is
// renewed without a restart: connections made from then on see the new one.
//
// gRPC's own reader of certificate files (FileWatcherCertificateProvider) hands on whatever it
// finds, and a broken file ends every handshake from then on.  Here gRPC asks us at each handshake,
// and gets nothing that has not been checked.

#ifndef DRAGOMAN_SERVER_AUTH_TLS_H_
#define DRAGOMAN_SERVER_AUTH_TLS_H_

#include <grpcpp/grpcpp.h>

#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "crypto/pem_files.h"
#include "server/auth/file_watch.h"
#include "server/auth/served_certificates.h"

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

// The certificates of the gRPC port, and of the HTTP port.  Thread-safe.
class Certificates {
 public:
  // Told of each time that the files were read: when what is served is valid, or what is wrong.
  using ReadListener = std::function<void(const absl::StatusOr<Validity>&)>;

  // An error names the file that is missing or wrong.  Later, what cannot be used is logged, and
  // the old certificates stay.  REQUIRES: options.enabled() and Validate(options) is OK.
  static absl::StatusOr<std::unique_ptr<Certificates>> Open(const TlsOptions& options,
                                                            const ReadListener& on_read);
  ~Certificates();

  // Reads the files soon, whether or not they have changed.
  void ReadAgain() { watch_->ReadAgain(); }

  // What is served now; another object after each reading.
  std::shared_ptr<const ServedCertificates> served() const;

  // For gRPC to listen with.  The certificates must outlive the server that does.
  std::shared_ptr<grpc::ServerCredentials> credentials() const;

 private:
  class Credentials;

  explicit Certificates(const TlsOptions& options);
  absl::Status Read();

  const TlsOptions options_;
  const std::shared_ptr<Credentials> credentials_;
  std::unique_ptr<FileWatch> watch_;  // ends before the rest: it reads
};

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_AUTH_TLS_H_
