// A request becomes jobs text by text and sentence by sentence.  What all sentences share
// (languages, search options, word rules, the glossary) is resolved once, before the first one.  An
// error names the offending field, and is found before anything has been submitted.

#include "engine/plan.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/base/status.h"
#include "engine/base/utf8.h"
#include "engine/model/attention_tree.h"
#include "engine/search/phrases.h"
#include "engine/search/row_sampler.h"

namespace dragoman {
namespace {

std::string TextField(size_t text) { return absl::StrCat("contents[", text, "]"); }

absl::Status CheckTargets(const TranslateRequest& request) {
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
    if (request.splitting == Splitting::kSentences) {
      return InvalidField("sentence_splitting", absl::StrCat("splits texts, which have ", field));
    }
  }
  return absl::OkStatus();
}

// Makes one plan.
class Planner {
 public:
  Planner(const PlanContext& context, TranslateRequest request, std::shared_ptr<RequestState> state)
      : context_(context), request_(std::move(request)), state_(std::move(state)) {}

  absl::StatusOr<TranslationPlan> Run();

 private:
  const Model& model() const { return *context_.model; }
  absl::Status Prepare();
  absl::Status PrepareGlossary();
  absl::Status CheckAhead() const;
  bool SplitsTexts() const;
  absl::Status AddSentences(size_t text);
  absl::Status PrepareAlignment();
  absl::StatusOr<EncodedText> Tokenize(size_t text, const std::string& sentence);
  std::vector<AlignedToken> AlignedTokens(const EncodedText& sentence, size_t begin) const;
  absl::StatusOr<JobPtr> MakeJob(std::vector<int32_t> source, size_t text,
                                 std::string_view sentence) const;
  absl::Status SetUpSearch(size_t text, std::string_view sentence, Job* job) const;
  absl::Status AddPrefix(size_t text, Job* job) const;
  absl::Status AddPhrases(size_t text, std::string_view sentence, Job* job) const;
  absl::Status AddShortlist(Job* job) const;
  std::vector<int32_t> Beginning(const std::string& text) const;

  const PlanContext& context_;
  TranslateRequest request_;
  const std::shared_ptr<RequestState> state_;
  Frame frame_;
  SearchOptions search_;                      // without the lengths
  std::shared_ptr<const SearchRules> rules_;  // of the model and the request
  Glossary glossary_;
  int max_tokens_ = 0;  // of a sentence
  int longest_ = 0;     // the most tokens of a translation
  TranslationPlan plan_;
};

absl::StatusOr<TranslationPlan> Planner::Run() {
  RETURN_IF_ERROR(dragoman::CheckTexts(request_.texts, context_.limits));
  RETURN_IF_ERROR(CheckTargets(request_));
  RETURN_IF_ERROR(Prepare());
  RETURN_IF_ERROR(CheckAhead());
  plan_.texts.resize(request_.texts.size());
  for (size_t t = 0; t < plan_.texts.size(); ++t) RETURN_IF_ERROR(AddSentences(t));
  plan_.by_consensus = search_.mbr_candidates > 0;
  plan_.num_hypotheses = search_.num_hypotheses;
  return std::move(plan_);
}

// Resolves what all sentences have in common.
absl::Status Planner::Prepare() {
  const Tokenizer& tokenizer = model().tokenizer();
  ASSIGN_OR_RETURN(
      const LanguagePair languages,
      tokenizer.languages().Resolve(request_.source_language, request_.target_language));
  frame_ = tokenizer.FrameOf(languages);
  ASSIGN_OR_RETURN(search_, ResolveSearch(request_.options, context_.limits, model().generation(),
                                          model().spec()));
  if (frame_.decoder_start.has_value()) search_.start_id = *frame_.decoder_start;
  if (frame_.forced_bos.has_value() && !request_.options.forced_bos_id.has_value()) {
    search_.forced_bos_id = frame_.forced_bos;
  }
  rules_ = context_.rules;
  const WordRules& words = request_.words;
  if (words.restricts()) {
    auto pieces = words.never_say.empty() ? nullptr : context_.pieces->Index(tokenizer);
    ASSIGN_OR_RETURN(rules_, AddWordRules(rules_, words, tokenizer, std::move(pieces)));
  }
  RETURN_IF_ERROR(PrepareGlossary());
  max_tokens_ = std::min(context_.limits.max_source_tokens, model().spec().max_positions);
  return PrepareAlignment();
}

absl::Status Planner::PrepareGlossary() {
  const Tokenizer& tokenizer = model().tokenizer();
  const std::vector<GlossaryEntry>& entries = request_.words.glossary;
  if (entries.empty()) return absl::OkStatus();
  if (search_.sampling || search_.return_alternatives || search_.beam_groups > 1) {
    return InvalidField("options.glossary",
                        "wants a beam search without sampling, return_alternatives or beam_groups");
  }
  longest_ = std::min(request_.options.max_length.value_or(model().spec().max_positions),
                      model().spec().max_positions);
  ASSIGN_OR_RETURN(glossary_, Glossary::Create(entries, tokenizer, longest_ - 1, *rules_));
  auto rules = std::make_shared<SearchRules>(*rules_);
  rules->word_joins = context_.pieces->Joins(tokenizer);
  rules_ = std::move(rules);
  return absl::OkStatus();
}

// Whether there is any use in tokenizing the texts.
absl::Status Planner::CheckAhead() const {
  if (context_.check_ahead == nullptr) return absl::OkStatus();
  // A text without words needs no work, and the options below set lengths that do not follow from
  // the source.
  const bool has_words = std::all_of(
      request_.texts.begin(), request_.texts.end(),
      [](const std::string& text) { return text.find_first_not_of(" \t\r\n") != text.npos; });
  const DecodingOptions& options = request_.options;
  if (!has_words || options.min_length > 0 || options.min_length_ratio > 0 ||
      !request_.targets.empty()) {
    return absl::OkStatus();
  }
  SearchTask task;
  task.options = search_;
  RoughSize size = {.texts = static_cast<int>(request_.texts.size()), .rows = MaxLive(task)};
  for (const std::string& text : request_.texts) size.bytes += text.size();
  return context_.check_ahead(*state_, size);
}

absl::Status Planner::PrepareAlignment() {
  AlignmentPlan& alignment = plan_.alignment;
  alignment.options = request_.alignment;
  alignment.replace_unknowns = search_.replace_unknowns && request_.targets.empty();
  const bool needed = alignment.wants_attention() || search_.coverage_penalty != 0.0f;
  if (!needed || model().network().attends()) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("the model ", model().name(),
                   " does not report its attention, which alignments, coverage_penalty and "
                   "replace_unknowns need"));
}

bool Planner::SplitsTexts() const {
  if (request_.splitting != Splitting::kAuto) return request_.splitting == Splitting::kSentences;
  return model().generation().split_sentences && request_.target_prefixes.empty() &&
         request_.targets.empty();
}

// Adds the sentences of text number `t`, and a job for each that has something to translate.
absl::Status Planner::AddSentences(size_t t) {
  PlannedText& text = plan_.texts[t];
  text.content = std::move(request_.texts[t]);
  const std::vector<TextSpan> spans = SplitsTexts()
                                          ? SplitSentences(text.content)
                                          : std::vector<TextSpan>{{0, text.content.size()}};
  for (const TextSpan span : spans) {
    const size_t number = text.sentences.size();
    PlannedSentence& sentence = text.sentences.emplace_back(PlannedSentence{.span = span});
    const std::string content = text.content.substr(span.begin, span.end - span.begin);
    ASSIGN_OR_RETURN(EncodedText encoded, Tokenize(t, content));
    if (encoded.ids.empty()) continue;  // nothing to translate
    sentence.source = AlignedTokens(encoded, span.begin);
    ASSIGN_OR_RETURN(JobPtr job, MakeJob(std::move(encoded.ids), t, content));
    job->random_key = MixKey(job->random_key, number);
    if (!request_.return_prefix) sentence.hidden = job->prefix.size();
    sentence.job = static_cast<int>(plan_.jobs.size());
    plan_.jobs.push_back(std::move(job));
  }
  return absl::OkStatus();
}

// Creates the job for one sentence of text number `text`.
absl::StatusOr<JobPtr> Planner::MakeJob(std::vector<int32_t> source, size_t text,
                                        std::string_view sentence) const {
  auto job = std::make_unique<Job>();
  job->model = context_.model;
  job->request = state_;
  job->rules = rules_;
  job->source = std::move(source);
  job->attention = plan_.alignment.wants_attention();
  job->random_key = MixKey(search_.sampling_seed, job->source);
  if (request_.targets.empty()) {
    RETURN_IF_ERROR(SetUpSearch(text, sentence, job.get()));
    return job;
  }
  job->score_prefix = true;
  job->options.start_id = search_.start_id;
  job->prefix = Beginning(request_.targets[text]);
  job->options.max_length = static_cast<int>(job->prefix.size()) + 1;
  if (job->options.max_length > model().spec().max_positions) {
    return InvalidField(absl::StrCat("targets[", text, "]"),
                        absl::StrCat("has ", job->options.max_length, " tokens, the most is ",
                                     model().spec().max_positions));
  }
  return job;
}

absl::Status Planner::SetUpSearch(size_t text, std::string_view sentence, Job* job) const {
  job->options = search_;
  if (job->options.mbr_candidates > 0) job->options.num_hypotheses = job->options.mbr_candidates;
  RETURN_IF_ERROR(SetLengths(request_.options, static_cast<int>(job->source.size()),
                             model().generation(), model().spec(), &job->options));
  RETURN_IF_ERROR(AddPrefix(text, job));
  RETURN_IF_ERROR(AddPhrases(text, sentence, job));
  return AddShortlist(job);
}

absl::Status Planner::AddPrefix(size_t text, Job* job) const {
  if (request_.target_prefixes.empty()) return absl::OkStatus();
  const size_t which = request_.target_prefixes.size() == 1 ? 0 : text;
  if (request_.target_prefixes[which].empty()) return absl::OkStatus();
  job->prefix = Beginning(request_.target_prefixes[which]);
  if (static_cast<int>(job->prefix.size()) < job->options.max_length) return absl::OkStatus();
  return InvalidField(
      absl::StrCat("target_prefixes[", which, "]"),
      absl::StrCat("has ", job->prefix.size(), " tokens, want less than the max_length ",
                   job->options.max_length));
}

// The phrases of the glossary, and room for them unless the request has set the length.
absl::Status Planner::AddPhrases(size_t text, std::string_view sentence, Job* job) const {
  job->phrases = glossary_.PhrasesFor(sentence, text);
  if (job->phrases.empty()) return absl::OkStatus();
  if (job->phrases.size() > Phrases::kMax) {
    return InvalidField(TextField(text),
                        absl::StrCat("has ", job->phrases.size(),
                                     " occurrences of glossary entries in a sentence, "
                                     "the most is ",
                                     Phrases::kMax));
  }
  size_t needed = job->prefix.size() + 1;  // and the end of the sentence
  for (const std::vector<int32_t>& phrase : job->phrases) needed += phrase.size();
  if (needed > static_cast<size_t>(longest_)) {
    return InvalidField("options.glossary",
                        absl::StrCat("asks for a translation of at least ", needed, " tokens for ",
                                     TextField(text), ", the most is ", longest_));
  }
  job->options.max_length = std::max(job->options.max_length, static_cast<int>(needed));
  return absl::OkStatus();
}

// The tokens of a target text, after the one that the model begins with.
std::vector<int32_t> Planner::Beginning(const std::string& text) const {
  std::vector<int32_t> tokens = model().tokenizer().EncodeTarget(text);
  if (search_.forced_bos_id.has_value()) tokens.insert(tokens.begin(), *search_.forced_bos_id);
  return tokens;
}

absl::Status Planner::AddShortlist(Job* job) const {
  if (model().shortlist() == nullptr) return absl::OkStatus();
  job->shortlist = model().shortlist()->TokensFor(job->source);
  if (job->shortlist.empty() || job->phrases.empty()) return absl::OkStatus();
  for (const std::vector<int32_t>& phrase : job->phrases) {
    job->shortlist.insert(job->shortlist.end(), phrase.begin(), phrase.end());
  }
  std::sort(job->shortlist.begin(), job->shortlist.end());
  job->shortlist.erase(std::unique(job->shortlist.begin(), job->shortlist.end()),
                       job->shortlist.end());
  return absl::OkStatus();
}

// Returns no tokens for a sentence without text.
absl::StatusOr<EncodedText> Planner::Tokenize(size_t text, const std::string& sentence) {
  const bool with_spans = plan_.alignment.wants_attention();
  EncodedText encoded = model().tokenizer().Encode(sentence, frame_, with_spans);
  if (encoded.text_tokens == 0 && request_.targets.empty()) return EncodedText();
  if (static_cast<int>(encoded.ids.size()) > max_tokens_) {
    if (request_.truncation == Truncation::kReject) {
      return InvalidField(TextField(text), absl::StrCat("a sentence has ", encoded.ids.size(),
                                                        " tokens, the most is ", max_tokens_,
                                                        "; split it, or ask for truncation"));
    }
    encoded.Truncate(max_tokens_);
    plan_.texts[text].truncated = true;
  }
  plan_.texts[text].source_tokens += static_cast<int>(encoded.ids.size());
  const bool attends = with_spans || search_.coverage_penalty != 0.0f;
  if (attends && encoded.ids.size() > AttentionTree::kMaxSourceTokens) {
    return InvalidField(TextField(text), absl::StrCat("a sentence has ", encoded.ids.size(),
                                                      " tokens, the most with attention is ",
                                                      AttentionTree::kMaxSourceTokens));
  }
  return encoded;
}

// The tokens of a sentence that begins at byte `begin` of its text.
std::vector<AlignedToken> Planner::AlignedTokens(const EncodedText& sentence, size_t begin) const {
  std::vector<AlignedToken> tokens;
  for (size_t i = 0; i < sentence.spans.size(); ++i) {
    const TextSpan span = sentence.spans[i];
    tokens.push_back(
        {model().tokenizer().SourcePiece(sentence.ids[i]), {span.begin + begin, span.end + begin}});
  }
  return tokens;
}

}  // namespace

absl::Status CheckTexts(const std::vector<std::string>& texts, const Limits& limits) {
  if (texts.empty()) return InvalidField("contents", "is empty, want at least one text");
  if (static_cast<int>(texts.size()) > limits.max_texts) {
    return InvalidField(
        "contents", absl::StrCat("has ", texts.size(), " texts, the most is ", limits.max_texts));
  }
  int64_t bytes = 0, characters = 0;
  for (const std::string& text : texts) bytes += static_cast<int64_t>(text.size());
  for (size_t t = 0; t < texts.size(); ++t) {
    if (!IsValidUtf8(texts[t])) return InvalidField(TextField(t), "is not valid UTF-8");
    if (bytes <= limits.max_characters) continue;  // so there are no more characters
    characters += CountCodePoints(texts[t]);
    if (characters > limits.max_characters) {
      return InvalidField(TextField(t), absl::StrCat("the request has more than ",
                                                     limits.max_characters, " characters"));
    }
  }
  return absl::OkStatus();
}

std::shared_ptr<const PieceIndex> LazyPieces::Index(const Tokenizer& tokenizer) {
  std::call_once(indexed_, [&] { index_ = std::make_shared<PieceIndex>(tokenizer); });
  return index_;
}

std::shared_ptr<const WordJoins> LazyPieces::Joins(const Tokenizer& tokenizer) {
  std::call_once(joined_, [&] { joins_ = std::make_shared<WordJoins>(tokenizer); });
  return joins_;
}

absl::StatusOr<TranslationPlan> MakePlan(const PlanContext& context, TranslateRequest request,
                                         std::shared_ptr<RequestState> state) {
  return Planner(context, std::move(request), std::move(state)).Run();
}

}  // namespace dragoman
