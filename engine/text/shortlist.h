// A vocabulary shortlist: the target tokens that a sentence may be translated to.  The last layer
// of a decoder scores the whole vocabulary at every step, although nearly all of it is irrelevant
// to a given sentence.  A lexical table, learned from aligned text, lists for each source token the
// target tokens that it is translated to.  The shortlist of a sentence consists of
//
//   - the first N ids, which are the most frequent tokens where the vocabulary is sorted that way
//     (as Marian's vocabularies are);
//   - the best M entries of each source token;
//   - for each source token the target token that is spelled the same, so that names and numbers
//     can be copied;
//   - eos.
//
// It depends on the sentence alone, never on the other sentences of its batch.
//
// Two formats are read, told apart by their first bytes:
//
//   * Text, as Marian's --shortlist takes it: one line for each pair of pieces, target first,
//     separated by spaces or tabs.  Lines with a piece that the model does not have, or with NULL
//     on either side, are skipped.
//
//         ▁Haus ▁house 0.8231
//
//   * Marian's binary format, such as Bergamot's lex.50.50.ende.s2t.bin, in little endian: 64-bit
//     magic, checksum, N, M, number of offsets, number of tokens; the offsets (64 bits), one for
//     each source token and one for the end; the target tokens (32 bits).

#ifndef DRAGOMAN_ENGINE_TEXT_SHORTLIST_H_
#define DRAGOMAN_ENGINE_TEXT_SHORTLIST_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "engine/text/tokenizer.h"

namespace dragoman {

// Where to read a shortlist from.
struct ShortlistSource {
  std::string file;  // "": nowhere
  // N, the number of first ids, and M, the entries of each source token.  For text only, where the
  // default is 100 each; the binary format has its own numbers.
  std::optional<int> first, best;
  // Text only: entries with a probability no higher than this are skipped.
  std::optional<double> threshold;
  // Reads the table exactly as Marian does.  Pieces that are spelled the same count if the model
  // has one shared vocabulary, but not if it has two.  In text, a piece that the model does not
  // have is the unknown one; of a pair that occurs twice, the last line counts; of two equally
  // likely tokens, the one with the higher id comes first; and the default threshold is 0.
  bool strict = false;
  // The shortlist is filled up to a multiple of this, with further tokens in the order of their
  // ids.
  int multiple_of = 1;

  bool operator==(const ShortlistSource&) const = default;
};

// Whether there is a file at `path` in the binary format.
bool IsBinaryShortlist(const std::string& path);

// "FILE" or "FILE:FIRST,BEST".  INVALID_ARGUMENT if the file's name is missing.
absl::StatusOr<ShortlistSource> ParseShortlistSource(const std::string& text);

// Immutable, so safe for concurrent use.
class Shortlist {
 public:
  // A sentence whose shortlist would be smaller gets the whole vocabulary, so that no rule of a
  // search can forbid all of its tokens.
  static constexpr int kFewest = 16;

  // Reads a table for a model with these vocabulary sizes.  NOT_FOUND: there is no such file;
  // INVALID_ARGUMENT: it is malformed or made for other vocabularies.
  static absl::StatusOr<std::unique_ptr<const Shortlist>> Load(const ShortlistSource& source,
                                                               const Tokenizer& tokenizer,
                                                               int source_vocabulary,
                                                               int target_vocabulary,
                                                               int32_t eos_id);

  // The tokens of a sentence's shortlist, ascending and unique; empty if the sentence gets the
  // whole vocabulary.
  std::vector<int32_t> TokensFor(absl::Span<const int32_t> source) const;

  int first() const { return first_; }
  int best() const { return best_; }
  // Entries of all source tokens.
  size_t entries() const { return tokens_.size(); }

 private:
  Shortlist() = default;

  int first_ = 0;
  int best_ = 0;
  int multiple_of_ = 1;
  int tokens_of_target_ = 0;
  std::vector<uint64_t> always_;  // a bit for each target token: those in every shortlist
  std::vector<size_t> offsets_;   // source token s owns tokens_[offsets_[s] .. offsets_[s + 1])
  std::vector<int32_t> tokens_;
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_TEXT_SHORTLIST_H_
