// A sentence once more, whose translation has lost a number.
//
//   The train leaves at 18:37.     ->  Der Zug fährt um 18:7 Uhr ab.       18:37 is lost
//   it must be said (phrases.h)    ->  Der Zug fährt um 18:37 Uhr ab.      in any usual form
//   ... leaves at 7005.            ->  Der Zug fährt um 7005 Uhr ab.       7005 becomes 18:37
//
// Small models cannot copy every number.  So the search is made to say what is lost, and if that
// fails too, the model reads stand-ins, as it does for literals, in the place of all numbers of the
// sentence.  A translation that has its numbers costs nothing more than to be looked at.

#ifndef DRAGOMAN_ENGINE_REQUEST_NUMERALS_H_
#define DRAGOMAN_ENGINE_REQUEST_NUMERALS_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/decode/job.h"
#include "engine/request/alignment.h"
#include "engine/text/marked_sentence.h"
#include "engine/text/word_joins.h"

namespace dragoman {

// Whether a job's translation can be searched for again: it is one, found by a beam search, and
// nothing but its text is asked for.
bool MaySayNumerals(const Job& job);

// A sentence as it was read.
struct NumeralSentence {
  std::shared_ptr<const Job> job;  // that has lost numbers
  std::string text;
  size_t begin = 0;                 // of it in its text
  std::vector<SentenceMark> marks;  // of it
  Frame frame;
  LanguagePair languages;
  int longest = 0;                         // the most tokens that are read
  std::shared_ptr<const WordJoins> joins;  // of the model
};

// How a sentence is read again.
struct SentenceReading {
  JobPtr job;                        // null: it cannot be read so
  std::vector<AlignedToken> source;  // what the job reads, with its bytes of the text
  // What a hypothesis has of stand-ins, and the tokens that come into their place.
  std::vector<std::pair<std::vector<int32_t>, std::vector<int32_t>>> places;
  std::optional<std::vector<SentenceMark>> marks;  // if they are others
};

// So that those of its numbers that have bytes of `lost` must be said.
SentenceReading SayNumerals(const NumeralSentence& sentence, const std::vector<TextSpan>& lost);

// With stand-ins.
SentenceReading StandInForNumerals(const NumeralSentence& sentence);

// Puts the numbers into the places of their stand-ins.  False if one is not there.
bool PutNumeralsBack(const SentenceReading& reading, Hypothesis* hypothesis);

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_REQUEST_NUMERALS_H_
