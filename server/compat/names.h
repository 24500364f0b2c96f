// The other translation APIs that the server can speak, by their names in the configuration.

#ifndef DRAGOMAN_SERVER_COMPAT_NAMES_H_
#define DRAGOMAN_SERVER_COMPAT_NAMES_H_

#include <array>
#include <string>
#include <string_view>

#include "absl/algorithm/container.h"

namespace dragoman {

inline constexpr std::array<std::string_view, 11> kCompatNames = {
    "azure",           "deepl",          "deeplx",
    "google",          "hcfy",           "immersive-translate",
    "kiss-translator", "libretranslate", "open-inference",
    "openai",          "subtitle-edit"};

inline bool KnowsCompat(std::string_view name) { return absl::c_linear_search(kCompatNames, name); }

// All of them, as in the configuration: "azure,deepl".
inline std::string AllCompatNames() {
  std::string all;
  for (const std::string_view name : kCompatNames) {
    if (!all.empty()) all += ',';
    all += name;
  }
  return all;
}

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_COMPAT_NAMES_H_
