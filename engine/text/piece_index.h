// The pieces of a target vocabulary in alphabetical order, to find all that begin with a given
// text.

#ifndef DRAGOMAN_ENGINE_TEXT_PIECE_INDEX_H_
#define DRAGOMAN_ENGINE_TEXT_PIECE_INDEX_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "engine/text/tokenizer.h"

namespace dragoman {

// How the vocabulary writes a phrase at the start of a word: "▁old▁house".  A phrase that begins
// with punctuation can follow anything.
std::string InPieces(std::string_view phrase);

// Immutable.
class PieceIndex {
 public:
  explicit PieceIndex(const Tokenizer& tokenizer);
  // Of these pieces, by token.
  explicit PieceIndex(std::vector<std::string> pieces);

  // The tokens whose pieces begin with `beginning`.
  absl::Span<const int32_t> BeginningWith(std::string_view beginning) const;

  // Adds to `banned` each token that, after `tokens`, would complete the phrase (InPieces), however
  // it is cut into pieces.
  void FindLast(std::string_view phrase, absl::Span<const int32_t> tokens,
                std::vector<int32_t>* banned) const;

 private:
  std::vector<std::string> pieces_;  // by token
  std::vector<int32_t> sorted_;      // the tokens, by their pieces
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_TEXT_PIECE_INDEX_H_
