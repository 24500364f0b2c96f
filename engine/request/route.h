// What translates a text: one model or, through a third language, two.
//
//   {de-en}          "de" to "en" by one model
//   {de-en, en-fr}   "de" to "fr" through "en" (pivot.h)

#ifndef DRAGOMAN_ENGINE_REQUEST_ROUTE_H_
#define DRAGOMAN_ENGINE_REQUEST_ROUTE_H_

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

  // One for each hop.
  const std::vector<std::shared_ptr<const Translator>>& translators() const { return translators_; }
  const std::string& pivot() const { return pivot_; }
  // The names of the models, joined by "+".
  std::string name() const;
  std::string version() const;

 private:
  std::vector<std::shared_ptr<const Translator>> translators_;  // one or two
  std::string pivot_;
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_REQUEST_ROUTE_H_
