// The certificates that both ports serve with, as their files hold them.

#ifndef DRAGOMAN_SERVER_AUTH_SERVED_CERTIFICATES_H_
#define DRAGOMAN_SERVER_AUTH_SERVED_CERTIFICATES_H_

#include <string>

#include "crypto/pem_files.h"

namespace dragoman {

// In PEM, checked.
struct ServedCertificates {
  std::string cert;       // the server's, then those between it and the authority
  std::string key;        // of the first
  std::string client_ca;  // authorities of client certificates; empty: clients need none
  Validity validity;
};

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_AUTH_SERVED_CERTIFICATES_H_
