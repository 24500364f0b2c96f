// Which source tokens, and which words, the target tokens came from, derived from the decoder's
// attention to the source.
//
//             The   cat   sleeps   .
//   Die       0.8   0.1   0.1      0.0      Die - The
//   Katze     0.1   0.7   0.1      0.1      Katze - cat
//   schläft   0.0   0.2   0.7      0.1      schläft - sleeps
//   .         0.1   0.1   0.2      0.6      . - .
//
// A target token is linked to the source token with the highest value in its row.  Two words are
// linked if any of their tokens are ("Word Alignment by Fine-tuning Embeddings on Parallel
// Corpora", Dou and Neubig 2021, from tokens to words).  Tokens without text, such as the end of
// the sentence, are linked to nothing.

#ifndef DRAGOMAN_ENGINE_REQUEST_ALIGNMENT_H_
#define DRAGOMAN_ENGINE_REQUEST_ALIGNMENT_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "engine/text/text_span.h"

namespace dragoman {

// A token as the model sees it, and its bytes of the whole text; none for a token without text.
struct AlignedToken {
  std::string piece;
  TextSpan span;
};

std::vector<TextSpan> SpansOf(const std::vector<AlignedToken>& tokens);

inline bool Overlap(TextSpan a, TextSpan b) { return a.begin < b.end && b.begin < a.end; }

// `source` and `target` are indices of tokens of the whole texts.
struct AlignmentPoint {
  int source = 0;
  int target = 0;
  float probability = 0.0f;
  bool link = false;  // no source token is more likely for the target token
  // A link, and no other target token of the sentence attends to that source token more.
  bool mutual = false;
};

struct WordLink {
  TextSpan source;  // bytes of the texts
  TextSpan target;
  // The average share of the attention of the target word's tokens that goes to the source word.
  float probability = 0.0f;
};

// The attention within one sentence.
struct AttentionBlock {
  int source_begin = 0, source_end = 0;  // tokens of the whole texts
  int target_begin = 0, target_end = 0;
  std::vector<float> probabilities;  // [target tokens, source tokens]
};

// The alignment of one hypothesis for a text.
struct Alignment {
  std::vector<AlignedToken> source;  // all that the model read, including ends of sentences
  std::vector<AlignedToken> target;  // the same tokens as the hypothesis
  std::vector<AlignmentPoint> points;
  std::vector<WordLink> words;
  std::vector<AttentionBlock> attention;  // one block per sentence
};

// What a request asks for.
struct AlignmentOptions {
  bool wanted = false;
  float threshold =
      2.0f;  // also report pairs of at least this probability that are not links; above 1: none
};

// A sentence and its translation.
struct SentenceToAlign {
  std::string_view source_text, target_text;  // the whole texts, to which spans refer
  std::vector<AlignedToken> source, target;
  std::vector<float> attention;  // [target tokens, source tokens]
};

// Appends the alignment of a sentence to that of the sentences before it.
void AppendAlignment(SentenceToAlign sentence, const AlignmentOptions& options,
                     Alignment* alignment);

// The alignment of a text that was translated through another one: `first` aligns the source with
// the intermediate text, `second` the intermediate text with the target.  A target token attends to
// what its intermediate tokens attend to, as far as the tokens of both steps cover the same bytes.
Alignment Chain(std::string_view source_text, std::string_view target_text, const Alignment& first,
                const Alignment& second, const AlignmentOptions& options);

// For each target token, the source token that it is linked to; -1 for none.  `attention` is
// [target tokens, source.size()].
std::vector<int> LinksOf(absl::Span<const float> attention, absl::Span<const TextSpan> source);

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_REQUEST_ALIGNMENT_H_
