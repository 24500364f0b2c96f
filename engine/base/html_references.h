// Character references of HTML (WHATWG, section 13.2.5.72 and on): &amp; &eacute &#x20AC;

#ifndef DRAGOMAN_ENGINE_BASE_HTML_REFERENCES_H_
#define DRAGOMAN_ENGINE_BASE_HTML_REFERENCES_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace dragoman {

// Where a reference stands.  In a value of an attribute, "&copy=1" is not one.
enum class HtmlPlace { kText, kAttribute };

// The length of the reference at the start of `html`, whose characters are appended to *text.  0 if
// there is none, as in "AT&T" and "&nosuch;".
size_t ReadHtmlReference(std::string_view html, HtmlPlace place, std::string* text);

// The characters of a reference of HTML, with its semicolon: "&nbsp;"; "" if there is none of that
// name.
std::string CharactersNamed(std::string_view reference);

// Whether these characters of a reference are symbols or a space: no letter, digit, ordinary
// punctuation, dash or quote.  A translation has such a reference as it is written; the others are
// read as their characters.  So is U+FFFD, which stands for what cannot be decoded.  REQUIRES:
// valid UTF-8.
bool IsSymbol(std::string_view characters);
// Whether they are a dash or dots: what a model reads as itself, but may leave out or write in
// another way.
bool IsTypographic(std::string_view characters);
// Whether they are a space that is not one of markup: U+00A0.
bool IsSymbolSpace(std::string_view characters);

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_BASE_HTML_REFERENCES_H_
