// What a text was before it was edited, and its translation then: guesses at the translations of
// its sentences (drafts.h).
//
//   previous   "One cat. Two dogs."  ->  "Eine Katze. Zwei Hunde."
//   now        "One cat. Two old dogs. Three."
//
//   "One cat."        Eine Katze.       the same sentence
//   "Two old dogs."   Zwei Hunde.       the one that begins and ends most like it
//   "Three."          nothing           none does
//
// Pure.

#ifndef DRAGOMAN_ENGINE_REQUEST_PREVIOUS_H_
#define DRAGOMAN_ENGINE_REQUEST_PREVIOUS_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dragoman {

class PreviousVersion {
 public:
  PreviousVersion() = default;
  // `split`: whether the text is split into sentences.  REQUIRES: both are valid UTF-8.
  PreviousVersion(std::string_view source, std::string_view translation, bool split);

  // The translation of the sentence that is most like this one; "" if none is.
  std::string_view DraftOf(std::string_view sentence) const;

 private:
  std::vector<std::pair<std::string, std::string>> sentences_;  // and their translations
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_REQUEST_PREVIOUS_H_
