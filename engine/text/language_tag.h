// Names of languages: BCP-47 tags ("de", "en-US", "zh-Hant") and the codes that models use for the
// same languages ("deu", "deu_Latn", "de_DE", "en_XX").
//
//   ParseLanguage("zho_Hant")  ->  language "zh", script "Hant"      tag "zh-Hant"
//   ParseLanguage("de_DE")     ->  language "de", region "DE"        tag "de"
//   ParseLanguage("deu+eng")   ->  nothing: a group of languages

#ifndef DRAGOMAN_ENGINE_TEXT_LANGUAGE_TAG_H_
#define DRAGOMAN_ENGINE_TEXT_LANGUAGE_TAG_H_

#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace dragoman {

struct Language {
  std::string language;  // two letters where ISO 639-1 has them, else three; lower case
  std::string script;    // "Hant"; "" if not given
  std::string region;    // "US", "419"; "" if not given

  // The script that the language is usually written in, in this region, for languages that are
  // written in several scripts; "" for the others.  For use where no script is given.
  std::string LikelyScript() const;
};

// Parses a BCP-47 tag or a model's code, in any case, with - or _ between its parts.  Nothing for a
// code of several languages or of a family of them ("mul", "gem"), or of no language.  Subtags
// after language, script and region are ignored.
std::optional<Language> ParseLanguage(std::string_view code);

// The two languages in a model's name such as "ende", "en-de" or "en_de", as two-letter codes;
// nullopt for any other name.
std::optional<std::pair<std::string, std::string>> ParseLanguagePair(std::string_view name);

// The tag that a model's code is listed under: the language, with its script if that is not the
// usual one.  The code itself if it is not a language.
std::string TagOf(const std::string& code);

// Whether the language is written from right to left: by its script or, if the code has none, by
// the usual one.
bool IsRightToLeft(std::string_view code);

// How well a model's language `served` matches the one wanted: 0 is not at all, higher is closer.
// The language must be the same; then the script counts, then the region.
int Nearness(const Language& wanted, const Language& served);

// Whether a tag names the language of a model's code, as far as both say what they mean: "" is any.
bool IsLanguage(const std::string& tag, const std::string& code);

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_TEXT_LANGUAGE_TAG_H_
