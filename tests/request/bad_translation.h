// Texts with literals, and a translator that does the worst with them: it says nothing, drops,
// moves, repeats and glues words, and changes digits.

#ifndef DRAGOMAN_TESTS_REQUEST_BAD_TRANSLATION_H_
#define DRAGOMAN_TESTS_REQUEST_BAD_TRANSLATION_H_

#include <random>
#include <string>
#include <string_view>
#include <utility>

#include "engine/text/literals.h"
#include "engine/text/markup.h"

namespace dragoman {

using Random = std::mt19937_64;

inline constexpr const char* kSourceLiterals[] = {
    "%s",          "%1$s",     "%d",     "{name}",       "{ name }", "%(max)s",    "{}",
    "a@b.example", "🙂",     "%-5.2f", "%Y-%m-%d",     "{0}%",     "snake_case", "C++",
    "<b>",         "</b>",     "&amp;",  "https://a.de", "foo.x()",  "Ctrl+C",     "%02d:%02d",
    "({0})",       "[[page]]", "$HOME",  "%I64u"};
// What stands around words of a text, each of them at most once.
inline constexpr std::pair<const char*, const char*> kSourcePairs[] = {
    {"<i id=\"1\">", "</i>"}, {"[u]", "[/u]"}, {"[", "](/there)"}, {"&lt;s&gt;", "&lt;/s&gt;"}};

// A sentence with them.
std::string SourceText(Random& random);

// Whether what begins later ends earlier, of all pairs that the text has once.
bool AreNested(std::string_view text);
// Whether <b> or </b> stands alone between two of them, so that these may be none:
// "<b>[u]</b>[/u]".
bool CrossTags(std::string_view text);

// A text translated sentence by sentence as the engine does it: read again without stand-ins if
// something of them is left, and kept if there is no word.
std::string TranslateBadly(MarkedText text, TextSource source, Random& random);

}  // namespace dragoman

#endif  // DRAGOMAN_TESTS_REQUEST_BAD_TRANSLATION_H_
