#include "crypto/receipt.h"

#include <bit>
#include <cstdint>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "crypto/pem_files.h"

namespace dragoman {

std::string DigestOfFields(const std::vector<std::string>& fields) {
  std::string text;
  for (const std::string& field : fields) absl::StrAppend(&text, field.size(), ":", field);
  const Sha256Digest digest = Sha256(text);
  return absl::BytesToHexString(
      absl::string_view(reinterpret_cast<const char*>(digest.data()), sizeof(digest)));
}

std::string FieldOfScore(float score) {
  return absl::StrCat(absl::Hex(std::bit_cast<uint32_t>(score), absl::kZeroPad8));
}

}  // namespace dragoman
