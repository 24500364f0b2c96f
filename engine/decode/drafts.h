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
  static int MostWrong(const Job& job) { return static_cast<int>(job.draft.size()) / 2 + kFirst; }

  // The job outlives it.
  explicit Draft(const Job& job) : job_(job), wrong_left_(MostWrong(job)) {}

  // What to propose after these tokens; perhaps nothing.
  absl::Span<const int32_t> Propose(absl::Span<const int32_t> tokens);
  // How many of the last proposal's tokens were chosen; the search has chosen one more in any case.
  void Chosen(int tokens);

 private:
  // The most tokens of a proposal: of the first, after one that was wrong, and ever.
  static constexpr int kFirst = 16, kCautious = 8, kMost = 64;

  bool FindPlace(absl::Span<const int32_t> tokens);

  const Job& job_;
  int wrong_left_;
  size_t place_ = 0;     // in the draft, of the next token
  bool follows_ = true;  // the tokens so far lead there
  int most_ = kFirst;    // of the next proposal
  int proposed_ = 0;     // of the last one
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_DECODE_DRAFTS_H_
