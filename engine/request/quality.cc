// The weights, and what each feature's sum is made of, by example.  Of a target of four tokens and
// the end, with margins 0, -0.2, -9, 0 and 0,
//
//   mean_margin -1.84    min_margin -9    worst_margins (-9 - 0.2 + 0) / 3    far_behind 1 / 5
//
// so a single token that the model would not have chosen stands out whatever the length.  A clause
// that was left out shows in the source: nobody looked at its tokens (uncovered, unseen_run), and
// the end came early (few_words).

#include "engine/request/quality.h"

#include <algorithm>
#include <set>
#include <string>

#include "absl/strings/ascii.h"
#include "engine/base/elementary.h"
#include "engine/base/utf8.h"
#include "engine/text/language_detector.h"
#include "engine/text/language_tag.h"
#include "engine/text/negation.h"
#include "engine/text/words.h"

namespace dragoman {
namespace {

struct Weight {
  std::string_view name;
  float alone = 0.0f;
  float checked = 0.0f;  // if there was a check in reverse
};

// A bias of either kind, and the weights of each feature, in order.
#include "engine/request/quality_weights.inc"

static_assert(std::size(kWeights) == kQualityFeatures, "tools/quality/fit.py writes the weights");

constexpr float WeightOf(size_t feature, bool checked) {
  return checked ? kWeights[feature].checked : kWeights[feature].alone;
}

constexpr float kFar = -3.0f;  // a margin, of a token that is far behind
// Logarithms of ratios of letters.  What lacks a third lacks a clause; more tells nothing more.
constexpr float kUsual = 0.1f;
constexpr float kMostMissing = 0.4f;
constexpr float kUnseen = 0.15f;    // the attention of a token that nobody looked at
constexpr size_t kLongWord = 4;     // bytes, of a word that two languages seldom share
constexpr size_t kEnoughText = 20;  // bytes, for a language to be detected

float MeanOf(absl::Span<const float> values) {
  float sum = 0.0f;
  for (const float value : values) sum += value;
  return values.empty() ? 0.0f : sum / static_cast<float>(values.size());
}

float LeastOf(absl::Span<const float> values) {
  return values.empty() ? 0.0f : *std::min_element(values.begin(), values.end());
}

void Set(QualityFeature feature, float value, QualityValues* values) {
  (*values)[static_cast<size_t>(feature)] = value;
}

// Where the marks after the last word begin.
size_t EndOfWords(std::string_view text) {
  size_t end = 0;
  for (size_t i = 0; i < text.size();) {
    if (IsLetterOrDigit(NextCodePoint(text, &i))) end = i;
  }
  return end;
}

// A model that has more to say would rather go on than write the full stop, but once that is
// written, it is certain of the end: so the marks before the end count as well.
float EndMargin(const JudgedSentence& sentence) {
  if (!sentence.ends) return 0.0f;
  float least = sentence.margins.back();
  const size_t scored = std::min(sentence.margins.size() - 1, sentence.target_tokens.size());
  const size_t marks = EndOfWords(sentence.target);
  for (size_t i = 1; i <= scored; ++i) {
    if (sentence.target_tokens[sentence.target_tokens.size() - i].begin < marks) break;
    least = std::min(least, sentence.margins[sentence.margins.size() - 1 - i]);
  }
  return least;
}

float ValueOf(QualityFeature feature, const QualityValues& values) {
  return values[static_cast<size_t>(feature)];
}

void AddProbabilities(const JudgedSentence& sentence, QualityValues* values) {
  using F = QualityFeature;
  Set(F::kMeanLogProb, std::max(-6.0f, MeanOf(sentence.log_probs)), values);
  Set(F::kMinLogProb, std::max(-12.0f, LeastOf(sentence.log_probs)), values);
  Set(F::kMeanMargin, std::max(-6.0f, MeanOf(sentence.margins)), values);
  Set(F::kMinMargin, std::max(-12.0f, LeastOf(sentence.margins)), values);
  Set(F::kLogTokens, static_cast<float>(LogOf(static_cast<double>(sentence.log_probs.size()))),
      values);
  if (sentence.margins.empty()) return;
  std::vector<float> worst(sentence.margins.begin(), sentence.margins.end());
  std::sort(worst.begin(), worst.end());
  worst.resize(3);  // with zeros, if there are fewer
  for (float& margin : worst) margin = std::max(-12.0f, margin);
  Set(F::kWorstMargins, MeanOf(worst), values);
  const auto far = std::count_if(sentence.margins.begin(), sentence.margins.end(),
                                 [](float margin) { return margin < kFar; });
  Set(F::kFarBehind, static_cast<float>(far) / static_cast<float>(sentence.margins.size()), values);
  Set(F::kEndMargin, std::max(-12.0f, EndMargin(sentence)), values);
}

// How much of the source nobody looked at.
void AddCoverage(const JudgedSentence& sentence, QualityValues* values) {
  const size_t source = sentence.source_tokens.size();
  if (sentence.attention.empty() || source == 0) return;
  float uncovered = 0.0f;
  int tokens = 0, run = 0, longest = 0;
  for (size_t s = 0; s < source; ++s) {
    if (sentence.source_tokens[s].size() == 0) continue;
    float given = 0.0f;
    for (size_t i = s; i < sentence.attention.size(); i += source) given += sentence.attention[i];
    uncovered += 1.0f - std::min(1.0f, given);
    run = given < kUnseen ? run + 1 : 0;
    longest = std::max(longest, run);
    ++tokens;
  }
  if (tokens == 0) return;
  Set(QualityFeature::kUncovered, uncovered / static_cast<float>(tokens), values);
  Set(QualityFeature::kUnseenRun, static_cast<float>(longest) / static_cast<float>(tokens), values);
}

// Sets the logarithm of how much shorter the target is, or how much longer.
void AddRatio(size_t source, size_t target, float least, QualityFeature few, QualityFeature many,
              QualityValues* values) {
  const float ratio = static_cast<float>(
      LogOf((static_cast<float>(target) + least) / (static_cast<float>(source) + least)));
  Set(few, std::clamp(-ratio, 0.0f, 2.0f), values);
  Set(many, std::clamp(ratio, 0.0f, 2.0f), values);
}

size_t WithText(absl::Span<const TextSpan> tokens) {
  return static_cast<size_t>(std::count_if(tokens.begin(), tokens.end(),
                                           [](const TextSpan& span) { return span.size() > 0; }));
}

// Whether words have spaces between them wherever there are letters.
bool IsSpaced(std::string_view text) {
  for (size_t i = 0; i < text.size();) {
    const char32_t c = NextCodePoint(text, &i);
    if (IsLetterOrDigit(c) && !IsWordCharacter(c)) return false;
  }
  return true;
}

void AddLengths(const JudgedSentence& sentence, QualityValues* values) {
  using F = QualityFeature;
  if (!sentence.source_tokens.empty() && !sentence.target_tokens.empty()) {
    AddRatio(WithText(sentence.source_tokens), WithText(sentence.target_tokens), 2, F::kFewTokens,
             F::kManyTokens, values);
  }
  const std::string_view source = sentence.source, target = sentence.target;
  if (!IsSpaced(source) || !IsSpaced(target)) return;
  const auto letters = [](std::string_view text) {
    return static_cast<size_t>(CountCodePoints(text));
  };
  AddRatio(letters(source), letters(target), 8, F::kFewLetters, F::kManyLetters, values);
  const float longer = ValueOf(F::kManyLetters, *values) - ValueOf(F::kFewLetters, *values);
  Set(F::kFewLetters, std::clamp(kUsual - longer, 0.0f, kMostMissing), values);
  AddRatio(SplitWords(source, {}).size(), SplitWords(target, {}).size(), 1, F::kFewWords,
           F::kManyWords, values);
}

void AddNegation(const JudgedSentence& sentence, QualityValues* values) {
  const auto source = SaysNo(sentence.source, sentence.languages.source);
  const auto target = SaysNo(sentence.target, sentence.languages.target);
  if (!source.has_value() || !target.has_value()) return;
  Set(QualityFeature::kNegationLost, *source && !*target ? 1.0f : 0.0f, values);
  Set(QualityFeature::kNegationAdded, !*source && *target ? 1.0f : 0.0f, values);
}

// How certainly the text is in another language; a short text is not asked.
float OtherLanguage(std::string_view text, const std::string& wanted) {
  const std::optional<Language> language = ParseLanguage(wanted);
  if (!language.has_value() || text.size() < kEnoughText) return 0.0f;
  float other = 0.0f;
  for (const DetectedLanguage& each : DetectLanguages(text)) {
    const std::optional<Language> found = ParseLanguage(each.language);
    if (!found.has_value()) continue;
    if (found->language == language->language) return 0.0f;
    other = std::max(other, each.confidence);
  }
  return other;
}

std::vector<std::string_view> QuotedWords(std::string_view text,
                                          absl::Span<const TextSpan> tokens) {
  std::vector<std::string_view> words;
  for (const TextSpan span : SplitWords(text, tokens)) {
    words.push_back(text.substr(span.begin, span.size()));
  }
  return words;
}

void AddWords(const JudgedSentence& sentence, QualityValues* values) {
  const std::vector<std::string_view> source = QuotedWords(sentence.source, {});
  const std::vector<std::string_view> target = QuotedWords(sentence.target, sentence.target_tokens);
  const std::set<std::string_view> sources(source.begin(), source.end());
  int longer = 0, copied = 0, repeated = 0;
  std::set<std::pair<std::string_view, std::string_view>> pairs;
  for (size_t i = 0; i < target.size(); ++i) {
    if (i > 0 && !pairs.insert({target[i - 1], target[i]}).second) ++repeated;
    if (target[i].size() < kLongWord || !absl::ascii_islower(target[i][0])) continue;
    ++longer;
    if (sources.count(target[i]) > 0) ++copied;
  }
  if (longer > 0) {
    Set(QualityFeature::kCopied, static_cast<float>(copied) / static_cast<float>(longer), values);
  }
  if (!target.empty()) {
    Set(QualityFeature::kRepeated, static_cast<float>(repeated) / static_cast<float>(target.size()),
        values);
  }
}

// The words with a token that is less likely than kDoubtful.
std::vector<DoubtfulWord> DoubtfulWords(const JudgedSentence& sentence) {
  std::vector<DoubtfulWord> doubtful;
  // Tokens of a prefix come first and have no probability.
  const size_t scored = sentence.log_probs.size() - (sentence.ends ? 1 : 0);
  const size_t first =
      sentence.target_tokens.size() - std::min(sentence.target_tokens.size(), scored);
  size_t token = first;
  for (const TextSpan word : SplitWords(sentence.target, sentence.target_tokens)) {
    float least = 0.0f;
    while (token < sentence.target_tokens.size() &&
           sentence.target_tokens[token].begin < word.end) {
      const TextSpan span = sentence.target_tokens[token];
      if (span.end > word.begin) least = std::min(least, sentence.log_probs[token - first]);
      if (span.end > word.end) break;  // it goes on in the next word
      ++token;
    }
    const float probability = static_cast<float>(ExpOf(least));
    if (probability < kDoubtful) doubtful.push_back({word, probability});
  }
  return doubtful;
}

}  // namespace

QualityValues QualityValuesOf(const JudgedSentence& sentence) {
  QualityValues found = {};
  AddProbabilities(sentence, &found);
  AddCoverage(sentence, &found);
  AddLengths(sentence, &found);
  AddNegation(sentence, &found);
  AddWords(sentence, &found);
  Set(QualityFeature::kLiterals, static_cast<float>(std::min(3, sentence.literal_faults)), &found);
  Set(QualityFeature::kChangedNumber, sentence.changes_literal ? 1.0f : 0.0f, &found);
  Set(QualityFeature::kOtherLanguage, OtherLanguage(sentence.target, sentence.languages.target),
      &found);
  return found;
}

float QualityScore(const QualityValues& values, bool checked) {
  float sum = checked ? kBias.checked : kBias.alone;
  for (size_t i = 0; i < values.size(); ++i) sum += WeightOf(i, checked) * values[i];
  return 1.0f / (1.0f + static_cast<float>(ExpOf(-sum)));
}

void TakeWorse(const Quality& part, Quality* whole) {
  if (part.score >= whole->score) return;
  whole->score = part.score;
  whole->values = part.values;
  whole->reverse_log_prob = part.reverse_log_prob;
}

Quality Judge(const JudgedSentence& sentence) {
  Quality quality;
  quality.values = QualityValuesOf(sentence);
  quality.score = QualityScore(quality.values, /*checked=*/false);
  quality.doubtful = DoubtfulWords(sentence);
  return quality;
}

void AddReverse(const QualityValues& reverse, float log_prob, Quality* quality) {
  using F = QualityFeature;
  Set(F::kReverseMinMargin, reverse[static_cast<size_t>(F::kMinMargin)], &quality->values);
  quality->reverse_log_prob = log_prob;
  quality->score = QualityScore(quality->values, /*checked=*/true);
}

std::string_view NameOf(QualityFeature feature) {
  return kWeights[static_cast<size_t>(feature)].name;
}

float WeighedValue(QualityFeature feature, const Quality& quality) {
  const size_t i = static_cast<size_t>(feature);
  return WeightOf(i, quality.reverse_log_prob.has_value()) * quality.values[i];
}

}  // namespace dragoman
