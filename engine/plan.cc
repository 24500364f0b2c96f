// A request becomes jobs text by text and sentence by sentence.  What all sentences share
// (languages, search options, word rules, the glossary) is resolved once, before the first one.  An
// error names the offending field, and is found before anything has been submitted.

#include "engine/plan.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/base/status.h"
#include "engine/base/utf8.h"
#include "engine/model/attention_tree.h"
#include "engine/search/phrases.h"
#include "engine/search/row_sampler.h"
#include "engine/text/html_reader.h"
#include "engine/text/inner_boundaries.h"
#include "engine/text/language_tag.h"
#include "engine/text/literal_marks.h"
#include "engine/text/splitter.h"
#include "engine/text/xml_reader.h"

namespace dragoman {
namespace {

absl::StatusOr<MarkedText> Read(Markup markup, std::string raw, const MarkupOptions& options) {
  if (markup == Markup::kXml) return ReadXml(std::move(raw), options);
  return ReadHtml(std::move(raw), options);
}

std::string TextField(size_t text) { return absl::StrCat("contents[", text, "]"); }

absl::Status CheckTargets(const TranslateRequest& request) {
  const bool has_targets = !request.target_prefixes.empty() || !request.targets.empty();
  if (request.markup != Markup::kNone && has_targets) {
    return InvalidField("markup", "does not go with target_prefixes or targets");
  }
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
  bool SearchesForPhrases() const;
  void KeepPhrasesWhole();
  absl::Status CheckAhead() const;
  bool SplitsTexts() const;
  bool WantsAttention() const;
  absl::Status AddSentences(size_t text);
  absl::StatusOr<std::optional<MarkedText>> ReadMarks(size_t text);
  absl::Status AddPlainSentence(size_t text, PlannedSentence sentence);
  absl::Status AddMarkedSentences(size_t text, MarkedText marked);
  absl::Status AddMarkedSentence(size_t text, MarkedSentence sentence, bool is_part,
                                 MarkedContent* content);
  void SetReadPhrases(const MarkedSentence& sentence);
  absl::StatusOr<std::vector<TextSpan>> AddSentence(size_t text, PlannedSentence sentence,
                                                    const std::string& content,
                                                    const MarkedSentence* marked,
                                                    const TextMap* map);
  int Longest() const;
  std::vector<TextSpan> Divide(size_t text, TextSpan sentence, const std::string& content,
                               const MarkedSentence* marked, const TextMap* map) const;
  absl::Status PrepareAlignment();
  absl::Status AddInsight(Job* job);
  absl::Status LimitTokens(size_t text, EncodedText* encoded);
  std::vector<AlignedToken> AlignedTokens(const EncodedText& sentence, size_t begin,
                                          const TextMap* map) const;
  absl::StatusOr<JobPtr> MakeJob(std::vector<int32_t> source, size_t text,
                                 std::string_view sentence) const;
  absl::Status SetUpSearch(size_t text, std::string_view sentence, Job* job) const;
  absl::Status AddPrefix(size_t text, Job* job) const;
  absl::Status AddPhrases(size_t text, std::string_view sentence, Job* job) const;
  absl::Status CheckRepetitions(size_t text, const Job& job) const;
  absl::Status AddShortlist(Job* job) const;
  std::vector<int32_t> Beginning(const std::string& text) const;

  const PlanContext& context_;
  TranslateRequest request_;
  const std::shared_ptr<RequestState> state_;
  Frame frame_;
  SearchOptions search_;                      // without the lengths
  std::shared_ptr<const SearchRules> rules_;  // of the model and the request
  Glossary glossary_;
  std::string direction_;                           // to be set; "": as it is
  std::string checked_language_;                    // of the target
  std::vector<std::vector<int32_t>> read_phrases_;  // of the sentence that is being added
  int max_tokens_ = 0;                              // of a sentence
  int longest_ = 0;                                 // the most tokens of a translation
  size_t insight_ = 0;                              // numbers that it may add to the answer
  TranslationPlan plan_;
};

absl::StatusOr<TranslationPlan> Planner::Run() {
  RETURN_IF_ERROR(dragoman::CheckTexts(request_.texts, context_.limits));
  RETURN_IF_ERROR(CheckTargets(request_));
  RETURN_IF_ERROR(Prepare());
  RETURN_IF_ERROR(CheckAhead());
  plan_.texts.resize(request_.texts.size());
  for (PlannedText& text : plan_.texts) {
    if (request_.check_literals) text.checked_in = checked_language_;
  }
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
  checked_language_ = languages.target;
  const bool to_left = IsRightToLeft(languages.target);
  const std::string& original = request_.original_language;
  if (request_.set_direction &&
      IsRightToLeft(original.empty() ? languages.source : original) != to_left) {
    direction_ = to_left ? "rtl" : "ltr";
  }
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
  longest_ = std::min(request_.options.max_length.value_or(model().spec().max_positions),
                      model().spec().max_positions);
  if (entries.empty()) return absl::OkStatus();
  if (!SearchesForPhrases()) {
    return InvalidField("options.glossary",
                        "wants a beam search without sampling, return_alternatives or beam_groups");
  }
  ASSIGN_OR_RETURN(glossary_, Glossary::Create(entries, tokenizer, longest_ - 1, *rules_));
  KeepPhrasesWhole();
  return absl::OkStatus();
}

bool Planner::SearchesForPhrases() const {
  return !search_.sampling && !search_.return_alternatives && search_.beam_groups <= 1;
}

// From now on, phrases are whole words.
void Planner::KeepPhrasesWhole() {
  if (rules_->word_joins != nullptr) return;
  auto rules = std::make_shared<SearchRules>(*rules_);
  rules->word_joins = context_.pieces->Joins(model().tokenizer());
  rules_ = std::move(rules);
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
  ASSIGN_OR_RETURN(alignment.heads,
                   ResolveInsight(request_.insight, request_.alignment.wanted, model()));
  alignment.replace_unknowns = search_.replace_unknowns && request_.targets.empty();
  if (!WantsAttention() || model().network().attends()) return absl::OkStatus();
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
  ASSIGN_OR_RETURN(std::optional<MarkedText> marked, ReadMarks(t));
  if (marked.has_value()) return AddMarkedSentences(t, *std::move(marked));
  read_phrases_.clear();  // those of the text before
  PlannedText& text = plan_.texts[t];
  text.content = std::move(request_.texts[t]);
  const std::vector<TextSpan> spans = SplitsTexts()
                                          ? SplitSentences(text.content)
                                          : std::vector<TextSpan>{{0, text.content.size()}};
  for (const TextSpan span : spans) RETURN_IF_ERROR(AddPlainSentence(t, {.span = span}));
  return absl::OkStatus();
}

absl::Status Planner::AddPlainSentence(size_t t, PlannedSentence sentence) {
  const std::string content =
      plan_.texts[t].content.substr(sentence.span.begin, sentence.span.size());
  ASSIGN_OR_RETURN(const std::vector<TextSpan> parts,
                   AddSentence(t, sentence, content, nullptr, nullptr));
  for (const TextSpan part : parts) {
    RETURN_IF_ERROR(AddPlainSentence(t, {.span = part, .is_part = true}));
  }
  return absl::OkStatus();
}

// Text number `t` with its marks; none if it has neither markup nor literals.
absl::StatusOr<std::optional<MarkedText>> Planner::ReadMarks(size_t t) {
  std::string& raw = request_.texts[t];
  const bool is_plain = request_.markup == Markup::kNone;
  const bool literals =
      request_.keep_literals && request_.target_prefixes.empty() && request_.targets.empty();
  const bool joins_lines = request_.markup_options.join_lines;
  if (is_plain && !literals && !joins_lines) return std::nullopt;
  MarkedText text;
  if (is_plain) {
    text = ReadPlain(raw, joins_lines);
  } else {
    absl::StatusOr<MarkedText> read =
        Read(request_.markup, std::move(raw), request_.markup_options);
    if (!read.ok()) return InvalidField(TextField(t), std::string(read.status().message()));
    text = *std::move(read);
  }
  if (literals) {
    MarkLiterals(
        [this](std::string_view symbol) {
          return CanSay(model().tokenizer(), std::string(symbol));
        },
        &text);
  }
  if (is_plain && text.marks.empty() && !joins_lines) return std::nullopt;
  return text;
}

absl::Status Planner::AddMarkedSentences(size_t t, MarkedText marked) {
  PlannedText& text = plan_.texts[t];
  auto content = std::make_unique<MarkedContent>();
  content->text = std::move(marked);
  content->direction = direction_;
  text.content = content->text.text;
  for (MarkedSentence& sentence : FindSentences(content->text, SplitsTexts())) {
    RETURN_IF_ERROR(AddMarkedSentence(t, std::move(sentence), /*is_part=*/false, content.get()));
  }
  text.marked = std::move(content);
  return absl::OkStatus();
}

absl::Status Planner::AddMarkedSentence(size_t t, MarkedSentence sentence, bool is_part,
                                        MarkedContent* content) {
  PlannedText& text = plan_.texts[t];
  PlannedSentence planned = {.span = sentence.text, .is_part = is_part};
  if (!HasWords(content->text, sentence)) {
    text.sentences.push_back(std::move(planned));
  } else {
    const ModelInput input = InputOf(content->text, sentence);
    SetReadPhrases(sentence);
    ASSIGN_OR_RETURN(const std::vector<TextSpan> parts,
                     AddSentence(t, std::move(planned), input.text, &sentence, &input.to_sentence));
    for (MarkedSentence& part : PartsOf(content->text, sentence, parts)) {
      RETURN_IF_ERROR(AddMarkedSentence(t, std::move(part), /*is_part=*/true, content));
    }
    if (!parts.empty()) return absl::OkStatus();
  }
  content->sentences.push_back(std::move(sentence));
  return absl::OkStatus();
}

// Stand-ins must be said, so that it is known where what they stand for belongs.
void Planner::SetReadPhrases(const MarkedSentence& sentence) {
  read_phrases_.clear();
  for (const SentenceMark& mark : sentence.marks) {
    if (!mark.stand_in || !SearchesForPhrases()) continue;
    KeepPhrasesWhole();
    read_phrases_.push_back(PhraseOf(model().tokenizer(), mark.read, *rules_));
    if (read_phrases_.back().empty()) read_phrases_.pop_back();
  }
}

// Adds a sentence to text number `t`, and a job if it has something to translate.  `content` is
// what the model reads; `map` leads to the bytes of the sentence, if they are others.  Returns the
// parts that are to be added instead if the sentence is too long; else none.
absl::StatusOr<std::vector<TextSpan>> Planner::AddSentence(size_t t, PlannedSentence planned,
                                                           const std::string& content,
                                                           const MarkedSentence* marked,
                                                           const TextMap* map) {
  const bool has_marks = marked != nullptr && !marked->marks.empty();
  const bool with_spans = has_marks || plan_.alignment.wants_attention();
  EncodedText encoded = model().tokenizer().Encode(content, frame_, with_spans);
  if (static_cast<int>(encoded.ids.size()) > Longest()) {
    std::vector<TextSpan> parts = Divide(t, planned.span, content, marked, map);
    if (!parts.empty()) return parts;
  }
  const size_t number = plan_.texts[t].sentences.size();
  PlannedSentence& sentence = plan_.texts[t].sentences.emplace_back(std::move(planned));
  if (encoded.text_tokens == 0 && request_.targets.empty()) return std::vector<TextSpan>();
  RETURN_IF_ERROR(LimitTokens(t, &encoded));
  sentence.source = AlignedTokens(encoded, sentence.span.begin, map);
  ASSIGN_OR_RETURN(JobPtr job, MakeJob(std::move(encoded.ids), t, content));
  // Without attention, marks are placed by the positions of words.
  job->attention =
      plan_.alignment.wants_attention() || (has_marks && model().network().attends() &&
                                            job->source.size() <= AttentionTree::kMaxSourceTokens);
  RETURN_IF_ERROR(AddInsight(job.get()));
  if (!request_.return_prefix) sentence.hidden = job->prefix.size();
  sentence.job = static_cast<int>(plan_.jobs.size());
  plan_.jobs.push_back(std::move(job));
  return std::vector<TextSpan>();
}

// The most tokens of a sentence that is not divided.
int Planner::Longest() const {
  return WantsAttention() ? std::min(max_tokens_, AttentionTree::kMaxSourceTokens) : max_tokens_;
}

// The parts of a sentence that is too long, as bytes of its text; none if it must stay whole.
std::vector<TextSpan> Planner::Divide(size_t text, TextSpan sentence, const std::string& content,
                                      const MarkedSentence* marked, const TextMap* map) const {
  if (!SplitsTexts()) return {};
  const EncodedText encoded = model().tokenizer().Encode(content, frame_, /*with_spans=*/true);
  const int most = Longest() - static_cast<int>(encoded.ids.size()) + encoded.text_tokens;
  if (most < 1) return {};
  LongSentence whole = {
      .text = std::string_view(plan_.texts[text].content).substr(sentence.begin, sentence.size())};
  for (const AlignedToken& token : AlignedTokens(encoded, 0, map)) {
    if (token.span.size() > 0) whole.tokens.push_back(token.span);
  }
  std::sort(whole.tokens.begin(), whole.tokens.end(),
            [](TextSpan a, TextSpan b) { return a.begin < b.begin; });
  for (const SentenceMark& mark : marked == nullptr ? std::vector<SentenceMark>() : marked->marks) {
    (mark.kind == MarkKind::kPaired ? whole.marks : whole.whole).push_back(mark.text);
  }
  std::vector<TextSpan> parts = DivideSentence(whole, static_cast<size_t>(most));
  if (parts.size() < 2) return {};
  for (TextSpan& part : parts) part = {part.begin + sentence.begin, part.end + sentence.begin};
  return parts;
}

absl::Status Planner::AddInsight(Job* job) {
  job->heads = plan_.alignment.heads;
  job->candidates = request_.insight.candidates;
  insight_ += InsightOf(*job);
  if (insight_ <= kMaxInsight) return absl::OkStatus();
  return InvalidField(
      job->heads.empty() ? "output.candidates" : "output.attention_heads",
      absl::StrCat(
          "may need more than ", kMaxInsight,
          " numbers; ask for fewer heads, hypotheses or candidates, or for shorter texts"));
}

// Creates the job for one sentence of text number `text`.
absl::StatusOr<JobPtr> Planner::MakeJob(std::vector<int32_t> source, size_t text,
                                        std::string_view sentence) const {
  auto job = std::make_unique<Job>();
  job->model = context_.model;
  job->request = state_;
  job->rules = rules_;
  job->source = std::move(source);
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

// The phrases of the glossary, those that were read, and room for them unless the request has set
// the length.
absl::Status Planner::AddPhrases(size_t text, std::string_view sentence, Job* job) const {
  job->phrases = glossary_.PhrasesFor(sentence, text);
  if (job->phrases.empty() && read_phrases_.empty()) return absl::OkStatus();
  if (job->phrases.size() > Phrases::kMax) {
    return InvalidField(TextField(text),
                        absl::StrCat("has ", job->phrases.size(),
                                     " occurrences of glossary entries in a sentence, "
                                     "the most is ",
                                     Phrases::kMax));
  }
  RETURN_IF_ERROR(CheckRepetitions(text, *job));
  size_t needed = job->prefix.size() + 1;  // and the end of the sentence
  for (const std::vector<int32_t>& phrase : job->phrases) needed += phrase.size();
  if (needed > static_cast<size_t>(longest_)) {
    return InvalidField("options.glossary",
                        absl::StrCat("asks for a translation of at least ", needed, " tokens for ",
                                     TextField(text), ", the most is ", longest_));
  }
  for (const std::vector<int32_t>& phrase : read_phrases_) {
    if (job->phrases.size() == Phrases::kMax ||
        needed + phrase.size() > static_cast<size_t>(longest_)) {
      break;
    }
    needed += phrase.size();
    job->phrases.push_back(phrase);
  }
  job->options.max_length = std::max(job->options.max_length, static_cast<int>(needed));
  return absl::OkStatus();
}

// Whether the phrases can be said where no run of tokens may occur twice.
absl::Status Planner::CheckRepetitions(size_t text, const Job& job) const {
  const int size = job.options.no_repeat_ngram_size;
  if (size == 0) return absl::OkStatus();
  // What the prefix says need not be said again, and what it ends in may go on.
  const Phrases phrases(job.phrases, job.rules->word_joins);
  const PhraseProgress progress = phrases.ProgressOf(job.prefix);
  std::vector<std::vector<int32_t>> missing;
  for (size_t p = 0; p < job.phrases.size(); ++p) {
    if ((progress.said >> p & 1) == 0) missing.push_back(job.phrases[p]);
  }
  const auto prefix = absl::MakeConstSpan(job.prefix).first(job.prefix.size() - progress.path);
  const auto phrase = FirstRepetition(prefix, missing, static_cast<size_t>(size));
  if (!phrase.has_value()) return absl::OkStatus();
  return InvalidField(
      "options.glossary",
      absl::StrCat("wants \"", model().tokenizer().Decode(missing[*phrase]),
                   "\" in the translation of ", TextField(text), ", where no_repeat_ngram_size ",
                   size, " allows no run of so many tokens twice"));
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

bool Planner::WantsAttention() const {
  return plan_.alignment.wants_attention() || search_.coverage_penalty != 0.0f;
}

// Refuses or truncates a sentence that is too long.
absl::Status Planner::LimitTokens(size_t text, EncodedText* encoded) {
  if (static_cast<int>(encoded->ids.size()) > max_tokens_) {
    if (request_.truncation == Truncation::kReject) {
      return InvalidField(TextField(text), absl::StrCat("a sentence has ", encoded->ids.size(),
                                                        " tokens, the most is ", max_tokens_,
                                                        "; split it, or ask for truncation"));
    }
    encoded->Truncate(max_tokens_);
    plan_.texts[text].truncated = true;
  }
  plan_.texts[text].source_tokens += static_cast<int>(encoded->ids.size());
  if (WantsAttention() && encoded->ids.size() > AttentionTree::kMaxSourceTokens) {
    return InvalidField(TextField(text), absl::StrCat("a sentence has ", encoded->ids.size(),
                                                      " tokens, the most with attention is ",
                                                      AttentionTree::kMaxSourceTokens));
  }
  return absl::OkStatus();
}

// The tokens of a sentence that begins at byte `begin` of its text.
std::vector<AlignedToken> Planner::AlignedTokens(const EncodedText& sentence, size_t begin,
                                                 const TextMap* map) const {
  std::vector<AlignedToken> tokens;
  for (size_t i = 0; i < sentence.spans.size(); ++i) {
    TextSpan span = sentence.spans[i];
    if (map != nullptr && span.size() > 0) span = map->Map(span);
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
