// Text to token ids and back, as Hugging Face's MarianTokenizer does it.
//
//   "The cat."  ->  [▁The ▁cat . </s>]  ->  [511, 870, 183, 0]
//
// Literal special tokens (</s>, <unk>, <pad>) are cut out of the text first; each chunk between
// them goes through source.spm by itself; the pieces are looked up in vocab.json (SentencePiece's
// own ids are never used; a piece that is not there is <unk>) and </s> is added.  A leading
// `>>xx<<` is one token, which chooses the target language of a many-to-many model.  The only
// normalization is the one inside the .spm file.

#ifndef DRAGOMAN_ENGINE_TEXT_TOKENIZER_H_
#define DRAGOMAN_ENGINE_TEXT_TOKENIZER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace dragoman {

struct EncodedText {
  std::vector<int32_t> ids;  // ends in eos
  int unknown_tokens = 0;    // how many of them are <unk>
};

// Immutable after Load, so safe for concurrent use.
class Tokenizer {
 public:
  // Reads source.spm, target.spm and vocab.json (with `separate_vocabs` in tokenizer_config.json
  // also target_vocab.json) from a model directory.  NOT_FOUND names a missing file,
  // INVALID_ARGUMENT a malformed one.
  static absl::StatusOr<std::unique_ptr<const Tokenizer>> Load(const std::string& directory);

  ~Tokenizer();
  Tokenizer(const Tokenizer&) = delete;
  Tokenizer& operator=(const Tokenizer&) = delete;

  // The ids of the source vocabulary for `text`, ending in eos.  An empty text is [eos].
  // REQUIRES: text is valid UTF-8.
  EncodedText Encode(std::string_view text) const;

  // The text of ids of the target vocabulary.  Special tokens and ids outside of the vocabulary are
  // skipped; white space at both ends is stripped.
  std::string Decode(absl::Span<const int32_t> ids) const;

  // The piece that an id stands for; "<unk>" for an id outside of the vocabulary.
  const std::string& SourcePiece(int32_t id) const;
  const std::string& TargetPiece(int32_t id) const;

  // One more than the highest id.
  int source_vocabulary_size() const;
  int target_vocabulary_size() const;

  // The target languages that a leading `>>xx<<` can name, in order ("deu", "fra"); empty for a
  // model of one language pair.
  const std::vector<std::string>& target_languages() const;

  // From tokenizer_config.json, such as "en" and "de"; "" where it does not say.
  const std::string& source_language() const;
  const std::string& target_language() const;

 private:
  struct Impl;
  explicit Tokenizer(std::unique_ptr<const Impl> impl);

  std::unique_ptr<const Impl> impl_;
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_TEXT_TOKENIZER_H_
