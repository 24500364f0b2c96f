// The further attempts at a sentence whose first translation is not what it should be.
//
//   the first one          the next ones, in this order, as long as the best one so far is at fault
//   a repair               plainly, if it is doubtful (repair.h)
//   reads stand-ins        without its literals, if it is damaged (placement.h)
//   has numbers, brackets  must say those that it has lost (phrases.h), in any usual form
//                          reads stand-ins for all of its numbers, if some are still lost
//
// Each is a job of its own; of the two translations that there are then, one stays.  Of several
// hypotheses, those that have their numbers stay when the others must say them.  Small models
// cannot copy every number:
//
//   The train leaves at 18:37.     ->  Der Zug fährt um 18:7 Uhr ab.       18:37 is lost
//   it must be said                ->  Der Zug fährt um 18:37 Uhr ab.
//   ... leaves at 7005.            ->  Der Zug fährt um 7005 Uhr ab.       7005 becomes 18:37

#ifndef DRAGOMAN_ENGINE_REQUEST_ATTEMPTS_H_
#define DRAGOMAN_ENGINE_REQUEST_ATTEMPTS_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/decode/job.h"
#include "engine/request/alignment.h"
#include "engine/text/marked_sentence.h"
#include "engine/text/word_joins.h"

namespace dragoman {

struct AlignmentPlan;
struct PlannedText;

// Whether a job's translations can be searched for again: they are found by a beam search, and
// nothing but their text is asked for.
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

// How a sentence is read once more.
struct SentenceReading {
  JobPtr job;                        // null: it cannot be read so
  std::vector<AlignedToken> source;  // what the job reads, with its bytes of the text
  // What a hypothesis has of stand-ins, and the tokens that come into their place.
  std::vector<std::pair<std::vector<int32_t>, std::vector<int32_t>>> places;
  std::optional<std::vector<SentenceMark>> marks;  // if they are others
};

// Puts the numbers into the places of their stand-ins.  False if one is not there.
bool PutNumeralsBack(const SentenceReading& reading, Hypothesis* hypothesis);

// What is wrong with the translation of a sentence.
struct SentenceFaults {
  bool damaged = false;        // one of the hypotheses (placement.h)
  bool invents = false;        // one has more digits than the sentence
  std::vector<TextSpan> lost;  // numbers and brackets that one does not have: bytes of the sentence
  bool brackets = false;       // some of these are brackets
  std::vector<char> whole;     // of each: it has its numbers, and no others
};

// What is needed for them, and how far they are.
struct Attempts {
  float doubtful_loss = 0.0f;
  JobPtr plain = nullptr;  // null: the first one is no repair
  SentenceReading unread = {};
  std::shared_ptr<const NumeralSentence> numerals = nullptr;  // null: it has none

  enum Way { kFirst, kPlain, kUnread, kSayNumerals, kStandIn };
  Way way = kFirst;              // of the job that runs
  SentenceReading reading = {};  // what it reads, without itself
  JobResult best = {};           // of those before
  SentenceFaults faults = {};    // of the best one

  bool any() const { return plain != nullptr || unread.job != nullptr || numerals != nullptr; }
};

// The tokens of a sentence that begins at byte `begin` of its text; `map` leads from what was read
// to the sentence, if that is not the same.
std::vector<AlignedToken> AlignedTokens(const Tokenizer& tokenizer, const EncodedText& sentence,
                                        size_t begin, const TextMap* map);

// Takes the result of the last attempt at a sentence that has some.  Returns the job of the next
// one or, with the best result in *result, null.  Then the sentence is what that has read.
JobPtr NextAttempt(const Tokenizer& tokenizer, const AlignmentPlan& alignment, PlannedText* text,
                   size_t sentence, JobResult* result);

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_REQUEST_ATTEMPTS_H_
