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

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/request/translator.h"

namespace dragoman {

struct ReverseCheck {
  std::shared_ptr<const Translator> translator;
  LanguagePair languages;            // its own: from that of the translations to that of the texts
  std::vector<std::string> sources;  // what was translated: plain texts
  // As in TranslateRequest; that of the translations had bound_later.
  std::optional<float> min_quality;
  bool refuse_low_quality = false;
};

// Judges the best hypotheses of `response` again, and calls `done` with it, at once or later on a
// worker's thread.  `state` is that of the translation.  A sentence that was not judged is not
// checked.  Errors: those of Translator::Translate, and FAILED_PRECONDITION if the model cannot
// read a translation, or it is refused.
void CheckInReverse(ReverseCheck check, TranslateResponse response,
                    std::shared_ptr<RequestState> state,
                    std::function<void(TranslateResponse)> done);

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_REQUEST_REVERSE_CHECK_H_
