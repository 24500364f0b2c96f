// The form in which sentences are compared: composed characters (Unicode's NFC), and a single space
// for any white space.  "Cafe\u0301  au lait " and "Café au lait" are the same sentence.

#ifndef DRAGOMAN_ENGINE_TEXT_NORMAL_FORM_H_
#define DRAGOMAN_ENGINE_TEXT_NORMAL_FORM_H_

#include <string>
#include <string_view>

namespace dragoman {

// REQUIRES: text is valid UTF-8.
std::string NormalForm(std::string_view text);

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_TEXT_NORMAL_FORM_H_
