// What Hugging Face's tokenizers library does to a text before it looks for pieces: the
// "normalizer" and the "pre_tokenizer" of tokenizer.json.
//
//   "ﬁve  cats "  ->  "five cats "  ->  [▁five ▁cats ▁]

#ifndef DRAGOMAN_ENGINE_TEXT_NORMALIZER_H_
#define DRAGOMAN_ENGINE_TEXT_NORMALIZER_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/text/chars_map.h"
#include "engine/text/text_span.h"

namespace dragoman {

// A text that was made of another one.
struct MadeText {
  std::string text;
  std::vector<TextSpan> origins;  // for each byte, the part of the other text that it was made of

  // Appends a text that was made of `origin`.
  void Append(std::string_view made, TextSpan origin) {
    text += made;
    origins.insert(origins.end(), made.size(), origin);
  }
  // The part of the other text that a part of this one was made of.
  TextSpan Origin(TextSpan part) const;
};

struct NormalizerStep {
  enum Kind {
    kCharacters,   // "Precompiled": what `characters` replaces
    kReplace,      // each `pattern` with `content`
    kReplaceRuns,  // each run of two and more `pattern` with `content`
    kStrip,        // white space at the ends
  };
  Kind kind = kStrip;
  std::shared_ptr<const CharsMap> characters;
  std::string pattern, content;
  bool left = false, right = false;
};

// Where a word gets the mark for a space that it does not have.
enum class Prepend { kAlways, kFirst, kNever };  // kFirst: at the start of the whole text

struct WordRules {
  bool at_white_space = false;  // cut at white space, which is left out
  Prepend prepend = Prepend::kAlways;
  bool at_marks = true;  // cut before each mark
};

// Runs the steps.  REQUIRES: text is valid UTF-8.
MadeText Normalize(std::string_view text, const std::vector<NormalizerStep>& steps);

// Writes spaces as marks (kMetaSpace) and cuts the text into words, which follow each other.
// `starts`: whether it is the start of the whole text.
struct CutText {
  MadeText text;
  std::vector<size_t> ends;  // of the words
};
CutText CutWords(const MadeText& text, const WordRules& rules, bool starts);

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_TEXT_NORMALIZER_H_
