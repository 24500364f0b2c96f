// What a language is called: BCP-47 tags ("de", "en-US", "zh-Hant"), and the codes that models have
// for the same ("deu", "deu_Latn", "de_DE", "en_XX").
//
//   ParseLanguage("zho_Hant")  ->  language "zh", script "Hant"      tag "zh-Hant"
//   ParseLanguage("de_DE")     ->  language "de", region "DE"        tag "de"
//   ParseLanguage("deu+eng")   ->  none: a group of languages

#ifndef DRAGOMAN_ENGINE_TEXT_LANGUAGE_TAG_H_
#define DRAGOMAN_ENGINE_TEXT_LANGUAGE_TAG_H_

#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace dragoman {

struct Language {
  std::string language;  // two letters where ISO 639-1 has some, else three; lower case
  std::string script;    // "Hant"; "" if it was not said
  std::string region;    // "US", "419"; "" likewise

  // Where the script is not said: the one that this language in this region is usually written in,
  // for the languages that are written in several; "" for the others.
  std::string LikelyScript() const;
};

// Of a BCP-47 tag or a model's code, in any case, with - or _ between its parts.  A code that names
// several languages or a family of them ("mul", "gem"), or none at all, is none.  What follows
// language, script and region is passed over.
std::optional<Language> ParseLanguage(std::string_view code);

// The two languages of a model's name, such as "ende", "en-de" or "en_de": codes of two letters.
// nullopt for any other name.
std::optional<std::pair<std::string, std::string>> ParseLanguagePair(std::string_view name);

// The tag by which a model's code is listed: the language, with its script if that is not the
// usual one.  The code itself if it is no language.
std::string TagOf(const std::string& code);

// How well a language is served by one that a model has: 0 not at all, more is nearer.  The
// language has to be the same; then the script counts, then the region.
int Nearness(const Language& wanted, const Language& served);

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_TEXT_LANGUAGE_TAG_H_
