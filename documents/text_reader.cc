// Plain text: paragraphs, which end at an empty line.  A long one is cut where a line ends, or else
// a sentence, a word or at least a character.

#include <algorithm>

#include "documents/passage_list.h"
#include "documents/patience.h"
#include "documents/readers.h"
#include "documents/source_text.h"
#include "engine/base/status.h"
#include "engine/base/utf8.h"

namespace dragoman {
namespace {

constexpr size_t kMostTextBytes = 8000;  // of a passage
constexpr std::string_view kTextSpaces = " \t\r\n\f\v";

// How many bytes of the paragraph, which has more than kMostBytes, the next passage takes.
size_t Cut(std::string_view paragraph) {
  const std::string_view head = paragraph.substr(0, kMostTextBytes);
  if (const size_t line = head.rfind('\n'); line != head.npos && line > 0) return line;
  for (const std::string_view end : {". ", "! ", "? ", " ", "\t"}) {
    if (const size_t at = head.rfind(end); at != head.npos && at > 0) return at + end.size();
  }
  return BeginningOf(paragraph, kMostTextBytes).size();
}

// Adds the passages of bytes [begin, end).
void AddParagraph(std::string_view part, size_t begin, size_t end, LineCounter* lines,
                  PassageList* passages) {
  part = part.substr(0, end);
  while (true) {
    begin = std::min(part.find_first_not_of(kTextSpaces, begin), end);
    if (begin == end) return;
    const std::string_view rest = part.substr(begin, end - begin);
    const std::string_view text =
        rest.substr(0, rest.size() > kMostTextBytes ? Cut(rest) : rest.npos);
    const size_t size = text.find_last_not_of(kTextSpaces) + 1;
    passages->Add({begin, begin + size, lines->At(begin), std::string(text.substr(0, size))});
    begin += text.size();
  }
}

}  // namespace

Passages ReadText(std::string_view part, const DocumentOptions& options) {
  RETURN_IF_ERROR(CheckUtf8(part));
  LineCounter lines(part);
  Patience patience(options);
  PassageList passages(&patience);
  const size_t mark = part.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0;
  size_t paragraph = mark;
  for (size_t begin = mark; begin < part.size();) {
    const size_t newline = std::min(part.find('\n', begin), part.size());
    const std::string_view line = part.substr(begin, newline - begin);
    if (!patience.Lasts(line.size() + 1)) return patience.status();
    if (line.find_first_not_of(kTextSpaces) == line.npos) {
      AddParagraph(part, paragraph, begin, &lines, &passages);
      paragraph = newline;
    }
    begin = newline + 1;
  }
  AddParagraph(part, std::min(paragraph, part.size()), part.size(), &lines, &passages);
  return passages.Take();
}

}  // namespace dragoman
