// Detects the language of a text with Compact Language Detector 2, which only this file uses.
//
// It looks at quadgrams and knows some 80 languages.  With only a word or two it is often right but
// also often wrong; the confidence says how much of the text supports the language.  Thread-safe.

#ifndef DRAGOMAN_ENGINE_TEXT_LANGUAGE_DETECTOR_H_
#define DRAGOMAN_ENGINE_TEXT_LANGUAGE_DETECTOR_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/types/span.h"

namespace dragoman {

struct DetectedLanguage {
  std::string language;  // a BCP-47 tag: "de", "zh-Hant"
  float confidence = 0;  // 0 to 1
};

// At most three languages, most likely first; none if there is no evidence for any.  Tags and
// entities are no evidence in a text that `has_markup`.  REQUIRES: text is valid UTF-8.
std::vector<DetectedLanguage> DetectLanguages(std::string_view text, bool has_markup = false);

// Of these languages, given by their tags, the one that a short text seems to be in.  Each gets the
// benefit of the doubt: CLD2 is told that the text is likely in it.  Several if they are equally
// likely; none if CLD2 insists on others.  Takes some 50 us a language.
//
//   "De nada." among en, de, fr, es    es 0.44    (DetectLanguages says: pt 0.88)
//   "Goedemorgen" among the same       none
//
// REQUIRES: as DetectLanguages.
std::vector<DetectedLanguage> LikeliestAmong(std::string_view text,
                                             absl::Span<const std::string> languages,
                                             bool has_markup = false);

// The tag of the language with this English name, in any case; "" if there is none.
std::string TagOfEnglishName(std::string_view name);

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_TEXT_LANGUAGE_DETECTOR_H_
