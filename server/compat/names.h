// The other translation APIs that the server can speak, by their names in the configuration.

#ifndef DRAGOMAN_SERVER_COMPAT_NAMES_H_
#define DRAGOMAN_SERVER_COMPAT_NAMES_H_

#include <array>

namespace dragoman {

inline constexpr std::array<const char*, 11> kCompatNames = {
    "azure",           "deepl",          "deeplx",
    "google",          "hcfy",           "immersive-translate",
    "kiss-translator", "libretranslate", "open-inference",
    "openai",          "subtitle-edit"};

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_COMPAT_NAMES_H_
