// Lays a translated text out over the cues that the sentence ran over.

#ifndef DRAGOMAN_DOCUMENTS_SUBTITLE_LAYOUT_H_
#define DRAGOMAN_DOCUMENTS_SUBTITLE_LAYOUT_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dragoman {

inline constexpr size_t kSubtitleWidth = 42;  // columns of a line; a Chinese character has two

// The bytes of the tag, or of the reference of a symbol ("&nbsp;"), that the text begins with; 0 if
// it begins with none.  With `braces`, as in ASS, whatever stands in braces is a tag, and so is
// "\h", a no-break space, and nothing else.
size_t SubtitleTagSize(std::string_view text, bool braces);

// A stretch of the text of a cue.
struct SubtitleToken {
  enum Kind { kText, kOpen, kClose, kSingle } kind;  // kSingle: a tag without another, "{\\an8}"
  std::string_view raw;
  size_t partner = 0;  // kOpen: the index of its kClose; kClose: of its kOpen
};
std::vector<SubtitleToken> SubtitleTokens(std::string_view text, bool braces = false);

// The elements that a word stands in: the tags that open and close each, outermost first.
using SubtitleElements = std::vector<std::pair<std::string_view, std::string_view>>;

// A word, or a character of a script without spaces, and its tags.
struct SubtitleWord {
  std::string text;
  bool space_before = false;
  bool joined = false;  // there must be no break in front of it
  size_t columns = 0;
  SubtitleElements around;
  std::string before, after;  // tags without another
};

// The words of a text, which must outlive them.
std::vector<SubtitleWord> SubtitleWords(std::string_view text, bool braces = false);

// How wide the text is, in one line.
size_t SubtitleColumns(std::string_view text, bool braces = false);

// How much of a sentence a cue takes, and from how many columns on it has two lines.
struct SubtitleShare {
  size_t columns = 0;
  size_t width = kSubtitleWidth;
};

// The text of each cue, in one line or two.  Elements that run over several cues are closed in
// each, and opened again.  If there are fewer words than cues, the last ones repeat the one before.
std::vector<std::string> LayOutSubtitles(const std::vector<SubtitleWord>& words,
                                         const std::vector<SubtitleShare>& shares,
                                         std::string_view newline);

// What stands between two shares: tags, and where among them white space is.
struct SubtitleGap {
  std::string before, after;  // tags
};

// The text of one cue whose tags stay where they are, each share of the words between two gaps; of
// these there is one more.  An element that gets no words is left out.
std::string SpreadSubtitle(const std::vector<SubtitleWord>& words,
                           const std::vector<SubtitleShare>& shares,
                           const std::vector<SubtitleGap>& gaps, std::string_view newline);

}  // namespace dragoman

#endif  // DRAGOMAN_DOCUMENTS_SUBTITLE_LAYOUT_H_
