// The pieces of a target vocabulary in alphabetical order, to find all that begin with a given
// text, and the tokens that would complete a phrase.
//
// A phrase that begins with a letter must begin where a word does: after a space, but also at the
// start of the text, after punctuation, and after a token that writes no text.  Of "er":
//
//   ▁er        in one piece, after a space
//   er         the first piece of the text, or after "." or <unk>, but not after "▁Kind"
//   ▁(er       within a piece, after a bracket
//   ▁e, then r

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
  // Of these pieces, by token; "" for a token that writes no text.
  explicit PieceIndex(std::vector<std::string> pieces);
  PieceIndex(const PieceIndex&) = delete;
  PieceIndex& operator=(const PieceIndex&) = delete;

  // The tokens whose pieces begin with `beginning`.
  absl::Span<const int32_t> BeginningWith(std::string_view beginning) const;

  // Adds to `banned` each token that, after `tokens`, would complete the phrase (InPieces), however
  // it is cut into pieces.
  void FindLast(std::string_view phrase, absl::Span<const int32_t> tokens,
                std::vector<int32_t>* banned) const;

 private:
  // The end of a piece, from where a word or a mark begins.
  struct End {
    std::string_view text;
    int32_t token = 0;
  };

  std::string TailOf(absl::Span<const int32_t> tokens, size_t size) const;

  const std::vector<std::string> pieces_;  // by token
  std::vector<int32_t> sorted_;            // the tokens, by their pieces
  std::vector<End> ends_;                  // of pieces, without whole ones; by their text
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_TEXT_PIECE_INDEX_H_
