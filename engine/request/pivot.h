// A translation by two hops, through a third language: the pivot.
//
//   Das Haus ist alt.  ─de-en►  The house is old.  ─en-fr►  La maison est vieille.
//
// The text between them is a text like any other: it is split into sentences, its markup is read,
// and the glossaries' terms are found in it anew.  A Pivot says what each hop is asked, and makes
// one translation of both.

#ifndef DRAGOMAN_ENGINE_REQUEST_PIVOT_H_
#define DRAGOMAN_ENGINE_REQUEST_PIVOT_H_

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "engine/request/plan.h"
#include "engine/request/route.h"
#include "engine/request/still_wanted.h"
#include "engine/request/translation.h"

namespace dragoman {

// Not thread-safe until TakeSecond has returned, then const.
class Pivot {
 public:
  // REQUIRES: the route, which outlives this, has two models, and the first one is in memory.
  // Ends early if the request is not wanted any more, which the first hop reports, as it reports
  // what is wrong with the request.
  Pivot(const Route& route, HopRequest request, StillWanted* wanted);

  HopRequest TakeFirst() { return std::move(to_); }
  // REQUIRES: the first hop has succeeded.
  HopRequest TakeSecond(TranslateResponse first);

  // Makes what the second hop has answered, or reported, that of both.
  void Compose(TranslateResponse* second) const;
  void Compose(TranslateProgress* second) const;

 private:
  void DivideOwn(StillWanted* wanted);
  void DivideStored(StillWanted* wanted);
  void KeepAnswered(size_t text);
  void ComposeUnmet(size_t text, Translation* second) const;
  void Compose(size_t text, Translation* second) const;

  const Route& route_;
  const std::vector<std::string> sources_;
  const AlignmentOptions alignment_;
  HopRequest to_, from_;  // the pivot
  // By the source of an entry of the second hop: that of the entry which it was made from.
  std::map<std::string, std::string> carried_;
  TranslateResponse first_;
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_REQUEST_PIVOT_H_
