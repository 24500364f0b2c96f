// Guesses at how a greedy translation goes on, so that it takes fewer steps.  A draft is another
// translation, such as that of the text before it was edited:
//
//   draft      Das Haus ist alt und schön.
//   step 1     proposed: Das Haus ist alt und schön.     the search chooses: Das Haus war
//   step 2     proposed: nothing                         the search chooses: alt
//   step 3     proposed: und schön.                      the search chooses: und schön. eos
//
// The network reads all that is proposed in one step, as it reads a prefix, and the search chooses
// after each of its tokens until it chooses another one.  By the row law these are the choices that
// it would have made one by one, so the translation is the same, bit for bit; a bad draft only
// takes rows.
//
// With Job::draft_loss, the draft is a good translation of a similar sentence, of which no more is
// to be changed than must be (repair.h).  It begins with a proposal of all of it.  A proposed token
// stays although the search would choose another one, unless it is much less likely or attends to
// source words that have changed.  Then the search goes on by itself, and returns to the draft
// where it would choose what the draft has.
//
// Pure bookkeeping, for one thread at a time.

#ifndef DRAGOMAN_ENGINE_DECODE_DRAFTS_H_
#define DRAGOMAN_ENGINE_DECODE_DRAFTS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "engine/decode/job.h"

namespace dragoman {

class Draft {
 public:
  // Whether the job's search and network can use its draft: greedy search without phrases, by a
  // network that takes several tokens.
  static bool IsUsed(const Job& job);
  // How many proposed tokens may turn out wrong: what a sentence's state needs room for besides.
  static int MostWrong(const Job& job) {
    const int size = static_cast<int>(job.draft.size());
    return (job.draft_loss > 0.0f ? 2 * size : size / 2) + kFirst;
  }

  // The job outlives it.
  explicit Draft(const Job& job)
      : job_(job), wrong_left_(MostWrong(job)), most_(job.draft_loss > 0.0f ? kMost : kFirst) {}

  // What to propose after these tokens; perhaps nothing.
  absl::Span<const int32_t> Propose(absl::Span<const int32_t> tokens);
  // How much less likely than the best a proposed token may be: the first one of the last proposal,
  // or another one.
  float MostLoss(bool first) const { return first && returns_ ? 0.0f : job_.draft_loss; }
  // How many of the last proposal's tokens were chosen; the search has chosen one more in any case.
  void Chosen(int tokens);

 private:
  // The most tokens of a proposal: of the first, after one that was wrong, and ever.
  static constexpr int kFirst = 16, kCautious = 8, kMost = 64;

  bool FindPlace(absl::Span<const int32_t> tokens);

  const Job& job_;
  int wrong_left_;
  size_t place_ = 0;      // in the draft, of the next token
  bool follows_ = true;   // the tokens so far lead there
  bool returns_ = false;  // the last proposal came after tokens that the draft does not have
  int most_;              // of the next proposal
  int proposed_ = 0;      // of the last one
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_DECODE_DRAFTS_H_
