#include "engine/base/html_references.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "engine/base/utf8.h"

namespace dragoman {
namespace {

struct Entity {
  const char* name;  // after '&', with its ';' unless it may stand without
  char32_t first;
  char32_t second = 0;  // 0: it is one character
};

// Sorted by name.
constexpr Entity kEntities[] = {
#include "engine/base/html_entities.inc"
};

// What &#x80; to &#x9F; mean: the characters of Windows-1252.
constexpr char16_t kWindows1252[32] = {
    0x20AC, 0x81,   0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160,
    0x2039, 0x0152, 0x8D,   0x017D, 0x8F,   0x90,   0x2018, 0x2019, 0x201C, 0x201D, 0x2022,
    0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0x9D,   0x017E, 0x0178};

int DigitValue(char c, int base) {
  if (absl::ascii_isdigit(c)) return c - '0';
  if (base == 16 && absl::ascii_isxdigit(c)) return absl::ascii_tolower(c) - 'a' + 10;
  return -1;
}

// `html` begins with "&#".
size_t ReadNumber(std::string_view html, std::string* text) {
  constexpr uint32_t kBeyond = 0x110000;
  size_t at = 2;
  int base = 10;
  if (at < html.size() && (html[at] == 'x' || html[at] == 'X')) {
    base = 16;
    ++at;
  }
  const size_t digits = at;
  uint32_t number = 0;
  for (; at < html.size() && DigitValue(html[at], base) >= 0; ++at) {
    number = std::min(kBeyond, number * base + DigitValue(html[at], base));
  }
  if (at == digits) return 0;
  if (at < html.size() && html[at] == ';') ++at;
  if (number >= 0x80 && number < 0xA0) number = kWindows1252[number - 0x80];
  if (number == 0 || number >= kBeyond || (number >= 0xD800 && number < 0xE000)) number = 0xFFFD;
  AppendUtf8(number, text);
  return at;
}

// The longest name that `text` begins with, or null.  After each character, the names that begin
// with what was read so far are those in [first, last).
const Entity* LongestName(std::string_view text, size_t* length) {
  const Entity* found = nullptr;
  const Entity *first = std::begin(kEntities), *last = std::end(kEntities);
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (!absl::ascii_isalnum(c) && c != ';') break;
    first = std::partition_point(first, last, [&](const Entity& e) { return e.name[i] < c; });
    last = std::partition_point(first, last, [&](const Entity& e) { return e.name[i] == c; });
    if (first == last) break;
    if (first->name[i + 1] != '\0') continue;
    found = first;
    *length = i + 1;
  }
  return found;
}

// Of the blocks of symbols, what is a letter, digit, mark, dash, quote or ordinary punctuation, or
// is invisible.
constexpr std::pair<char32_t, char32_t> kNoSymbols[] = {
    {0xA1, 0xA1},     {0xAA, 0xAB},     {0xAD, 0xAD},     {0xB2, 0xB3},     {0xB5, 0xB5},
    {0xB9, 0xBF},     {0x200B, 0x201F}, {0x2026, 0x2026}, {0x2028, 0x202E}, {0x203C, 0x203D},
    {0x2047, 0x2049}, {0x2060, 0x209F}, {0x20D0, 0x20FF}, {0x2126, 0x2126}, {0x212A, 0x212B},
    {0x2150, 0x218B}, {0x2460, 0x24FF}};

bool IsSymbolCharacter(char32_t c) {
  const bool block = (c >= 0xA0 && c < 0xC0) || c == 0xD7 || c == 0xF7 ||
                     (c >= 0x2000 && c < 0x2C00) || c == 0x3000 || (c >= 0xE000 && c < 0xF900) ||
                     c == 0xFFFD || (c >= 0x1F000 && c < 0x20000);
  return block && absl::c_none_of(kNoSymbols,
                                  [&](const auto& no) { return no.first <= c && c <= no.second; });
}

}  // namespace

bool IsSymbol(std::string_view characters) {
  for (size_t at = 0; at < characters.size();) {
    if (IsSymbolCharacter(NextCodePoint(characters, &at))) return true;
  }
  return false;
}

bool IsTypographic(std::string_view characters) {
  constexpr std::string_view kSigns[] = {"‒", "–", "—", "―", "…"};
  return absl::c_linear_search(kSigns, characters);
}

bool IsSymbolSpace(std::string_view characters) {
  size_t at = 0;
  const char32_t c = characters.empty() ? 0 : NextCodePoint(characters, &at);
  const bool space =
      c == 0xA0 || (c >= 0x2000 && c <= 0x200A) || c == 0x202F || c == 0x205F || c == 0x3000;
  return space && at == characters.size();
}

size_t ReadHtmlReference(std::string_view html, HtmlPlace place, std::string* text) {
  if (html.size() < 2 || html[0] != '&') return 0;
  if (html[1] == '#') return ReadNumber(html, text);
  size_t length = 0;
  const Entity* const entity = LongestName(html.substr(1), &length);
  if (entity == nullptr) return 0;
  const size_t end = 1 + length;
  if (place == HtmlPlace::kAttribute && html[end - 1] != ';' && end < html.size() &&
      (html[end] == '=' || absl::ascii_isalnum(html[end]))) {
    return 0;
  }
  AppendUtf8(entity->first, text);
  if (entity->second != 0) AppendUtf8(entity->second, text);
  return end;
}

std::string CharactersNamed(std::string_view reference) {
  std::string characters;
  const size_t size = ReadHtmlReference(reference, HtmlPlace::kText, &characters);
  return size == reference.size() && reference.ends_with(';') ? characters : "";
}

}  // namespace dragoman
