// Whether a text says no: a word of negation that one side of a translation has and the other lacks
// is a sign that the meaning was reversed.
//
//   en "I do not know."   true     de "Ich weiß es."   false

#ifndef DRAGOMAN_ENGINE_TEXT_NEGATION_H_
#define DRAGOMAN_ENGINE_TEXT_NEGATION_H_

#include <optional>
#include <string_view>

namespace dragoman {

// `language` is a tag or a model's code.  Nothing for a language whose words are not known: known
// are those of English, German, French and Spanish.  REQUIRES: text is valid UTF-8.
std::optional<bool> SaysNo(std::string_view text, std::string_view language);

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_TEXT_NEGATION_H_
