// What readers share: lines, errors and characters of a part.

#ifndef DRAGOMAN_DOCUMENTS_SOURCE_TEXT_H_
#define DRAGOMAN_DOCUMENTS_SOURCE_TEXT_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "engine/base/name_list.h"
#include "engine/base/status.h"

namespace dragoman {

// The lines of bytes of a part that are asked for in order.
class LineCounter {
 public:
  explicit LineCounter(std::string_view part) : part_(part) {}
  // Of that byte, from 1.  REQUIRES: no smaller than the place before.
  int At(size_t place);

 private:
  std::string_view part_;
  size_t place_ = 0;
  int line_ = 1;
};

// INVALID_ARGUMENT: "line 7: what", of several parts as in absl::StrCat.
absl::Status DamagedLine(int line, const auto&... what) {
  return InvalidArgumentError("line ", line, ": ", what...);
}
// DamagedLine for the line of a byte of the part.
absl::Status DamagedAt(std::string_view part, size_t place, const auto&... what) {
  return DamagedLine(LineCounter(part).At(place), what...);
}

// INVALID_ARGUMENT, with the line, if the part is not UTF-8.
absl::Status CheckUtf8(std::string_view part);

// Moves over white space and comments, "// a" and "/* a */" and, with `hashes`, "# a" but not "#[".
// INVALID_ARGUMENT for a comment without its end.
absl::Status SkipComments(std::string_view part, bool hashes, size_t* at);

// Whether a text has letters of any script, so that there is something to translate.
bool HasWords(std::string_view text);

// Whether it is nothing but white space, as formats have it: spaces, tabs and line ends.
bool IsBlank(std::string_view text);

// Whether the names are equal but for the case of ASCII letters.
bool IsNamed(std::string_view name, std::string_view other);

bool IsAscii(std::string_view text);

// How many bytes of a text, which has more than `most`, are best taken first: up to the end of a
// line, or else of a sentence, of a word, or at least of a character.  Not 0.
size_t CutPlace(std::string_view text, size_t most);

// The lines of a text, without the "\n" between them.
std::vector<std::string> SplitLines(std::string_view text);

// The text, with each stretch of white space as one space.
std::string OneSpace(std::string_view text);

// The text with the escapes of many programs: a backslash and the one of `letters` in the place of
// each of `characters`; "\u00e9" for what `write` does not write, and two of them, a surrogate
// pair, above U+FFFF.
std::string WithEscapes(std::string_view text, std::string_view characters,
                        std::string_view letters,
                        absl::FunctionRef<bool(char32_t c, std::string* out)> write);

}  // namespace dragoman

#endif  // DRAGOMAN_DOCUMENTS_SOURCE_TEXT_H_
