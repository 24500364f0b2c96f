#include "engine/text/normal_form.h"

#include <utf8proc.h>

#include <algorithm>
#include <cstdlib>

#include "engine/base/utf8.h"

namespace dragoman {
namespace {

// "" if there is no memory for it.
std::string Composed(std::string_view text) {
  utf8proc_uint8_t* composed = nullptr;
  const utf8proc_ssize_t size =
      utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                   static_cast<utf8proc_ssize_t>(text.size()), &composed,
                   static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE));
  if (size < 0) return "";
  std::string result(reinterpret_cast<const char*>(composed), static_cast<size_t>(size));
  std::free(composed);
  return result;
}

}  // namespace

std::string NormalForm(std::string_view text) {
  // ASCII is composed already.
  const auto is_ascii = [](char c) { return static_cast<unsigned char>(c) < 0x80; };
  std::string composed;
  if (!std::all_of(text.begin(), text.end(), is_ascii)) composed = Composed(text);
  if (!composed.empty()) text = composed;
  std::string normal;
  normal.reserve(text.size());
  size_t word = 0;  // where the one that goes on begins
  const auto add_until = [&](size_t end) {
    if (end == word) return;
    if (!normal.empty()) normal += ' ';
    normal.append(text, word, end - word);
  };
  for (size_t at = 0; at < text.size();) {
    const size_t begin = at;
    if (!IsWhiteSpace(NextCodePoint(text, &at))) continue;
    add_until(begin);
    word = at;
  }
  add_until(text.size());
  return normal;
}

}  // namespace dragoman
