#include "engine/request/attempts.h"

#include <utility>

#include "engine/request/assembly.h"
#include "engine/request/plan.h"
#include "engine/request/repair.h"

namespace dragoman {
namespace {

// Makes the sentence what the reading is, and the other way round.
void Swap(PlannedText* text, size_t number, SentenceReading* reading) {
  std::swap(text->sentences[number].source, reading->source);
  if (reading->marks.has_value()) {
    std::swap(text->marked->sentences[number].marks, *reading->marks);
  }
}

// Makes the times of a result those of the attempts before, too.
void Add(const JobResult& before, JobResult* result) {
  JobTimes& times = result->times;
  times = {.queue = times.queue + before.times.queue,
           .encode = times.encode + before.times.encode,
           .decode = times.decode + before.times.decode,
           .steps = times.steps + before.times.steps,
           .kept = times.kept + before.times.kept};
  result->reused = result->reused && before.reused;
}

// Whether the result of the last attempt, which the sentence is read for, is better than the best.
bool IsBetter(const Attempts& attempts, const SentenceFaults& faults, const JobResult& result) {
  switch (attempts.way) {
    case Attempts::kPlain:
      return attempts.best.hypotheses.front().score < result.hypotheses.front().score;
    case Attempts::kSayNumerals:
    case Attempts::kStandIn:
      return !faults.damaged && !faults.invents && faults.lost.size() < attempts.lost.size();
    default:
      return true;
  }
}

// How the sentence is read next; without a job if that is not wanted, or cannot be.
SentenceReading ReadNext(const PlannedSentence& sentence, Attempts* attempts) {
  const bool numbers =
      attempts->numerals != nullptr && !attempts->damaged && !attempts->lost.empty();
  switch (attempts->way) {
    case Attempts::kPlain:
      if (attempts->plain == nullptr ||
          !IsDoubtful(attempts->best.hypotheses.front(), attempts->doubtful_loss)) {
        return {};
      }
      return {.job = std::move(attempts->plain), .source = sentence.source};
    case Attempts::kUnread:
      if (!attempts->damaged) return {};
      attempts->numerals = nullptr;
      return std::move(attempts->unread);
    case Attempts::kSayNumerals:
      return numbers ? SayNumerals(*attempts->numerals, attempts->lost) : SentenceReading();
    case Attempts::kStandIn:
      return numbers ? StandInForNumerals(*attempts->numerals) : SentenceReading();
    default:
      return {};
  }
}

}  // namespace

JobPtr NextAttempt(const Tokenizer& tokenizer, const AlignmentPlan& alignment, PlannedText* text,
                   size_t sentence, JobResult* result) {
  Attempts& attempts = *text->sentences[sentence].attempts;
  const bool whole = PutNumeralsBack(attempts.reading, &result->hypotheses.front());
  if (attempts.way == Attempts::kFirst) {
    result->repaired = attempts.plain != nullptr;
  } else {
    Add(attempts.best, result);
    Swap(text, sentence, &attempts.reading);
  }
  const NumeralSentence* const numerals = attempts.numerals.get();
  SentenceFaults faults = FaultsOf(tokenizer, *text, sentence, result->hypotheses, alignment,
                                   numerals == nullptr ? nullptr : &numerals->languages.target);
  if (whole && IsBetter(attempts, faults, *result)) {
    attempts.best = std::move(*result);
    attempts.damaged = faults.damaged;
    attempts.lost = std::move(faults.lost);
  } else {
    attempts.best.times = result->times;
    attempts.best.reused = result->reused;
    Swap(text, sentence, &attempts.reading);
  }
  while (attempts.way < Attempts::kStandIn) {
    attempts.way = static_cast<Attempts::Way>(attempts.way + 1);
    attempts.reading = ReadNext(text->sentences[sentence], &attempts);
    if (attempts.reading.job != nullptr) return std::move(attempts.reading.job);
  }
  *result = std::move(attempts.best);
  return nullptr;
}

}  // namespace dragoman
