#include "engine/text/negation.h"

#include <string>

#include "absl/strings/ascii.h"
#include "engine/text/language_tag.h"
#include "engine/text/text_span.h"
#include "engine/text/words.h"

namespace dragoman {
namespace {

struct NegationWords {
  std::string_view language;  // of a tag: "de"
  // In lower case, with '|' around them.  A word with an apostrophe is looked up whole, and by what
  // is before it: "n'est" by "n".
  std::string_view words;
};

constexpr NegationWords kNegationWords[] = {
    {"en",
     "|not|no|never|none|nothing|nobody|nowhere|neither|nor|without|cannot|hardly|unable|don't|"
     "doesn't|didn't|isn't|aren't|wasn't|weren't|won't|wouldn't|can't|couldn't|shouldn't|mustn't|"
     "haven't|hasn't|hadn't|needn't|ain't|unless|"},
    {"de",
     "|nicht|nichts|nie|niemals|niemand|niemandem|niemanden|nirgends|nirgendwo|kein|keine|keinen|"
     "keinem|keiner|keines|keins|nein|weder|ohne|kaum|unmöglich|"},
    {"fr", "|ne|n|pas|jamais|rien|aucun|aucune|personne|nulle|non|ni|sans|guère|impossible|"},
    {"es", "|no|nunca|jamás|nada|nadie|ningún|ninguno|ninguna|ni|sin|tampoco|imposible|"},
};

bool HasWord(std::string_view words, std::string_view word) {
  return words.find("|" + std::string(word) + "|") != words.npos;
}

}  // namespace

std::optional<bool> SaysNo(std::string_view text, std::string_view language) {
  const std::optional<Language> parsed = ParseLanguage(language);
  for (const NegationWords& known : kNegationWords) {
    if (!parsed.has_value() || parsed->language != known.language) continue;
    for (const TextSpan span : SplitWords(text, {})) {
      std::string word(text.substr(span.begin, span.size()));
      absl::AsciiStrToLower(&word);
      for (size_t mark; (mark = word.find("’")) != word.npos;) word.replace(mark, 3, "'");
      const std::string before = word.substr(0, word.find('\''));  // n'est
      if (HasWord(known.words, word) || HasWord(known.words, before)) return true;
    }
    return false;
  }
  return std::nullopt;
}

}  // namespace dragoman
