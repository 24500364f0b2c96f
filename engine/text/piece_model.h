// Cuts texts into the pieces of a model, and puts pieces together to texts.
//
// The SentencePiece library stands behind this interface of standard types: its header declares an
// absl::string_view of its own, so it cannot be included together with Abseil's.  Only
// piece_model.cc uses it.

#ifndef DRAGOMAN_ENGINE_TEXT_PIECE_MODEL_H_
#define DRAGOMAN_ENGINE_TEXT_PIECE_MODEL_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/text/text_span.h"

namespace dragoman {

// Immutable, so safe for concurrent use.
class PieceModel {
 public:
  // Parses the bytes of a .spm file.  Null, with the reason in *error, if they are not one.
  static std::unique_ptr<const PieceModel> Load(std::string_view bytes, std::string* error);

  // For models without a .spm file: the pieces of a text are its words, separated by white space.
  // A word that is not in `words` is split into characters.  Decode puts spaces between the pieces.
  static std::unique_ptr<const PieceModel> OfWords(const std::vector<std::string>& words);

  // For models without a list of words, too: whatever is between spaces is a piece.
  static std::unique_ptr<const PieceModel> OfSpaces();

  // The pieces of a text are its bytes, <0x00> to <0xFF>; their ids begin with `first`.  Decode
  // leaves out bytes that are no part of a character.
  static std::unique_ptr<const PieceModel> OfBytes(int32_t first);

  PieceModel() = default;
  virtual ~PieceModel() = default;
  PieceModel(const PieceModel&) = delete;
  PieceModel& operator=(const PieceModel&) = delete;

  // The pieces of the normalized text.  Unless `spans` is null, it gets the part of the text that
  // each piece comes from; pieces that came from one character all get that character.  REQUIRES:
  // text is valid UTF-8.
  virtual std::vector<std::string> Encode(std::string_view text,
                                          std::vector<TextSpan>* spans = nullptr) const = 0;

  // The ids of the pieces that Encode returns, as the file numbers them.  Characters that the file
  // does not have become a piece with unknown_id(), even if that is spelled like a piece of the
  // file, such as </s>.  `starts`: the text is not a part behind the start of a longer one, which
  // some files treat differently.  REQUIRES: has_file().
  virtual std::vector<int32_t> EncodeAsIds(std::string_view text, bool starts,
                                           std::vector<TextSpan>* spans = nullptr) const = 0;
  virtual int32_t eos_id() const { return -1; }      // negative if there is none
  virtual int32_t unknown_id() const { return -1; }  // negative if there is none

  // Whether a file says what the pieces are; otherwise texts are split into words.
  virtual bool has_file() const { return true; }
  // Whether the file has this piece.  False if there is none.
  virtual bool Has(const std::string& piece) const = 0;

  // The pieces by their ids in the file; "" for an id without a piece.
  virtual std::vector<std::string> Pieces() const = 0;

  // The text that the pieces spell; `spans` as above.
  virtual std::string Decode(const std::vector<std::string>& pieces,
                             std::vector<TextSpan>* spans = nullptr) const = 0;

  // Whether the text of a sequence of pieces begins with the text of its first pieces, as long as
  // those end in whole characters (a character may be spelled byte by byte: <0xE2> <0x82> <0xAC>).
  // False if the file has rules that rewrite the whole text.
  virtual bool decodes_in_order() const { return true; }
};

// The piece of a byte, <0xE2>, and the byte that such a piece stands for; negative for any other.
std::string PieceOfByte(uint8_t byte);
int ByteOfPiece(std::string_view piece);

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_TEXT_PIECE_MODEL_H_
