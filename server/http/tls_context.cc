#include "server/http/tls_context.h"

#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <boost/asio/buffer.hpp>
#include <utility>

#include "absl/strings/str_cat.h"

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

std::string ToString(const ASN1_STRING* text) {
  return {reinterpret_cast<const char*>(ASN1_STRING_get0_data(text)),
          static_cast<size_t>(ASN1_STRING_length(text))};
}

std::string FirstAlternativeName(const X509* certificate) {
  auto* const names = static_cast<GENERAL_NAMES*>(
      X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr));
  std::string found;
  for (int i = 0; i < sk_GENERAL_NAME_num(names) && found.empty(); ++i) {
    const GENERAL_NAME* const name = sk_GENERAL_NAME_value(names, i);
    if (name->type == GEN_DNS || name->type == GEN_URI || name->type == GEN_EMAIL) {
      found = ToString(name->d.ia5);
    }
  }
  GENERAL_NAMES_free(names);
  return found;
}

std::string CommonName(const X509* certificate) {
  const X509_NAME* const subject = X509_get_subject_name(certificate);
  const int index = X509_NAME_get_index_by_NID(subject, NID_commonName, -1);
  if (index < 0) return "";
  return ToString(X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, index)));
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
  if (error) return absl::InternalError(absl::StrCat("TLS for HTTP: ", error.message()));
  SSL_CTX_set_alpn_select_cb(context->native_handle(), ChooseProtocol, nullptr);
  return context;
}

std::string NameInCertificate(SSL* tls) {
  X509* const certificate = tls == nullptr ? nullptr : SSL_get1_peer_certificate(tls);
  if (certificate == nullptr) return "";
  std::string name = FirstAlternativeName(certificate);
  if (name.empty()) name = CommonName(certificate);
  X509_free(certificate);
  return name;
}

}  // namespace dragoman
