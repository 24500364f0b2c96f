// Plain text: paragraphs, which end at an empty line.  Lines without words are no part of one, and
// an item of a list, "* " or "1) ", is one by itself, without its marker.  A long one is cut where
// a line ends, or else a sentence, a word or at least a character.

#include <algorithm>

#include "absl/strings/ascii.h"
#include "documents/passage_list.h"
#include "documents/readers.h"
#include "documents/source_text.h"
#include "engine/base/patience.h"

namespace dragoman {
namespace {

constexpr size_t kMostTextBytes = 8000;  // of a passage
constexpr std::string_view kTextSpaces = " \t\r\n\f\v";

// The size of the marker of a list that a line begins with; 0 if it has none.
size_t ListMarker(std::string_view line) {
  size_t size = 0;
  for (const std::string_view mark : {"*", "-", "+", "\u2022", "\u2013"}) {
    if (line.starts_with(mark)) size = mark.size();
  }
  if (size == 0) {
    size = std::min(line.find_first_not_of("0123456789"), line.size());
    if (size == 0)
      size =
          !line.empty() && absl::ascii_isalpha(line[0]) && line.substr(1).starts_with(')') ? 1 : 0;
    const bool ends = size > 0 && size < 4 && size < line.size();
    size = ends && (line[size] == '.' || line[size] == ')') ? size + 1 : 0;
  }
  return size > 0 && line.substr(size).starts_with(' ') ? size : 0;
}

// Adds the passages of bytes [begin, end), which are lines with words.
void AddLines(std::string_view part, size_t begin, size_t end, LineCounter* lines,
              PassageList* passages) {
  part = part.substr(0, end);
  while (true) {
    begin = std::min(part.find_first_not_of(kTextSpaces, begin), end);
    if (begin == end) return;
    const std::string_view rest = part.substr(begin, end - begin);
    const std::string_view text =
        rest.substr(0, rest.size() > kMostTextBytes ? CutPlace(rest, kMostTextBytes) : rest.npos);
    const size_t size = text.find_last_not_of(kTextSpaces) + 1;
    passages->Add({begin, begin + size, lines->At(begin), std::string(text.substr(0, size))});
    begin += text.size();
  }
}

// Adds the passages of the paragraph that is bytes [begin, end).
void AddParagraph(std::string_view part, size_t begin, size_t end, LineCounter* lines,
                  PassageList* passages) {
  size_t first = begin;  // of the lines that stand together
  for (size_t line = begin; line < end;) {
    const size_t line_end = std::min(part.find('\n', line), end);
    const std::string_view all = part.substr(line, line_end - line);
    const std::string_view text =
        all.substr(std::min(all.find_first_not_of(kTextSpaces), all.size()));
    const size_t marker = ListMarker(text);
    const bool words = HasWords(text.substr(marker));
    if (marker > 0 || !words) {
      AddLines(part, first, line, lines, passages);
      first = words ? line_end - text.size() + marker : line_end;
    }
    line = line_end + 1;
  }
  AddLines(part, std::min(first, end), end, lines, passages);
}

}  // namespace

Passages ReadText(std::string_view part, const DocumentOptions& options) {
  LineCounter lines(part);
  Patience patience(options);
  PassageList passages(&patience);
  size_t paragraph = 0;
  for (size_t begin = 0; begin < part.size();) {
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
