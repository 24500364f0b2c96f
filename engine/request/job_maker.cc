#include "engine/request/job_maker.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/base/status.h"
#include "engine/model/attention_tree.h"
#include "engine/request/repair.h"
#include "engine/search/phrases.h"
#include "engine/search/row_sampler.h"

namespace dragoman {
namespace {

constexpr float kMaxLoss = 100.0f;

}  // namespace

std::string TextField(size_t text) { return absl::StrCat("contents[", text, "]"); }

absl::Status JobMaker::Prepare(const Frame& frame, const LanguagePair& languages) {
  ASSIGN_OR_RETURN(search_, ResolveSearch(request_.options, context_.limits, model().generation(),
                                          model().spec()));
  if (frame.decoder_start.has_value()) search_.start_id = *frame.decoder_start;
  if (frame.forced_bos.has_value() && !request_.options.forced_bos_id.has_value()) {
    search_.forced_bos_id = frame.forced_bos;
  }
  rules_ = context_.rules;
  const WordRules& words = request_.words;
  if (words.restricts()) {
    const Tokenizer& tokenizer = model().tokenizer();
    auto pieces = words.never_say.empty() ? nullptr : context_.pieces->Index(tokenizer);
    ASSIGN_OR_RETURN(rules_, AddWordRules(rules_, words, tokenizer, std::move(pieces), wanted_));
  }
  return PrepareGlossary(languages);
}

absl::Status JobMaker::PrepareGlossary(const LanguagePair& languages) {
  const Tokenizer& tokenizer = model().tokenizer();
  SharedGlossary* const shared = request_.words.shared.get();
  const std::vector<GlossaryEntry>& entries =
      shared == nullptr ? request_.words.glossary : shared->entries();
  language_ = languages.target;
  longest_ = std::min(request_.options.max_length.value_or(model().spec().max_positions),
                      model().spec().max_positions);
  if (!entries.empty()) {
    if (!SearchesForPhrases()) {
      return InvalidField(
          "options.glossary",
          "wants a beam search without sampling, return_alternatives or beam_groups");
    }
    const auto prepare = [&] {
      return OwnTerms(entries, tokenizer, longest_ - 1, *rules_, wanted_);
    };
    ASSIGN_OR_RETURN(auto own,
                     shared == nullptr ? prepare() : shared->TermsFor(context_.model, prepare));
    lists_.push_back(std::move(own));
  }
  if (const float loss = request_.words.stored_max_loss; !(loss >= 0 && loss <= kMaxLoss)) {
    return InvalidField("options.glossary_max_loss", "is ", loss, ", want 0 to ", kMaxLoss);
  }
  for (const std::shared_ptr<const TermList>& list : request_.words.stored) {
    if (list->IsFor(languages)) lists_.push_back(list);
  }
  return absl::OkStatus();
}

bool JobMaker::SearchesForPhrases() const {
  return !search_.sampling && !search_.return_alternatives && search_.beam_groups <= 1;
}

// From now on, phrases are whole words.
void JobMaker::KeepPhrasesWhole() {
  if (rules_->word_joins != nullptr) return;
  auto rules = std::make_shared<SearchRules>(*rules_);
  rules->word_joins = context_.pieces->Joins(model().tokenizer());
  rules_ = std::move(rules);
}

void JobMaker::SetStandIns(const std::vector<SentenceMark>& marks) {
  stand_ins_.clear();
  for (const SentenceMark& mark : marks) {
    if (!mark.stand_in || !SearchesForPhrases()) continue;
    KeepPhrasesWhole();
    stand_ins_.push_back(TokensOf(model().tokenizer(), mark.read, *rules_));
    if (stand_ins_.back().empty()) stand_ins_.pop_back();
  }
}

bool JobMaker::places_terms() const {
  return !lists_.empty() && SearchesForPhrases() && model().network().attends();
}

JobPtr JobMaker::NewJob(std::vector<int32_t> source) const {
  auto job = std::make_unique<Job>();
  job->model = context_.model;
  job->request = state_;
  job->rules = rules_;
  job->source = std::move(source);
  job->most_rows = request_.most_rows;
  job->random_key = MixKey(search_.sampling_seed, job->source);
  return job;
}

absl::StatusOr<JobPtr> JobMaker::Make(std::vector<int32_t> source, absl::Span<const TextSpan> spans,
                                      size_t text, std::string_view sentence) {
  JobPtr job = NewJob(std::move(source));
  spans_.clear();
  if (job->source.size() <= AttentionTree::kMaxSourceTokens) {
    spans_.assign(spans.begin(), spans.end());
  }
  RETURN_IF_ERROR(request_.targets.empty() ? SetUpSearch(text, sentence, job.get())
                                           : SetUpScore(text, job.get()));
  return job;
}

JobPtr JobMaker::MakeRepair(const Job& plain, const MemoryMatch& match, std::string_view sentence,
                            absl::Span<const TextSpan> tokens) const {
  if (!IsRepairable(plain)) return nullptr;
  return dragoman::MakeRepair(plain, Beginning(match.segment.target),
                              ChangedTokens(match.segment.source, sentence, tokens),
                              request_.repair.most_loss);
}

JobPtr JobMaker::MakeReading(std::vector<int32_t> source, const std::string& target) const {
  if (!model().network().attends() || source.size() > AttentionTree::kMaxSourceTokens) {
    return nullptr;
  }
  JobPtr job = NewJob(std::move(source));
  job->attention = true;
  return SetUpForced(target, job.get()) ? std::move(job) : nullptr;
}

// The model reads this target; false if it is too long.
bool JobMaker::SetUpForced(const std::string& target, Job* job) const {
  job->score_prefix = true;
  job->options.start_id = search_.start_id;
  job->prefix = Beginning(target);
  job->options.max_length = static_cast<int>(job->prefix.size()) + 1;
  return job->options.max_length <= model().spec().max_positions;
}

// The target is given, and the model says how likely it is.
absl::Status JobMaker::SetUpScore(size_t text, Job* job) const {
  if (SetUpForced(request_.targets[text], job)) return absl::OkStatus();
  return InvalidField(absl::StrCat("targets[", text, "]"), "has ", job->options.max_length,
                      " tokens, the most is ", model().spec().max_positions);
}

absl::Status JobMaker::SetUpSearch(size_t text, std::string_view sentence, Job* job) {
  job->options = search_;
  if (job->options.mbr_candidates > 0) job->options.num_hypotheses = job->options.mbr_candidates;
  RETURN_IF_ERROR(SetLengths(request_.options, static_cast<int>(job->source.size()),
                             model().generation(), model().spec(), &job->options));
  RETURN_IF_ERROR(AddPrefix(text, job));
  RETURN_IF_ERROR(AddPhrases(text, sentence, job));
  AddShortlist(job);
  if (const std::string_view draft = previous_.DraftOf(sentence); !draft.empty()) {
    job->draft = Beginning(std::string(draft));
    job->draft.resize(
        std::min(job->draft.size(), static_cast<size_t>(model().spec().max_positions)));
  }
  return absl::OkStatus();
}

absl::Status JobMaker::AddPrefix(size_t text, Job* job) const {
  if (request_.target_prefixes.empty()) return absl::OkStatus();
  const size_t which = request_.target_prefixes.size() == 1 ? 0 : text;
  if (request_.target_prefixes[which].empty()) return absl::OkStatus();
  job->prefix = Beginning(request_.target_prefixes[which]);
  if (static_cast<int>(job->prefix.size()) < job->options.max_length) return absl::OkStatus();
  return InvalidField(absl::StrCat("target_prefixes[", which, "]"), "has ", job->prefix.size(),
                      " tokens, want less than the max_length ", job->options.max_length);
}

// The phrases of glossaries, those that were read, and room for them unless the request has set the
// length.
absl::Status JobMaker::AddPhrases(size_t text, std::string_view sentence, Job* job) {
  terms_ = FindTerms(lists_, sentence, text, language_, wanted_);
  RETURN_IF_ERROR(wanted_->status());
  if (terms_.empty() && stand_ins_.empty()) return absl::OkStatus();
  if (!terms_.empty() && SearchesForPhrases()) {
    KeepPhrasesWhole();
    job->rules = rules_;
  }
  ASSIGN_OR_RETURN(size_t needed, AddTerms(text, job));
  for (const std::vector<int32_t>& tokens : stand_ins_) {
    if (job->phrases.size() == Phrases::kMax ||
        needed + tokens.size() > static_cast<size_t>(longest_)) {
      break;
    }
    needed += tokens.size();
    job->phrases.push_back({{tokens}});
  }
  job->options.max_length = std::max(job->options.max_length, static_cast<int>(needed));
  return absl::OkStatus();
}

// Adds the phrases of the request's own terms, which must all be said, and as many of the stored
// ones as there is room for.  Returns the number of tokens that may be needed.
absl::StatusOr<size_t> JobMaker::AddTerms(size_t text, Job* job) const {
  const size_t longest = static_cast<size_t>(longest_);
  size_t least = job->prefix.size() + 1, most = least;  // with the end of the sentence
  const auto own = std::count_if(terms_.begin(), terms_.end(),
                                 [](const FoundTerm& term) { return !term.is_stored(); });
  if (own > Phrases::kMax) {
    return InvalidField(TextField(text), "has ", own,
                        " occurrences of glossary entries in a sentence, the most is ",
                        Phrases::kMax);
  }
  std::map<TermForms, Phrase> known;
  for (const bool stored : {false, true}) {
    for (const FoundTerm& term : terms_) {
      if (term.is_stored() != stored || !SearchesForPhrases()) continue;
      if (job->phrases.size() == Phrases::kMax) break;
      const auto [same, is_new] = known.try_emplace(term.forms);
      if (is_new)
        same->second = PhraseOf(term, model().tokenizer(), longest_ - 1, *rules_, wanted_);
      RETURN_IF_ERROR(wanted_->status());
      Phrase phrase = same->second;
      if (phrase.forms.empty()) continue;
      if (stored) phrase.max_loss = request_.words.stored_max_loss;
      phrase.source = PlaceOf(term.span, spans_);
      if (stored && least + phrase.least() > longest) continue;
      least += phrase.least();
      most += phrase.most();
      job->phrases.push_back(std::move(phrase));
    }
    if (least > longest) {
      return InvalidField("options.glossary", "asks for a translation of at least ", least,
                          " tokens for ", TextField(text), ", the most is ", longest);
    }
  }
  RETURN_IF_ERROR(CheckRepetitions(text, *job));
  return std::min(most, longest);
}

// Whether the phrases can be said where no run of tokens may occur twice.
absl::Status JobMaker::CheckRepetitions(size_t text, const Job& job) const {
  const int size = job.options.no_repeat_ngram_size;
  if (size == 0) return absl::OkStatus();
  // What the prefix says need not be said again, and what it ends in may go on.
  const Phrases phrases(job.phrases, job.rules->word_joins);
  const PhraseProgress progress = phrases.ProgressOf(job.prefix);
  std::vector<Phrase> missing;
  for (size_t p = 0; p < job.phrases.size(); ++p) {
    if ((progress.said >> p & 1) == 0) missing.push_back(job.phrases[p]);
  }
  const auto prefix = absl::MakeConstSpan(job.prefix).first(job.prefix.size() - progress.path);
  const auto phrase = FirstRepetition(prefix, missing, static_cast<size_t>(size));
  if (!phrase.has_value()) return absl::OkStatus();
  return InvalidField("options.glossary", "wants \"",
                      model().tokenizer().Decode(missing[*phrase].forms.front()),
                      "\" in the translation of ", TextField(text), ", where no_repeat_ngram_size ",
                      size, " allows no run of so many tokens twice");
}

// The tokens of a target text, after the one that the model begins with.
std::vector<int32_t> JobMaker::Beginning(const std::string& text) const {
  std::vector<int32_t> tokens = model().tokenizer().EncodeTarget(text);
  if (search_.forced_bos_id.has_value()) tokens.insert(tokens.begin(), *search_.forced_bos_id);
  return tokens;
}

void JobMaker::AddShortlist(Job* job) const {
  if (model().shortlist() == nullptr) return;
  job->shortlist = model().shortlist()->TokensFor(job->source);
  if (job->phrases.empty()) return;
  std::vector<int32_t> tokens;
  for (const Phrase& phrase : job->phrases) {
    for (const std::vector<int32_t>& form : phrase.forms) {
      tokens.insert(tokens.end(), form.begin(), form.end());
    }
  }
  AddToShortlist(tokens, &job->shortlist);
}

}  // namespace dragoman
