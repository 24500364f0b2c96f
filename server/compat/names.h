// The other translation APIs that the server can speak, by their names in the configuration.

#ifndef DRAGOMAN_SERVER_COMPAT_NAMES_H_
#define DRAGOMAN_SERVER_COMPAT_NAMES_H_

#include <algorithm>
#include <array>
#include <string_view>

namespace dragoman {

inline constexpr std::array<std::string_view, 3> kCompatNames = {"libretranslate", "deepl",
                                                                 "google"};

inline bool KnowsCompat(std::string_view name) {
  return std::find(kCompatNames.begin(), kCompatNames.end(), name) != kCompatNames.end();
}

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_COMPAT_NAMES_H_
