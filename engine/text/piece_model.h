// The SentencePiece library, behind an interface of standard types: its header declares an
// absl::string_view of its own, so it cannot be included together with Abseil's.  Only this file
// uses it.

#ifndef DRAGOMAN_ENGINE_TEXT_PIECE_MODEL_H_
#define DRAGOMAN_ENGINE_TEXT_PIECE_MODEL_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/text/text_span.h"

namespace dragoman {

// A .spm file.  Immutable after Load, so safe for concurrent use.
class PieceModel {
 public:
  // Parses the bytes of a .spm file.  Null, with the reason in *error, if they are not one.
  static std::unique_ptr<const PieceModel> Load(std::string_view bytes, std::string* error);

  // For models without a .spm file: the pieces of a text are its words, separated by white space.
  // A word that is not in `words` is split into characters.  Decode puts spaces between the pieces.
  static std::unique_ptr<const PieceModel> OfWords(const std::vector<std::string>& words);

  // For models without a list of words, too: whatever is between spaces is a piece.
  static std::unique_ptr<const PieceModel> OfSpaces();

  ~PieceModel();
  PieceModel(const PieceModel&) = delete;
  PieceModel& operator=(const PieceModel&) = delete;

  // The pieces of the normalized text.  Unless `spans` is null, it gets the part of the text that
  // each piece comes from; pieces that came from one character all get that character.  REQUIRES:
  // text is valid UTF-8.
  std::vector<std::string> Encode(std::string_view text,
                                  std::vector<TextSpan>* spans = nullptr) const;

  // The ids of the pieces that Encode returns, as the .spm file numbers them.  Characters that the
  // file does not have become a piece with unknown_id(), even if that is spelled like a piece of
  // the file, such as </s>.  REQUIRES: there is a file.
  std::vector<int32_t> EncodeAsIds(std::string_view text,
                                   std::vector<TextSpan>* spans = nullptr) const;
  int32_t eos_id() const;      // negative if there is none
  int32_t unknown_id() const;  // negative if there is none

  // Whether there is a .spm file; otherwise texts are split into words.
  bool has_file() const;
  // Whether the file has this piece.  False if there is none.
  bool Has(const std::string& piece) const;

  // The pieces by their ids in the file.
  std::vector<std::string> Pieces() const;

  // The text that the pieces spell; `spans` as above.
  std::string Decode(const std::vector<std::string>& pieces,
                     std::vector<TextSpan>* spans = nullptr) const;

  // Whether the text of a sequence of pieces begins with the text of its first pieces, as long as
  // those end in whole characters (a character may be spelled byte by byte: <0xE2> <0x82> <0xAC>).
  // False if the file has rules that rewrite the whole text.
  bool decodes_in_order() const;

 private:
  struct Impl;
  explicit PieceModel(std::unique_ptr<const Impl> impl);

  std::unique_ptr<const Impl> impl_;
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_TEXT_PIECE_MODEL_H_
