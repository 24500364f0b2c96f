// Which source tokens the target tokens came from, and which words, read off the attention of the
// decoder to the source.
//
//             The   cat   sleeps   .
//   Die       0.8   0.1   0.1      0.0      Die - The
//   Katze     0.1   0.7   0.1      0.1      Katze - cat
//   schläft   0.0   0.2   0.7      0.1      schläft - sleeps
//   .         0.1   0.1   0.2      0.6      . - .
//
// A target token's link goes to the source token that its row gives most; words are linked where
// any of their tokens are ("Word Alignment by Fine-tuning Embeddings on Parallel Corpora", Dou and
// Neubig 2021, from tokens to words).  What belongs to no text, such as the end of the sentence, is
// linked to nothing.

#ifndef DRAGOMAN_ENGINE_ALIGNMENT_H_
#define DRAGOMAN_ENGINE_ALIGNMENT_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "engine/text/text_span.h"

namespace dragoman {

// A token as the model sees it, and the bytes of the whole text that it stands for; none if it
// stands for no text.
struct AlignedToken {
  std::string piece;
  TextSpan span;
};

// `source` and `target` are indices of tokens of the whole texts.
struct AlignmentPoint {
  int source = 0;
  int target = 0;
  float probability = 0.0f;
  bool link = false;    // no source token is likelier for the target token
  bool mutual = false;  // a link, and the source token gives no target token of the sentence more
};

struct WordLink {
  TextSpan source;  // bytes of the texts
  TextSpan target;
  // The part of the attention of the target word's tokens that goes to the source word, on average.
  float probability = 0.0f;
};

// The attention within one sentence.
struct AttentionBlock {
  int source_begin = 0, source_end = 0;  // tokens of the whole texts
  int target_begin = 0, target_end = 0;
  std::vector<float> probabilities;  // [target tokens, source tokens]
};

// Of one hypothesis for a text.
struct Alignment {
  std::vector<AlignedToken> source;  // all that the model read, ends of sentences included
  std::vector<AlignedToken> target;  // as the hypothesis' tokens
  std::vector<AlignmentPoint> points;
  std::vector<WordLink> words;
  std::vector<AttentionBlock> attention;  // a block for each sentence
};

// What a request wants to know.
struct AlignmentOptions {
  bool wanted = false;
  float threshold = 2.0f;  // points of this probability besides the links; above 1: none
};

// A sentence and its translation.
struct SentenceToAlign {
  std::string_view source_text, target_text;  // the whole texts, whose bytes spans count
  std::vector<AlignedToken> source, target;
  std::vector<float> attention;  // [target tokens, source tokens]
};

// Adds a sentence behind those that are there.
void AppendAlignment(SentenceToAlign sentence, const AlignmentOptions& options,
                     Alignment* alignment);

// The alignment of a text that was translated by way of another: `first` is of the source with the
// text between, `second` of that with the target.  A target token attends to what the tokens
// between that it attends to attend to, as far as both stand for the same bytes.
Alignment Chain(std::string_view source_text, std::string_view target_text, const Alignment& first,
                const Alignment& second, const AlignmentOptions& options);

// For each target token the source token that it is linked to; -1: to none.  `attention` is
// [target tokens, source.size()].
std::vector<int> LinksOf(absl::Span<const float> attention, absl::Span<const TextSpan> source);

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_ALIGNMENT_H_
