// The second half of a translation (plan.h is the first): from the results of the jobs to the
// translations of the texts.  Pure.

#ifndef DRAGOMAN_ENGINE_REQUEST_ASSEMBLY_H_
#define DRAGOMAN_ENGINE_REQUEST_ASSEMBLY_H_

#include <optional>
#include <vector>

#include "engine/decode/job.h"
#include "engine/request/plan.h"
#include "engine/request/rendering.h"
#include "engine/request/still_wanted.h"
#include "engine/request/translation.h"
#include "engine/text/tokenizer.h"

namespace dragoman {

// Keeps the `count` hypotheses that are most similar to the others (chrf.h), most similar first.
void ChooseByConsensus(const Tokenizer& tokenizer, int count, std::vector<Hypothesis>* hypotheses);

// The translation of one text.  `results` are those of all jobs of the plan, and `alignment` is the
// plan's.  Once it is not `wanted`, it ends within a sentence and is not complete.  REQUIRES: the
// results of the text's jobs are OK.
Translation Assemble(const Tokenizer& tokenizer, const PlannedText& text,
                     absl::Span<const JobResult> results, const AlignmentPlan& alignment,
                     StillWanted* wanted);

// Marks the translation of text number `text` if it is below the least quality, if there is one.
// FAILED_PRECONDITION, which names the text, if it is to be refused.
absl::Status CheckQuality(std::optional<float> least, bool refuse, size_t text,
                          Translation* translation);

// The text of a sentence as it appears in the translation of a text without markup; without a
// hypothesis, what a memory answers, or the sentence itself.
std::string TextOf(const Tokenizer& tokenizer, const PlannedText& text, size_t sentence,
                   const Hypothesis* hypothesis, const AlignmentPlan& alignment);

// Tells a renderer the translation of sentence number `sentence` of a text with markup, with the
// places of its marks; without a hypothesis, what a memory answers.  Of a sentence that stays as it
// is, nothing is told.
void RenderSentence(const Tokenizer& tokenizer, const PlannedText& text, size_t sentence,
                    const Hypothesis* hypothesis, const AlignmentPlan& alignment,
                    Renderer* renderer);

// Numbers are looked for if there is a `language` that they are written in.
SentenceFaults FaultsOf(const Tokenizer& tokenizer, const PlannedText& text, size_t sentence,
                        absl::Span<const Hypothesis> hypotheses, const AlignmentPlan& alignment,
                        const std::string* language);

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_REQUEST_ASSEMBLY_H_
