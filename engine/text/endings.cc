// A word that ends in `from` may end in `to` instead: cheval, chevaux.  In German the vowel before
// may change, too: Haus, Häuser.
//
// A German word that ends in a vowel takes only s and n, or loses the vowel: Firma, Firmen.
//
// In German and English the last word of a phrase has the ending; in French and Spanish the first
// one and, as in "casas blancas", perhaps the last one as well.

#include "engine/text/endings.h"

#include <algorithm>
#include <optional>

#include "engine/text/language_tag.h"

namespace dragoman {
namespace {

struct Ending {
  std::string_view language, from, to;
  bool umlaut = false;
};

constexpr Ending kEndings[] = {
    {"de", "", "s"},        {"de", "", "es"},        {"de", "", "e"},        {"de", "", "n"},
    {"de", "", "en"},       {"de", "", "er"},        {"de", "", "ern"},      {"de", "", "em"},
    {"de", "", "", true},   {"de", "", "n", true},   {"de", "", "e", true},  {"de", "", "en", true},
    {"de", "", "er", true}, {"de", "", "ern", true}, {"de", "in", "innen"},  {"de", "is", "isse"},
    {"de", "is", "isses"},  {"de", "um", "en"},      {"de", "us", "usse"},   {"de", "a", "en"},
    {"en", "", "s"},        {"en", "", "es"},        {"en", "y", "ies"},     {"en", "f", "ves"},
    {"en", "fe", "ves"},    {"es", "", "s"},         {"es", "", "es"},       {"es", "z", "ces"},
    {"es", "o", "a"},       {"es", "o", "os"},       {"es", "o", "as"},      {"es", "ión", "iones"},
    {"fr", "", "s"},        {"fr", "", "x"},         {"fr", "", "e"},        {"fr", "", "es"},
    {"fr", "al", "aux"},    {"fr", "al", "ale"},     {"fr", "al", "ales"},   {"fr", "f", "ve"},
    {"fr", "f", "ves"},     {"fr", "eux", "euse"},   {"fr", "eux", "euses"}, {"fr", "en", "enne"},
    {"fr", "en", "ennes"},
};

// "Häus" of "Haus"; nothing if there is no vowel that changes.
std::optional<std::string> WithUmlaut(std::string_view word) {
  size_t vowel = word.find_last_of("aouAOU");
  if (vowel == word.npos || vowel + 1 == word.size()) return std::nullopt;
  const bool au = word[vowel] == 'u' && vowel > 0 && (word[vowel - 1] | 0x20) == 'a';
  if (au) --vowel;
  constexpr std::string_view kPlain = "aouAOU";
  constexpr std::string_view kChanged[] = {"ä", "ö", "ü", "Ä", "Ö", "Ü"};
  return std::string(word.substr(0, vowel))
      .append(kChanged[kPlain.find(word[vowel])])
      .append(word.substr(vowel + 1));
}

// Whether the word cannot have it because it ends in a vowel.
bool IsAfterVowel(std::string_view word, const Ending& ending) {
  return ending.language == "de" && ending.from.empty() && !word.empty() &&
         std::string_view("aeiou").find(word.back()) != std::string_view::npos &&
         ending.to != "s" && ending.to != "n";
}

// The word with the ending; nothing if it cannot have it.
std::optional<std::string> WithEnding(std::string_view word, const Ending& ending) {
  if (word.empty() || !word.ends_with(ending.from) || IsAfterVowel(word, ending)) {
    return std::nullopt;
  }
  word.remove_suffix(ending.from.size());
  std::optional<std::string> stem = ending.umlaut ? WithUmlaut(word) : std::string(word);
  if (stem.has_value()) stem->append(ending.to);
  return stem;
}

}  // namespace

std::vector<std::string> Inflected(const std::string& phrase, std::string_view language) {
  std::vector<std::string> forms;
  const std::optional<Language> parsed = ParseLanguage(language);
  if (!parsed.has_value()) return forms;
  const bool first_word = parsed->language == "fr" || parsed->language == "es";
  const auto add = [&](std::optional<std::string> begin, std::string_view middle,
                       std::optional<std::string> end) {
    if (begin.has_value() && end.has_value()) forms.push_back(begin->append(middle).append(*end));
  };
  const std::string_view whole = phrase;
  const size_t first = std::min(whole.find(' '), whole.size());
  const size_t last = whole.rfind(' ') + 1;  // 0 if there is no space
  for (const Ending& ending : kEndings) {
    if (ending.language != parsed->language) continue;
    if (!first_word || last == 0) {
      add(std::string(whole.substr(0, last)), "", WithEnding(whole.substr(last), ending));
      continue;
    }
    const auto head = WithEnding(whole.substr(0, first), ending);
    add(head, whole.substr(first), "");
    add(head, whole.substr(first, last - first), WithEnding(whole.substr(last), ending));
  }
  return forms;
}

}  // namespace dragoman
