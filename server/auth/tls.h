// TLS for both ports.  The files are read again when they change, so that a certificate can be
// renewed without a restart: new connections see the new one.
//
// gRPC's own reader of certificate files (FileWatcherCertificateProvider) passes on whatever it
// finds, and a broken file makes every handshake fail from then on.  Here gRPC asks us at each
// handshake, and gets only what has been checked.

#ifndef DRAGOMAN_SERVER_AUTH_TLS_H_
#define DRAGOMAN_SERVER_AUTH_TLS_H_

#include <grpcpp/grpcpp.h>

#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "crypto/pem_files.h"
#include "server/auth/file_watcher.h"
#include "server/auth/served_certificates.h"
#include "server/auth/tls_options.h"

namespace dragoman {

// The certificates of the gRPC port, and of the HTTP port.  Thread-safe.
class Certificates {
 public:
  // Called each time the files were read: with the validity of what is served, or with what is
  // wrong.
  using ReadListener = std::function<void(const absl::StatusOr<Validity>&)>;

  // An error names the file that is missing or wrong.  `watcher`, which must end before the
  // certificates, reads them again when they change; after an error the old ones stay.
  // REQUIRES: options.enabled() and Validate(options) is OK.
  static absl::StatusOr<std::unique_ptr<Certificates>> Open(const TlsOptions& options,
                                                            FileWatcher* watcher,
                                                            const ReadListener& on_read);
  ~Certificates();

  // What is served now; a new object after each reading.
  std::shared_ptr<const ServedCertificates> served() const;

  // For gRPC to listen with.  The certificates must outlive that server.
  std::shared_ptr<grpc::ServerCredentials> credentials() const;

 private:
  class Credentials;

  explicit Certificates(const TlsOptions& options);
  absl::Status Read();

  const TlsOptions options_;
  const std::shared_ptr<Credentials> credentials_;
};

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_AUTH_TLS_H_
