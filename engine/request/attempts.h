// The further attempts at a sentence whose first translation is not what it should be.
//
//   the first one          the next ones, in this order, as long as the best one so far is at fault
//   a repair               plainly, if it is doubtful (repair.h)
//   reads stand-ins        without its literals, if it is damaged (placement.h)
//   may say numbers        must say those that it has lost, in any usual form (numerals.h)
//                          reads stand-ins for all numbers, if some are still lost
//
// Each is a job of its own; of the two translations that there are then, one stays.

#ifndef DRAGOMAN_ENGINE_REQUEST_ATTEMPTS_H_
#define DRAGOMAN_ENGINE_REQUEST_ATTEMPTS_H_

#include <cstddef>
#include <memory>
#include <vector>

#include "engine/decode/job.h"
#include "engine/request/numerals.h"
#include "engine/text/text_span.h"
#include "engine/text/tokenizer.h"

namespace dragoman {

struct AlignmentPlan;
struct PlannedText;

// What is needed for them, and how far they are.
struct Attempts {
  float doubtful_loss = 0.0f;
  JobPtr plain = nullptr;  // null: the first one is no repair
  SentenceReading unread = {};
  std::shared_ptr<const NumeralSentence> numerals = nullptr;  // null: it has none

  enum Way { kFirst, kPlain, kUnread, kSayNumerals, kStandIn, kNone };
  Way way = kFirst;                 // of the job that runs
  SentenceReading reading = {};     // what it reads, without itself
  JobResult best = {};              // of those before
  bool damaged = false;             // the best one
  std::vector<TextSpan> lost = {};  // of its numbers

  bool any() const { return plain != nullptr || unread.job != nullptr || numerals != nullptr; }
};

// Takes the result of the last attempt at a sentence that has some.  Returns the job of the next
// one or, with the best result in *result, null.  Then the sentence is what that has read.
JobPtr NextAttempt(const Tokenizer& tokenizer, const AlignmentPlan& alignment, PlannedText* text,
                   size_t sentence, JobResult* result);

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_REQUEST_ATTEMPTS_H_
