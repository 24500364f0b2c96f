#include <algorithm>

#include "documents/readers.h"

namespace dragoman {

absl::StatusOr<std::vector<Passage>> ReadText(std::string_view part, const DocumentOptions&) {
  std::vector<Passage> passages;
  Passage paragraph;
  int line = 1;
  const auto finish = [&] {
    if (paragraph.end > paragraph.begin) {
      paragraph.text = part.substr(paragraph.begin, paragraph.end - paragraph.begin);
      passages.push_back(paragraph);
    }
    paragraph = {};
  };
  for (size_t begin = 0; begin < part.size(); ++line) {
    const size_t newline = std::min(part.find('\n', begin), part.size());
    const bool blank = part.substr(begin, newline - begin).find_first_not_of(" \t\r\f\v") ==
                       std::string_view::npos;
    if (blank) {
      finish();
    } else {
      if (paragraph.end == 0) paragraph = {.begin = begin, .line = line};
      paragraph.end = newline;
    }
    begin = newline + 1;
  }
  finish();
  return passages;
}

}  // namespace dragoman
