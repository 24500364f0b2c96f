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

// The attention of the tokens after the hidden ones: [tokens, source tokens].
std::vector<float> AttentionOf(const Hypothesis& hypothesis, const PlannedSentence& sentence) {
  const size_t source = sentence.source.size();
  const auto row = [&](size_t token) {
    return hypothesis.attention.begin() + static_cast<std::ptrdiff_t>(token * source);
  };
  return {row(sentence.hidden), row(hypothesis.tokens.size())};
}

// For each target token, the source text that it is linked to.
std::vector<std::string> LinkedTexts(const PlannedText& text, const PlannedSentence& sentence,
                                     const std::vector<float>& attention) {
  std::vector<TextSpan> spans;
  for (const AlignedToken& token : sentence.source) spans.push_back(token.span);
  std::vector<std::string> linked;
  for (const int link : LinksOf(attention, spans)) {
    linked.push_back(link < 0 ? "" : text.content.substr(spans[link].begin, spans[link].size()));
  }
  return linked;
}

// Appends the text of a sentence's hypothesis, and its alignment with the source.
void AppendAligned(const Tokenizer& tokenizer, const PlannedText& text,
                   const PlannedSentence& sentence, const Hypothesis& hypothesis,
                   const AlignmentPlan& plan, TranslatedHypothesis* to) {
  const absl::Span<const int32_t> tokens =
      absl::MakeConstSpan(hypothesis.tokens).subspan(sentence.hidden);
  std::vector<float> attention = AttentionOf(hypothesis, sentence);
  std::vector<std::string> linked;
  if (plan.replace_unknowns) linked = LinkedTexts(text, sentence, attention);
  const Tokenizer::DecodedText decoded = tokenizer.DecodeWithSpans(tokens, linked);
  const size_t begin = to->text.size();
  to->text += decoded.text;
  if (!plan.options.wanted) return;
  std::vector<AlignedToken> target;
  for (size_t i = 0; i < tokens.size(); ++i) {
    const TextSpan span = decoded.spans[i];
    target.push_back({tokenizer.TargetPiece(tokens[i]), {span.begin + begin, span.end + begin}});
  }
  AppendAlignment(
      {text.content, to->text, sentence.source, std::move(target), std::move(attention)},
      plan.options, &to->alignment);
}

// Appends one sentence's hypothesis to that of the text, except its text and its first `hidden`
// tokens.  `score` becomes a sum weighted by tokens.
void Append(const Tokenizer& tokenizer, const Hypothesis& hypothesis, size_t hidden,
            TranslatedHypothesis* to) {
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

// The results for a sentence; none if it has no text.
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
                     absl::Span<const JobResult> results, const AlignmentPlan& alignment) {
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
    size_t end = 0;  // of what has been translated so far
    size_t tokens = 0;
    for (const PlannedSentence& sentence : text.sentences) {
      if (split) whole.text.append(text.content, end, sentence.span.begin - end);
      end = sentence.span.end;
      const size_t begin = whole.text.size();
      const absl::Span<const Hypothesis> found = FoundFor(sentence, results);
      if (!found.empty()) {
        // A sentence with fewer hypotheses than another repeats its last one.
        const Hypothesis& hypothesis = found[std::min(h, found.size() - 1)];
        if (alignment.wants_attention()) {
          AppendAligned(tokenizer, text, sentence, hypothesis, alignment, &whole);
        } else {
          whole.text +=
              tokenizer.Decode(absl::MakeConstSpan(hypothesis.tokens).subspan(sentence.hidden));
        }
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

std::string TextOf(const Tokenizer& tokenizer, const PlannedText& text,
                   const PlannedSentence& sentence, const Hypothesis& hypothesis,
                   const AlignmentPlan& alignment) {
  const absl::Span<const int32_t> tokens =
      absl::MakeConstSpan(hypothesis.tokens).subspan(sentence.hidden);
  if (!alignment.replace_unknowns) return tokenizer.Decode(tokens);
  const std::vector<std::string> linked =
      LinkedTexts(text, sentence, AttentionOf(hypothesis, sentence));
  return tokenizer.DecodeWithSpans(tokens, linked).text;
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
