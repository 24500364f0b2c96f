#include "crypto/certificate_name.h"

#include <arpa/inet.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <memory>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "engine/base/status.h"

namespace dragoman {
namespace {

absl::Status WrongName(const char* what) {
  ERR_clear_error();
  return absl::InvalidArgumentError(what);
}

std::string BytesOf(const ASN1_STRING* text) {
  return {reinterpret_cast<const char*>(ASN1_STRING_get0_data(text)),
          static_cast<size_t>(ASN1_STRING_length(text))};
}

absl::StatusOr<std::string> AddressText(const ASN1_OCTET_STRING* address) {
  const int size = ASN1_STRING_length(address);
  char text[INET6_ADDRSTRLEN] = "";
  if ((size != 4 && size != 16) ||
      inet_ntop(size == 4 ? AF_INET : AF_INET6, ASN1_STRING_get0_data(address), text,
                sizeof(text)) == nullptr) {
    return WrongName("its IP address has neither 4 nor 16 bytes");
  }
  return text;
}

absl::StatusOr<std::string> AsciiText(const ASN1_IA5STRING* text) {
  std::string ascii = BytesOf(text);
  if (absl::c_any_of(ascii, [](unsigned char c) { return c >= 0x80; })) {
    return WrongName("its subject alternative name is not ASCII");
  }
  return ascii;
}

// "" if it has no name of these kinds.
absl::StatusOr<std::string> AlternativeName(const X509* certificate) {
  int found = 0;  // -1: there are none
  const std::unique_ptr<GENERAL_NAMES, decltype(&GENERAL_NAMES_free)> names(
      static_cast<GENERAL_NAMES*>(
          X509_get_ext_d2i(certificate, NID_subject_alt_name, &found, nullptr)),
      GENERAL_NAMES_free);
  if (names == nullptr && found != -1) {
    return WrongName("its subject alternative names cannot be read");
  }
  for (int i = 0; i < sk_GENERAL_NAME_num(names.get()); ++i) {
    const GENERAL_NAME* const name = sk_GENERAL_NAME_value(names.get(), i);
    absl::StatusOr<std::string> text = std::string();
    if (name->type == GEN_IPADD) text = AddressText(name->d.iPAddress);
    if (name->type == GEN_DNS || name->type == GEN_URI || name->type == GEN_EMAIL) {
      text = AsciiText(name->d.ia5);
    }
    if (!text.ok() || !text->empty()) return text;
  }
  return std::string();
}

// "" if it has none.
absl::StatusOr<std::string> CommonName(const X509* certificate) {
  const X509_NAME* const subject = X509_get_subject_name(certificate);
  const int index = X509_NAME_get_index_by_NID(subject, NID_commonName, -1);
  if (index < 0) return std::string();
  unsigned char* utf8 = nullptr;
  const int size =
      ASN1_STRING_to_UTF8(&utf8, X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, index)));
  if (size < 0) return WrongName("its common name is not a text");
  std::string name(reinterpret_cast<const char*>(utf8), static_cast<size_t>(size));
  OPENSSL_free(utf8);
  return name;
}

}  // namespace

absl::StatusOr<std::string> CertificateName(const x509_st* certificate) {
  ASSIGN_OR_RETURN(const std::string name, AlternativeName(certificate));
  return name.empty() ? CommonName(certificate) : name;
}

absl::StatusOr<std::string> CertificateNameInPem(std::string_view pem) {
  const auto no_password = [](char*, int, int, void*) { return -1; };
  const std::unique_ptr<BIO, decltype(&BIO_free)> memory(
      BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())), BIO_free);
  const std::unique_ptr<X509, decltype(&X509_free)> certificate(
      PEM_read_bio_X509(memory.get(), nullptr, no_password, nullptr), X509_free);
  if (certificate == nullptr) return WrongName("it cannot be read");
  return CertificateName(certificate.get());
}

}  // namespace dragoman
