// The cues of a file of subtitles: when each is shown, and where its lines are.
//
//   SubRip (.srt)                        WebVTT (.vtt)                ASS, SSA (.ass, .ssa)
//
//   1                                    WEBVTT                       [Events]
//   00:00:01,000 --> 00:00:02,500                                     Format: Layer, Start, ...,
//   Text I went home                          00:01.000 --> 00:02.500      Dialogue:
//   0,0:00:01.00,...,I\Nam
//                                        I went home
//
// They are read as players read them: a time may lack its fraction, a cue its number, and what is
// no cue (a note, a style, a damaged block) is passed over, so that it stays as it is.

#ifndef DRAGOMAN_DOCUMENTS_SUBTITLE_CUES_H_
#define DRAGOMAN_DOCUMENTS_SUBTITLE_CUES_H_

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/base/patience.h"

namespace dragoman {

enum class SubtitleSyntax { kSrt, kVtt, kAss };

struct SubtitleLine {
  size_t begin = 0, end = 0;  // bytes of the part, without the line break
  int number = 1;
};

struct SubtitleCue {
  int64_t begin_time = 0, end_time = 0;  // milliseconds
  std::vector<SubtitleLine> lines;       // not empty
  std::string_view style;                // ASS: the fields between the times and the text
};

// In the order of the part, which must outlive them.  INVALID_ARGUMENT, with the line, if it is
// not of that syntax; the error of `patience`.  A block that
// is damaged is no cue, and options.warn is told.
absl::StatusOr<std::vector<SubtitleCue>> ReadSubtitleCues(std::string_view part,
                                                          SubtitleSyntax syntax,
                                                          const DocumentOptions& options,
                                                          Patience* patience);

}  // namespace dragoman

#endif  // DRAGOMAN_DOCUMENTS_SUBTITLE_CUES_H_
