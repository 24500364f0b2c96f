// The forms of a word, guessed by the endings that are usual in its language.
//
//   Inflected("Haus", "de")           Haus, Hauses, Häuser, Hause ... and Hausen, which is none
//   Inflected("salle de bains", "fr") salles de bains ...
//
// They are for a choice among them by somebody who knows the language: a model, which hardly ever
// writes a form that is none.

#ifndef DRAGOMAN_ENGINE_TEXT_ENDINGS_H_
#define DRAGOMAN_ENGINE_TEXT_ENDINGS_H_

#include <string>
#include <string_view>
#include <vector>

namespace dragoman {

// The forms of a phrase besides itself; none for a language, a tag or a model's code, without
// known endings.  REQUIRES: phrase is valid UTF-8.  Thread-safe.
std::vector<std::string> Inflected(const std::string& phrase, std::string_view language);

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_TEXT_ENDINGS_H_
