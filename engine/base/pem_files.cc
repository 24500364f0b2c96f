#include "engine/base/pem_files.h"

#include <fcntl.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <vector>

#include "engine/base/status.h"

namespace dragoman {
namespace {

constexpr size_t kMaxFileBytes = 4 << 20;  // a bundle of all public authorities has 0.2 MiB

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

Memory Open(const std::string& text) {
  return Memory(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

// A key with a password is refused, not asked for on the terminal.
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
    return absl::InvalidArgumentError(path + " holds " + (at_end ? "no" : "a broken") +
                                      " certificate, want PEM certificates");
  }
  return certificates;
}

}  // namespace

absl::StatusOr<std::string> ReadSmallFile(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return absl::NotFoundError("cannot read " + path + ": " + std::strerror(errno));
  std::string text;
  char buffer[1 << 14];
  ssize_t count;
  while (text.size() <= kMaxFileBytes && (count = read(fd, buffer, sizeof(buffer))) > 0) {
    text.append(buffer, count);
  }
  const int error = errno;
  close(fd);
  if (text.size() > kMaxFileBytes) {
    return absl::InvalidArgumentError(path + " is larger than 4 MiB");
  }
  if (count < 0) return absl::NotFoundError("cannot read " + path + ": " + std::strerror(error));
  return text;
}

absl::Status CheckCertificates(const std::string& certificates, const std::string& path) {
  return Parse(certificates, path).status();
}

absl::Status CheckKeyPair(const std::string& certificates, const std::string& certificates_path,
                          const std::string& key, const std::string& key_path) {
  ASSIGN_OR_RETURN(const std::vector<Certificate> chain, Parse(certificates, certificates_path));
  const Memory memory = Open(key);
  const Key parsed(PEM_read_bio_PrivateKey(memory.get(), nullptr, NoPassword, nullptr));
  const bool matches =
      parsed != nullptr && X509_check_private_key(chain.front().get(), parsed.get()) == 1;
  ERR_clear_error();
  if (parsed == nullptr) {
    return absl::InvalidArgumentError(key_path +
                                      " holds no private key, want one in PEM without a password");
  }
  if (!matches) {
    return absl::InvalidArgumentError("the key in " + key_path +
                                      " is not that of the certificate in " + certificates_path);
  }
  return absl::OkStatus();
}

}  // namespace dragoman
