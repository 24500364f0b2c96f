#include "engine/request/assembly.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/strings/str_format.h"
#include "engine/base/status.h"
#include "engine/base/utf8.h"
#include "engine/text/chrf.h"
#include "engine/text/literal_check.h"
#include "engine/text/numbers.h"
#include "engine/text/placement.h"
#include "engine/text/words.h"

namespace dragoman {
namespace {

float LeastOf(const std::vector<float>& log_probs) {
  return log_probs.empty() ? 0.0f : *std::min_element(log_probs.begin(), log_probs.end());
}

// A sentence with one of its hypotheses, and what that says.
struct Part {
  const PlannedText& text;
  const size_t number;           // of the sentence
  const Hypothesis* hypothesis;  // null: nothing was searched for
  size_t begin = 0;              // bytes of the text's translation before this one
  bool is_best = true;           // of the hypotheses
  std::string target = {};
  // Only if the sentence has source tokens: the bytes of each token after the hidden ones, and its
  // attention: [tokens, source tokens], or none.
  std::vector<TextSpan> spans = {};
  std::vector<float> attention = {};
  Placement placement = {};  // of its marks
  bool stays = false;        // as it is, since the hypothesis is no translation, or there is none

  const PlannedSentence& sentence() const { return text.sentences[number]; }
  // Whether there should be a translation, and is none.
  bool is_untranslated() const { return stays && (hypothesis != nullptr || sentence().is_endless); }
  std::string_view source() const { return BytesOf(sentence().span); }
  std::string_view BytesOf(TextSpan span) const {
    return std::string_view(text.content).substr(span.begin, span.size());
  }
};

// The attention of the tokens after the hidden ones; none if it was not asked for.
std::vector<float> AttentionOf(const Part& part) {
  const std::vector<float>& all = part.hypothesis->attention;
  if (all.empty()) return {};
  const size_t source = part.sentence().source.size();
  const auto row = [&](size_t token) {
    return all.begin() + static_cast<std::ptrdiff_t>(token * source);
  };
  return {row(part.sentence().hidden), row(part.hypothesis->tokens.size())};
}

// For each target token, the source text that it is linked to.
std::vector<std::string> LinkedTexts(const Part& part) {
  const std::vector<TextSpan> spans = SpansOf(part.sentence().source);
  std::vector<std::string> linked;
  for (const int link : LinksOf(part.attention, spans)) {
    linked.emplace_back(link < 0 ? "" : part.BytesOf(spans[link]));
  }
  return linked;
}

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

// Fills in the words of a part.
void Decode(const Tokenizer& tokenizer, const AlignmentPlan& plan, Part* part) {
  const PlannedSentence& sentence = part->sentence();
  const bool is_stored = sentence.stored() != nullptr;
  if (is_stored) part->target = *sentence.stored();
  if (part->hypothesis == nullptr) return;
  const absl::Span<const int32_t> tokens =
      absl::MakeConstSpan(part->hypothesis->tokens).subspan(sentence.hidden);
  if (sentence.source.empty()) {
    if (!is_stored) part->target = tokenizer.Decode(tokens);
    return;
  }
  part->attention = AttentionOf(*part);
  std::vector<std::string> linked;
  if (plan.replace_unknowns && !is_stored) linked = LinkedTexts(*part);
  Tokenizer::DecodedText decoded = tokenizer.DecodeWithSpans(tokens, linked);
  part->spans = std::move(decoded.spans);
  if (is_stored) {
    MoveSpans(decoded.text, part->target, &part->spans);
  } else {
    part->target = std::move(decoded.text);
  }
}

// Finds where the marks of a part are in its translation, and whether that is one.
void FinishMarks(Part* to) {
  const Part& part = *to;
  absl::Span<const SentenceMark> marks;
  if (part.text.marked != nullptr) marks = part.text.marked->sentences[part.number].marks;
  AlignedSentence aligned = {.source = part.source(),
                             .target = part.target,
                             .source_tokens = SpansOf(part.sentence().source),
                             .target_tokens = part.spans,
                             .attention = part.attention};
  const size_t begin = part.sentence().span.begin;
  for (TextSpan& span : aligned.source_tokens) span = {span.begin - begin, span.end - begin};
  if (part.sentence().source.empty()) {  // nothing was read
    aligned.source_tokens = SpansOfCharacters(aligned.source);
    aligned.target_tokens = SpansOfCharacters(aligned.target);
  }
  if (!marks.empty()) to->placement = PlaceMarks(aligned, marks);
  if (part.sentence().may_vanish || part.sentence().stored() != nullptr) return;
  to->stays = DamageOf(aligned, marks, part.placement) != Damage::kNone;
}

// Fills in what a part says.
Part Finish(const Tokenizer& tokenizer, const AlignmentPlan& plan, Part part) {
  part.stays = part.hypothesis == nullptr && part.sentence().stored() == nullptr;
  if (!part.stays) {
    Decode(tokenizer, plan, &part);
    FinishMarks(&part);
  }
  if (part.stays) part.target = part.source();
  return part;
}

// Bytes that are neither words nor numbers, so that what they replace is not checked.
void Blank(TextSpan span, std::string* text) {
  text->replace(span.begin, span.size(), span.size(), '\n');
}

size_t CountDigits(std::string_view text) {
  size_t count = 0;
  for (size_t i = 0; i < text.size();) count += DigitOf(NextCodePoint(text, &i)) >= 0;
  return count;
}

// Whether it is the sign of a number behind it: "$".
bool IsSign(const std::string& text) {
  return WithSign(text, {text.size(), text.size()}).begin == 0;
}

// The source and the translation of a part apart from opaque marks, which are in it in any case;
// but signs of numbers, which may not be spelled out behind them, stay: "$5", "$fünf".
std::pair<std::string, std::string> WithoutOpaque(const Part& part) {
  const Placement& placement = part.placement;
  std::string source(part.source()), target = part.target, signs;
  for (size_t m = 0; m < placement.marks.size(); ++m) {
    const SentenceMark& mark = part.text.marked->sentences[part.number].marks[m];
    if (mark.kind != MarkKind::kOpaque) continue;
    if (const auto raw = source.substr(mark.text.begin, mark.text.size()); IsSign(raw)) {
      signs += '\n' + raw;
    } else {
      Blank(mark.text, &source);
    }
    Blank(placement.marks[m], &target);
  }
  for (const TextSpan removed : placement.removed) Blank(removed, &target);
  return {std::move(source), target + signs};
}

// Appends what is missing from the translation of a part.  Returns what was appended.
absl::Span<const LiteralFault> FinishLiterals(const Part& part, std::vector<LiteralFault>* faults) {
  const size_t before = faults->size();
  if (!part.text.checked_in.has_value() || part.stays) return {};
  const auto [source, target] = WithoutOpaque(part);
  const size_t begin = part.sentence().span.begin;
  for (LiteralFault& fault : CheckLiterals(source, target, *part.text.checked_in)) {
    fault.source = {fault.source.begin + begin, fault.source.end + begin};
    fault.target = {fault.target.begin + part.begin, fault.target.end + part.begin};
    faults->push_back(std::move(fault));
  }
  return absl::MakeConstSpan(*faults).subspan(before);
}

// Judges a part, of whose literals and numbers these did not come through.
std::optional<Quality> JudgePart(const Part& part, absl::Span<const LiteralFault> faults) {
  if (!part.text.judged_in.has_value()) return std::nullopt;
  if (part.is_untranslated()) return Quality{.score = 0.0f};
  if (part.hypothesis == nullptr) return std::nullopt;
  const Hypothesis& hypothesis = *part.hypothesis;
  if (hypothesis.token_margins.empty()) return std::nullopt;
  const std::vector<TextSpan> source_tokens = SpansOf(part.sentence().source);
  // The generated ones: a prefix was not.
  const size_t prefix = hypothesis.token_log_probs.size() - hypothesis.token_margins.size();
  return Judge({.source = part.source(),
                .target = part.target,
                .languages = *part.text.judged_in,
                .log_probs = absl::MakeConstSpan(hypothesis.token_log_probs).subspan(prefix),
                .margins = hypothesis.token_margins,
                .ends = hypothesis.token_log_probs.size() > hypothesis.tokens.size(),
                .source_tokens = source_tokens,
                .target_tokens = part.spans,
                .attention = part.attention,
                .literal_faults = static_cast<int>(faults.size()),
                .changes_literal = std::any_of(faults.begin(), faults.end(), [](const auto& fault) {
                  return fault.target.size() > 0;
                })});
}

// Judges a part, and so the text.
std::optional<Quality> FinishQuality(const Part& part, absl::Span<const LiteralFault> faults,
                                     std::optional<Quality>* of_text) {
  std::optional<Quality> quality = JudgePart(part, faults);
  if (!quality.has_value()) return quality;
  if (!of_text->has_value()) of_text->emplace();
  TakeWorse(*quality, &**of_text);
  for (DoubtfulWord word : quality->doubtful) {
    word.span = {word.span.begin + part.begin, word.span.end + part.begin};
    (*of_text)->doubtful.push_back(word);
  }
  return quality;
}

// Counts the terms of a part, and appends those that its translation does not have.
void FinishTerms(const Tokenizer& tokenizer, const Part& part, Translation* translation) {
  const std::vector<FoundTerm>& terms = part.sentence().terms;
  if (terms.empty() || !part.is_best) return;
  translation->terms += static_cast<int>(terms.size());
  std::vector<UnmetTerm>* const unmet = &translation->unmet;
  const size_t before = unmet->size();
  for (FoundTerm& term : UnmetTerms(tokenizer.Decode(part.hypothesis->tokens), terms)) {
    const bool marked = part.text.marked != nullptr;
    unmet->push_back({std::move(term.glossary), std::move(term.source),
                      marked ? part.text.marked->text.to_raw.Map(term.span) : term.span});
  }
  std::sort(unmet->begin() + static_cast<std::ptrdiff_t>(before), unmet->end(),
            [](const UnmetTerm& a, const UnmetTerm& b) { return a.span.begin < b.span.begin; });
}

// Before the part's tokens are appended.
void FinishInsight(const Tokenizer& tokenizer, const Part& part,
                   const std::vector<AttentionHead>& heads, TranslatedHypothesis* to) {
  const int source = static_cast<int>(to->alignment.source.size());
  AppendInsight(*part.hypothesis, heads,
                {.source_begin = source,
                 .source_end = source + static_cast<int>(part.sentence().source.size()),
                 .target_begin = static_cast<int>(to->token_ids.size()),
                 .hidden = part.sentence().hidden,
                 .best = part.is_best},
                tokenizer, &to->heads, &to->steps);
}

// After the part's text was appended.
void FinishAlignment(const Tokenizer& tokenizer, Part part, const AlignmentOptions& options,
                     TranslatedHypothesis* to) {
  if (!options.wanted || part.stays) return;
  std::vector<AlignedToken> target;
  for (size_t i = 0; i < part.spans.size(); ++i) {
    const TextSpan span = part.spans[i];
    target.push_back({tokenizer.TargetPiece(part.hypothesis->tokens[part.sentence().hidden + i]),
                      {span.begin + part.begin, span.end + part.begin}});
  }
  AppendAlignment({part.text.content, to->text, part.sentence().source, std::move(target),
                   std::move(part.attention)},
                  options, &to->alignment);
}

// Appends the tokens of a part, except the hidden ones.  `score` becomes a sum weighted by tokens.
void FinishTokens(const Tokenizer& tokenizer, const Part& part, TranslatedHypothesis* to) {
  const Hypothesis& hypothesis = *part.hypothesis;
  to->score += hypothesis.score * static_cast<float>(hypothesis.tokens.size() + 1);
  for (size_t i = part.sentence().hidden; i < hypothesis.tokens.size(); ++i) {
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

// The results for a sentence; none if it has no text.
absl::Span<const Hypothesis> FoundFor(const PlannedSentence& sentence,
                                      absl::Span<const JobResult> results) {
  if (sentence.job < 0) return {};
  return results[sentence.job].hypotheses;
}

// Appends what a memory has for a sentence, if anything.
void FinishMemory(const PlannedText& text, size_t number, absl::Span<const JobResult> results,
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
                     absl::Span<const JobResult> results, const AlignmentPlan& alignment,
                     StillWanted* wanted) {
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
      if (!wanted->After(sentence.span.size()).ok()) return translation;
      if (split) whole.text.append(text.content, end, sentence.span.begin - end);
      end = sentence.span.end;
      const absl::Span<const Hypothesis> found = FoundFor(sentence, results);
      // A sentence with fewer hypotheses than another repeats its last one.
      const Hypothesis* const hypothesis =
          found.empty() ? nullptr : &found[std::min(h, found.size() - 1)];
      Part part = Finish(tokenizer, alignment, {text, s, hypothesis, whole.text.size(), h == 0});
      const auto faults = FinishLiterals(part, &whole.literal_faults);
      qualities[s] = FinishQuality(part, faults, &whole.quality);
      if (renderer.has_value() && !part.stays) renderer->Set(s, part.target, part.placement);
      whole.text += part.target;
      spans.push_back({part.begin, whole.text.size()});
      if (part.is_untranslated() && part.is_best) ++translation.untranslated;
      if (hypothesis == nullptr) continue;
      FinishTerms(tokenizer, part, &translation);
      FinishInsight(tokenizer, part, alignment.heads, &whole);
      FinishTokens(tokenizer, part, &whole);
      FinishAlignment(tokenizer, std::move(part), alignment.options, &whole);
      tokens += hypothesis->tokens.size() + 1;
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
      FinishMemory(text, s, results, &translation.matches);
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
  return Finish(tokenizer, alignment, {text, sentence, hypothesis}).target;
}

void RenderSentence(const Tokenizer& tokenizer, const PlannedText& text, size_t sentence,
                    const Hypothesis* hypothesis, const AlignmentPlan& alignment,
                    Renderer* renderer) {
  Part part = Finish(tokenizer, alignment, {text, sentence, hypothesis});
  if (!part.stays) renderer->Set(sentence, std::move(part.target), std::move(part.placement));
}

SentenceFaults FaultsOf(const Tokenizer& tokenizer, const PlannedText& text, size_t sentence,
                        absl::Span<const Hypothesis> hypotheses, const AlignmentPlan& alignment,
                        const std::string* language) {
  SentenceFaults faults;
  for (const Hypothesis& hypothesis : hypotheses) {
    const Part part = Finish(tokenizer, alignment, {text, sentence, &hypothesis});
    faults.damaged = faults.damaged || part.stays;
    if (language == nullptr || faults.damaged) continue;
    const auto [source, target] = WithoutOpaque(part);
    const size_t lost = faults.lost.size();
    const bool invents = CountDigits(target) > CountDigits(source);
    for (const LiteralFault& fault : CheckLiterals(source, target, *language)) {
      if (CountDigits(fault.text) > 0) faults.lost.push_back(fault.source);
    }
    const std::vector<TextSpan> brackets = FindBrackets(source);
    if (!brackets.empty() && !HasSameBrackets(source, brackets, target)) {
      faults.lost.insert(faults.lost.end(), brackets.begin(), brackets.end());
      faults.brackets = true;
    }
    faults.invents = faults.invents || invents;
    faults.whole.push_back(!invents && faults.lost.size() == lost);
  }
  return faults;
}

}  // namespace dragoman
