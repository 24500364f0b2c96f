// The certificates that both ports serve with, as in their files.

#ifndef DRAGOMAN_SERVER_AUTH_SERVED_CERTIFICATES_H_
#define DRAGOMAN_SERVER_AUTH_SERVED_CERTIFICATES_H_

#include <string>

#include "crypto/pem_files.h"

namespace dragoman {

// In PEM, checked.
struct ServedCertificates {
  std::string cert;       // the server's, then the intermediate ones
  std::string key;        // of the server's certificate
  std::string client_ca;  // authorities of client certificates; empty: none are required
  Validity validity;
};

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_AUTH_SERVED_CERTIFICATES_H_
