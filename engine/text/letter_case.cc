// The C library knows Unicode's mappings, if it is asked in its locale C.UTF-8, which needs no
// files.

#include "engine/text/letter_case.h"

#include <clocale>
#include <cwctype>

#include "engine/base/utf8.h"

namespace dragoman {
namespace {

// Null if the C library has no such locale: then only ASCII has cases.
locale_t Unicode() {
  static const locale_t locale = newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
  return locale;
}

}  // namespace

char32_t LowerCase(char32_t c) {
  if (c < 0x80) return c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c;
  if (Unicode() == nullptr) return c;
  return static_cast<char32_t>(towlower_l(static_cast<wint_t>(c), Unicode()));
}

char32_t UpperCase(char32_t c) {
  if (c < 0x80) return c >= 'a' && c <= 'z' ? c - ('a' - 'A') : c;
  if (Unicode() == nullptr) return c;
  return static_cast<char32_t>(towupper_l(static_cast<wint_t>(c), Unicode()));
}

std::string InUpperCase(std::string_view text) {
  std::string upper;
  for (size_t i = 0; i < text.size();) AppendUtf8(UpperCase(NextCodePoint(text, &i)), &upper);
  return upper;
}

std::string Capitalized(std::string_view text) {
  std::string capitalized;
  size_t rest = 0;
  if (!text.empty()) AppendUtf8(UpperCase(NextCodePoint(text, &rest)), &capitalized);
  return capitalized.append(text.substr(rest));
}

bool IsInUpperCase(std::string_view text) {
  int upper = 0;
  for (size_t i = 0; i < text.size();) {
    const char32_t c = NextCodePoint(text, &i);
    if (UpperCase(c) != c) return false;
    if (LowerCase(c) != c) ++upper;
  }
  return upper >= 2;
}

}  // namespace dragoman
