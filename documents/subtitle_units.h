// What of a cue is translated by itself: the lines that one person says.
//
//   - <i>Where is she?</i>     before "- <i>"   text "Where is she?"   after "</i>"
//   - At home.                 before "- "      text "At home."
//
// What stands around a whole unit stays around it: tags, dashes, brackets, notes of music, and dots
// in front.

#ifndef DRAGOMAN_DOCUMENTS_SUBTITLE_UNITS_H_
#define DRAGOMAN_DOCUMENTS_SUBTITLE_UNITS_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "documents/subtitle_cues.h"

namespace dragoman {

struct SubtitleUnit {
  size_t begin = 0, end = 0;  // bytes of the part
  int line = 1;
  size_t lines = 1;                 // how many it has
  std::string before, text, after;  // its lines are joined
  std::string voice;                // the tag <v ...> in front
  bool speaks = false;              // another mark of a speaker stands in front
  bool ends = false;                // a sentence ends with it
};

// In order.  Lines without a character are in none.
std::vector<SubtitleUnit> SubtitleUnits(std::string_view part, const SubtitleCue& cue, bool braces);

}  // namespace dragoman

#endif  // DRAGOMAN_DOCUMENTS_SUBTITLE_UNITS_H_
