#include "server/http/tls_context.h"

#include <openssl/ssl.h>

#include <boost/asio/buffer.hpp>
#include <utility>

#include "crypto/certificate_name.h"
#include "engine/base/status.h"

namespace dragoman {
namespace {

namespace ssl = boost::asio::ssl;

int ChooseProtocol(SSL*, const unsigned char** chosen, unsigned char* size,
                   const unsigned char* offered, unsigned int offered_size, void*) {
  static constexpr unsigned char kHttp11[] = "\x08http/1.1";
  unsigned char* found = nullptr;
  const int result =
      SSL_select_next_proto(&found, size, kHttp11, sizeof(kHttp11) - 1, offered, offered_size);
  *chosen = found;
  return result == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_NOACK;
}

}  // namespace

absl::StatusOr<std::shared_ptr<ssl::context>> MakeTlsContext(
    const ServedCertificates& certificates) {
  auto context = std::make_shared<ssl::context>(ssl::context::tls_server);
  boost::system::error_code error;
  const auto buffer = [](const std::string& text) { return boost::asio::buffer(text); };
  context->set_options(ssl::context::default_workarounds | ssl::context::no_sslv2 |
                           ssl::context::no_sslv3 | ssl::context::no_tlsv1 |
                           ssl::context::no_tlsv1_1 | ssl::context::no_compression,
                       error);
  if (!error) context->use_certificate_chain(buffer(certificates.cert), error);
  if (!error) context->use_private_key(buffer(certificates.key), ssl::context::pem, error);
  if (!error && !certificates.client_ca.empty()) {
    context->add_certificate_authority(buffer(certificates.client_ca), error);
    if (!error) {
      context->set_verify_mode(ssl::verify_peer | ssl::verify_fail_if_no_peer_cert, error);
    }
    // Without a session id context, OpenSSL refuses to resume a session in which a client showed
    // its certificate.
    static constexpr unsigned char kSessions[] = "dragoman";
    SSL_CTX_set_session_id_context(context->native_handle(), kSessions, sizeof(kSessions) - 1);
  }
  if (error) return InternalError("TLS for HTTP: ", error.message());
  SSL_CTX_set_alpn_select_cb(context->native_handle(), ChooseProtocol, nullptr);
  return context;
}

absl::StatusOr<std::string> NameInCertificate(SSL* tls) {
  X509* const certificate = tls == nullptr ? nullptr : SSL_get1_peer_certificate(tls);
  if (certificate == nullptr) return "";
  absl::StatusOr<std::string> name = CertificateName(certificate);
  X509_free(certificate);
  return name;
}

}  // namespace dragoman
