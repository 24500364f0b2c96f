#include "engine/assembly.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/strings/str_format.h"
#include "engine/base/status.h"
#include "engine/text/chrf.h"
#include "engine/text/literal_check.h"
#include "engine/text/placement.h"
#include "engine/text/words.h"

namespace dragoman {
namespace {

float LeastOf(const std::vector<float>& log_probs) {
  return log_probs.empty() ? 0.0f : *std::min_element(log_probs.begin(), log_probs.end());
}

// The attention of the tokens after the hidden ones: [tokens, source tokens]; none if it was not
// asked for.
std::vector<float> AttentionOf(const Hypothesis& hypothesis, const PlannedSentence& sentence) {
  if (hypothesis.attention.empty()) return {};
  const size_t source = sentence.source.size();
  const auto row = [&](size_t token) {
    return hypothesis.attention.begin() + static_cast<std::ptrdiff_t>(token * source);
  };
  return {row(sentence.hidden), row(hypothesis.tokens.size())};
}

std::vector<TextSpan> SourceSpans(const PlannedSentence& sentence) {
  std::vector<TextSpan> spans;
  for (const AlignedToken& token : sentence.source) spans.push_back(token.span);
  return spans;
}

// For each target token, the source text that it is linked to.
std::vector<std::string> LinkedTexts(const PlannedText& text, const PlannedSentence& sentence,
                                     const std::vector<float>& attention) {
  const std::vector<TextSpan> spans = SourceSpans(sentence);
  std::vector<std::string> linked;
  for (const int link : LinksOf(attention, spans)) {
    linked.push_back(link < 0 ? "" : text.content.substr(spans[link].begin, spans[link].size()));
  }
  return linked;
}

// What a hypothesis says.
struct DecodedSentence {
  std::string text;
  // Only if the sentence has source tokens: the bytes of each token after the hidden ones, and its
  // attention.
  std::vector<TextSpan> spans;
  std::vector<float> attention;
};

bool IsWithinCharacter(std::string_view text, size_t byte) {
  return byte < text.size() && (static_cast<unsigned char>(text[byte]) & 0xC0) == 0x80;
}

// Makes the tokens of a text those of another one, which should be the same: what lies before or
// after all differences stays there.
void MoveSpans(std::string_view from, std::string_view to, std::vector<TextSpan>* spans) {
  size_t before = 0, after = 0;
  const size_t shorter = std::min(from.size(), to.size());
  while (before < shorter && from[before] == to[before]) ++before;
  while (after < shorter - before && from[from.size() - 1 - after] == to[to.size() - 1 - after]) {
    ++after;
  }
  while (before > 0 && IsWithinCharacter(to, before)) --before;
  while (after > 0 && IsWithinCharacter(to, to.size() - after)) --after;
  const auto move = [&](size_t byte) {
    if (byte <= before) return byte;
    return byte + after >= from.size() ? byte + to.size() - from.size() : to.size() - after;
  };
  for (TextSpan& span : *spans) span = {move(span.begin), move(span.end)};
}

// What a memory answers, and where its words come from if the model has read it.
DecodedSentence DecodeStored(const Tokenizer& tokenizer, const PlannedSentence& sentence,
                             const Hypothesis* read) {
  DecodedSentence stored = {*sentence.stored(), {}, {}};
  if (read == nullptr) return stored;
  const Tokenizer::DecodedText decoded = tokenizer.DecodeWithSpans(read->tokens, {});
  stored.spans = decoded.spans;
  MoveSpans(decoded.text, stored.text, &stored.spans);
  stored.attention = AttentionOf(*read, sentence);
  return stored;
}

DecodedSentence Decode(const Tokenizer& tokenizer, const PlannedText& text,
                       const PlannedSentence& sentence, const Hypothesis& hypothesis,
                       const AlignmentPlan& plan) {
  if (sentence.stored() != nullptr) return DecodeStored(tokenizer, sentence, &hypothesis);
  const absl::Span<const int32_t> tokens =
      absl::MakeConstSpan(hypothesis.tokens).subspan(sentence.hidden);
  if (sentence.source.empty()) return {tokenizer.Decode(tokens), {}, {}};
  std::vector<float> attention = AttentionOf(hypothesis, sentence);
  std::vector<std::string> linked;
  if (plan.replace_unknowns) linked = LinkedTexts(text, sentence, attention);
  Tokenizer::DecodedText decoded = tokenizer.DecodeWithSpans(tokens, linked);
  return {std::move(decoded.text), std::move(decoded.spans), std::move(attention)};
}

// Appends the text of a sentence's hypothesis, and its alignment with the source.
void AppendAligned(const Tokenizer& tokenizer, const PlannedText& text,
                   const PlannedSentence& sentence, const Hypothesis& hypothesis,
                   DecodedSentence decoded, const AlignmentOptions& options,
                   TranslatedHypothesis* to) {
  const size_t begin = to->text.size();
  to->text += decoded.text;
  if (!options.wanted) return;
  std::vector<AlignedToken> target;
  for (size_t i = 0; i < decoded.spans.size(); ++i) {
    const TextSpan span = decoded.spans[i];
    target.push_back({tokenizer.TargetPiece(hypothesis.tokens[sentence.hidden + i]),
                      {span.begin + begin, span.end + begin}});
  }
  AppendAlignment(
      {text.content, to->text, sentence.source, std::move(target), std::move(decoded.attention)},
      options, &to->alignment);
}

// A sentence and its translation, for its marks.
AlignedSentence AlignedOf(const PlannedText& text, const PlannedSentence& planned,
                          const DecodedSentence& decoded) {
  AlignedSentence aligned = {
      .source = std::string_view(text.content).substr(planned.span.begin, planned.span.size()),
      .target = decoded.text,
      .source_tokens = SourceSpans(planned),
      .target_tokens = decoded.spans,
      .attention = decoded.attention};
  for (TextSpan& span : aligned.source_tokens) {
    span = {span.begin - planned.span.begin, span.end - planned.span.begin};
  }
  if (planned.source.empty()) {  // nothing was read
    aligned.source_tokens = SpansOfCharacters(aligned.source);
    aligned.target_tokens = SpansOfCharacters(aligned.target);
  }
  return aligned;
}

// Where the marks of a sentence are in its translation, and whether that is one.
struct Placed {
  Placement placement;
  Damage damage = Damage::kNone;
};

Placed Place(const PlannedText& text, size_t number, const DecodedSentence& decoded) {
  const PlannedSentence& planned = text.sentences[number];
  absl::Span<const SentenceMark> marks;
  if (text.marked != nullptr) marks = text.marked->sentences[number].marks;
  const AlignedSentence aligned = AlignedOf(text, planned, decoded);
  Placed placed;
  if (!marks.empty()) placed.placement = PlaceMarks(aligned, marks);
  if (planned.may_vanish || planned.stored() != nullptr) return placed;
  placed.damage = DamageOf(aligned, marks, placed.placement);
  return placed;
}

// Bytes that are neither words nor numbers, so that what they replace is not checked.
void Blank(TextSpan span, std::string* text) {
  text->replace(span.begin, span.size(), span.size(), '\n');
}

// Appends what is missing from the translation of a sentence, which begins at byte `begin` of the
// text's, apart from opaque marks: they are in it in any case.
void AppendFaults(const PlannedText& text, size_t number, std::string translation,
                  const Placement& placement, size_t begin, std::vector<LiteralFault>* faults) {
  const TextSpan span = text.sentences[number].span;
  std::string source = text.content.substr(span.begin, span.size());
  for (size_t m = 0; m < placement.marks.size(); ++m) {
    const SentenceMark& mark = text.marked->sentences[number].marks[m];
    if (mark.kind != MarkKind::kOpaque) continue;
    Blank(mark.text, &source);
    Blank(placement.marks[m], &translation);
  }
  for (const TextSpan removed : placement.removed) Blank(removed, &translation);
  for (LiteralFault& fault : CheckLiterals(source, translation, *text.checked_in)) {
    fault.source = {fault.source.begin + span.begin, fault.source.end + span.begin};
    fault.target = {fault.target.begin + begin, fault.target.end + begin};
    faults->push_back(std::move(fault));
  }
}

// Tells the renderer, if there is one, a sentence whose translation begins at byte `begin` of the
// text's, and appends its faults if they are to be told.  Returns those of the sentence.
absl::Span<const LiteralFault> PlaceAndCheck(const PlannedText& text, size_t number,
                                             const DecodedSentence& decoded, Placement placement,
                                             size_t begin, std::optional<Renderer>& renderer,
                                             std::vector<LiteralFault>* faults) {
  const size_t before = faults->size();
  if (text.checked_in.has_value()) {
    AppendFaults(text, number, decoded.text, placement, begin, faults);
  }
  if (renderer.has_value()) renderer->Set(number, decoded.text, std::move(placement));
  return absl::MakeConstSpan(*faults).subspan(before);
}

// Judges a sentence, of whose literals and numbers these did not come through.
std::optional<Quality> JudgeSentence(const PlannedText& text, const PlannedSentence& sentence,
                                     const Hypothesis& hypothesis, const DecodedSentence& decoded,
                                     absl::Span<const LiteralFault> faults) {
  if (!text.judged_in.has_value() || hypothesis.token_margins.empty()) return std::nullopt;
  const std::vector<TextSpan> source_tokens = SourceSpans(sentence);
  // The generated ones: a prefix was not.
  const size_t prefix = hypothesis.token_log_probs.size() - hypothesis.token_margins.size();
  return Judge(
      {.source = std::string_view(text.content).substr(sentence.span.begin, sentence.span.size()),
       .target = decoded.text,
       .languages = *text.judged_in,
       .log_probs = absl::MakeConstSpan(hypothesis.token_log_probs).subspan(prefix),
       .margins = hypothesis.token_margins,
       .ends = hypothesis.token_log_probs.size() > hypothesis.tokens.size(),
       .source_tokens = source_tokens,
       .target_tokens = decoded.spans,
       .attention = decoded.attention,
       .literal_faults = static_cast<int>(faults.size()),
       .changes_literal = std::any_of(faults.begin(), faults.end(), [](const LiteralFault& fault) {
         return fault.target.size() > 0;
       })});
}

// Adds the quality of a sentence, whose translation begins at byte `begin`, to that of the text.
void AppendQuality(const Quality& sentence, size_t begin, std::optional<Quality>* text) {
  if (!text->has_value()) text->emplace();
  if (sentence.score < (*text)->score) {
    (*text)->score = sentence.score;
    (*text)->values = sentence.values;
  }
  for (DoubtfulWord word : sentence.doubtful) {
    word.span = {word.span.begin + begin, word.span.end + begin};
    (*text)->doubtful.push_back(word);
  }
}

// Makes the translation of a text without markup, whose sentences are `spans` of it, that of the
// text with markup.
void Render(const PlannedText& text, const std::vector<TextSpan>& spans, Renderer* renderer,
            TranslatedHypothesis* hypothesis) {
  renderer->Advance(text.marked->text.raw.size());
  hypothesis->text = renderer->text();
  TextMap map;
  for (size_t i = 0; i < spans.size(); ++i) map.Add(renderer->MapOf(i), spans[i].begin);
  const TextMap& to_raw = text.marked->text.to_raw;
  for (AlignedToken& token : hypothesis->alignment.source) token.span = to_raw.Map(token.span);
  for (AlignedToken& token : hypothesis->alignment.target) token.span = map.Map(token.span);
  for (WordLink& link : hypothesis->alignment.words) {
    link.source = to_raw.Map(link.source);
    link.target = map.Map(link.target);
  }
  if (hypothesis->quality.has_value()) {
    for (DoubtfulWord& word : hypothesis->quality->doubtful) word.span = map.Map(word.span);
  }
  for (LiteralFault& fault : hypothesis->literal_faults) {
    fault.source = to_raw.Map(fault.source);
    fault.target = map.Map(fault.target);
  }
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

// A sentence that stays as it is.
void AppendSource(const PlannedText& text, const PlannedSentence& sentence, std::string* to) {
  to->append(text.content, sentence.span.begin, sentence.span.size());
}

// Where the tokens of a sentence go that is appended to a hypothesis.
SentenceTokens PlaceOf(const PlannedSentence& sentence, const TranslatedHypothesis& whole,
                       bool best) {
  const int source = static_cast<int>(whole.alignment.source.size());
  return {.source_begin = source,
          .source_end = source + static_cast<int>(sentence.source.size()),
          .target_begin = static_cast<int>(whole.token_ids.size()),
          .hidden = sentence.hidden,
          .best = best};
}

// The results for a sentence; none if it has no text.
absl::Span<const Hypothesis> FoundFor(const PlannedSentence& sentence,
                                      absl::Span<const JobResult> results) {
  if (sentence.job < 0) return {};
  return results[sentence.job].hypotheses;
}

// Counts the terms of a sentence, and appends those that its best hypothesis does not have.
void AppendUnmet(const Tokenizer& tokenizer, const PlannedText& text,
                 const PlannedSentence& sentence, const Hypothesis& hypothesis,
                 Translation* translation) {
  if (sentence.terms.empty()) return;
  translation->terms += static_cast<int>(sentence.terms.size());
  std::vector<UnmetTerm>* const unmet = &translation->unmet;
  const size_t before = unmet->size();
  for (FoundTerm& term : UnmetTerms(tokenizer.Decode(hypothesis.tokens), sentence.terms)) {
    const bool marked = text.marked != nullptr;
    unmet->push_back({std::move(term.glossary), std::move(term.source),
                      marked ? text.marked->text.to_raw.Map(term.span) : term.span});
  }
  std::sort(unmet->begin() + static_cast<std::ptrdiff_t>(before), unmet->end(),
            [](const UnmetTerm& a, const UnmetTerm& b) { return a.span.begin < b.span.begin; });
}

// Appends what a memory has for a sentence, if anything.
void AppendMatch(const PlannedText& text, size_t number, absl::Span<const JobResult> results,
                 std::vector<MemoryMatch>* matches) {
  const PlannedSentence& sentence = text.sentences[number];
  if (!sentence.match.has_value()) return;
  MemoryMatch& match = matches->emplace_back(*sentence.match);
  match.span = text.SourceSpan(number);
  if (sentence.job >= 0 && results[sentence.job].repaired) match.kind = MemoryMatch::kRepaired;
}

SentencePair PairOf(TextSpan source, TextSpan target, absl::Span<const Hypothesis> found) {
  SentencePair pair = {source, target};
  if (found.empty()) return pair;
  const std::vector<float>& log_probs = found[0].token_log_probs;
  pair.mean_log_prob =
      found[0].log_prob / static_cast<float>(std::max<size_t>(1, log_probs.size()));
  pair.min_log_prob = LeastOf(log_probs);
  return pair;
}

}  // namespace

void ChooseByConsensus(const Tokenizer& tokenizer, int count, std::vector<Hypothesis>* hypotheses) {
  std::vector<std::string> texts;
  for (const Hypothesis& hypothesis : *hypotheses) {
    texts.push_back(tokenizer.Decode(hypothesis.tokens));
  }
  std::vector<Hypothesis> chosen;
  std::vector<float> encoder_heads;  // which go with the best one
  if (!hypotheses->empty()) encoder_heads = std::move(hypotheses->front().encoder_heads);
  for (const int i : OrderByConsensus(texts)) {
    if (static_cast<int>(chosen.size()) == count) break;
    chosen.push_back(std::move((*hypotheses)[i]));
  }
  if (!chosen.empty()) chosen.front().encoder_heads = std::move(encoder_heads);
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
    std::optional<Renderer> renderer;
    if (text.marked != nullptr) renderer.emplace(text.marked.get());
    std::vector<TextSpan> spans;  // of the sentences in the translation
    std::vector<std::optional<Quality>> qualities(text.sentences.size());
    size_t end = 0;  // of what has been translated so far
    size_t tokens = 0;
    for (size_t s = 0; s < text.sentences.size(); ++s) {
      const PlannedSentence& sentence = text.sentences[s];
      if (split) whole.text.append(text.content, end, sentence.span.begin - end);
      end = sentence.span.end;
      const size_t begin = whole.text.size();
      const absl::Span<const Hypothesis> found = FoundFor(sentence, results);
      if (!found.empty()) {
        // A sentence with fewer hypotheses than another repeats its last one.
        const Hypothesis& hypothesis = found[std::min(h, found.size() - 1)];
        DecodedSentence decoded = Decode(tokenizer, text, sentence, hypothesis, alignment);
        Placed placed = Place(text, s, decoded);
        const bool stays = placed.damage != Damage::kNone;
        if (stays) {
          if (text.judged_in.has_value()) qualities[s].emplace().score = 0.0f;
        } else {
          const absl::Span<const LiteralFault> faults =
              PlaceAndCheck(text, s, decoded, std::move(placed.placement), begin, renderer,
                            &whole.literal_faults);
          qualities[s] = JudgeSentence(text, sentence, hypothesis, decoded, faults);
        }
        if (qualities[s].has_value()) AppendQuality(*qualities[s], begin, &whole.quality);
        if (h == 0) AppendUnmet(tokenizer, text, sentence, hypothesis, &translation);
        AppendInsight(hypothesis, alignment.heads, PlaceOf(sentence, whole, h == 0), tokenizer,
                      &whole.heads, &whole.steps);
        if (stays) {
          AppendSource(text, sentence, &whole.text);
          if (h == 0) ++translation.untranslated;
        } else {
          AppendAligned(tokenizer, text, sentence, hypothesis, std::move(decoded),
                        alignment.options, &whole);
        }
        Append(tokenizer, hypothesis, sentence.hidden, &whole);
        tokens += hypothesis.tokens.size() + 1;
      } else if (sentence.stored() != nullptr) {
        const DecodedSentence stored = DecodeStored(tokenizer, sentence, nullptr);
        PlaceAndCheck(text, s, stored, Place(text, s, stored).placement, begin, renderer,
                      &whole.literal_faults);
        whole.text += stored.text;
      } else {
        AppendSource(text, sentence, &whole.text);
      }
      spans.push_back({begin, whole.text.size()});
    }
    if (split) whole.text.append(text.content, end);
    if (tokens > 0) whole.score /= static_cast<float>(tokens);
    if (renderer.has_value()) Render(text, spans, &*renderer, &whole);
    for (size_t s = 0; s < spans.size() && h == 0; ++s) {
      const TextSpan span = renderer.has_value() ? renderer->SpanOf(s) : spans[s];
      translation.sentences.push_back(
          PairOf(text.SourceSpan(s), span, FoundFor(text.sentences[s], results)));
      translation.sentences.back().is_part = text.sentences[s].is_part;
      translation.sentences.back().quality = std::move(qualities[s]);
      translation.divided = translation.divided || text.sentences[s].is_part;
      AppendMatch(text, s, results, &translation.matches);
    }
  }
  return translation;
}

absl::Status CheckQuality(std::optional<float> least, bool refuse, size_t text,
                          Translation* translation) {
  const std::optional<Quality>& quality = translation->hypotheses.front().quality;
  if (!least.has_value() || !quality.has_value()) return absl::OkStatus();
  translation->low_quality = quality->score < *least;
  if (!translation->low_quality || !refuse) return absl::OkStatus();
  const std::string field = absl::StrFormat("contents[%d]", text);
  absl::Status refused = absl::FailedPreconditionError(
      absl::StrFormat("%s: the quality of the translation is %.3f, want at least %.3f", field,
                      quality->score, *least));
  refused.SetPayload(kFieldPayload, absl::Cord(field));
  return refused;
}

std::string TextOf(const Tokenizer& tokenizer, const PlannedText& text, size_t sentence,
                   const Hypothesis* hypothesis, const AlignmentPlan& alignment) {
  const PlannedSentence& planned = text.sentences[sentence];
  std::string words;
  if (hypothesis != nullptr) {
    DecodedSentence decoded = Decode(tokenizer, text, planned, *hypothesis, alignment);
    if (Place(text, sentence, decoded).damage == Damage::kNone) return std::move(decoded.text);
  } else if (planned.stored() != nullptr) {
    return *planned.stored();
  }
  AppendSource(text, planned, &words);
  return words;
}

void RenderSentence(const Tokenizer& tokenizer, const PlannedText& text, size_t sentence,
                    const Hypothesis* hypothesis, const AlignmentPlan& alignment,
                    Renderer* renderer) {
  const PlannedSentence& planned = text.sentences[sentence];
  DecodedSentence decoded = hypothesis == nullptr
                                ? DecodeStored(tokenizer, planned, nullptr)
                                : Decode(tokenizer, text, planned, *hypothesis, alignment);
  Placed placed = Place(text, sentence, decoded);
  if (placed.damage != Damage::kNone) return;
  renderer->Set(sentence, std::move(decoded.text), std::move(placed.placement));
}

bool WantsUnread(const Tokenizer& tokenizer, const PlannedText& text, size_t sentence,
                 absl::Span<const Hypothesis> hypotheses, const AlignmentPlan& alignment) {
  return std::any_of(hypotheses.begin(), hypotheses.end(), [&](const Hypothesis& hypothesis) {
    const DecodedSentence decoded =
        Decode(tokenizer, text, text.sentences[sentence], hypothesis, alignment);
    return Place(text, sentence, decoded).damage != Damage::kNone;
  });
}

void TakeUnread(PlannedText* text, size_t sentence) {
  PlannedSentence& planned = text->sentences[sentence];
  planned.source = planned.unread->source;
  text->marked->sentences[sentence].marks = planned.unread->marks;
}

TranslateTimes LongestTimes(absl::Span<const JobResult> results) {
  TranslateTimes times;
  for (const JobResult& result : results) {
    times.queue = std::max(times.queue, result.times.queue);
    times.encode = std::max(times.encode, result.times.encode);
    times.decode = std::max(times.decode, result.times.decode);
    if (result.reused) continue;
    times.steps += result.times.steps;
    times.kept += result.times.kept;
  }
  return times;
}

}  // namespace dragoman
