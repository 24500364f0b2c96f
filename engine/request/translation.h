// Requests for translations, and translations: the structs that the translator (translator.h)
// exchanges with its callers and with the two halves of a hop, the plan (plan.h) and the assembly
// (assembly.h).

#ifndef DRAGOMAN_ENGINE_REQUEST_TRANSLATION_H_
#define DRAGOMAN_ENGINE_REQUEST_TRANSLATION_H_

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "engine/request/alignment.h"
#include "engine/request/glossary.h"
#include "engine/request/insight.h"
#include "engine/request/memory.h"
#include "engine/request/quality.h"
#include "engine/search/search_options.h"
#include "engine/text/literal_check.h"
#include "engine/text/literals.h"
#include "engine/text/markup.h"
#include "engine/text/text_span.h"

namespace dragoman {

// What is done with a sentence over the limit.
enum class Truncation {
  kDivide,    // it is divided, or stays as it is if there is no place; with targets an error
  kReject,    // it is an error
  kTruncate,  // it is cut at the limit, and the translation is marked as truncated
};

enum class Splitting {
  kNone,       // each text is one sentence, whatever it holds
  kSentences,  // texts are split; white space between sentences is kept
  kAuto,       // sentences, unless the model's own configuration, prefixes or targets say otherwise
};

// When a repair (repair.h) keeps a token, and when it is doubtful, in nats.
struct RepairThresholds {
  float most_loss = 4.0f;      // of a token that is kept
  float doubtful_loss = 0.5f;  // of a translation, for each of its tokens
};

struct TranslateRequest {
  std::vector<std::string> texts;
  // BCP-47 tags, or the model's own codes; "": the model's own languages.
  std::string source_language;
  std::string target_language;
  DecodingOptions options;
  Truncation truncation = Truncation::kDivide;
  Splitting splitting = Splitting::kNone;
  WordRules words;
  int most_rows = std::numeric_limits<int>::max();  // as SearchTask's
  // What the translations begin with: one per text, one for all texts, or none.  Only without
  // splitting.
  std::vector<std::string> target_prefixes;
  // What the texts were before they were edited, and their translations then: one per text, or
  // none.  They make work less and never change a translation (drafts.h).
  std::vector<std::string> previous_texts, previous_translations;
  // Where sentences are looked up, in this order, and how much of one must be found, in percent.
  std::vector<MemoryPtr> memories;
  int memory_threshold = kDefaultMemoryThreshold;
  RepairThresholds repair;
  bool return_prefix = true;  // whether the returned translation includes it
  AlignmentOptions alignment;
  InsightOptions insight;
  // Given translations of the texts, to be scored: one per text, or none.
  std::vector<std::string> targets;
  // What the texts are written in, and so are their translations; without prefixes and targets.
  Markup markup = Markup::kNone;
  MarkupOptions markup_options;
  bool set_direction = false;  // outermost blocks get a `dir` if the direction of writing changes
  bool keep_literals = true;   // addresses, placeholders ... come out as they are (literals.h)
  TextSource text_source = TextSource::kProse;  // which says what is one
  bool check_literals = false;  // those that do not, and numbers, are told (literal_check.h)
  bool judge = false;           // translations get a Quality; goes with check_literals
  // What is below this score is marked, or refused.
  std::optional<float> min_quality;
  bool refuse_low_quality = false;
};

struct TranslatedHypothesis {
  std::string text;
  float score = 0.0f;  // of several sentences: the mean, weighted by their generated tokens
  std::vector<int32_t> token_ids;  // generated, without decoder start and eos; sentences end to end
  std::vector<std::string> tokens;  // the pieces of these ids
  std::vector<float> token_scores;  // the log-probability of each of them
  // Over all tokens and the ends of sentences: the sum, the number, and the minimum.
  float log_prob = 0.0f;
  int scored_tokens = 0;
  float min_log_prob = 0.0f;
  float end_score = 0.0f;  // the log-probability of the last sentence's end, if it has one
  FinishReason finish_reason = FinishReason::kEos;  // the worst of its sentences'
  Alignment alignment;                              // with the text; only if requested
  // Only if requested; the heads of the encoder only with the best hypothesis.
  std::vector<HeadBlock> heads;
  std::vector<CandidateStep> steps;
  // Only if requested.  Spans are bytes of the request's text and of this one.
  std::vector<LiteralFault> literal_faults;
  std::optional<Quality> quality;  // that of its worst sentence, with the doubtful words of all
};

struct SentencePair {
  TextSpan source;  // bytes of the request's text, with its markup
  TextSpan target;  // bytes of the best hypothesis
  // Mean and minimum log-probability of the best hypothesis' tokens and its end.
  float mean_log_prob = 0.0f;
  float min_log_prob = 0.0f;
  bool is_part = false;  // of a sentence that was longer than the limit
  std::optional<Quality> quality;
};

// A term whose translation does not say what the glossary wants.
struct UnmetTerm {
  std::string glossary;  // the id of the stored glossary; "": the request's own
  std::string source;    // of its entry
  TextSpan span;         // bytes of the request's text
};

struct Translation {
  std::vector<TranslatedHypothesis> hypotheses;  // best first; at least one
  std::vector<SentencePair> sentences;
  int terms = 0;                     // of glossaries, that the text has
  std::vector<UnmetTerm> unmet;      // by the best hypothesis, in the order of the text
  std::vector<MemoryMatch> matches;  // that a memory has, in the order of the text
  int source_tokens = 0;             // eos included, after truncation
  bool truncated = false;
  bool divided = false;  // a sentence was translated in parts, because it was longer than the limit
  bool low_quality = false;  // the best hypothesis is below min_quality
  int untranslated = 0;      // sentences that stand as they were (untranslated_sentences)
};

// Where a request spent its time.  queue, encode and decode are the longest of a hop's jobs', added
// up over its hops.
struct TranslateTimes {
  absl::Duration tokenize;
  absl::Duration queue;
  absl::Duration encode;
  absl::Duration decode;
  absl::Duration detokenize;
  // Of all jobs that took work: decoder steps, and tokens of drafts that were kept.
  int steps = 0, kept = 0;

  // Adds what was done afterwards, and what was done beside it: of that, the longest queue, encode
  // and decode count; tokenize and detokenize are added.
  void AddLater(const TranslateTimes& later);
  void AddBeside(const TranslateTimes& other);
};

// One hop's part in a translation.
struct TranslateStep {
  std::string model;
  TranslateTimes times;
};

// Adds the error of one of several parts, which end each other, to that of the whole: the first
// counts, unless it is that of a part which another one's error has ended.
void AddError(const absl::Status& part, absl::Status* whole);

struct TranslateResponse {
  absl::Status status;
  std::vector<Translation> translations;  // one per text, in order, if status is OK
  TranslateTimes times;
  int reused_sentences =
      0;  // sentences that needed no work, because equal ones had been, or were being, translated
  std::vector<TranslateStep> steps;  // if the texts took several
};

// A finished sentence.
struct FinishedSentence {
  size_t index = 0;    // among the sentences of its text
  size_t of = 0;       // the number of those sentences
  std::string target;  // its translation
  TextSpan source_span;
  TextSpan target_span;
  float score = 0.0f;
  FinishReason finish_reason = FinishReason::kEos;
  bool is_part = false;  // as in SentencePair
};

// A report on a translation in progress (progress.h).
struct TranslateProgress {
  size_t text = 0;  // its index in the request
  // More of the text of its best hypothesis, which is never taken back: whole words, except at the
  // end of a sentence.
  std::string stable_text;
  std::optional<FinishedSentence> sentence;  // ended by stable_text
  std::optional<Translation> translation;    // the whole text is done
};
using OnProgress = std::function<void(TranslateProgress)>;

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_REQUEST_TRANSLATION_H_
