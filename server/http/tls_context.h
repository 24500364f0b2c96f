// The server's certificates for the HTTP port, from the same files as for gRPC (server/auth/tls.h),
// in the form that OpenSSL needs for handshakes.

#ifndef DRAGOMAN_SERVER_HTTP_TLS_CONTEXT_H_
#define DRAGOMAN_SERVER_HTTP_TLS_CONTEXT_H_

#include <boost/asio/ssl/context.hpp>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "server/auth/served_certificates.h"

namespace dragoman {

// TLS 1.2 and later, HTTP/1.1 only.  INTERNAL if OpenSSL rejects the certificates.
absl::StatusOr<std::shared_ptr<boost::asio::ssl::context>> MakeTlsContext(
    const ServedCertificates& certificates);

// Whom the verified certificate that a client has shown names (CertificateName); "" if it has shown
// none.
absl::StatusOr<std::string> NameInCertificate(SSL* tls);

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_HTTP_TLS_CONTEXT_H_
