// A translation in one step or, through a third language, in two.
//
//   {de-en}          "de" to "en" by one model
//   {de-en, en-fr}   "de" to "fr" through "en": the second model translates the first one's best
//                    translation
//
// To its caller, a route looks like a Translator.

#ifndef DRAGOMAN_ENGINE_REQUEST_ROUTE_H_
#define DRAGOMAN_ENGINE_REQUEST_ROUTE_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/request/translator.h"

namespace dragoman {

class Route {
 public:
  // One model, for whatever languages the request names.
  explicit Route(std::shared_ptr<const Translator> translator);
  // Two models with a `pivot`: a language that `first` translates into and `second` from.
  Route(std::shared_ptr<const Translator> first, const std::string& pivot,
        std::shared_ptr<const Translator> second);

  // As Translator::Translate. `done` gets both steps at once: the times are their
  // sums, and `steps` has those of each.  With two steps, `on_progress` reports only the second,
  // which begins when the first is done.
  void Translate(TranslateRequest request, std::shared_ptr<RequestState> state,
                 std::function<void(TranslateResponse)> done,
                 OnProgress on_progress = nullptr) const;

  const std::vector<std::shared_ptr<const Translator>>& translators() const { return translators_; }
  // The names of the models, joined by "+".
  std::string name() const;
  std::string version() const;

 private:
  // REQUIRES: there are two, and the first one's model is in memory.
  void TranslateInTwo(TranslateRequest request, std::shared_ptr<RequestState> state,
                      std::function<void(TranslateResponse)> done, OnProgress on_progress) const;

  std::vector<std::shared_ptr<const Translator>> translators_;  // one or two
  std::string pivot_;
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_REQUEST_ROUTE_H_
