// Text in, text out: the front door of the engine, for the server and for anyone who embeds it.
//
//   NullObserver observer;
//   WorkerPool pool(WorkerPoolOptions(), &observer);
//   ASSIGN_OR_RETURN(auto model, Model::Load("en-de", "models/en-de", Precision::kAuto));
//   Translator translator(model, &pool, Limits());
//   translator.Translate({.texts = {"The cat sleeps."}}, absl::InfiniteFuture(), done);
//
// A text is checked, split into sentences if that is asked for, tokenized, and becomes one job per
// sentence; when the last job ends, the sentences are put together again in order.

#ifndef DRAGOMAN_ENGINE_TRANSLATOR_H_
#define DRAGOMAN_ENGINE_TRANSLATOR_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "engine/decode/worker_pool.h"
#include "engine/glossary.h"
#include "engine/model/model.h"
#include "engine/search_request.h"
#include "engine/text/splitter.h"

namespace dragoman {

enum class Truncation {
  kReject,    // a sentence over the limit is an error
  kTruncate,  // it is cut at the limit, and the translation is marked as truncated
};

enum class Splitting {
  kNone,       // each text is one sentence, whatever it holds
  kSentences,  // texts are split; white space between sentences is kept as it was
};

struct TranslateRequest {
  std::vector<std::string> texts;
  // BCP-47 tags, or the model's own codes; "": the model's own languages.
  std::string source_language;
  std::string target_language;
  DecodingOptions options;
  Truncation truncation = Truncation::kReject;
  Splitting splitting = Splitting::kNone;
  WordRules words;
  // What the translations begin with: of each text, of all texts, or of none.  Only without
  // splitting.
  std::vector<std::string> target_prefixes;
  bool return_prefix = true;  // whether it is part of the translation that is given back
  // Translations of the texts that are to be scored, as they are: of each text, or of none.
  std::vector<std::string> targets;
};

struct TranslatedHypothesis {
  std::string text;
  float score = 0.0f;  // of several sentences: the mean weighted by their generated tokens
  std::vector<int32_t> token_ids;  // generated, without decoder start and eos; sentences end to end
  std::vector<std::string> tokens;  // the pieces that they stand for
  std::vector<float> token_scores;  // the log-probability of each of them
  // Of all tokens and the ends of sentences: the sum, how many there are, and the least likely.
  float log_prob = 0.0f;
  int scored_tokens = 0;
  float min_log_prob = 0.0f;
  float end_score = 0.0f;  // the log-probability of the last sentence's end, if it has one
  FinishReason finish_reason = FinishReason::kEos;  // the worst of its sentences'
};

struct SentencePair {
  TextSpan source;  // bytes of the request's text
  TextSpan target;  // bytes of the best hypothesis
  // Of the best hypothesis' tokens and its end: mean and least log-probability.
  float mean_log_prob = 0.0f;
  float min_log_prob = 0.0f;
};

struct Translation {
  std::vector<TranslatedHypothesis> hypotheses;  // best first; at least one
  std::vector<SentencePair> sentences;
  int source_tokens = 0;  // eos included, after truncation
  bool truncated = false;
};

// Where the time of a request went.  queue, encode and decode are the longest of its jobs'.
struct TranslateTimes {
  absl::Duration tokenize;
  absl::Duration queue;
  absl::Duration encode;
  absl::Duration decode;
  absl::Duration detokenize;
};

// One model's part in a translation.
struct TranslateStep {
  std::string model;
  TranslateTimes times;
};

struct TranslateResponse {
  absl::Status status;
  std::vector<Translation> translations;  // as many as texts and in their order, if status is OK
  TranslateTimes times;
  std::vector<TranslateStep> steps;  // if there were several (route.h)
};

// The index of a model's pieces, made when the first request needs it.  Thread-safe.
class LazyPieces {
 public:
  std::shared_ptr<const PieceIndex> Get(const Tokenizer& tokenizer);

 private:
  std::once_flag made_;
  std::shared_ptr<const PieceIndex> pieces_;
};

// Thread-safe.
class Translator {
 public:
  // `pool` must outlive the translator.
  Translator(std::shared_ptr<const Model> model, WorkerPool* pool, const Limits& limits);

  // Starts a translation and returns at once; `done` is called exactly once, before this returns
  // (an error found at the door, or nothing to translate) or later on a worker's thread, and must
  // not block.  `state` says who asks and until when, and cancels what was started: within a turn
  // `done` hears CANCELLED, or DEADLINE_EXCEEDED if the deadline was about to pass.
  // Errors: INVALID_ARGUMENT with the field (status.h), RESOURCE_EXHAUSTED, UNAVAILABLE,
  // DEADLINE_EXCEEDED, CANCELLED, INTERNAL.
  void Translate(TranslateRequest request, std::shared_ptr<RequestState> state,
                 std::function<void(TranslateResponse)> done) const;
  // The same for anybody; returns the state.
  std::shared_ptr<RequestState> Translate(TranslateRequest request, absl::Time deadline,
                                          std::function<void(TranslateResponse)> done) const;

  // What Translate checks of the texts of a request.
  absl::Status CheckTexts(const std::vector<std::string>& texts) const;

  // The tokens that the model sees for a text.  The languages are as in a request.
  absl::StatusOr<std::vector<int32_t>> EncodeSource(const std::string& text,
                                                    const std::string& source_language,
                                                    const std::string& target_language) const;

  const Model& model() const { return *model_; }

 private:
  std::shared_ptr<const Model> model_;
  WorkerPool* const pool_;
  const Limits limits_;
  const std::shared_ptr<const SearchRules> rules_;
  const std::shared_ptr<LazyPieces> pieces_;
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_TRANSLATOR_H_
