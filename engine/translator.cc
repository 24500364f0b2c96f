#include "engine/translator.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "engine/base/utf8.h"
#include "engine/search_request.h"

namespace dragoman {
namespace {

std::string TextField(size_t text) { return absl::StrCat("contents[", text, "]"); }

// Part of a request: one sentence of one text.
struct Sentence {
  TextSpan span;     // bytes of the text
  JobResult result;  // written by its job; status is OK before
};

struct Text {
  std::string content;
  std::vector<Sentence> sentences;
  int source_tokens = 0;
  bool truncated = false;
};

// A request on its way through the engine.  The jobs write to their own sentences; the last one to
// finish puts the answer together.
class Call : public std::enable_shared_from_this<Call> {
 public:
  Call(std::shared_ptr<const Model> model, std::shared_ptr<const SearchRules> rules,
       std::shared_ptr<RequestState> state, std::function<void(TranslateResponse)> done)
      : model_(std::move(model)),
        rules_(std::move(rules)),
        state_(std::move(state)),
        done_(std::move(done)),
        started_(absl::Now()) {}

  // Checks and tokenizes the request: one job for each sentence.
  absl::StatusOr<std::vector<JobPtr>> Prepare(TranslateRequest request, const Limits& limits);

  // Answers with an error, or, if there are no jobs to wait for, with the translations.
  void Answer(absl::Status status);

 private:
  absl::Status CheckTexts(const TranslateRequest& request, const Limits& limits) const;
  absl::StatusOr<std::vector<int32_t>> Tokenize(const std::string& sentence, const Frame& frame,
                                                size_t text, Truncation truncation, int max_tokens);
  void JobDone(Sentence* sentence, JobResult result);
  Translation Assemble(const Text& text) const;

  const std::shared_ptr<const Model> model_;
  const std::shared_ptr<const SearchRules> rules_;
  const std::shared_ptr<RequestState> state_;
  const std::function<void(TranslateResponse)> done_;
  const absl::Time started_;
  absl::Duration tokenize_;
  std::vector<Text> texts_;
  std::atomic<int> jobs_left_ = 0;

  absl::Mutex mutex_;
  absl::Status error_ ABSL_GUARDED_BY(mutex_);  // the first of any job
};

absl::Status Call::CheckTexts(const TranslateRequest& request, const Limits& limits) const {
  const std::vector<std::string>& texts = request.texts;
  if (texts.empty()) return InvalidField("contents", "is empty, want at least one text");
  if (static_cast<int>(texts.size()) > limits.max_texts) {
    return InvalidField(
        "contents", absl::StrCat("has ", texts.size(), " texts, the most is ", limits.max_texts));
  }
  int64_t characters = 0;
  for (size_t t = 0; t < texts.size(); ++t) {
    if (!IsValidUtf8(texts[t])) return InvalidField(TextField(t), "is not valid UTF-8");
    characters += CountCodePoints(texts[t]);
    if (characters > limits.max_characters) {
      return InvalidField(TextField(t), absl::StrCat("the request has more than ",
                                                     limits.max_characters, " characters"));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<JobPtr>> Call::Prepare(TranslateRequest request, const Limits& limits) {
  RETURN_IF_ERROR(CheckTexts(request, limits));
  const Tokenizer& tokenizer = model_->tokenizer();
  ASSIGN_OR_RETURN(const LanguagePair languages,
                   tokenizer.languages().Resolve(request.source_language, request.target_language));
  const Frame frame = tokenizer.FrameOf(languages);
  ASSIGN_OR_RETURN(SearchOptions search,
                   ResolveSearch(request.options, limits, model_->generation(), model_->spec()));
  if (frame.decoder_start.has_value()) search.start_id = *frame.decoder_start;
  if (frame.forced_bos.has_value()) search.forced_bos_id = frame.forced_bos;
  const int max_tokens = std::min(limits.max_source_tokens, model_->spec().max_positions);

  texts_.resize(request.texts.size());
  std::vector<JobPtr> jobs;
  std::vector<Sentence*> targets;
  for (size_t t = 0; t < texts_.size(); ++t) {
    Text& text = texts_[t];
    text.content = std::move(request.texts[t]);
    const std::vector<TextSpan> spans = request.splitting == Splitting::kSentences
                                            ? SplitSentences(text.content)
                                            : std::vector<TextSpan>{{0, text.content.size()}};
    for (const TextSpan span : spans) text.sentences.push_back({span, {}});
    for (Sentence& sentence : text.sentences) {
      const std::string content =
          text.content.substr(sentence.span.begin, sentence.span.end - sentence.span.begin);
      ASSIGN_OR_RETURN(std::vector<int32_t> ids,
                       Tokenize(content, frame, t, request.truncation, max_tokens));
      if (ids.empty()) continue;  // nothing to translate
      auto job = std::make_unique<Job>();
      job->model = model_;
      job->request = state_;
      job->options = search;
      job->rules = rules_;
      RETURN_IF_ERROR(SetLengths(request.options, static_cast<int>(ids.size()),
                                 model_->generation(), model_->spec(), &job->options));
      job->source = std::move(ids);
      if (model_->shortlist() != nullptr) {
        job->candidates = model_->shortlist()->Candidates(job->source);
      }
      jobs.push_back(std::move(job));
      targets.push_back(&sentence);
    }
  }
  jobs_left_ = static_cast<int>(jobs.size());
  for (size_t i = 0; i < jobs.size(); ++i) {
    jobs[i]->on_done = [self = shared_from_this(), target = targets[i]](JobResult result) {
      self->JobDone(target, std::move(result));
    };
  }
  tokenize_ = absl::Now() - started_;
  return jobs;
}

// No tokens for a sentence without text.
absl::StatusOr<std::vector<int32_t>> Call::Tokenize(const std::string& sentence, const Frame& frame,
                                                    size_t text, Truncation truncation,
                                                    int max_tokens) {
  EncodedText encoded = model_->tokenizer().Encode(sentence, frame);
  if (encoded.text_tokens == 0) return std::vector<int32_t>();
  if (static_cast<int>(encoded.ids.size()) > max_tokens) {
    if (truncation == Truncation::kReject) {
      return InvalidField(TextField(text), absl::StrCat("a sentence has ", encoded.ids.size(),
                                                        " tokens, the most is ", max_tokens,
                                                        "; split it, or ask for truncation"));
    }
    encoded.Truncate(max_tokens);
    texts_[text].truncated = true;
  }
  texts_[text].source_tokens += static_cast<int>(encoded.ids.size());
  return std::move(encoded.ids);
}

void Call::JobDone(Sentence* sentence, JobResult result) {
  if (!result.status.ok()) {
    {
      absl::MutexLock lock(&mutex_);
      if (error_.ok()) error_ = result.status;
    }
    state_->Cancel(absl::Now());  // the other sentences are of no use without this one
  }
  sentence->result = std::move(result);
  if (jobs_left_.fetch_sub(1, std::memory_order_acq_rel) > 1) return;
  absl::Status status;
  {
    absl::MutexLock lock(&mutex_);
    status = error_;
  }
  Answer(std::move(status));
}

void Call::Answer(absl::Status status) {
  TranslateResponse response;
  response.status = std::move(status);
  const absl::Time start = absl::Now();
  TranslateTimes& times = response.times;
  times.tokenize = tokenize_;
  for (const Text& text : texts_) {
    if (response.status.ok()) response.translations.push_back(Assemble(text));
    for (const Sentence& sentence : text.sentences) {
      times.queue = std::max(times.queue, sentence.result.times.queue);
      times.encode = std::max(times.encode, sentence.result.times.encode);
      times.decode = std::max(times.decode, sentence.result.times.decode);
    }
  }
  times.detokenize = absl::Now() - start;
  done_(std::move(response));
}

// Appends one sentence's hypothesis to that of the text.  `score` sums up, weighted by tokens.
void Append(const Tokenizer& tokenizer, const Hypothesis& hypothesis, TranslatedHypothesis* to) {
  to->text += tokenizer.Decode(hypothesis.tokens);
  to->score += hypothesis.score * static_cast<float>(hypothesis.tokens.size() + 1);
  for (size_t i = 0; i < hypothesis.tokens.size(); ++i) {
    to->token_ids.push_back(hypothesis.tokens[i]);
    to->tokens.push_back(tokenizer.TargetPiece(hypothesis.tokens[i]));
    to->token_scores.push_back(hypothesis.token_log_probs[i]);
  }
  if (hypothesis.finish_reason == FinishReason::kMaxLength) {
    to->finish_reason = FinishReason::kMaxLength;
  }
}

Translation Call::Assemble(const Text& text) const {
  Translation translation;
  translation.source_tokens = text.source_tokens;
  translation.truncated = text.truncated;
  size_t hypotheses = 1;
  for (const Sentence& sentence : text.sentences) {
    hypotheses = std::max(hypotheses, sentence.result.hypotheses.size());
  }
  const bool split =
      text.sentences.size() != 1 || text.sentences.front().span != TextSpan{0, text.content.size()};
  translation.hypotheses.resize(hypotheses);
  for (size_t h = 0; h < hypotheses; ++h) {
    TranslatedHypothesis& whole = translation.hypotheses[h];
    size_t end = 0;  // of what was translated so far
    size_t tokens = 0;
    for (const Sentence& sentence : text.sentences) {
      if (split) whole.text.append(text.content, end, sentence.span.begin - end);
      end = sentence.span.end;
      const size_t begin = whole.text.size();
      const std::vector<Hypothesis>& found = sentence.result.hypotheses;
      if (!found.empty()) {
        // A sentence with fewer hypotheses than another stands with its last one.
        const Hypothesis& hypothesis = found[std::min(h, found.size() - 1)];
        Append(model_->tokenizer(), hypothesis, &whole);
        tokens += hypothesis.tokens.size() + 1;
      }
      if (h == 0) translation.sentences.push_back({sentence.span, {begin, whole.text.size()}});
    }
    if (split) whole.text.append(text.content, end);
    if (tokens > 0) whole.score /= static_cast<float>(tokens);
  }
  return translation;
}

}  // namespace

Translator::Translator(std::shared_ptr<const Model> model, WorkerPool* pool, const Limits& limits)
    : model_(std::move(model)),
      pool_(pool),
      limits_(limits),
      rules_(MakeRules(model_->generation(), model_->spec())) {}

void Translator::Translate(TranslateRequest request, std::shared_ptr<RequestState> state,
                           std::function<void(TranslateResponse)> done) const {
  const auto call = std::make_shared<Call>(model_, rules_, state, std::move(done));
  absl::StatusOr<std::vector<JobPtr>> jobs = call->Prepare(std::move(request), limits_);
  absl::Status status = jobs.status();
  if (status.ok()) status = state->Wanted(absl::Now());
  if (status.ok() && !jobs->empty()) {
    status = pool_->Submit(*std::move(jobs));
    if (status.ok()) return;
  }
  call->Answer(std::move(status));
}

std::shared_ptr<RequestState> Translator::Translate(
    TranslateRequest request, absl::Time deadline,
    std::function<void(TranslateResponse)> done) const {
  auto state = std::make_shared<RequestState>(deadline);
  Translate(std::move(request), state, std::move(done));
  return state;
}

}  // namespace dragoman
