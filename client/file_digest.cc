#include "client/file_digest.h"

#include <openssl/evp.h>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <memory>
#include <system_error>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "engine/base/status.h"

namespace dragoman {

absl::StatusOr<std::string> DigestOf(const std::string& path, DigestKind kind) {
  std::error_code error;
  const uintmax_t size = std::filesystem::file_size(path, error);
  std::ifstream file(path, std::ios::binary);
  if (error || !file) return NotFoundError(path, ": cannot read");
  const std::unique_ptr<EVP_MD_CTX, void (*)(EVP_MD_CTX*)> context(EVP_MD_CTX_new(),
                                                                   EVP_MD_CTX_free);
  bool ok =
      context != nullptr &&
      EVP_DigestInit_ex(context.get(), kind == DigestKind::kSha256 ? EVP_sha256() : EVP_sha1(),
                        nullptr) == 1;
  if (ok && kind == DigestKind::kGitBlob) {
    const std::string head = absl::StrCat("blob ", size);
    ok = EVP_DigestUpdate(context.get(), head.c_str(), head.size() + 1) == 1;  // with the NUL
  }
  std::vector<char> buffer(1 << 20);
  while (ok && file) {
    file.read(buffer.data(), static_cast<std::streamsize>(buffer.size()));
    ok = EVP_DigestUpdate(context.get(), buffer.data(), static_cast<size_t>(file.gcount())) == 1;
  }
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned length = 0;
  if (!ok || file.bad() || EVP_DigestFinal_ex(context.get(), digest, &length) != 1) {
    return FailedPreconditionError(path, ": cannot compute its digest");
  }
  return absl::BytesToHexString(absl::string_view(reinterpret_cast<const char*>(digest), length));
}

}  // namespace dragoman
