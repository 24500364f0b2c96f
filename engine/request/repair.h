// The repair of a stored translation: of a sentence that differs a little from one that a memory
// has, only what differs is translated.
//
//   memory     It costs 30 euros at the station.     Am Bahnhof kostet es 30 Euro.
//   sentence   It costs 45 euros at the station.
//
//   read in one pass     Am Bahnhof kostet es | 30   45 is what the model says of the changed word
//   decoded              45
//   read in one pass     Euro.
//
// The stored target is a draft (decode/drafts.h) that the greedy search keeps where it can: a token
// of it stays if the model finds it not much less likely than its own choice, and if it is not
// mainly a source word that has changed to which it attends.  So what somebody has approved
// stays, and what no longer fits goes, with whatever depends on it (an ending, an article).
//
// A repair that on the whole is much less likely than the model's own choices is doubtful: then the
// sentence is also translated without it, and of the two translations that with the better score
// counts.  Most repairs are not doubtful, and save that work.

#ifndef DRAGOMAN_ENGINE_REQUEST_REPAIR_H_
#define DRAGOMAN_ENGINE_REQUEST_REPAIR_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "engine/decode/job.h"
#include "engine/text/text_span.h"

namespace dragoman {

// For each token of a source sentence, of which these are the bytes: 1 if it is of a word that the
// stored sentence does not have there, else 0.
std::vector<char> ChangedTokens(std::string_view stored, std::string_view sentence,
                                absl::Span<const TextSpan> tokens);

// Adds tokens to a shortlist, unless that is empty, which means the whole vocabulary.
void AddToShortlist(absl::Span<const int32_t> tokens, std::vector<int32_t>* shortlist);

// Whether a job, which translates a sentence plainly, could do so by repairing: it searches for one
// best translation, freely, with a network that attends and takes several tokens.
bool IsRepairable(const Job& plain);

// The same job as one that repairs this target.  REQUIRES: IsRepairable.
JobPtr MakeRepair(const Job& plain, std::vector<int32_t> target, std::vector<char> changed,
                  float most_loss);

// Whether the sentence should be translated plainly, too.
bool IsDoubtful(const Hypothesis& repair, float doubtful_loss);

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_REQUEST_REPAIR_H_
