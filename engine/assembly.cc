#include "engine/assembly.h"

#include <algorithm>
#include <string>
#include <utility>

#include "engine/text/chrf.h"

namespace dragoman {
namespace {

float LeastOf(const std::vector<float>& log_probs) {
  return log_probs.empty() ? 0.0f : *std::min_element(log_probs.begin(), log_probs.end());
}

// Appends one sentence's hypothesis to that of the text, without its first `hidden` tokens.
// `score` sums up, weighted by tokens.
void Append(const Tokenizer& tokenizer, const Hypothesis& hypothesis, size_t hidden,
            TranslatedHypothesis* to) {
  to->text += tokenizer.Decode(absl::MakeConstSpan(hypothesis.tokens).subspan(hidden));
  to->score += hypothesis.score * static_cast<float>(hypothesis.tokens.size() + 1);
  for (size_t i = hidden; i < hypothesis.tokens.size(); ++i) {
    to->token_ids.push_back(hypothesis.tokens[i]);
    to->tokens.push_back(tokenizer.TargetPiece(hypothesis.tokens[i]));
    to->token_scores.push_back(hypothesis.token_log_probs[i]);
  }
  to->log_prob += hypothesis.log_prob;
  to->scored_tokens += static_cast<int>(hypothesis.token_log_probs.size());
  to->min_log_prob = std::min(to->min_log_prob, LeastOf(hypothesis.token_log_probs));
  const bool ends = hypothesis.token_log_probs.size() > hypothesis.tokens.size();
  to->end_score = ends ? hypothesis.token_log_probs.back() : 0.0f;
  to->finish_reason = std::max(to->finish_reason, hypothesis.finish_reason);
}

// What was found for a sentence: nothing if it has no text.
absl::Span<const Hypothesis> FoundFor(const PlannedSentence& sentence,
                                      absl::Span<const JobResult> results) {
  if (sentence.job < 0) return {};
  return results[sentence.job].hypotheses;
}

}  // namespace

void ChooseByConsensus(const Tokenizer& tokenizer, int count, std::vector<Hypothesis>* hypotheses) {
  std::vector<std::string> texts;
  for (const Hypothesis& hypothesis : *hypotheses) {
    texts.push_back(tokenizer.Decode(hypothesis.tokens));
  }
  std::vector<Hypothesis> chosen;
  for (const int i : OrderByConsensus(texts)) {
    if (static_cast<int>(chosen.size()) == count) break;
    chosen.push_back(std::move((*hypotheses)[i]));
  }
  *hypotheses = std::move(chosen);
}

Translation Assemble(const Tokenizer& tokenizer, const PlannedText& text,
                     absl::Span<const JobResult> results) {
  Translation translation;
  translation.source_tokens = text.source_tokens;
  translation.truncated = text.truncated;
  size_t hypotheses = 1;
  for (const PlannedSentence& sentence : text.sentences) {
    hypotheses = std::max(hypotheses, FoundFor(sentence, results).size());
  }
  const bool split = text.split();
  translation.hypotheses.resize(hypotheses);
  for (size_t h = 0; h < hypotheses; ++h) {
    TranslatedHypothesis& whole = translation.hypotheses[h];
    size_t end = 0;  // of what was translated so far
    size_t tokens = 0;
    for (const PlannedSentence& sentence : text.sentences) {
      if (split) whole.text.append(text.content, end, sentence.span.begin - end);
      end = sentence.span.end;
      const size_t begin = whole.text.size();
      const absl::Span<const Hypothesis> found = FoundFor(sentence, results);
      if (!found.empty()) {
        // A sentence with fewer hypotheses than another stands with its last one.
        const Hypothesis& hypothesis = found[std::min(h, found.size() - 1)];
        Append(tokenizer, hypothesis, sentence.hidden, &whole);
        tokens += hypothesis.tokens.size() + 1;
      }
      if (h > 0) continue;
      translation.sentences.push_back({sentence.span, {begin, whole.text.size()}});
      if (found.empty()) continue;
      const std::vector<float>& log_probs = found[0].token_log_probs;
      translation.sentences.back().mean_log_prob =
          found[0].log_prob / static_cast<float>(std::max<size_t>(1, log_probs.size()));
      translation.sentences.back().min_log_prob = LeastOf(log_probs);
    }
    if (split) whole.text.append(text.content, end);
    if (tokens > 0) whole.score /= static_cast<float>(tokens);
  }
  return translation;
}

TranslateTimes LongestTimes(absl::Span<const JobResult> results) {
  TranslateTimes times;
  for (const JobResult& result : results) {
    times.queue = std::max(times.queue, result.times.queue);
    times.encode = std::max(times.encode, result.times.encode);
    times.decode = std::max(times.decode, result.times.decode);
  }
  return times;
}

}  // namespace dragoman
