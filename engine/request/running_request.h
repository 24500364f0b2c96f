// A request on its way through the engine: which of its texts take which hops, one after the other.
//
//   texts 0, 2  de   ─de-en►  ─en-fr►  ┐
//   text  1     en   ─en-fr►           ├─►  all translations  ─►  checked in reverse, if wanted
//   text  3     fr   (as it is)        ┘
//
// Texts that take the same route are a group, and a hop of theirs is one pass through a model
// (hop.h).  A model that is not in memory is loaded before its hop.  The groups do not wait for
// each other.

#ifndef DRAGOMAN_ENGINE_REQUEST_RUNNING_REQUEST_H_
#define DRAGOMAN_ENGINE_REQUEST_RUNNING_REQUEST_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/request/route.h"
#include "engine/request/translation.h"

namespace dragoman {

// Texts of one language, and their route.
struct TextGroup {
  std::string language;        // "": the model's own
  std::optional<Route> route;  // none: they are in the target language already
  std::vector<size_t> texts;   // indices in the request, ascending; unused if it is the only group
};

// Who checks translations (reverse_check.h): of the other direction.
struct ReverseRoute {
  std::shared_ptr<const Translator> translator;
  LanguagePair languages;
};

struct Itinerary {
  std::vector<TextGroup> groups;  // at least one; each text is in one
  std::optional<ReverseRoute> check;
};

// As Translator::Translate. `done` gets everything at once: with the times of hops that follow one
// another added up, and `steps` with those of each, group by group.  If a group fails, the others
// are cancelled, through `state`, and its error is that of the whole.  A check in reverse fails
// with FAILED_PRECONDITION if its model cannot read a translation.
//
// With `on_progress`, the last hop of a single group is reported as it goes on, and of several
// groups each text, in order, when all are done.  REQUIRES: then there is no check.
void Translate(TranslateRequest request, Itinerary itinerary, std::shared_ptr<RequestState> state,
               std::function<void(TranslateResponse)> done, OnProgress on_progress = nullptr);

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_REQUEST_RUNNING_REQUEST_H_
