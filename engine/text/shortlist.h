// A vocabulary shortlist: which target tokens a sentence may be translated to.  The last layer of a
// decoder scores the whole vocabulary at every step, though nearly all of it is out of the question
// for a given sentence.  A lexical table, learned from aligned text, names for each source token
// the target tokens that it is translated to.  The candidates of a sentence are
//
//   the first N ids, which are the most frequent tokens where the vocabulary is sorted so (as
//   Marian's vocabularies are); the best M entries of each source token; for each source token the
//   target token that is spelt the same, so that names and numbers can be copied; and eos.
//
// They depend on the sentence alone, never on its company in a batch.
//
// Two formats are read, told apart by their first bytes:
//
//   * Text, as Marian's --shortlist takes it: a line for each pair of pieces, with the target
//     first, divided by spaces or tabs.  Lines with a piece that the model does not have, and with
//     NULL on either side, are passed over.
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

// Where a shortlist is read from.
struct ShortlistSource {
  std::string file;  // "": there is none
  // How many of the first ids, and of the entries of each source token.  Text only, where 100 are
  // taken if it is not said; the binary format brings its own numbers.
  std::optional<int> first, best;
  // Text only: entries of no more than this probability are passed over.
  std::optional<double> threshold;
  // The table is read as Marian reads it.  Pieces that are spelt the same count if the model has
  // one vocabulary, and not if it has two.  In text, a piece that the model does not have is the
  // unknown one; of a pair that occurs twice the last line counts; of two tokens that are as likely
  // the higher one goes first; and the threshold is 0 if it is not given.
  bool strict = false;
  // As many tokens as it takes to a multiple of this are added, in the order of their ids.
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
  // A sentence with fewer candidates than this is given the whole vocabulary, so that no rule of a
  // search can forbid all of them.
  static constexpr int kFewest = 16;

  // Reads a table for a model of this many source and target tokens.  NOT_FOUND: there is no such
  // file; INVALID_ARGUMENT: it is malformed or made for other vocabularies.
  static absl::StatusOr<std::unique_ptr<const Shortlist>> Load(const ShortlistSource& source,
                                                               const Tokenizer& tokenizer,
                                                               int source_vocabulary,
                                                               int target_vocabulary,
                                                               int32_t eos_id);

  // The candidates of a sentence, ascending, each once; none if it is given the whole vocabulary.
  std::vector<int32_t> Candidates(absl::Span<const int32_t> source) const;

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
  std::vector<uint64_t> always_;  // a bit for each target token: the candidates of every sentence
  std::vector<size_t> offsets_;   // source token s has tokens_[offsets_[s] .. offsets_[s + 1])
  std::vector<int32_t> tokens_;
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_TEXT_SHORTLIST_H_
