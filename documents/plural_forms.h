// How many plural forms gettext's and Qt's translations have in a language.

#ifndef DRAGOMAN_DOCUMENTS_PLURAL_FORMS_H_
#define DRAGOMAN_DOCUMENTS_PLURAL_FORMS_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace dragoman {

inline constexpr size_t kMostForms = 6;  // of a plural, in any language

// `tag` is a BCP-47 tag; 2, the most usual number, for languages that are not known.
size_t UsualPluralForms(std::string_view tag);
// What a header of gettext says of them: "nplurals=2; plural=(n != 1);".
std::string UsualPluralRule(std::string_view tag);

}  // namespace dragoman

#endif  // DRAGOMAN_DOCUMENTS_PLURAL_FORMS_H_
