#include "engine/request/reverse_check.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "engine/base/utf8.h"
#include "engine/request/assembly.h"

namespace dragoman {
namespace {

// A sentence that is checked: that number of the translation of that text.
struct CheckedSentence {
  size_t text = 0, sentence = 0;
};

// A check on its way: as many sentences at a time as a request may have.
class RunningCheck : public std::enable_shared_from_this<RunningCheck> {
 public:
  RunningCheck(ReverseCheck check, TranslateResponse response, std::shared_ptr<RequestState> state,
               std::function<void(TranslateResponse)> done)
      : check_(std::move(check)),
        response_(std::move(response)),
        state_(std::move(state)),
        done_(std::move(done)) {
    FindSentences();
  }

  // Scores the next sentences or, if there are none, responds.
  void Go();

 private:
  void FindSentences();
  std::optional<Quality>* QualityOf(const CheckedSentence& place);
  std::string_view Source(const CheckedSentence& place) const;
  std::string_view Target(const CheckedSentence& place) const;
  TranslateRequest NextRequest();
  void Take(size_t begin, const TranslateResponse& scored);
  void Respond(absl::Status status);

  const ReverseCheck check_;
  TranslateResponse response_;
  const std::shared_ptr<RequestState> state_;
  const std::function<void(TranslateResponse)> done_;
  std::vector<CheckedSentence> sentences_;
  size_t begun_ = 0;  // how many of them
};

// The judgement of a sentence.  Through a third language, sentences may not be told apart; then it
// is that of the text.
std::optional<Quality>* RunningCheck::QualityOf(const CheckedSentence& place) {
  Translation& translation = response_.translations[place.text];
  SentencePair& sentence = translation.sentences[place.sentence];
  const bool is_whole = !sentence.quality.has_value() && translation.sentences.size() == 1;
  return is_whole ? &translation.hypotheses.front().quality : &sentence.quality;
}

std::string_view RunningCheck::Source(const CheckedSentence& place) const {
  const TextSpan span = response_.translations[place.text].sentences[place.sentence].source;
  return std::string_view(check_.sources[place.text]).substr(span.begin, span.size());
}

std::string_view RunningCheck::Target(const CheckedSentence& place) const {
  const Translation& translation = response_.translations[place.text];
  const TextSpan span = translation.sentences[place.sentence].target;
  return std::string_view(translation.hypotheses.front().text).substr(span.begin, span.size());
}

void RunningCheck::FindSentences() {
  for (size_t t = 0; t < response_.translations.size(); ++t) {
    for (size_t s = 0; s < response_.translations[t].sentences.size(); ++s) {
      const CheckedSentence place = {t, s};
      const auto has_words = [](std::string_view text) {
        return text.find_first_not_of(" \t\r\n") != text.npos;
      };
      if (!QualityOf(place)->has_value()) continue;
      if (has_words(Source(place)) && has_words(Target(place))) sentences_.push_back(place);
    }
  }
}

TranslateRequest RunningCheck::NextRequest() {
  const Limits& limits = check_.translator->limits();
  TranslateRequest request;
  request.source_language = check_.languages.source;
  request.target_language = check_.languages.target;
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

void RunningCheck::Go() {
  if (begun_ == sentences_.size()) return Respond(absl::OkStatus());
  const size_t begin = begun_;
  check_.translator->Translate(NextRequest(), state_,
                               [self = shared_from_this(), begin](TranslateResponse scored) {
                                 if (!scored.status.ok()) return self->Respond(scored.status);
                                 self->Take(begin, scored);
                                 self->Go();
                               });
}

// Judges sentences again, from number `begin` on.
void RunningCheck::Take(size_t begin, const TranslateResponse& scored) {
  response_.times.Add(scored.times);
  for (size_t i = 0; i < scored.translations.size(); ++i) {
    const TranslatedHypothesis& source = scored.translations[i].hypotheses.front();
    if (!source.quality.has_value()) continue;
    const float mean = source.log_prob / static_cast<float>(std::max(1, source.scored_tokens));
    AddReverse(source.quality->values, mean, &**QualityOf(sentences_[begin + i]));
  }
}

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

void RunningCheck::Respond(absl::Status status) {
  if (absl::IsInvalidArgument(status)) {  // which is not what the caller has sent
    status = absl::FailedPreconditionError(
        absl::StrCat("model ", check_.translator->name(),
                     " cannot check a translation in reverse: ", status.message()));
  }
  for (size_t t = 0; t < response_.translations.size() && status.ok(); ++t) {
    Translation& translation = response_.translations[t];
    std::optional<Quality>& whole = translation.hypotheses.front().quality;
    if (whole.has_value()) TakeWorst(translation.sentences, &*whole);
    status = CheckQuality(check_.min_quality, check_.refuse_low_quality, t, &translation);
  }
  if (!status.ok()) response_.translations.clear();
  response_.status = std::move(status);
  done_(std::move(response_));
}

}  // namespace

void CheckInReverse(ReverseCheck check, TranslateResponse response,
                    std::shared_ptr<RequestState> state,
                    std::function<void(TranslateResponse)> done) {
  if (!response.status.ok()) return done(std::move(response));
  std::make_shared<RunningCheck>(std::move(check), std::move(response), std::move(state),
                                 std::move(done))
      ->Go();
}

}  // namespace dragoman
