#include "engine/text/normal_form.h"

#include <utf8proc.h>

#include <algorithm>
#include <cstdlib>

#include "engine/base/utf8.h"

namespace dragoman {
namespace {

std::string Composed(std::string_view text) {
  // ASCII is composed already.
  const auto is_ascii = [](char c) { return static_cast<unsigned char>(c) < 0x80; };
  if (std::all_of(text.begin(), text.end(), is_ascii)) return std::string(text);
  utf8proc_uint8_t* composed = nullptr;
  const utf8proc_ssize_t size =
      utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                   static_cast<utf8proc_ssize_t>(text.size()), &composed,
                   static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE));
  if (size < 0) return std::string(text);  // out of memory
  std::string result(reinterpret_cast<const char*>(composed), static_cast<size_t>(size));
  std::free(composed);
  return result;
}

}  // namespace

std::string NormalForm(std::string_view text) {
  const std::string composed = Composed(text);
  std::string normal;
  normal.reserve(composed.size());
  bool space = false;
  for (size_t at = 0; at < composed.size();) {
    const size_t begin = at;
    if (IsWhiteSpace(NextCodePoint(composed, &at))) {
      space = !normal.empty();
      continue;
    }
    if (space) normal += ' ';
    space = false;
    normal.append(composed, begin, at - begin);
  }
  return normal;
}

}  // namespace dragoman
