// What "auto" as the source language of a request means: each text is translated from the language
// that it seems to be in.
//
//   {"Good morning.", "Guten Tag.", "12:30"} into "de", where en-de is served:
//     "Good morning."   en 0.93   by en-de
//     "Guten Tag."      de 0.91   it is German already: it stays as it is
//     "12:30"           en 0      nothing speaks for any language: as its neighbours
//
// Of the languages that a text may be in the likeliest that is served is taken.

#ifndef DRAGOMAN_SERVER_API_AUTO_SOURCE_H_
#define DRAGOMAN_SERVER_API_AUTO_SOURCE_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/route.h"
#include "server/api/language_detector.h"

namespace dragoman {

// Whether a source language asks for detection: "auto", in any case.
bool IsAuto(const std::string& source_language);

// Texts of one language, and who translates them.
struct SourceGroup {
  std::string language;        // "": that of the model, as nothing was detected in any text
  std::optional<Route> route;  // none: they are in the target language already
  std::vector<size_t> texts;   // which of the request's, ascending
};

struct DetectedSources {
  std::vector<DetectedLanguage> texts;  // one for each text
  std::vector<SourceGroup> groups;      // in the order of their first texts; each text in one
};

// Who translates from a language into the target of the request, or why nobody does.
using FindSource = std::function<absl::StatusOr<Route>(const std::string& source)>;

// An error of `find` for a text none of whose languages is served, naming what was detected.
absl::StatusOr<DetectedSources> DetectSources(const std::vector<std::string>& texts,
                                              const std::string& target, const FindSource& find);

// Translates the texts of each group by its own route, and tells `done` when all are done, of all
// in their order.  As Route::Translate otherwise.
void TranslateGroups(const std::vector<SourceGroup>& groups, const TranslateRequest& request,
                     const std::shared_ptr<RequestState>& state,
                     std::function<void(TranslateResponse)> done);

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_API_AUTO_SOURCE_H_
