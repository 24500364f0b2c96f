// "auto" as the source language of a request: each text is translated from the language that it
// seems to be in.
//
//   {"Good morning.", "Guten Tag.", "12:30"} into "de", where en-de is served:
//     "Good morning."   en 0.93   by en-de
//     "Guten Tag."      de 0.91   already German: unchanged
//     "12:30"           en 0      no evidence for any language: the same as its neighbours
//
// Among the languages that a text may be in, the most likely one that is served is chosen.  A short
// text in none of them, "De nada." (pt 0.88), is asked again with those that are served in mind:
// es 0.44.

#ifndef DRAGOMAN_SERVER_API_AUTO_SOURCE_H_
#define DRAGOMAN_SERVER_API_AUTO_SOURCE_H_

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/request/running_request.h"
#include "engine/request/still_wanted.h"
#include "engine/text/language_detector.h"

namespace dragoman {

// Whether what is written in one language is as well in the other: "en-GB" and "en-US", "zh" and
// "zh-Hans", not "zh-Hans" and "zh-Hant".  False if one of them is not a language.
bool IsWrittenAlike(const std::string& one, const std::string& other);

// Whether a source language asks for detection: "auto", in any case.
bool IsAuto(const std::string& source_language);

// What it takes to detect the language of a text, as StillWanted counts it: a short one may be
// asked again.
size_t WorkOfDetection(std::string_view text);

struct DetectedSources {
  std::vector<DetectedLanguage> texts;  // one per text
  std::vector<TextGroup> groups;        // in the order of their first texts; each text is in one
};

// What the texts of a request can be translated from.
struct ServedSources {
  std::string target;  // of the request
  // The route from a language to the target, or why there is none.
  std::function<absl::StatusOr<Route>(const std::string& source)> find;
  // The tags of the languages that models read; for some of them `find` may fail.
  std::function<std::vector<std::string>()> languages;
};

// Detects the languages.  Returns an error of `find`, naming what was detected, for a text none of
// whose languages is served; or that of `wanted`.
absl::StatusOr<DetectedSources> DetectSources(const std::vector<std::string>& texts,
                                              const ServedSources& served, bool has_markup,
                                              StillWanted* wanted);

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_API_AUTO_SOURCE_H_
