#include "engine/request/reverse_check.h"

#include <algorithm>
#include <utility>

#include "engine/base/utf8.h"

namespace dragoman {
namespace {

// A text is as good as its worst sentence, now that they are judged otherwise.
void TakeWorst(const std::vector<SentencePair>& sentences, Quality* whole) {
  const Quality* worst = nullptr;
  for (const SentencePair& sentence : sentences) {
    if (!sentence.quality.has_value()) continue;
    if (worst == nullptr || sentence.quality->score < worst->score) worst = &*sentence.quality;
  }
  if (worst == nullptr) return;
  whole->score = worst->score;
  whole->values = worst->values;
  whole->reverse_log_prob = worst->reverse_log_prob;
}

bool IsBlank(std::string_view text) { return text.find_first_not_of(" \t\r\n") == text.npos; }

}  // namespace

ReverseCheck::ReverseCheck(std::vector<std::string> sources, std::vector<Translation>* translations)
    : sources_(std::move(sources)), translations_(*translations) {
  for (size_t t = 0; t < translations_.size(); ++t) {
    for (size_t s = 0; s < translations_[t].sentences.size(); ++s) {
      const Place place = {t, s};
      if (!QualityOf(place)->has_value()) continue;
      if (!IsBlank(Source(place)) && !IsBlank(Target(place))) sentences_.push_back(place);
    }
  }
}

// The judgement of a sentence.  Through a third language, sentences may not be told apart; then it
// is that of the text.
std::optional<Quality>* ReverseCheck::QualityOf(const Place& place) {
  Translation& translation = translations_[place.text];
  SentencePair& sentence = translation.sentences[place.sentence];
  const bool is_whole = !sentence.quality.has_value() && translation.sentences.size() == 1;
  return is_whole ? &translation.hypotheses.front().quality : &sentence.quality;
}

std::string_view ReverseCheck::Source(const Place& place) const {
  const TextSpan span = translations_[place.text].sentences[place.sentence].source;
  return std::string_view(sources_[place.text]).substr(span.begin, span.size());
}

std::string_view ReverseCheck::Target(const Place& place) const {
  const Translation& translation = translations_[place.text];
  const TextSpan span = translation.sentences[place.sentence].target;
  return std::string_view(translation.hypotheses.front().text).substr(span.begin, span.size());
}

TranslateRequest ReverseCheck::Next(const Limits& limits) {
  TranslateRequest request;
  request.judge = true;
  request.truncation = Truncation::kTruncate;
  int64_t characters = 0;
  while (begun_ < sentences_.size() && static_cast<int>(request.texts.size()) < limits.max_texts) {
    const std::string_view text = Target(sentences_[begun_]);
    characters += CountCodePoints(text);
    if (!request.texts.empty() && characters > limits.max_characters) break;
    request.texts.emplace_back(text);
    request.targets.emplace_back(Source(sentences_[begun_++]));
  }
  return request;
}

void ReverseCheck::Take(const TranslateResponse& scored) {
  for (const Translation& translation : scored.translations) {
    const Place& place = sentences_[taken_++];
    const TranslatedHypothesis& source = translation.hypotheses.front();
    if (!source.quality.has_value()) continue;
    const float mean = source.log_prob / static_cast<float>(std::max(1, source.scored_tokens));
    AddReverse(source.quality->values, mean, &**QualityOf(place));
  }
}

void ReverseCheck::JudgeTexts() {
  for (Translation& translation : translations_) {
    std::optional<Quality>& whole = translation.hypotheses.front().quality;
    if (whole.has_value()) TakeWorst(translation.sentences, &*whole);
  }
}

}  // namespace dragoman
