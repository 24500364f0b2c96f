// Characters as Markdown.

#ifndef DRAGOMAN_DOCUMENTS_MARKDOWN_SPELLING_H_
#define DRAGOMAN_DOCUMENTS_MARKDOWN_SPELLING_H_

#include <string>
#include <string_view>

namespace dragoman {

// With a backslash before each character that would be read as a marker: "a \*b\*".  `dollars`: and
// before every "$", not only those that would be an equation.
std::string SpellMarkdown(std::string_view text, bool table, bool dollars);

// With one before a marker at the beginning of a line: "1\. Wash".
std::string SpellMarkdownLine(std::string line);

}  // namespace dragoman

#endif  // DRAGOMAN_DOCUMENTS_MARKDOWN_SPELLING_H_
