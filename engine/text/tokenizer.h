// Text to token ids and back.
//
//   "The cat."  ->  [▁The ▁cat . </s>]  ->  [511, 870, 183, 0]
//
// Literal special tokens (</s>, <unk>, ...) are cut out of the text first; each chunk between them
// goes through the SentencePiece model by itself, and its pieces are looked up in the vocabulary; a
// piece that is not there is the unknown token.  What precedes and follows the text depends on
// the languages: a frame.  The only normalization is the one inside the SentencePiece model.
//
// The rules are those of Hugging Face's tokenizers; which of them a model has is data, the
// TokenizerParts that its family's adapter fills in.

#ifndef DRAGOMAN_ENGINE_TEXT_TOKENIZER_H_
#define DRAGOMAN_ENGINE_TEXT_TOKENIZER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "engine/text/languages.h"
#include "engine/text/piece_model.h"
#include "engine/text/vocabulary.h"

namespace dragoman {

struct EncodedText {
  std::vector<int32_t> ids;  // with the frame
  int text_tokens = 0;       // without it; 0: there is nothing to translate
  int after = 0;             // how many of the ids follow the text
  int unknown_tokens = 0;    // how many of them are unknown
  // The part of the text that each id stands for, without white space at its ends; empty for the
  // frame's.  Only if it was asked for.
  std::vector<TextSpan> spans;

  // Cuts the text's last tokens, so that no more than `most` ids are left, or those of the frame.
  void Truncate(int most);
};

// What the languages of a text put around it, and how its translation begins.
struct Frame {
  std::string text_prefix;               // goes through the SentencePiece model with the text
  std::vector<int32_t> before;           // tokens
  std::vector<int32_t> after;            // tokens, the end of the sentence among them
  std::optional<int32_t> decoder_start;  // in place of the model's own
  std::optional<int32_t> forced_bos;     // the first generated token
};

// A token that a text may contain literally.
struct SpecialToken {
  std::string text;
  int32_t id = 0;
  bool trims_left = false;  // takes the white space before it
  bool trims_right = false;
};

struct TokenizerParts {
  std::shared_ptr<const PieceModel> source_pieces;
  std::shared_ptr<const PieceModel> target_pieces;
  std::shared_ptr<const Vocabulary> source_vocabulary;
  std::shared_ptr<const Vocabulary> target_vocabulary;
  int32_t unknown_id = 0;
  std::optional<int32_t> target_unknown_id;  // if it is another one
  bool numbered_pieces =
      false;  // the ids of the vocabularies are those of the SentencePiece models
  // A text that begins with it says nothing to translate, whatever follows.
  std::optional<int32_t> ends_text;
  bool reversed = false;  // the model reads and writes the last token first
  std::vector<SpecialToken> special_tokens;
  std::vector<int32_t> skipped;        // target ids that are no text
  bool leading_language_code = false;  // a `>>xx<<` that a text begins with is one token
  bool eos_once = false;  // a text that ends in the frame's last tokens needs no others
  Languages languages;
  // The frame of a pair that `languages` has resolved; of a pair without names, the model's own.
  std::function<Frame(const LanguagePair&)> frame;
};

// Immutable, so safe for concurrent use.
class Tokenizer {
 public:
  // REQUIRES: the parts are all there.
  explicit Tokenizer(TokenizerParts parts);

  const Languages& languages() const { return parts_.languages; }
  // REQUIRES: languages() has resolved the pair, or it has no names.
  Frame FrameOf(const LanguagePair& pair) const { return parts_.frame(pair); }

  // The ids of the source vocabulary for `text` in its frame, and their spans if `with_spans`.
  // REQUIRES: text is valid UTF-8.
  EncodedText Encode(std::string_view text, const Frame& frame, bool with_spans = false) const;
  // In the frame of a pair without names.
  EncodedText Encode(std::string_view text) const { return Encode(text, FrameOf({})); }

  // The ids of the target vocabulary for `text`, without eos and special tokens.
  // REQUIRES: text is valid UTF-8.
  std::vector<int32_t> EncodeTarget(std::string_view text) const;

  // What stands for pieces that the source's, and the target's, vocabulary does not have.
  int32_t source_unknown_id() const { return parts_.unknown_id; }
  int32_t target_unknown_id() const { return parts_.target_unknown_id.value_or(parts_.unknown_id); }

  // The text of ids of the target vocabulary.  Special tokens and ids outside of the vocabulary are
  // skipped; white space at both ends is stripped.
  std::string Decode(absl::Span<const int32_t> ids) const;

  // The same with the part of the text that each id stands for, without white space at its ends.
  // `words`, unless it is empty, says by id what to write in place of an unknown token; "" leaves
  // it as it is.
  struct DecodedText {
    std::string text;
    std::vector<TextSpan> spans;  // as many as ids
  };
  DecodedText DecodeWithSpans(absl::Span<const int32_t> ids,
                              absl::Span<const std::string> words = {}) const;

  // Whole words with which the text of any ids begins that begin with these: the last word is left
  // out, for it may go on (but for scripts that put no spaces between words, such as Japanese).
  //
  //   [▁The ▁old ▁teach]  ->  "The old"
  std::string DecodeStable(absl::Span<const int32_t> ids) const;

  // The piece that an id stands for; "<unk>" for an id outside of the vocabulary.
  const std::string& SourcePiece(int32_t id) const;
  const std::string& TargetPiece(int32_t id) const;

  // Whether the source's tokens are the target's.
  bool shares_vocabulary() const { return parts_.source_vocabulary == parts_.target_vocabulary; }

  // One more than the highest id.
  int source_vocabulary_size() const { return parts_.source_vocabulary->size(); }
  int target_vocabulary_size() const { return parts_.target_vocabulary->size(); }

 private:
  DecodedText DecodeInOrder(absl::Span<const int32_t> ids,
                            absl::Span<const std::string> words) const;
  void EncodeChunk(std::string_view text, TextSpan chunk, bool with_spans,
                   EncodedText* encoded) const;
  bool IsSkipped(int32_t id) const;
  std::vector<std::string> PiecesOfText(absl::Span<const int32_t> ids) const;
  std::string TextOf(const std::vector<std::string>& pieces) const;
  const SpecialToken* SpecialTokenAt(std::string_view text) const;

  const TokenizerParts parts_;
  std::string special_beginnings_;  // the first bytes of the special tokens, each once
};

// Reads a .spm or .model file.  NOT_FOUND if there is none, INVALID_ARGUMENT if it is none.
absl::StatusOr<std::shared_ptr<const PieceModel>> ReadPieceModel(const std::string& path);

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_TEXT_TOKENIZER_H_
