// A request becomes jobs text by text and sentence by sentence.  What all sentences share
// (languages, search options, word rules, the glossary) is resolved once, before the first one.  An
// error names the offending field, and is found before anything has been submitted.

#include "engine/request/plan.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/base/status.h"
#include "engine/base/utf8.h"
#include "engine/model/attention_tree.h"
#include "engine/request/job_maker.h"
#include "engine/request/still_wanted.h"
#include "engine/search/make_search.h"
#include "engine/text/html_reader.h"
#include "engine/text/inner_boundaries.h"
#include "engine/text/language_tag.h"
#include "engine/text/literal_marks.h"
#include "engine/text/numbers.h"
#include "engine/text/splitter.h"
#include "engine/text/words.h"
#include "engine/text/xml_reader.h"

namespace dragoman {
namespace {

// What memories may have for the sentences of a request, at least and for each byte of its texts.
constexpr size_t kLeastStored = 64 << 10, kStoredOfByte = 16;

absl::StatusOr<MarkedText> Read(Markup markup, std::string raw, const MarkupOptions& options) {
  if (markup == Markup::kXml) return ReadXml(std::move(raw), options);
  return ReadHtml(std::move(raw), options);
}

absl::Status CheckUtf8(const std::string& field, const std::vector<std::string>& texts) {
  for (size_t i = 0; i < texts.size(); ++i) {
    if (IsValidUtf8(texts[i])) continue;
    return InvalidField(absl::StrCat(field, "[", i, "]"), "is not valid UTF-8");
  }
  return absl::OkStatus();
}

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
      return InvalidField(field, "has ", given->size(), " texts, want as many as ",
                          request.texts.size(), " contents");
    }
    RETURN_IF_ERROR(CheckUtf8(field, *given));
    if (request.splitting == Splitting::kSentences) {
      return InvalidField("sentence_splitting", "splits texts, which have ", field);
    }
  }
  return absl::OkStatus();
}

absl::Status CheckPrevious(const TranslateRequest& request, const Limits& limits) {
  int64_t bytes = 0;
  for (const auto& [field, given] :
       {std::pair("previous_sources", &request.previous_texts),
        std::pair("previous_translations", &request.previous_translations)}) {
    if (given->size() != request.previous_texts.size() ||
        (!given->empty() && given->size() != request.texts.size())) {
      return InvalidField(field, "has ", given->size(), " texts, want as many as ",
                          request.texts.size(),
                          " contents in both previous_sources and "
                          "previous_translations");
    }
    RETURN_IF_ERROR(CheckUtf8(field, *given));
    for (const std::string& text : *given) bytes += static_cast<int64_t>(text.size());
  }
  if (bytes > int64_t{8} * limits.max_characters) {
    return InvalidField("previous_translations", "and previous_sources have ", bytes,
                        " bytes, the most is ", int64_t{8} * limits.max_characters);
  }
  if (!request.previous_texts.empty() && !request.target_prefixes.empty()) {
    return InvalidField("previous_translations", "do not go with target_prefixes");
  }
  return absl::OkStatus();
}

// Whoever sets a bound wants to be judged.
absl::Status CheckQuality(TranslateRequest* request) {
  if (!request->min_quality.has_value()) return absl::OkStatus();
  const float bound = *request->min_quality;
  if (!(bound >= 0.0f && bound <= 1.0f)) {
    return InvalidField("min_quality", "is ", bound, ", want 0 to 1");
  }
  request->judge = request->check_literals = true;
  return absl::OkStatus();
}

// Makes one plan.
class Planner {
 public:
  Planner(const PlanContext& context, HopRequest request, std::shared_ptr<RequestState> state)
      : context_(context),
        request_(std::move(request)),
        state_(std::move(state)),
        wanted_(AskOf(context)),
        jobs_(context_, request_, state_, &wanted_) {}

  absl::StatusOr<TranslationPlan> Run() {
    RETURN_IF_ERROR(CheckTexts(request_.texts, context_.limits));
    RETURN_IF_ERROR(CheckTargets(request_));
    RETURN_IF_ERROR(CheckQuality(&request_));
    RETURN_IF_ERROR(CheckPrevious(request_, context_.limits));
    if (const int percent = request_.memory_threshold; percent < 50 || percent > 100) {
      return InvalidField("memory_threshold", "is ", percent, ", want 50 to 100");
    }
    RETURN_IF_ERROR(Prepare());
    RETURN_IF_ERROR(CheckAhead());
    plan_.texts.resize(request_.texts.size());
    for (PlannedText& text : plan_.texts) {
      if (request_.check_literals) text.checked_in = languages_.target;
      if (request_.judge) text.judged_in = languages_;
    }
    for (const std::string& text : request_.texts) stored_left_ += kStoredOfByte * text.size();
    for (size_t t = 0; t < plan_.texts.size(); ++t) RETURN_IF_ERROR(AddSentences(t));
    plan_.by_consensus = jobs_.search().mbr_candidates > 0;
    plan_.num_hypotheses = jobs_.search().num_hypotheses;
    if (!request_.bound_later) plan_.min_quality = request_.min_quality;
    plan_.refuse_low_quality = request_.refuse_low_quality;
    return std::move(plan_);
  }

 private:
  StillWanted::Ask AskOf(const PlanContext& context) const {
    if (context.wanted == nullptr) return nullptr;
    return [&context, this] { return context.wanted(*state_); };
  }
  const Model& model() const { return *context_.model; }

  // Resolves what all sentences have in common.
  absl::Status Prepare() {
    const Tokenizer& tokenizer = model().tokenizer();
    ASSIGN_OR_RETURN(languages_, tokenizer.languages().Resolve(request_.source_language,
                                                               request_.target_language));
    frame_ = tokenizer.FrameOf(languages_);
    const std::string& original = request_.original_language;
    request_.markup_options.language = original.empty() ? languages_.source : original;
    const bool to_left = IsRightToLeft(languages_.target);
    if (request_.set_direction && IsRightToLeft(request_.markup_options.language) != to_left) {
      direction_ = to_left ? "rtl" : "ltr";
    }
    RETURN_IF_ERROR(jobs_.Prepare(frame_, languages_));
    max_tokens_ = std::min(context_.limits.max_source_tokens, model().spec().max_positions);
    return PrepareAlignment();
  }

  // Whether there is any use in tokenizing the texts.
  absl::Status CheckAhead() const {
    if (context_.check_ahead == nullptr) return absl::OkStatus();
    // A text without words needs no work, and the options below set lengths that do not follow from
    // the source.
    const bool has_words = std::all_of(
        request_.texts.begin(), request_.texts.end(),
        [](const std::string& text) { return text.find_first_not_of(" \t\r\n") != text.npos; });
    const DecodingOptions& options = request_.options;
    if (!has_words || options.min_length > 0 || options.min_length_ratio > 0 ||
        !request_.targets.empty() || LooksUp()) {
      return absl::OkStatus();
    }
    SearchTask task;
    task.options = jobs_.search();
    RoughSize size = {.texts = static_cast<int>(request_.texts.size()), .rows = MaxLive(task)};
    for (const std::string& text : request_.texts) size.bytes += text.size();
    return context_.check_ahead(*state_, size);
  }

  absl::Status PrepareAlignment() {
    AlignmentPlan& alignment = plan_.alignment;
    alignment.options = request_.alignment;
    ASSIGN_OR_RETURN(alignment.heads,
                     ResolveInsight(request_.insight, request_.alignment.wanted, model()));
    alignment.replace_unknowns = jobs_.search().replace_unknowns && request_.targets.empty();
    if (!WantsAttention() || model().network().attends()) return absl::OkStatus();
    return FailedPreconditionError(
        "the model ", model().name(),
        " does not report its attention, which alignments, coverage_penalty and "
        "replace_unknowns need");
  }

  bool SplitsTexts() const {
    if (request_.splitting != Splitting::kAuto) return request_.splitting == Splitting::kSentences;
    return model().generation().split_sentences && request_.target_prefixes.empty() &&
           request_.targets.empty();
  }

  // What text number `t` was, without its markup.
  PreviousVersion PreviousOf(size_t t) {
    std::string& source = request_.previous_texts[t];
    std::string& translation = request_.previous_translations[t];
    for (std::string* const text : {&source, &translation}) {
      if (request_.markup == Markup::kNone || text->empty()) continue;
      absl::StatusOr<MarkedText> read = Read(request_.markup, *text, request_.markup_options);
      if (!read.ok()) return {};  // it is only a guess
      *text = std::move(read->text);
    }
    return {source, translation, SplitsTexts()};
  }

  // Whether sentences are looked up in memories.  What asks for something else than the best
  // translation of a text gets it from the model.
  bool LooksUp() const {
    return !request_.memories.empty() && request_.targets.empty() &&
           request_.target_prefixes.empty();
  }

  // The sentences of text number `t` that were answered before.
  std::vector<TextSpan> KeptIn(size_t t) const {
    std::vector<TextSpan> spans;
    if (request_.kept.empty()) return spans;
    for (const KeptSentence& kept : request_.kept[t]) spans.push_back(kept.span);
    return spans;
  }

  // Looks up sentence number `number` of these, which are bytes of text number `t`.
  absl::Status LookUp(size_t t, absl::Span<const TextSpan> sentences, size_t number) {
    match_.reset();
    if (!request_.kept.empty()) {
      for (const KeptSentence& kept : request_.kept[t]) {
        if (kept.span == sentences[number]) match_ = kept.match;
      }
      return absl::OkStatus();
    }
    if (!LooksUp()) return absl::OkStatus();
    RETURN_IF_ERROR(wanted_.After(request_.memories.size() * StillWanted::kWorkBetween));
    const auto sentence = [&](size_t i) {
      if (i >= sentences.size()) return std::string_view();
      return std::string_view(plan_.texts[t].content)
          .substr(sentences[i].begin, sentences[i].size());
    };
    const SegmentQuery query(sentence(number), sentence(number - 1), sentence(number + 1));
    const bool is_hop = !request_.memory_target.empty();
    match_ = FindInMemories(
        request_.memories, {languages_.source, is_hop ? request_.memory_target : languages_.target},
        query, is_hop ? 100 : request_.memory_threshold);
    if (!match_.has_value()) return absl::OkStatus();
    const size_t stored = match_->segment.source.size() + match_->segment.target.size();
    if (stored > stored_left_) {
      return InvalidField(TextField(t), "has sentences for which memories have far longer ones");
    }
    stored_left_ -= stored;
    if (!match_->answers() || IsAnswered()) return absl::OkStatus();
    match_->kind = MemoryMatch::kTranslated;
    if (is_hop) match_.reset();
    return absl::OkStatus();
  }

  // Whether a stored target answers the request, which may ask for what only the model knows.
  bool IsAnswered() const {
    const SearchOptions& search = jobs_.search();
    return !search.sampling && !search.return_alternatives && search.num_hypotheses == 1 &&
           plan_.alignment.heads.empty() && request_.insight.candidates == 0;
  }

  // Decides what becomes of a sentence with marks that a memory has: its literals are a part of the
  // stored target, and its tags find their places there.
  void KeepTags(const MarkedText& text, MarkedSentence* sentence) {
    if (!match_.has_value()) return;
    if (match_->answers()) {
      MarkedSentence plain = *sentence;
      ForgetLiterals(text, &plain);
      const auto is_opaque = [](const SentenceMark& mark) {
        return mark.kind == MarkKind::kOpaque;
      };
      if (std::none_of(plain.marks.begin(), plain.marks.end(), is_opaque)) {
        *sentence = std::move(plain);
        return;
      }
    }
    if (request_.markup != Markup::kNone && !sentence->marks.empty()) match_.reset();
  }

  // Adds the sentences of text number `t`, and a job for each that has something to translate.
  absl::Status AddSentences(size_t t) {
    RETURN_IF_ERROR(wanted_.After(request_.texts[t].size()));
    if (!request_.previous_texts.empty()) jobs_.SetPrevious(PreviousOf(t));
    ASSIGN_OR_RETURN(std::optional<MarkedText> marked, ReadMarks(t));
    if (marked.has_value()) return AddMarkedSentences(t, *std::move(marked));
    jobs_.SetStandIns({});
    PlannedText& text = plan_.texts[t];
    text.content = std::move(request_.texts[t]);
    const std::vector<TextSpan> kept = KeptIn(t);
    const std::vector<TextSpan> spans = SplitsTexts() || !kept.empty()
                                            ? SplitAround(text.content, kept)
                                            : std::vector<TextSpan>{{0, text.content.size()}};
    for (size_t i = 0; i < spans.size(); ++i) {
      RETURN_IF_ERROR(LookUp(t, spans, i));
      const TextSpan span = SplitsTexts() ? WithoutListMarker(text.content, spans[i]) : spans[i];
      RETURN_IF_ERROR(AddPlainSentence(t, {.span = span}));
    }
    return absl::OkStatus();
  }

  // Whether what has no words is not translated, and what has words does not lose all of them.
  bool KeepsWords() const {
    return request_.keep_literals && request_.target_prefixes.empty() && request_.targets.empty();
  }

  absl::Status AddPlainSentence(size_t t, PlannedSentence sentence) {
    const std::string content =
        plan_.texts[t].content.substr(sentence.span.begin, sentence.span.size());
    if (KeepsWords() && !ContainsWord(content)) {
      plan_.texts[t].sentences.push_back(std::move(sentence));
      return absl::OkStatus();
    }
    ASSIGN_OR_RETURN(const std::vector<TextSpan> parts,
                     AddSentence(t, sentence, content, nullptr, nullptr));
    for (const TextSpan part : parts) {
      match_.reset();  // it is of the whole
      RETURN_IF_ERROR(AddPlainSentence(t, {.span = part, .is_part = true}));
    }
    return absl::OkStatus();
  }

  // Text number `t` with its marks; none if it has neither markup nor literals.
  absl::StatusOr<std::optional<MarkedText>> ReadMarks(size_t t) {
    std::string& raw = request_.texts[t];
    const bool is_plain = request_.markup == Markup::kNone;
    const bool literals = KeepsWords();
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
          [&tokenizer = model().tokenizer()](std::string_view character) {
            if (CanSay(tokenizer, std::string(character))) return true;
            size_t end = 0;
            const std::vector<int32_t> read = tokenizer.Encode(character).ids;
            return IsLetterOrDigit(NextCodePoint(character, &end)) &&
                   std::find(read.begin(), read.end(), tokenizer.source_unknown_id()) == read.end();
          },
          &text, request_.text_source);
    }
    if (is_plain && text.marks.empty() && !joins_lines) return std::nullopt;
    return text;
  }

  absl::Status AddMarkedSentences(size_t t, MarkedText marked) {
    PlannedText& text = plan_.texts[t];
    auto content = std::make_unique<MarkedContent>();
    content->text = std::move(marked);
    content->direction = direction_;
    text.content = content->text.text;
    std::vector<MarkedSentence> sentences = FindSentences(content->text, SplitsTexts(), KeptIn(t));
    std::vector<TextSpan> spans;
    for (const MarkedSentence& sentence : sentences) spans.push_back(sentence.text);
    for (size_t i = 0; i < sentences.size(); ++i) {
      MarkedSentence& sentence = sentences[i];
      RETURN_IF_ERROR(LookUp(t, spans, i));
      KeepTags(content->text, &sentence);
      RETURN_IF_ERROR(AddMarkedSentence(t, std::move(sentence), /*is_part=*/false, content.get()));
    }
    text.marked = std::move(content);
    return absl::OkStatus();
  }

  absl::Status AddMarkedSentence(size_t t, MarkedSentence sentence, bool is_part,
                                 MarkedContent* content) {
    PlannedText& text = plan_.texts[t];
    PlannedSentence planned = {.span = sentence.text, .is_part = is_part};
    if (KeepsWords() ? !HasWords(content->text, sentence) : !HasText(content->text, sentence)) {
      text.sentences.push_back(std::move(planned));
    } else {
      const ModelInput input = InputOf(content->text, sentence);
      jobs_.SetStandIns(sentence.marks);
      ASSIGN_OR_RETURN(
          const std::vector<TextSpan> parts,
          AddSentence(t, std::move(planned), input.text, &sentence, &input.to_sentence));
      for (MarkedSentence& part : PartsOf(content->text, sentence, parts)) {
        match_.reset();
        RETURN_IF_ERROR(AddMarkedSentence(t, std::move(part), /*is_part=*/true, content));
      }
      if (!parts.empty()) return absl::OkStatus();
    }
    content->sentences.push_back(std::move(sentence));
    return absl::OkStatus();
  }

  // Adds a sentence to text number `t`, and a job if it has something to translate.  `content` is
  // what the model reads; `map` leads to the bytes of the sentence, if they are others.  Returns
  // the parts that are to be added instead if the sentence is too long; else none.
  absl::StatusOr<std::vector<TextSpan>> AddSentence(size_t t, PlannedSentence planned,
                                                    const std::string& content,
                                                    const MarkedSentence* marked,
                                                    const TextMap* map) {
    const bool has_marks = marked != nullptr && !marked->marks.empty();
    RETURN_IF_ERROR(wanted_.After(content.size()));
    const bool with_spans = has_marks || request_.judge || plan_.alignment.wants_attention();
    EncodedText encoded = model().tokenizer().Encode(
        content, frame_, with_spans || match_.has_value() || jobs_.places_terms());
    if (match_.has_value() && match_->answers()) {
      planned.match = match_;
      if (AddStored(t, encoded, has_marks, map, &planned)) return std::vector<TextSpan>();
      match_->kind = MemoryMatch::kTranslated;
    }
    if (static_cast<int>(encoded.ids.size()) > Longest()) {
      std::vector<TextSpan> parts = Divide(t, planned.span, content, marked, map);
      if (!parts.empty()) return parts;
      planned.is_endless = MayDivide();
    }
    PlannedSentence& sentence = plan_.texts[t].sentences.emplace_back(std::move(planned));
    sentence.match = match_;
    sentence.may_vanish = !KeepsWords();
    const bool says_nothing = encoded.text_tokens == 0 && request_.targets.empty();
    if (says_nothing || sentence.is_endless) return std::vector<TextSpan>();
    RETURN_IF_ERROR(LimitTokens(t, &encoded));
    if (with_spans)
      sentence.source = AlignedTokens(model().tokenizer(), encoded, sentence.span.begin, map);
    ASSIGN_OR_RETURN(JobPtr job, jobs_.Make(std::move(encoded.ids), encoded.spans, t, content));
    sentence.terms = jobs_.TakeTerms();
    for (FoundTerm& term : sentence.terms) {
      if (map != nullptr) term.span = map->Map(term.span);
      term.span = {term.span.begin + sentence.span.begin, term.span.end + sentence.span.begin};
    }
    // Without attention, marks are placed by the positions of words, and coverage is not judged.
    job->attention = plan_.alignment.wants_attention() ||
                     ((has_marks || request_.judge) && model().network().attends() &&
                      job->source.size() <= AttentionTree::kMaxSourceTokens);
    job->margins = request_.judge;
    RETURN_IF_ERROR(AddInsight(job.get()));
    if (!request_.return_prefix) sentence.hidden = job->prefix.size();
    const bool whole = !plan_.texts[t].truncated;
    Attempts further = {.doubtful_loss = request_.repair.doubtful_loss};
    JobPtr repair;
    if (match_.has_value() && whole) {
      repair = jobs_.MakeRepair(*job, *match_, content, encoded.spans);
    }
    if (repair != nullptr) {
      further.plain = std::exchange(job, std::move(repair));
    } else if (has_marks && whole) {
      ASSIGN_OR_RETURN(further.unread, ReadWithoutLiterals(t, *job, *marked, sentence.span));
    }
    if (whole && KeepsWords() && MaySayNumerals(*job)) {
      further.numerals = KeepNumerals(t, *job, marked, sentence.span);
    }
    if (further.any()) sentence.attempts = std::make_shared<Attempts>(std::move(further));
    AddJob(std::move(job), t, &sentence);
    return std::vector<TextSpan>();
  }

  // A copy of what is needed to translate a sentence with numbers once more; null if it has none.
  std::shared_ptr<const NumeralSentence> KeepNumerals(size_t t, const Job& job,
                                                      const MarkedSentence* marked, TextSpan span) {
    std::string text = plan_.texts[t].content.substr(span.begin, span.size());
    if (FindNumerals(text).empty() && FindBrackets(text).empty()) return nullptr;
    NumeralSentence sentence = {.job = std::make_shared<const Job>(job),
                                .text = std::move(text),
                                .begin = span.begin,
                                .marks = {},
                                .frame = frame_,
                                .languages = languages_,
                                .longest = Longest(),
                                .joins = context_.pieces->Joins(model().tokenizer())};
    if (marked != nullptr) sentence.marks = marked->marks;
    return std::make_shared<const NumeralSentence>(std::move(sentence));
  }

  // Reads nothing in the place of the literals of a sentence; without a job if it has none that are
  // otherwise read as stand-ins, or is nothing but them.
  absl::StatusOr<SentenceReading> ReadWithoutLiterals(size_t t, const Job& job,
                                                      const MarkedSentence& marked, TextSpan span) {
    SentenceReading reading;
    const auto stands_in = [](const SentenceMark& mark) { return mark.stand_in; };
    if (std::none_of(marked.marks.begin(), marked.marks.end(), stands_in)) return reading;
    reading.marks = WithoutStandIns(marked.marks);
    const ModelInput input = InputOf(
        std::string_view(plan_.texts[t].content).substr(span.begin, span.size()), *reading.marks);
    EncodedText encoded = model().tokenizer().Encode(input.text, frame_, /*with_spans=*/true);
    if (encoded.text_tokens == 0 || static_cast<int>(encoded.ids.size()) > Longest())
      return reading;
    reading.source = AlignedTokens(model().tokenizer(), encoded, span.begin, &input.to_sentence);
    jobs_.SetStandIns(*reading.marks);
    ASSIGN_OR_RETURN(reading.job, jobs_.Make(std::move(encoded.ids), encoded.spans, t, input.text));
    jobs_.TakeTerms();  // the same as before
    reading.job->attention = job.attention;
    reading.job->margins = job.margins;
    reading.job->heads = job.heads;
    reading.job->candidates = job.candidates;
    return reading;
  }

  // Adds a job for the sentence of text number `t` that is its last one, or will be.
  void AddJob(JobPtr job, size_t t, PlannedSentence* sentence) {
    const std::vector<PlannedSentence>& sentences = plan_.texts[t].sentences;
    const bool is_added = !sentences.empty() && sentence == &sentences.back();
    plan_.places.push_back({t, sentences.size() - (is_added ? 1 : 0)});
    sentence->job = static_cast<int>(plan_.jobs.size());
    plan_.jobs.push_back(std::move(job));
  }

  // Adds a sentence that a memory answers.  Where tags go in the stored target, and what its words
  // come from, is known once the model has read it; without that, tags are placed by the positions
  // of words.  False if alignments are wanted and cannot be had.
  bool AddStored(size_t t, const EncodedText& encoded, bool marked, const TextMap* map,
                 PlannedSentence* sentence) {
    const bool aligned = plan_.alignment.options.wanted;
    const bool fits =
        static_cast<int>(encoded.ids.size()) <= max_tokens_ && encoded.text_tokens > 0;
    JobPtr job;
    if ((aligned || marked) && fits) job = jobs_.MakeReading(encoded.ids, *sentence->stored());
    if (aligned && job == nullptr) return false;
    if (job != nullptr) {
      plan_.texts[t].source_tokens += static_cast<int>(encoded.ids.size());
      sentence->source = AlignedTokens(model().tokenizer(), encoded, sentence->span.begin, map);
      AddJob(std::move(job), t, sentence);
    }
    plan_.texts[t].sentences.push_back(std::move(*sentence));
    return true;
  }

  // The most tokens of a sentence that is not divided.
  int Longest() const {
    return WantsAttention() ? std::min(max_tokens_, AttentionTree::kMaxSourceTokens) : max_tokens_;
  }

  // Whether a sentence that is too long is divided, and stays as it is where that cannot be done.
  bool MayDivide() const {
    return request_.truncation == Truncation::kDivide && request_.target_prefixes.empty() &&
           request_.targets.empty();
  }

  // The parts of a sentence that is too long, as bytes of its text; none if it must stay whole.
  std::vector<TextSpan> Divide(size_t text, TextSpan sentence, const std::string& content,
                               const MarkedSentence* marked, const TextMap* map) const {
    if (!MayDivide()) return {};
    const EncodedText encoded = model().tokenizer().Encode(content, frame_, /*with_spans=*/true);
    const int most = Longest() - static_cast<int>(encoded.ids.size()) + encoded.text_tokens;
    if (most < 1) return {};
    LongSentence whole = {
        .text =
            std::string_view(plan_.texts[text].content).substr(sentence.begin, sentence.size())};
    const std::vector<AlignedToken> tokens = AlignedTokens(model().tokenizer(), encoded, 0, map);
    const auto first = tokens.begin() + static_cast<std::ptrdiff_t>(frame_.before.size());
    for (auto token = first; token != first + encoded.text_tokens; ++token) {
      // A space that is a token of its own has no bytes.
      const size_t end = whole.tokens.empty() ? 0 : whole.tokens.back().end;
      whole.tokens.push_back(token->span.size() > 0 ? token->span : TextSpan{end, end});
    }
    for (const SentenceMark& mark :
         marked == nullptr ? std::vector<SentenceMark>() : marked->marks) {
      (mark.kind == MarkKind::kPaired ? whole.marks : whole.whole).push_back(mark.text);
    }
    std::vector<TextSpan> parts = DivideSentence(whole, static_cast<size_t>(most));
    if (parts.size() < 2) return {};
    for (TextSpan& part : parts) part = {part.begin + sentence.begin, part.end + sentence.begin};
    return parts;
  }

  absl::Status AddInsight(Job* job) {
    job->heads = plan_.alignment.heads;
    job->candidates = request_.insight.candidates;
    insight_ += InsightOf(*job);
    if (insight_ <= kMaxInsight) return absl::OkStatus();
    return InvalidField(
        job->heads.empty() ? "output.candidates" : "output.attention_heads", "may need more than ",
        kMaxInsight,
        " numbers; ask for fewer heads, hypotheses or candidates, or for shorter texts");
  }

  bool WantsAttention() const {
    return plan_.alignment.wants_attention() || jobs_.search().coverage_penalty != 0.0f;
  }

  // Refuses or truncates a sentence that is too long.
  absl::Status LimitTokens(size_t text, EncodedText* encoded) {
    if (static_cast<int>(encoded->ids.size()) > max_tokens_) {
      if (request_.truncation != Truncation::kTruncate) {
        return InvalidField(TextField(text), "a sentence has ", encoded->ids.size(),
                            " tokens, the most is ", max_tokens_,
                            "; split it, or ask for truncation");
      }
      encoded->Truncate(max_tokens_);
      plan_.texts[text].truncated = true;
    }
    plan_.texts[text].source_tokens += static_cast<int>(encoded->ids.size());
    if (WantsAttention() && encoded->ids.size() > AttentionTree::kMaxSourceTokens) {
      return InvalidField(TextField(text), "a sentence has ", encoded->ids.size(),
                          " tokens, the most with attention is ", AttentionTree::kMaxSourceTokens);
    }
    return absl::OkStatus();
  }

  const PlanContext& context_;
  HopRequest request_;
  const std::shared_ptr<RequestState> state_;
  StillWanted wanted_;
  JobMaker jobs_;
  Frame frame_;
  std::string direction_;  // to be set; "": as it is
  LanguagePair languages_;
  int max_tokens_ = 0;                 // of a sentence
  size_t insight_ = 0;                 // numbers that it may add to the answer
  std::optional<MemoryMatch> match_;   // what a memory has for the sentence that is being added
  size_t stored_left_ = kLeastStored;  // bytes that memories may have for sentences
  TranslationPlan plan_;
};

}  // namespace

std::shared_ptr<const PieceIndex> LazyPieces::Index(const Tokenizer& tokenizer) {
  std::call_once(indexed_, [&] { index_ = std::make_shared<PieceIndex>(tokenizer); });
  return index_;
}

std::shared_ptr<const WordJoins> LazyPieces::Joins(const Tokenizer& tokenizer) {
  std::call_once(joined_, [&] { joins_ = std::make_shared<WordJoins>(tokenizer); });
  return joins_;
}

absl::StatusOr<TranslationPlan> MakePlan(const PlanContext& context, HopRequest request,
                                         std::shared_ptr<RequestState> state) {
  return Planner(context, std::move(request), std::move(state)).Run();
}

}  // namespace dragoman
