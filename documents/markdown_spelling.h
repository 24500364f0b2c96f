// Characters as Markdown.

#ifndef DRAGOMAN_DOCUMENTS_MARKDOWN_SPELLING_H_
#define DRAGOMAN_DOCUMENTS_MARKDOWN_SPELLING_H_

#include <string>
#include <string_view>

namespace dragoman {

// With a backslash before each character that would be read as a marker: "a \*b\*".
std::string SpellMarkdown(std::string_view text, bool table);

// With one before a marker at the beginning of a line: "1\. Wash".
std::string SpellMarkdownLine(std::string line);

}  // namespace dragoman

#endif  // DRAGOMAN_DOCUMENTS_MARKDOWN_SPELLING_H_
