// Cuts a word into pieces as the models of Hugging Face's tokenizers library do ("Unigram" and
// "BPE" of tokenizer.json), whose choice among equally good cuts differs from SentencePiece's.

#ifndef DRAGOMAN_ENGINE_TEXT_PIECE_SEARCH_H_
#define DRAGOMAN_ENGINE_TEXT_PIECE_SEARCH_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "engine/text/text_span.h"

namespace dragoman {

// A piece of a word and where it stands there.
struct PlacedPiece {
  int32_t id = 0;
  TextSpan span;
};

// The pieces of a model and their ids.  Immutable but for the two settings.
class PieceTable {
 public:
  // By their ids; "" for an id without a piece.  Of two equal ones, the second is found.
  explicit PieceTable(const std::vector<std::string>& pieces);
  PieceTable(const PieceTable&) = delete;
  PieceTable& operator=(const PieceTable&) = delete;

  int32_t size() const { return static_cast<int32_t>(starts_.size()) - 1; }
  // REQUIRES: 0 <= id < size().
  std::string_view Piece(int32_t id) const {
    return std::string_view(texts_).substr(starts_[id], starts_[id + 1] - starts_[id]);
  }
  // Negative if there is no such piece.
  int32_t IdOf(std::string_view piece) const;

  // Appends the pieces of the bytes of a part of the word, <0xE2> and so on; false, with nothing
  // appended, if `byte_fallback` is off or a byte has no piece.  Unigram gives each of them the
  // whole part.
  bool AddBytes(std::string_view word, TextSpan part, bool whole,
                std::vector<PlacedPiece>* found) const;

  int32_t unknown_id = 0;
  bool byte_fallback = false;

 private:
  std::string texts_;           // of all pieces
  std::vector<size_t> starts_;  // of each in them, and the end
  absl::flat_hash_map<std::string_view, int32_t> ids_;
};

// All pieces that a text begins with.  Immutable.  The nodes stand level by level, so the children
// of a node follow each other, and where they end, those of the next node begin:
//
//   a, ab, ac, b:   root -> [a b] -> [b c]
class PieceTrie {
 public:
  // Of two equal pieces, the second is found.
  explicit PieceTrie(const PieceTable& table);

  // Calls found(id, length) for each piece that the text begins with, the shortest first.
  template <typename Found>
  void ForBeginnings(std::string_view text, Found found) const {
    uint32_t node = 0;
    for (size_t i = 0; i < text.size(); ++i) {
      node = Child(node, static_cast<uint8_t>(text[i]));
      if (node == 0) return;
      if (ids_[node] >= 0) found(ids_[node], i + 1);
    }
  }

 private:
  // 0: none.
  uint32_t Child(uint32_t node, uint8_t byte) const;

  std::vector<uint8_t> bytes_;   // by node, as all of these
  std::vector<int32_t> ids_;     // negative: no piece ends here
  std::vector<uint32_t> first_;  // child
};

class PieceSearch {
 public:
  virtual ~PieceSearch() = default;
  // Appends the pieces of the word.  REQUIRES: word is valid UTF-8.
  virtual void Cut(std::string_view word, std::vector<PlacedPiece>* found) const = 0;
};

// The cut whose pieces have the highest sum of scores (Kudo 2018).  A character without a piece
// costs ten more than the worst piece, and neighbours without pieces become one unknown piece.
class UnigramSearch : public PieceSearch {
 public:
  // The scores by the ids of the pieces.
  UnigramSearch(const PieceTable* table, std::vector<double> scores);
  void Cut(std::string_view word, std::vector<PlacedPiece>* found) const override;

 private:
  const PieceTable& table_;
  const PieceTrie trie_;
  const std::vector<double> scores_;
  double unknown_score_ = 0.0;
};

// Joins the two neighbours that come first in the list of merges, until no two of them are listed
// (Sennrich et al. 2016).  Of equal pairs, the left one.
//
//   merges "l o", "lo w":   l o w e r  ->  lo w e r  ->  low e r
class MergeSearch : public PieceSearch {
 public:
  struct Merge {
    uint32_t rank = 0;
    int32_t joined = 0;  // the piece that the two become
  };
  using Merges = absl::flat_hash_map<std::pair<int32_t, int32_t>, Merge>;

  // `fuse_unknown`: neighbours without pieces become one unknown piece.
  MergeSearch(const PieceTable* table, Merges merges, bool fuse_unknown);
  void Cut(std::string_view word, std::vector<PlacedPiece>* found) const override;

 private:
  std::vector<PlacedPiece> Characters(std::string_view word) const;

  const PieceTable& table_;
  const Merges merges_;
  const bool fuse_unknown_;
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_TEXT_PIECE_SEARCH_H_
