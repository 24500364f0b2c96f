// Whom a certificate names, and who may be called that.

#include "crypto/certificate_name.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "server/auth/principals.h"

namespace dragoman::certificate_name_test {
namespace {

using ::testing::HasSubstr;

// Texts or addresses as a certificate has them, with their types: V_ASN1_BMPSTRING, GEN_DNS.
using Encoded = std::vector<std::pair<int, std::string>>;
using Certificate = std::unique_ptr<X509, decltype(&X509_free)>;

Certificate Make(const Encoded& common_names, const Encoded& alternatives) {
  Certificate certificate(X509_new(), X509_free);
  X509_NAME* const subject = X509_get_subject_name(certificate.get());
  for (const auto& [type, text] : common_names) {
    const auto* const bytes = reinterpret_cast<const unsigned char*>(text.data());
    X509_NAME_add_entry_by_NID(subject, NID_commonName, type, bytes, static_cast<int>(text.size()),
                               -1, 0);
  }
  if (alternatives.empty()) return certificate;
  GENERAL_NAMES* const names = sk_GENERAL_NAME_new_null();
  for (const auto& [type, text] : alternatives) {
    ASN1_STRING* const value =
        ASN1_STRING_type_new(type == GEN_IPADD ? V_ASN1_OCTET_STRING : V_ASN1_IA5STRING);
    ASN1_STRING_set(value, text.data(), static_cast<int>(text.size()));
    GENERAL_NAME* const name = GENERAL_NAME_new();
    GENERAL_NAME_set0_value(name, type, value);
    sk_GENERAL_NAME_push(names, name);
  }
  X509_add1_ext_i2d(certificate.get(), NID_subject_alt_name, names, 0, X509V3_ADD_DEFAULT);
  GENERAL_NAMES_free(names);
  return certificate;
}

absl::StatusOr<std::string> Principal(absl::StatusOr<std::string> name) {
  const auto principals = Principals::Create({}, nullptr);
  const absl::StatusOr<Permit> permit =
      (*principals)->Identify({.certificate_name = std::move(name)});
  if (!permit.ok()) return permit.status();
  return permit->principal();
}

absl::StatusOr<std::string> PrincipalOf(const Encoded& common_names,
                                        const Encoded& alternatives = {}) {
  return Principal(CertificateName(Make(common_names, alternatives).get()));
}

// Each character in so many bytes, the first one first.
std::string Wide(const std::u32string& text, int bytes) {
  std::string wide;
  for (const char32_t c : text) {
    for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8) {
      wide += static_cast<char>(c >> shift & 0xFF);
    }
  }
  return wide;
}

TEST(CertificateName, IsUtf8WhateverTheEncoding) {
  const std::u32string name = U"M\u00FCller";
  EXPECT_EQ(*PrincipalOf({{V_ASN1_UTF8STRING, "Müller"}}), "Müller");
  EXPECT_EQ(*PrincipalOf({{V_ASN1_BMPSTRING, Wide(name, 2)}}), "Müller");
  EXPECT_EQ(*PrincipalOf({{V_ASN1_UNIVERSALSTRING, Wide(name, 4)}}), "Müller");
  EXPECT_EQ(*PrincipalOf({{V_ASN1_T61STRING, Wide(name, 1)}}), "Müller");
  EXPECT_EQ(*PrincipalOf({{V_ASN1_PRINTABLESTRING, "web shop"}}), "web shop");
}

TEST(CertificateName, IsTheFirstAlternativeThatIsAName) {
  const Encoded common_name = {{V_ASN1_UTF8STRING, "cn"}, {V_ASN1_UTF8STRING, "other"}};
  EXPECT_EQ(*PrincipalOf({}), "");
  EXPECT_EQ(*PrincipalOf({{V_ASN1_UTF8STRING, ""}}), "");
  EXPECT_EQ(*PrincipalOf(common_name), "cn");
  EXPECT_EQ(*PrincipalOf(common_name, {{GEN_DNS, ""}}), "cn");
  EXPECT_EQ(*PrincipalOf(common_name, {{GEN_DNS, ""}, {GEN_EMAIL, "a@b.test"}}), "a@b.test");
  EXPECT_EQ(*PrincipalOf(common_name, {{GEN_URI, "spiffe://a/b"}, {GEN_DNS, "x"}}), "spiffe://a/b");
  EXPECT_EQ(*PrincipalOf(common_name, {{GEN_IPADD, "\x0A\x01\x02\x03"}, {GEN_DNS, "x.test"}}),
            "10.1.2.3");
  EXPECT_EQ(*PrincipalOf({}, {{GEN_IPADD, std::string(15, '\0') + '\1'}}), "::1");
}

TEST(CertificateName, ThatIsNoNameIsRefused) {
  const struct {
    Encoded common_names, alternatives;
    const char* message;
  } cases[] = {
      {{{V_ASN1_UTF8STRING, "sh\xFFop"}}, {}, "not a text"},
      {{{V_ASN1_BIT_STRING, "shop"}}, {}, "not a text"},
      {{{V_ASN1_UTF8STRING, "shop "}}, {}, "white space at an end"},
      {{{V_ASN1_UTF8STRING, " shop"}}, {}, "white space at an end"},
      {{{V_ASN1_T61STRING, "shop\xA0"}}, {}, "white space at an end"},
      {{{V_ASN1_BMPSTRING, Wide(U"\u3000shop", 2)}}, {}, "white space at an end"},
      {{{V_ASN1_UTF8STRING, std::string("sh\0op", 5)}}, {}, "control character"},
      {{{V_ASN1_UTF8STRING, "shop\n"}}, {}, "control character"},
      {{{V_ASN1_T61STRING, "sh\x85op"}}, {}, "control character"},
      {{{V_ASN1_UTF8STRING, "cn"}}, {{GEN_DNS, "shop.test "}}, "white space at an end"},
      {{{V_ASN1_UTF8STRING, "cn"}}, {{GEN_DNS, std::string("a\0b", 3)}}, "control character"},
      {{{V_ASN1_UTF8STRING, "cn"}}, {{GEN_EMAIL, "\xFC@b.test"}}, "not ASCII"},
      {{{V_ASN1_UTF8STRING, "cn"}}, {{GEN_IPADD, "abc"}}, "IP address"},
  };
  for (const auto& test : cases) {
    const absl::Status status = PrincipalOf(test.common_names, test.alternatives).status();
    EXPECT_TRUE(absl::IsUnauthenticated(status)) << status << ", want " << test.message;
    EXPECT_THAT(std::string(status.message()), HasSubstr(test.message));
  }
  // Half of a pair.
  EXPECT_TRUE(absl::IsUnauthenticated(
      PrincipalOf({{V_ASN1_BMPSTRING, std::string("\xD8\x3D\0x", 4)}}).status()));
}

TEST(CertificateName, IsTheSameInPem) {
  const Certificate certificate = Make({{V_ASN1_BMPSTRING, Wide(U"\u0416", 2)}}, {});
  EVP_PKEY* const key = EVP_EC_gen("P-256");
  X509_set_version(certificate.get(), X509_VERSION_3);
  X509_gmtime_adj(X509_getm_notBefore(certificate.get()), 0);
  X509_gmtime_adj(X509_getm_notAfter(certificate.get()), 60);
  X509_set_pubkey(certificate.get(), key);
  ASSERT_GT(X509_sign(certificate.get(), key, EVP_sha256()), 0);
  EVP_PKEY_free(key);
  BIO* const memory = BIO_new(BIO_s_mem());
  ASSERT_EQ(PEM_write_bio_X509(memory, certificate.get()), 1);
  char* pem = nullptr;
  const long size = BIO_get_mem_data(memory, &pem);
  EXPECT_EQ(*Principal(CertificateNameInPem({pem, static_cast<size_t>(size)})), "Ж");
  EXPECT_TRUE(absl::IsUnauthenticated(
      Principal(CertificateNameInPem({pem, static_cast<size_t>(size) / 2})).status()));
  BIO_free(memory);
}

TEST(CertificateName, DoesNotMatterToTheOwner) {
  const auto principals = Principals::Create({}, nullptr);
  const auto owner =
      (*principals)
          ->Identify({.certificate_name = absl::InvalidArgumentError("no text"), .is_owner = true});
  ASSERT_TRUE(owner.ok()) << owner.status();
  EXPECT_EQ(owner->principal(), "owner");
}

}  // namespace
}  // namespace dragoman::certificate_name_test
