#include "crypto/pem_files.h"

#include <fcntl.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/sha.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <memory>
#include <vector>

#include "absl/strings/str_cat.h"
#include "engine/base/status.h"

namespace dragoman {
namespace {

constexpr size_t kMaxFileBytes = 4 << 20;  // a bundle of all public authorities has about 0.2 MiB

template <auto Free>
struct Freer {
  template <typename T>
  void operator()(T* object) const {
    Free(object);
  }
};
using Certificate = std::unique_ptr<X509, Freer<X509_free>>;
using Key = std::unique_ptr<EVP_PKEY, Freer<EVP_PKEY_free>>;
using Memory = std::unique_ptr<BIO, Freer<BIO_free>>;
using Context = std::unique_ptr<SSL_CTX, Freer<SSL_CTX_free>>;

Memory Open(const std::string& text) {
  return Memory(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

// A key with a password is refused instead of asking for it on the terminal.
int NoPassword(char*, int, int, void*) { return -1; }

absl::StatusOr<std::vector<Certificate>> Parse(const std::string& pem, const std::string& path) {
  const Memory memory = Open(pem);
  std::vector<Certificate> certificates;
  while (X509* next = PEM_read_bio_X509(memory.get(), nullptr, NoPassword, nullptr)) {
    certificates.emplace_back(next);
  }
  const bool at_end = ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
  ERR_clear_error();
  if (certificates.empty() || !at_end) {
    return InvalidArgumentError(path, " holds ", (at_end ? "no" : "a broken"),
                                " certificate, want PEM certificates");
  }
  return certificates;
}

// TLS refuses keys that are too short and signatures that are too weak, although they parse.
absl::Status CheckStrength(const std::vector<Certificate>& chain, const std::string& path) {
  const Context context(SSL_CTX_new(TLS_server_method()));
  bool accepted = SSL_CTX_use_certificate(context.get(), chain.front().get()) == 1;
  for (size_t i = 1; i < chain.size() && accepted; ++i) {
    accepted = SSL_CTX_add1_chain_cert(context.get(), chain[i].get()) == 1;
  }
  if (accepted) return absl::OkStatus();
  const char* const reason = ERR_reason_error_string(ERR_peek_last_error());
  ERR_clear_error();
  return InvalidArgumentError(path, " holds a certificate that TLS refuses: ",
                              (reason == nullptr ? "unknown reason" : reason));
}

absl::StatusOr<Validity> ValidityOf(const std::vector<Certificate>& chain,
                                    const std::string& path) {
  Validity validity = {absl::InfinitePast(), absl::InfiniteFuture()};
  for (const Certificate& certificate : chain) {
    std::tm begin = {}, end = {};
    if (ASN1_TIME_to_tm(X509_get0_notBefore(certificate.get()), &begin) != 1 ||
        ASN1_TIME_to_tm(X509_get0_notAfter(certificate.get()), &end) != 1) {
      ERR_clear_error();
      return InvalidArgumentError(path, " holds a certificate whose dates cannot be read");
    }
    validity.not_before = std::max(validity.not_before, absl::FromTM(begin, absl::UTCTimeZone()));
    validity.not_after = std::min(validity.not_after, absl::FromTM(end, absl::UTCTimeZone()));
  }
  return validity;
}

}  // namespace

absl::StatusOr<std::string> ReadSmallFile(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return NotFoundError("cannot read ", path, ": ", std::strerror(errno));
  std::string text;
  char buffer[1 << 14];
  ssize_t count;
  while (text.size() <= kMaxFileBytes && (count = read(fd, buffer, sizeof(buffer))) > 0) {
    text.append(buffer, count);
  }
  const int error = errno;
  close(fd);
  if (text.size() > kMaxFileBytes) {
    return InvalidArgumentError(path, " is larger than 4 MiB");
  }
  if (count < 0) return NotFoundError("cannot read ", path, ": ", std::strerror(error));
  return text;
}

absl::Status CheckCertificates(const std::string& certificates, const std::string& path) {
  return Parse(certificates, path).status();
}

absl::StatusOr<Validity> CheckKeyPair(const std::string& certificates,
                                      const std::string& certificates_path, const std::string& key,
                                      const std::string& key_path) {
  ASSIGN_OR_RETURN(const std::vector<Certificate> chain, Parse(certificates, certificates_path));
  const Memory memory = Open(key);
  const Key parsed(PEM_read_bio_PrivateKey(memory.get(), nullptr, NoPassword, nullptr));
  if (parsed == nullptr) {
    ERR_clear_error();
    return InvalidArgumentError(key_path,
                                " holds no private key, want one in PEM without a password");
  }
  if (X509_check_private_key(chain.front().get(), parsed.get()) != 1) {
    ERR_clear_error();
    return InvalidArgumentError("the key in ", key_path, " is not that of the certificate in ",
                                certificates_path);
  }
  RETURN_IF_ERROR(CheckStrength(chain, certificates_path));
  return ValidityOf(chain, certificates_path);
}

Sha256Digest Sha256(std::string_view text) {
  Sha256Digest digest;
  static_assert(sizeof(digest) == SHA256_DIGEST_LENGTH);
  SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(),
         reinterpret_cast<unsigned char*>(digest.data()));
  return digest;
}

std::string HexSha256(std::string_view text) {
  std::string hex;
  for (const uint64_t word : Sha256(text)) absl::StrAppend(&hex, absl::Hex(word, absl::kZeroPad16));
  return hex;
}

}  // namespace dragoman
