// A second opinion on translations, by the model of the other direction: how likely it finds the
// source, given the translation.
//
//   source       Tom has a cat, and it is old.
//   translation  Tom hat eine Katze.
//   en-de        each word follows from the source; it only ends a little early
//   de-en        "and it is old" comes from nowhere
//
// It is one pass over the tokens of each sentence, without a search, in the same batches as other
// requests.  What it finds are features of the sentence's quality, which is judged again.

#ifndef DRAGOMAN_ENGINE_REQUEST_REVERSE_CHECK_H_
#define DRAGOMAN_ENGINE_REQUEST_REVERSE_CHECK_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/request/search_request.h"
#include "engine/request/translation.h"

namespace dragoman {

// Judges the sentences of best hypotheses again, as many at a time as a request may have.  A
// sentence that was not judged is not checked.
class ReverseCheck {
 public:
  // What was translated: plain texts.  The translations outlive this.
  ReverseCheck(std::vector<std::string> sources, std::vector<Translation>* translations);

  // A request, without languages, that scores the next sentences; without texts if there are none.
  TranslateRequest Next(const Limits& limits);

  // Judges the sentences of the last request again, by what it has found.
  void Take(const TranslateResponse& scored);

  // Judges the texts again, once all sentences are.
  void JudgeTexts();

 private:
  // A sentence that is checked: that number of the translation of that text.
  struct Place {
    size_t text = 0, sentence = 0;
  };

  std::optional<Quality>* QualityOf(const Place& place);
  std::string_view Source(const Place& place) const;
  std::string_view Target(const Place& place) const;

  const std::vector<std::string> sources_;
  std::vector<Translation>& translations_;
  std::vector<Place> sentences_;
  size_t taken_ = 0, begun_ = 0;  // how many of them
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_REQUEST_REVERSE_CHECK_H_
