#include "engine/request/progress.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>

#include "engine/request/assembly.h"
#include "engine/text/words.h"

namespace dragoman {

ProgressTeller::ProgressTeller(const Tokenizer* tokenizer, const TranslationPlan* plan,
                               const std::vector<JobResult>* results, StillWanted wanted,
                               OnProgress tell)
    : tokenizer_(*tokenizer),
      plan_(*plan),
      results_(*results),
      tell_(std::move(tell)),
      jobs_(results->size()),
      wanted_(std::move(wanted)) {}

void ProgressTeller::Stable(size_t job, absl::Span<const int32_t> tokens) {
  {
    absl::MutexLock lock(&mutex_);
    jobs_[job].stable.assign(tokens.begin(), tokens.end());
  }
  TellNews();
}

void ProgressTeller::Done(size_t job) {
  {
    absl::MutexLock lock(&mutex_);
    jobs_[job].done = true;
  }
  TellNews();
}

void ProgressTeller::Finish(std::function<void(absl::Status)> last) {
  {
    absl::MutexLock lock(&mutex_);
    last_ = std::move(last);
  }
  TellNews();
}

void ProgressTeller::TellNews() {
  std::function<void(absl::Status)> last;
  absl::Status fault;
  pump_.Run([&] {
    TranslateProgress progress;
    {
      absl::MutexLock lock(&mutex_);
      if (!Next(&progress)) {
        if (last_ != nullptr) last.swap(last_);
        fault = fault_;
        return false;
      }
    }
    tell_(std::move(progress));
    return true;
  });
  if (last != nullptr) last(std::move(fault));
}

// The next report; false if there is none yet.
bool ProgressTeller::Next(TranslateProgress* progress) {
  if (!fault_.ok() || text_ == plan_.texts.size()) return false;
  const PlannedText& text = plan_.texts[text_];
  *progress = {.text = text_};
  if (text.marked != nullptr) return NextOfMarked(text, progress);
  if (sentence_ < text.sentences.size()) return NextOfSentence(text, progress);
  const size_t end = text.sentences.empty() ? 0 : text.sentences.back().span.end;
  if (text.split()) Say(std::string_view(text.content).substr(end), progress);
  FinishText(text, progress);
  return fault_.ok();
}

void ProgressTeller::FinishText(const PlannedText& text, TranslateProgress* progress) {
  progress->translation = Assemble(tokenizer_, text, results_, plan_.alignment, &wanted_);
  fault_ = wanted_.status();
  fault_.Update(
      CheckQuality(plan_.min_quality, plan_.refuse_low_quality, text_, &*progress->translation));
  ++text_;
  sentence_ = 0;
  told_of_text_ = 0;
}

// Null if there was nothing to translate.  REQUIRES: the sentence is done.
const Hypothesis* ProgressTeller::BestOf(const PlannedSentence& sentence) const {
  return sentence.job < 0 ? nullptr : &results_[sentence.job].hypotheses.front();
}

// The current sentence, which is done.
FinishedSentence ProgressTeller::Finished(const PlannedText& text, std::string target,
                                          TextSpan span) const {
  const Hypothesis* best = BestOf(text.sentences[sentence_]);
  return {.index = sentence_,
          .of = text.sentences.size(),
          .target = std::move(target),
          .source_span = text.SourceSpan(sentence_),
          .target_span = span,
          .score = best == nullptr ? 0.0f : best->score,
          .finish_reason = best == nullptr ? FinishReason::kEos : best->finish_reason,
          .is_part = text.sentences[sentence_].is_part};
}

// A sentence of a text with markup, or the rest of the text.
bool ProgressTeller::NextOfMarked(const PlannedText& text, TranslateProgress* progress) {
  const std::vector<MarkedSentence>& sentences = text.marked->sentences;
  if (!renderer_.has_value()) {
    renderer_.emplace(text.marked.get());
    in_raw_order_.resize(sentences.size());
    std::iota(in_raw_order_.begin(), in_raw_order_.end(), size_t{0});
    std::sort(in_raw_order_.begin(), in_raw_order_.end(),
              [&](size_t a, size_t b) { return sentences[a].raw.begin < sentences[b].raw.begin; });
    known_ = frontier_ = 0;
  }
  const bool rest = sentence_ == sentences.size();
  if (rest || sentences[sentence_].raw.begin >= frontier_) {
    const auto whole =
        std::find_if(sentences.begin() + static_cast<std::ptrdiff_t>(sentence_), sentences.end(),
                     [&](const MarkedSentence& sentence) {
                       return !IsAttribute(text.marked->text.segments[sentence.segment].writing);
                     });
    frontier_ = whole == sentences.end() ? text.marked->text.raw.size() : whole->raw.end;
  }
  if (!RenderUntil(text, frontier_)) return false;
  Say(std::string_view(renderer_->text()).substr(told_of_text_), progress);
  if (rest) {
    renderer_.reset();
    FinishText(text, progress);
    return fault_.ok();
  }
  const TextSpan span = renderer_->SpanOf(sentence_);
  progress->sentence = Finished(text, renderer_->text().substr(span.begin, span.size()), span);
  ++sentence_;
  return true;
}

// False if a sentence that begins before byte `end` of the raw text is not done.
bool ProgressTeller::RenderUntil(const PlannedText& text, size_t end) {
  for (; known_ < in_raw_order_.size(); ++known_) {
    const size_t number = in_raw_order_[known_];
    if (text.marked->sentences[number].raw.begin >= end) break;
    const PlannedSentence& sentence = text.sentences[number];
    if (sentence.job < 0 && sentence.stored() == nullptr) continue;
    if (sentence.job >= 0 && !jobs_[sentence.job].done) return false;
    RenderSentence(tokenizer_, text, number, BestOf(sentence), plan_.alignment, &*renderer_);
  }
  renderer_->Advance(end);
  return true;
}

// More words of the sentence, or its end.
bool ProgressTeller::NextOfSentence(const PlannedText& text, TranslateProgress* progress) {
  const PlannedSentence& sentence = text.sentences[sentence_];
  const Hypothesis* best = nullptr;  // once it is known
  std::string words;
  if (sentence.job >= 0 && jobs_[sentence.job].done) {
    best = BestOf(sentence);
    words = TextOf(tokenizer_, text, sentence_, best, plan_.alignment);
  } else if (sentence.job >= 0) {
    if (sentence.stored() != nullptr) return false;
    const absl::Span<const int32_t> stable = Written(jobs_[sentence.job].stable);
    if (stable.size() <= std::max(looked_at_, sentence.hidden)) return false;
    looked_at_ = stable.size();
    words = tokenizer_.DecodeStable(stable.subspan(sentence.hidden));
    if (words.size() <= told_.size()) return false;
    // As long as there is no word, the sentence may stay as it is.
    if (told_.empty() && !sentence.may_vanish && !HasLetterOrDigit(words)) return false;
  } else {
    words = TextOf(tokenizer_, text, sentence_, nullptr, plan_.alignment);
  }
  if (words.compare(0, told_.size(), told_) != 0) {
    fault_ = absl::InternalError("a sentence does not begin with the text reported for it");
    return false;
  }
  if (!begun_) {
    const size_t end = sentence_ == 0 ? 0 : text.sentences[sentence_ - 1].span.end;
    Say(std::string_view(text.content).substr(end, sentence.span.begin - end), progress);
    begun_ = true;
    target_begin_ = told_of_text_;
  }
  Say(std::string_view(words).substr(told_.size()), progress);
  if (sentence.job >= 0 && best == nullptr) {
    told_ = std::move(words);
    return true;
  }
  progress->sentence = Finished(text, std::move(words), {target_begin_, told_of_text_});
  ++sentence_;
  begun_ = false;
  told_.clear();
  looked_at_ = 0;
  return true;
}

// The tokens whose text is certain: an unknown one may be replaced at the end.
absl::Span<const int32_t> ProgressTeller::Written(absl::Span<const int32_t> tokens) const {
  if (!plan_.alignment.replace_unknowns) return tokens;
  const auto unknown = std::find(tokens.begin(), tokens.end(), tokenizer_.target_unknown_id());
  return tokens.first(unknown - tokens.begin());
}

void ProgressTeller::Say(std::string_view more, TranslateProgress* progress) {
  progress->stable_text += more;
  told_of_text_ += more.size();
}

}  // namespace dragoman
