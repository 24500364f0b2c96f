#include "engine/route.h"

#include <utility>

#include "absl/strings/str_join.h"

namespace dragoman {
namespace {

void AddTimes(const TranslateTimes& times, TranslateTimes* sum) {
  sum->tokenize += times.tokenize;
  sum->queue += times.queue;
  sum->encode += times.encode;
  sum->decode += times.decode;
  sum->detokenize += times.detokenize;
}

// What a text became on its way from the first language to the last.  `source` is the text if
// alignments are wanted.
Translation Chain(const std::string& source, const AlignmentOptions& alignment,
                  const Translation& first, Translation second) {
  for (TranslatedHypothesis& hypothesis : second.hypotheses) {
    if (!alignment.wanted) break;
    hypothesis.alignment = Chain(source, hypothesis.text, first.hypotheses.front().alignment,
                                 hypothesis.alignment, alignment);
  }
  second.source_tokens = first.source_tokens;
  second.truncated = second.truncated || first.truncated;
  // Sentences are told apart only where both steps have told the same ones apart.
  if (first.sentences.size() == second.sentences.size()) {
    for (size_t i = 0; i < first.sentences.size(); ++i) {
      second.sentences[i].source = first.sentences[i].source;
    }
  } else if (!first.sentences.empty() && !second.sentences.empty()) {
    const SentencePair whole = {
        {first.sentences.front().source.begin, first.sentences.back().source.end},
        {second.sentences.front().target.begin, second.sentences.back().target.end}};
    second.sentences = {whole};
  }
  return second;
}

}  // namespace

Route::Route(std::shared_ptr<const Translator> translator) {
  translators_.push_back(std::move(translator));
}

Route::Route(std::shared_ptr<const Translator> first, const std::string& pivot,
             std::shared_ptr<const Translator> second)
    : Route(std::move(first)) {
  translators_.push_back(std::move(second));
  pivot_ = pivot;
}

void Route::Translate(TranslateRequest request, std::shared_ptr<RequestState> state,
                      std::function<void(TranslateResponse)> done) const {
  if (translators_.size() == 1) {
    return translators_.front()->Translate(std::move(request), std::move(state), std::move(done));
  }
  TranslateRequest second = request;  // of the same options
  second.source_language = pivot_;
  request.target_language = pivot_;
  request.options.num_hypotheses = 1;
  // What is said of the translation is said of the last one.
  request.options.return_alternatives.reset();
  request.options.forced_bos_id.reset();
  request.options.forced_eos_id.reset();
  request.target_prefixes.clear();
  request.words = {};
  // Alignments are chained, which takes the texts.
  std::vector<std::string> sources(request.texts.size());
  if (request.alignment.wanted) sources = request.texts;
  translators_[0]->Translate(
      std::move(request), state,
      [state, second = std::move(second), translators = translators_, sources = std::move(sources),
       done = std::move(done)](TranslateResponse first) mutable {
        if (!first.status.ok()) return done(std::move(first));
        for (size_t t = 0; t < first.translations.size(); ++t) {
          second.texts[t] = first.translations[t].hypotheses.front().text;
        }
        const auto finish = [translators, first = std::move(first), alignment = second.alignment,
                             sources = std::move(sources),
                             done = std::move(done)](TranslateResponse last) {
          if (last.status.ok()) {
            for (size_t t = 0; t < last.translations.size(); ++t) {
              last.translations[t] = Chain(sources[t], alignment, first.translations[t],
                                           std::move(last.translations[t]));
            }
          }
          last.steps = {{translators[0]->model().name(), first.times},
                        {translators[1]->model().name(), last.times}};
          AddTimes(first.times, &last.times);
          last.reused_sentences += first.reused_sentences;
          done(std::move(last));
        };
        translators[1]->Translate(std::move(second), state, finish);
      });
}

std::string Route::name() const {
  return absl::StrJoin(translators_, "+", [](std::string* out, const auto& translator) {
    out->append(translator->model().name());
  });
}

std::string Route::version() const {
  return absl::StrJoin(translators_, "+", [](std::string* out, const auto& translator) {
    out->append(translator->model().version());
  });
}

}  // namespace dragoman
