// The names of languages in any language, from ICU, which only this file uses.
//
//   NameOf("de", "fr")       "Allemand"
//   NameOf("zh-Hans", "zh")  "中文（简体）"
//   TagsByName("fr")         {"Allemand": "de", ...}
//
// Thread-safe.

#ifndef DRAGOMAN_SERVER_BASE_LANGUAGE_NAMES_H_
#define DRAGOMAN_SERVER_BASE_LANGUAGE_NAMES_H_

#include <map>
#include <string>

namespace dragoman {

// As a menu in the language `in` writes it; in English if ICU does not know `in`, and the tag
// itself if it does not know that.  Both are BCP-47 tags.
std::string NameOf(const std::string& tag, const std::string& in);

// All languages.  Takes a few ms.
std::map<std::string, std::string> TagsByName(const std::string& in);

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_BASE_LANGUAGE_NAMES_H_
