// The phrases that a translation must contain, and the progress of its hypotheses towards them.
//
// With the phrase "a b c", after "... a b":
//
//   next c    the phrase is complete
//   next a    "b a" does not begin the phrase, but "a" does
//   next x    nothing of the phrase is left
//
// This is the automaton of Knuth, Morris and Pratt's search, one token at a time.  A complete
// phrase counts as said when the next token shows that its last word has ended.  If that token
// continues the word, the phrase is not said: "hou se" is not said in "hou se n".
//
// A phrase may have several forms ("Haus", "Haus es", "Häus er"), any of which says it.  All forms
// are one tree of tokens, so a step costs as much as it has ways to go on, however many forms there
// are.

#ifndef DRAGOMAN_ENGINE_SEARCH_PHRASES_H_
#define DRAGOMAN_ENGINE_SEARCH_PHRASES_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/types/span.h"
#include "engine/search/search.h"
#include "engine/text/word_joins.h"

namespace dragoman {

// How much of the phrases one hypothesis contains.
struct PhraseProgress {
  uint64_t said = 0;  // a bit for each phrase
  int path = 0;       // how many tokens of a phrase not yet said are at the end of the hypothesis
  int counted = 0;    // how many of them count: no more than the phrase's shortest form has

  friend bool operator==(const PhraseProgress&, const PhraseProgress&) = default;
};

// Immutable. `tokens` below are those of a hypothesis, and `progress` is their progress.
class Phrases {
 public:
  static constexpr int kMax = 64;

  // `joins` may be null: then any token ends a phrase.  REQUIRES: at most kMax phrases.
  Phrases(const std::vector<Phrase>& phrases, std::shared_ptr<const WordJoins> joins);

  int size() const { return static_cast<int>(lengths_.size()); }
  // The number of tokens of all of them, each in its shortest form.
  int tokens() const { return tokens_; }

  // The progress after one more token.
  PhraseProgress After(absl::Span<const int32_t> tokens, const PhraseProgress& progress,
                       int32_t token) const;

  // The phrases that are said if nothing follows the tokens: a bit for each.
  uint64_t Said(absl::Span<const int32_t> tokens, const PhraseProgress& progress) const;
  uint64_t Said(absl::Span<const int32_t> tokens) const { return Said(tokens, ProgressOf(tokens)); }

  PhraseProgress ProgressOf(absl::Span<const int32_t> tokens) const;

  // The number of tokens of the phrases said, each in its shortest form, and of the one that the
  // hypothesis ends in.
  int TokensSaid(const PhraseProgress& progress) const;

  // The phrases not said that begin with the token: a bit for each.
  uint64_t Begun(const PhraseProgress& progress, int32_t token) const;

  // The tokens that would begin a phrase or continue one, ascending.
  void Next(absl::Span<const int32_t> tokens, const PhraseProgress& progress,
            std::vector<int32_t>* next) const;

 private:
  bool Joins(int32_t before, int32_t token) const {
    return joins_ != nullptr && joins_->Joins(before, token);
  }
  // A beginning of forms.  The children of node n are the nodes from first_child of n up to that of
  // n + 1, in the order of their tokens.
  struct Node {
    int32_t token = 0;  // its last one
    uint32_t first_child = 0;
    uint64_t forms = 0;     // the phrases that have forms which begin like this: a bit for each
    uint64_t complete = 0;  // those that it is a form of
  };
  static constexpr uint32_t kNone = ~uint32_t{0};

  void AddNodes(const std::vector<Phrase>& phrases);
  absl::Span<const Node> Children(uint32_t node) const;
  uint32_t Child(uint32_t node, int32_t token) const;
  uint32_t EndOf(absl::Span<const int32_t> tokens, int length) const;

  std::vector<Node> nodes_;   // the root first, then the shorter before the longer; then a last one
  std::vector<int> lengths_;  // by phrase: of the shortest form
  const std::shared_ptr<const WordJoins> joins_;
  int tokens_ = 0;
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_SEARCH_PHRASES_H_
