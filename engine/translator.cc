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
#include "engine/text/chrf.h"

namespace dragoman {
namespace {

std::string TextField(size_t text) { return absl::StrCat("contents[", text, "]"); }

absl::Status CheckTexts(const std::vector<std::string>& texts, const Limits& limits) {
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

// Part of a request: one sentence of one text.
struct Sentence {
  TextSpan span;      // bytes of the text
  JobResult result;   // written by its job; status is OK before
  size_t hidden = 0;  // tokens of its hypotheses that are not given back
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
       std::shared_ptr<LazyPieces> pieces, std::shared_ptr<RequestState> state,
       std::function<void(TranslateResponse)> done)
      : model_(std::move(model)),
        rules_(std::move(rules)),
        pieces_(std::move(pieces)),
        state_(std::move(state)),
        done_(std::move(done)),
        started_(absl::Now()) {}

  // Checks and tokenizes the request: one job for each sentence.
  absl::StatusOr<std::vector<JobPtr>> Prepare(TranslateRequest request, const Limits& limits);

  // Answers with an error, or, if there are no jobs to wait for, with the translations.
  void Answer(absl::Status status);

 private:
  absl::Status CheckTargets(const TranslateRequest& request) const;
  absl::StatusOr<JobPtr> MakeJob(const TranslateRequest& request, std::vector<int32_t> source,
                                 size_t text, std::string_view sentence) const;
  absl::Status SetUpSearch(const TranslateRequest& request, size_t text, std::string_view sentence,
                           Job* job) const;
  absl::Status AddCandidates(Job* job) const;
  std::vector<int32_t> Beginning(const std::string& text) const;
  absl::StatusOr<std::vector<int32_t>> Tokenize(const std::string& sentence, const Frame& frame,
                                                size_t text, Truncation truncation, int max_tokens);
  void JobDone(Sentence* sentence, JobResult result);
  void ChooseByConsensus(std::vector<Hypothesis>* hypotheses) const;
  Translation Assemble(const Text& text) const;

  const std::shared_ptr<const Model> model_;
  std::shared_ptr<const SearchRules> rules_;  // of the model, then of the request
  const std::shared_ptr<LazyPieces> pieces_;
  const std::shared_ptr<RequestState> state_;
  const std::function<void(TranslateResponse)> done_;
  const absl::Time started_;
  absl::Duration tokenize_;
  SearchOptions search_;  // all but the lengths
  Glossary glossary_;
  bool return_prefix_ = true;
  bool scores_ = false;  // given translations
  std::vector<Text> texts_;
  std::atomic<int> jobs_left_ = 0;

  absl::Mutex mutex_;
  absl::Status error_ ABSL_GUARDED_BY(mutex_);  // the first of any job
};

absl::StatusOr<std::vector<JobPtr>> Call::Prepare(TranslateRequest request, const Limits& limits) {
  RETURN_IF_ERROR(CheckTexts(request.texts, limits));
  RETURN_IF_ERROR(CheckTargets(request));
  const Tokenizer& tokenizer = model_->tokenizer();
  ASSIGN_OR_RETURN(const LanguagePair languages,
                   tokenizer.languages().Resolve(request.source_language, request.target_language));
  const Frame frame = tokenizer.FrameOf(languages);
  ASSIGN_OR_RETURN(search_,
                   ResolveSearch(request.options, limits, model_->generation(), model_->spec()));
  if (frame.decoder_start.has_value()) search_.start_id = *frame.decoder_start;
  if (frame.forced_bos.has_value() && !request.options.forced_bos_id.has_value()) {
    search_.forced_bos_id = frame.forced_bos;
  }
  if (request.words.restricts()) {
    auto pieces = request.words.never_say.empty() ? nullptr : pieces_->Get(tokenizer);
    ASSIGN_OR_RETURN(rules_, AddWordRules(rules_, request.words, tokenizer, std::move(pieces)));
  }
  ASSIGN_OR_RETURN(glossary_, Glossary::Create(request.words.glossary, tokenizer));
  return_prefix_ = request.return_prefix;
  scores_ = !request.targets.empty();
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
      ASSIGN_OR_RETURN(JobPtr job, MakeJob(request, std::move(ids), t, content));
      job->random_key = MixKey(job->random_key, &sentence - texts_[t].sentences.data());
      jobs.push_back(std::move(job));
      if (!return_prefix_) sentence.hidden = jobs.back()->prefix.size();
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

absl::Status Call::CheckTargets(const TranslateRequest& request) const {
  for (const auto& [field, given] : {std::pair("target_prefixes", &request.target_prefixes),
                                     std::pair("targets", &request.targets)}) {
    if (given->empty()) continue;
    const bool for_all = given == &request.target_prefixes && given->size() == 1;
    if (given->size() != request.texts.size() && !for_all) {
      return InvalidField(field, absl::StrCat("has ", given->size(), " texts, want as many as ",
                                              request.texts.size(), " contents"));
    }
    for (size_t i = 0; i < given->size(); ++i) {
      if (!IsValidUtf8((*given)[i])) {
        return InvalidField(absl::StrCat(field, "[", i, "]"), "is not valid UTF-8");
      }
    }
    if (request.splitting != Splitting::kNone) {
      return InvalidField("sentence_splitting", absl::StrCat("splits texts, which have ", field));
    }
  }
  return absl::OkStatus();
}

// The job of one sentence of text number `text`.
absl::StatusOr<JobPtr> Call::MakeJob(const TranslateRequest& request, std::vector<int32_t> source,
                                     size_t text, std::string_view sentence) const {
  auto job = std::make_unique<Job>();
  job->model = model_;
  job->request = state_;
  job->rules = rules_;
  job->source = std::move(source);
  job->random_key = MixKey(search_.sampling_seed, job->source);
  if (request.targets.empty()) {
    RETURN_IF_ERROR(SetUpSearch(request, text, sentence, job.get()));
    return job;
  }
  job->score_prefix = true;
  job->options.start_id = search_.start_id;
  job->prefix = Beginning(request.targets[text]);
  job->options.max_length = static_cast<int>(job->prefix.size()) + 1;
  if (job->options.max_length > model_->spec().max_positions) {
    return InvalidField(absl::StrCat("targets[", text, "]"),
                        absl::StrCat("has ", job->options.max_length, " tokens, the most is ",
                                     model_->spec().max_positions));
  }
  return job;
}

absl::Status Call::SetUpSearch(const TranslateRequest& request, size_t text,
                               std::string_view sentence, Job* job) const {
  job->options = search_;
  if (job->options.mbr_candidates > 0) job->options.num_hypotheses = job->options.mbr_candidates;
  RETURN_IF_ERROR(SetLengths(request.options, static_cast<int>(job->source.size()),
                             model_->generation(), model_->spec(), &job->options));
  job->phrases = glossary_.PhrasesFor(sentence);
  constexpr size_t kMaxPhrases = 64;
  if (job->phrases.size() > kMaxPhrases) {
    return InvalidField(TextField(text), absl::StrCat("has ", job->phrases.size(),
                                                      " places of the glossary in a sentence, "
                                                      "the most is ",
                                                      kMaxPhrases));
  }
  if (!job->phrases.empty() &&
      (search_.sampling || search_.return_alternatives || search_.beam_groups > 1)) {
    return InvalidField("options.glossary", "wants a plain beam search");
  }
  if (!request.target_prefixes.empty()) {
    const size_t which = request.target_prefixes.size() == 1 ? 0 : text;
    if (request.target_prefixes[which].empty()) return AddCandidates(job);
    job->prefix = Beginning(request.target_prefixes[which]);
    if (static_cast<int>(job->prefix.size()) >= job->options.max_length) {
      return InvalidField(
          absl::StrCat("target_prefixes[", which, "]"),
          absl::StrCat("has ", job->prefix.size(), " tokens, want less than the max_length ",
                       job->options.max_length));
    }
  }
  return AddCandidates(job);
}

// A target text as tokens, after the one that the model begins with.
std::vector<int32_t> Call::Beginning(const std::string& text) const {
  std::vector<int32_t> tokens = model_->tokenizer().EncodeTarget(text);
  if (search_.forced_bos_id.has_value()) tokens.insert(tokens.begin(), *search_.forced_bos_id);
  return tokens;
}

absl::Status Call::AddCandidates(Job* job) const {
  if (model_->shortlist() == nullptr) return absl::OkStatus();
  job->candidates = model_->shortlist()->Candidates(job->source);
  if (job->candidates.empty() || job->phrases.empty()) return absl::OkStatus();
  for (const std::vector<int32_t>& phrase : job->phrases) {
    job->candidates.insert(job->candidates.end(), phrase.begin(), phrase.end());
  }
  std::sort(job->candidates.begin(), job->candidates.end());
  job->candidates.erase(std::unique(job->candidates.begin(), job->candidates.end()),
                        job->candidates.end());
  return absl::OkStatus();
}

// No tokens for a sentence without text.
absl::StatusOr<std::vector<int32_t>> Call::Tokenize(const std::string& sentence, const Frame& frame,
                                                    size_t text, Truncation truncation,
                                                    int max_tokens) {
  EncodedText encoded = model_->tokenizer().Encode(sentence, frame);
  if (encoded.text_tokens == 0 && !scores_) return std::vector<int32_t>();
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

// Keeps the num_hypotheses that are most like the others, those first.
void Call::ChooseByConsensus(std::vector<Hypothesis>* hypotheses) const {
  std::vector<std::string> texts;
  for (const Hypothesis& hypothesis : *hypotheses) {
    texts.push_back(model_->tokenizer().Decode(hypothesis.tokens));
  }
  std::vector<Hypothesis> chosen;
  for (const int i : OrderByConsensus(texts)) {
    if (static_cast<int>(chosen.size()) == search_.num_hypotheses) break;
    chosen.push_back(std::move((*hypotheses)[i]));
  }
  *hypotheses = std::move(chosen);
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
  if (search_.mbr_candidates > 0) ChooseByConsensus(&sentence->result.hypotheses);
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
        Append(model_->tokenizer(), hypothesis, sentence.hidden, &whole);
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

}  // namespace

std::shared_ptr<const PieceIndex> LazyPieces::Get(const Tokenizer& tokenizer) {
  std::call_once(made_, [&] { pieces_ = std::make_shared<PieceIndex>(tokenizer); });
  return pieces_;
}

Translator::Translator(std::shared_ptr<const Model> model, WorkerPool* pool, const Limits& limits)
    : model_(std::move(model)),
      pool_(pool),
      limits_(limits),
      rules_(
          MakeRules(model_->generation(), model_->spec(), model_->tokenizer().target_unknown_id())),
      pieces_(std::make_shared<LazyPieces>()) {}

absl::Status Translator::CheckTexts(const std::vector<std::string>& texts) const {
  return dragoman::CheckTexts(texts, limits_);
}

absl::StatusOr<std::vector<int32_t>> Translator::EncodeSource(
    const std::string& text, const std::string& source_language,
    const std::string& target_language) const {
  const Tokenizer& tokenizer = model_->tokenizer();
  ASSIGN_OR_RETURN(const LanguagePair languages,
                   tokenizer.languages().Resolve(source_language, target_language));
  return tokenizer.Encode(text, tokenizer.FrameOf(languages)).ids;
}

void Translator::Translate(TranslateRequest request, std::shared_ptr<RequestState> state,
                           std::function<void(TranslateResponse)> done) const {
  const auto call = std::make_shared<Call>(model_, rules_, pieces_, state, std::move(done));
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
