#include "server/base/uuid.h"

#include <random>

#include "absl/strings/str_cat.h"

namespace dragoman {

std::string NewSecret() {
  std::random_device random;
  std::string secret;
  for (int i = 0; i < 4; ++i) {
    absl::StrAppend(&secret, absl::Hex(static_cast<uint32_t>(random()), absl::kZeroPad8));
  }
  return secret;
}

std::string NewUuid() {
  std::string hex = NewSecret();
  hex[12] = '4';
  hex[16] = "89ab"[static_cast<size_t>(hex[16]) % 4];
  return absl::StrCat(hex.substr(0, 8), "-", hex.substr(8, 4), "-", hex.substr(12, 4), "-",
                      hex.substr(16, 4), "-", hex.substr(20));
}

}  // namespace dragoman
