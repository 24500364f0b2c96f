// How likely a translation says what its source says, judged by what is free: the network has given
// every token a probability and looked at the source while it did so, and the two texts can be
// compared.
//
//   source   Tom has 24 cats, but no dog.        target   Tom hat 42 Katzen, aber keinen Hund.
//   evidence the third token is e^-9 times as likely as the best one; 24 is missing; ...
//   score    0.03, and "42" is doubtful
//
// The evidence is a short list of numbers (kQualityFeatures); the score is a logistic function of
// their sum, weighted.  tools/quality fits the weights, to translations with and without faults.
//
// Pure.

#ifndef DRAGOMAN_ENGINE_REQUEST_QUALITY_H_
#define DRAGOMAN_ENGINE_REQUEST_QUALITY_H_

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "engine/text/languages.h"
#include "engine/text/text_span.h"

namespace dragoman {

// What a score is made of, in order.
enum class QualityFeature {
  kMeanLogProb,   // of the tokens and the end, at least -6
  kMinLogProb,    // at least -12
  kMeanMargin,    // log-probability less that of the best token: at least -6
  kMinMargin,     // at least -12
  kWorstMargins,  // the mean of the three lowest
  kFarBehind,     // the part of the tokens whose margin is below -3
  kEndMargin,     // the lowest of the end of the sentence and the marks before it: at least -12
  kUncovered,     // the part of the source that got no attention, on average over its tokens
  kUnseenRun,     // the longest run of source tokens with next to none, as a part of the source
  kFewTokens,     // log(source tokens / target tokens), if positive
  kManyTokens,    // log(target tokens / source tokens), if positive
  // The same of the characters, where both scripts put spaces between words; too few are counted
  // from a little more than in the source on, and no more than so many.
  kFewLetters,
  kManyLetters,
  kFewWords,  // the same of the words
  kManyWords,
  kLiterals,       // literals and numbers that did not come through, at most 3
  kChangedNumber,  // 1: instead of one of them, the target has another one
  kNegationLost,   // 1: the source says no, and the target does not
  kNegationAdded,  // 1: the other way round
  kOtherLanguage,  // how certainly the target is in another language
  kCopied,         // the part of the target's longer words that are the source's
  kRepeated,       // the part of the target's pairs of words that occurred before
  kLogTokens,      // log(target tokens): the lowest of many is lower
  // kMinMargin of the source, given the target, by the model of the other direction
  // (reverse_check.h); 0 without that check.
  kReverseMinMargin,
  kCount,
};
inline constexpr size_t kQualityFeatures = static_cast<size_t>(QualityFeature::kCount);
// Those that are there without a check in reverse.
inline constexpr size_t kFreeFeatures = static_cast<size_t>(QualityFeature::kReverseMinMargin);
using QualityValues = std::array<float, kQualityFeatures>;

// A sentence with its translation, and what the search knows of it.
struct JudgedSentence {
  std::string_view source, target;
  LanguagePair languages;             // tags, or codes of the model
  absl::Span<const float> log_probs;  // of each generated token and, if there is one, the end
  absl::Span<const float> margins;    // the same, or none
  bool ends = true;                   // whether the last of them is that of the end
  // Bytes of the tokens in each text; of the generated tokens, with those of a prefix before them.
  absl::Span<const TextSpan> source_tokens, target_tokens;
  absl::Span<const float> attention;  // [target tokens or one more, source tokens], or none
  int literal_faults = 0;
  bool changes_literal = false;  // the target has something else in the place of one of them
};

// A word of the target, and the probability of its least likely token.
struct DoubtfulWord {
  TextSpan span;
  float probability = 0.0f;
};

struct Quality {
  float score = 1.0f;
  QualityValues values = {};
  // The mean log-probability of the source, given the target, if that was checked.
  std::optional<float> reverse_log_prob;
  std::vector<DoubtfulWord> doubtful;  // in their order
};

// Makes a judgement no better than that of a part.
void TakeWorse(const Quality& part, Quality* whole);

// REQUIRES: there are log_probs; the texts are valid UTF-8.
Quality Judge(const JudgedSentence& sentence);

QualityValues QualityValuesOf(const JudgedSentence& sentence);

// Judges again, with what the model of the other direction says: `reverse` is the quality of the
// source as if it were the translation, with this mean log-probability.
void AddReverse(const QualityValues& reverse, float log_prob, Quality* quality);

// The logistic function of the weighted sum; `checked` in reverse or not, the weights are others.
float QualityScore(const QualityValues& values, bool checked);

// A feature's name in the API, "min_margin", and what its value adds to the sum.
std::string_view NameOf(QualityFeature feature);
float WeighedValue(QualityFeature feature, const Quality& quality);

// Least probability of a word that is not doubtful.
inline constexpr float kDoubtful = 0.05f;

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_REQUEST_QUALITY_H_
