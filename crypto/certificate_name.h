// Whom a client's certificate names.  Both transports ask here, so that a certificate means the
// same caller for both: gRPC's own properties and OpenSSL's strings differ for some certificates.
//
// Thread-safe.

#ifndef DRAGOMAN_CRYPTO_CERTIFICATE_NAME_H_
#define DRAGOMAN_CRYPTO_CERTIFICATE_NAME_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"

struct x509_st;  // OpenSSL's X509

namespace dragoman {

// The first subject alternative name that is a host, an IP address, a URI or an e-mail address;
// without one, the common name; "" if there is neither.  Every encoding of a common name
// (BMPString, T61String and so on) becomes UTF-8.  INVALID_ARGUMENT if that is impossible.
absl::StatusOr<std::string> CertificateName(const x509_st* certificate);

// The same of a certificate in PEM.
absl::StatusOr<std::string> CertificateNameInPem(std::string_view pem);

}  // namespace dragoman

#endif  // DRAGOMAN_CRYPTO_CERTIFICATE_NAME_H_
