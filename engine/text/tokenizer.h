// Text to token ids and back.
//
//   "The cat."  ->  [▁The ▁cat . </s>]  ->  [511, 870, 183, 0]
//
// Literal special tokens (</s>, <unk>, ...) are cut out of the text first.  Each chunk between them
// goes through the SentencePiece model separately, and its pieces are looked up in the vocabulary;
// a missing piece becomes the unknown token.  The tokens before and after the text depend on the
// languages and are called its frame.  The only normalization is that of the SentencePiece model.
//
// The rules are those of Hugging Face's tokenizers.  Which of them apply to a model is data:
// TokenizerParts, which the adapter of its family fills in.

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

constexpr std::string_view kMetaSpace = "▁";  // SentencePiece's mark for a space

struct EncodedText {
  std::vector<int32_t> ids;  // with the frame
  int text_tokens = 0;       // without the frame; 0: there is nothing to translate
  int after = 0;             // how many ids follow the text
  // The part of the text that each id comes from, without white space at its ends; empty for ids of
  // the frame.  Only if requested.
  std::vector<TextSpan> spans;

  // Drops tokens from the end of the text until at most `most` ids, or only the frame's, are left.
  void Truncate(int most);
};

// What the languages of a request put around the text, and how its translation begins.
struct Frame {
  std::string text_prefix;               // goes through the SentencePiece model with the text
  std::vector<int32_t> before;           // tokens
  std::vector<int32_t> after;            // tokens, the end of the sentence among them
  std::optional<int32_t> decoder_start;  // instead of the model's own
  std::optional<int32_t> forced_bos;     // the first generated token
};

// A token that a text may contain literally.
struct SpecialToken {
  std::string text;
  int32_t id = 0;
  bool trims_left = false;  // removes the white space before it
  bool trims_right = false;
  bool is_text = false;  // a translation shows it
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
  // A text that begins with this token has nothing to translate, whatever follows.
  std::optional<int32_t> ends_text;
  bool reversed = false;  // the model reads and writes the last token first
  std::vector<SpecialToken> special_tokens;
  std::vector<int32_t> skipped;  // target ids that produce no text
  // A `>>xx<<` at the start of a text is one token, and replaces the one that a pair would add.
  bool leading_language_code = false;
  bool eos_once =
      false;  // a text that already ends in the frame's last tokens does not get them again
  Languages languages;
  // The frame for a pair that `languages` has resolved, or the model's own for a pair without
  // names.
  std::function<Frame(const LanguagePair&)> frame;
};

// Immutable, so safe for concurrent use.
class Tokenizer {
 public:
  // REQUIRES: no part is missing.
  explicit Tokenizer(TokenizerParts parts);

  const TokenizerParts& parts() const { return parts_; }
  const Languages& languages() const { return parts_.languages; }
  // REQUIRES: languages() has resolved the pair, or the pair has no names.
  Frame FrameOf(const LanguagePair& pair) const { return parts_.frame(pair); }

  // The ids of the source vocabulary for `text` in its frame, and their spans if `with_spans`.
  // REQUIRES: text is valid UTF-8.
  EncodedText Encode(std::string_view text, const Frame& frame, bool with_spans = false) const;
  // Encodes in the frame of a pair without names.
  EncodedText Encode(std::string_view text) const { return Encode(text, FrameOf({})); }

  // The ids of the target vocabulary for `text`, without eos and special tokens.
  // REQUIRES: text is valid UTF-8.
  std::vector<int32_t> EncodeTarget(std::string_view text) const;

  // The tokens for pieces that are not in the source vocabulary, and in the target vocabulary.
  int32_t source_unknown_id() const { return parts_.unknown_id; }
  int32_t target_unknown_id() const { return parts_.target_unknown_id.value_or(parts_.unknown_id); }

  // The text of ids of the target vocabulary.  Special tokens and ids outside of the vocabulary are
  // skipped; white space at both ends is stripped.
  std::string Decode(absl::Span<const int32_t> ids) const;

  // Decodes, and says which part of the text each id produced, without white space at its ends.
  // Unless `words` is empty, it gives for each id the word to write instead of an unknown token; ""
  // leaves the token as it is.
  struct DecodedText {
    std::string text;
    std::vector<TextSpan> spans;  // one per id
  };
  DecodedText DecodeWithSpans(absl::Span<const int32_t> ids,
                              absl::Span<const std::string> words = {}) const;

  // The whole words that any text beginning with these ids must begin with.  The last word is left
  // out because it may continue, except in scripts that put no spaces between words, such as
  // Japanese.
  //
  //   [▁The ▁old ▁teach]  ->  "The old"
  std::string DecodeStable(absl::Span<const int32_t> ids) const;

  // The piece of an id; "<unk>" for an id outside of the vocabulary.
  const std::string& SourcePiece(int32_t id) const;
  const std::string& TargetPiece(int32_t id) const;

  // Whether an id of the target vocabulary produces text; special tokens do not.
  bool WritesText(int32_t id) const;

  // Whether the model reads and writes the last token of a text first.
  bool reversed() const { return parts_.reversed; }

  // Whether source and target use the same tokens.
  bool shares_vocabulary() const { return parts_.source_vocabulary == parts_.target_vocabulary; }

  // One more than the highest id.
  int source_vocabulary_size() const { return parts_.source_vocabulary->size(); }
  int target_vocabulary_size() const { return parts_.target_vocabulary->size(); }

 private:
  DecodedText DecodeInOrder(absl::Span<const int32_t> ids,
                            absl::Span<const std::string> words) const;
  // Appends the ids of a text: special tokens, and the chunks between them.
  void EncodeText(std::string_view text, bool with_spans, EncodedText* encoded) const;
  void EncodeChunk(std::string_view text, TextSpan chunk, bool with_spans,
                   EncodedText* encoded) const;
  bool BeginsWithCode(std::string_view text) const;
  std::vector<std::string> PiecesOfText(absl::Span<const int32_t> ids) const;
  std::string TextOf(const std::vector<std::string>& pieces) const;
  const SpecialToken* SpecialTokenAt(std::string_view text) const;

  const TokenizerParts parts_;
  std::string special_beginnings_;  // the first bytes of the special tokens, each once
};

// Reads a .spm or .model file.  NOT_FOUND if there is none; INVALID_ARGUMENT if it is not one.
absl::StatusOr<std::shared_ptr<const PieceModel>> ReadPieceModel(const std::string& path);

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_TEXT_TOKENIZER_H_
