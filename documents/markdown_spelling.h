// Characters as Markdown.

#ifndef DRAGOMAN_DOCUMENTS_MARKDOWN_SPELLING_H_
#define DRAGOMAN_DOCUMENTS_MARKDOWN_SPELLING_H_

#include <map>
#include <string>
#include <string_view>

namespace dragoman {

// What a passage writes in another way than itself, by the character: "&mdash;", "\{".
using MarkdownSpellings = std::map<std::string, std::string, std::less<>>;

// As these say, or with a backslash before each character that would be read as a marker:
// "a \*b\*".
std::string SpellMarkdown(std::string_view text, bool table, const MarkdownSpellings& spellings);

// With one before a marker at the beginning of a line: "1\. Wash".
std::string SpellMarkdownLine(std::string line);

}  // namespace dragoman

#endif  // DRAGOMAN_DOCUMENTS_MARKDOWN_SPELLING_H_
