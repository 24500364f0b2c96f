#include "engine/request/attempts.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "engine/model/attention_tree.h"
#include "engine/request/assembly.h"
#include "engine/request/glossary.h"
#include "engine/request/plan.h"
#include "engine/request/repair.h"
#include "engine/search/phrases.h"
#include "engine/text/numbers.h"
#include "engine/text/words.h"

namespace dragoman {
namespace {

// Whether no opaque mark covers these bytes of a sentence; and, unless they may be cut, no other
// begins or ends within them, as in "4<small>.5</small>".
bool IsFree(TextSpan span, const NumeralSentence& sentence, bool may_be_cut) {
  const auto cuts = [&](size_t at) { return !may_be_cut && at > span.begin && at < span.end; };
  return std::none_of(sentence.marks.begin(), sentence.marks.end(), [&](const SentenceMark& mark) {
    return mark.kind == MarkKind::kOpaque ? Overlap(mark.text, span)
                                          : cuts(mark.text.begin) || cuts(mark.text.end);
  });
}

std::vector<TextSpan> FreeNumerals(const NumeralSentence& sentence, bool may_be_cut) {
  std::vector<TextSpan> numerals = FindNumerals(sentence.text);
  std::erase_if(numerals, [&](TextSpan n) { return !IsFree(n, sentence, may_be_cut); });
  return numerals;
}

// Reads the sentence with these marks.  No job if that gives too many tokens.
SentenceReading Read(const NumeralSentence& sentence, absl::Span<const SentenceMark> marks) {
  const Tokenizer& tokenizer = sentence.job->model->tokenizer();
  const ModelInput input = InputOf(sentence.text, marks);
  const EncodedText encoded = tokenizer.Encode(input.text, sentence.frame, /*with_spans=*/true);
  SentenceReading reading;
  reading.source = AlignedTokens(tokenizer, encoded, sentence.begin, &input.to_sentence);
  if (static_cast<int>(encoded.ids.size()) > sentence.longest) return reading;
  reading.job = std::make_unique<Job>(*sentence.job);
  Job& job = *reading.job;
  job.source = encoded.ids;
  job.draft.clear();
  auto rules = std::make_shared<SearchRules>(*job.rules);
  rules->word_joins = sentence.joins;
  job.rules = std::move(rules);
  if (job.model->shortlist() != nullptr) {
    job.shortlist = job.model->shortlist()->TokensFor(job.source);
  }
  return reading;
}

// The job is null if the phrases are too many or too long.
void AddPhrases(std::vector<Phrase> phrases, SentenceReading* reading) {
  Job& job = *reading->job;
  size_t needed = job.prefix.size() + 1;
  for (Phrase& phrase : phrases) job.phrases.push_back(std::move(phrase));
  for (const Phrase& phrase : job.phrases) {
    needed += phrase.most();
    for (const auto& form : phrase.forms) AddToShortlist(form, &job.shortlist);
  }
  job.options.max_length = std::max(job.options.max_length, static_cast<int>(needed));
  if (job.phrases.size() > Phrases::kMax ||
      job.options.max_length > job.model->spec().max_positions) {
    reading->job.reset();
  }
}

// Makes the rows of a matrix `to` rows in the place of `from` of them.
template <typename T>
void Stretch(size_t at, size_t from, size_t to, size_t width, std::vector<T>* rows) {
  if (rows->size() < (at + from) * width) return;
  const auto row = [&](const std::vector<T>& of, size_t number) {
    return of.begin() + static_cast<std::ptrdiff_t>(number * width);
  };
  const std::vector<T> old = *rows;
  rows->assign(old.begin(), row(old, at));
  for (size_t i = 0; i < to; ++i) {
    const size_t copied = at + i * from / to;
    rows->insert(rows->end(), row(old, copied), row(old, copied + 1));
  }
  rows->insert(rows->end(), row(old, at + from), old.end());
}

// How a bracket is written: an opening one begins a word, a closing one follows one.
std::vector<std::vector<int32_t>> FormsOfBracket(const std::string& bracket,
                                                 const Tokenizer& tokenizer,
                                                 const SearchRules& rules) {
  constexpr std::string_view kClosing = ")）";
  std::vector<std::vector<int32_t>> forms;
  if (kClosing.find(bracket) == kClosing.npos) {
    forms.push_back(TokensOf(tokenizer, bracket, rules));
  } else {
    const std::string word = "a";
    const std::vector<int32_t> before = TokensOf(tokenizer, word, rules);
    for (const char* const mark : {"", ".", ",", ";", ":", "!", "?"}) {
      std::vector<int32_t> tokens = TokensOf(tokenizer, absl::StrCat(word, bracket, mark), rules);
      if (tokens.size() < before.size() ||
          !std::equal(before.begin(), before.end(), tokens.begin())) {
        continue;
      }
      forms.emplace_back(tokens.begin() + static_cast<std::ptrdiff_t>(before.size()), tokens.end());
    }
  }
  std::erase_if(forms, [](const std::vector<int32_t>& form) { return form.empty(); });
  return forms;
}

// So that those of its numbers and brackets that have bytes of `lost` must be said.
SentenceReading SayNumerals(const NumeralSentence& sentence, const std::vector<TextSpan>& lost) {
  SentenceReading reading = Read(sentence, sentence.marks);
  if (reading.job == nullptr) return reading;
  const Tokenizer& tokenizer = reading.job->model->tokenizer();
  const bool places = reading.job->model->network().attends() &&
                      reading.source.size() <= AttentionTree::kMaxSourceTokens;
  std::vector<Phrase> phrases;
  const auto add = [&](TextSpan span, std::vector<std::vector<int32_t>> forms) {
    if (forms.empty()) return;
    Phrase phrase = {.forms = std::move(forms)};
    const TextSpan in_text = {span.begin + sentence.begin, span.end + sentence.begin};
    if (places) phrase.source = PlaceOf(in_text, SpansOf(reading.source));
    phrases.push_back(std::move(phrase));
  };
  const auto is_lost = [&](TextSpan span) {
    return std::any_of(lost.begin(), lost.end(), [&](TextSpan s) { return Overlap(s, span); });
  };
  for (const TextSpan numeral : FreeNumerals(sentence, /*may_be_cut=*/true)) {
    if (!is_lost(numeral)) continue;
    std::vector<std::vector<int32_t>> forms;
    for (const std::string& form :
         FormsOf(sentence.text.substr(numeral.begin, numeral.size()), sentence.languages)) {
      std::vector<int32_t> tokens = TokensOf(tokenizer, form, *reading.job->rules);
      if (!tokens.empty()) forms.push_back(std::move(tokens));
    }
    add(numeral, std::move(forms));
  }
  for (const TextSpan bracket : FindBrackets(sentence.text)) {
    if (!is_lost(bracket) || !IsFree(bracket, sentence, /*may_be_cut=*/true)) continue;
    add(bracket, FormsOfBracket(sentence.text.substr(bracket.begin, bracket.size()), tokenizer,
                                *reading.job->rules));
  }
  if (phrases.empty()) {
    reading.job.reset();
  } else {
    AddPhrases(std::move(phrases), &reading);
  }
  return reading;
}

// With stand-ins.
SentenceReading StandInForNumerals(const NumeralSentence& sentence) {
  const Job& plain = *sentence.job;
  // Terms are bound to tokens that this reading does not have.
  if (plain.places_phrases()) return {};
  const Tokenizer& tokenizer = plain.model->tokenizer();
  std::vector<SentenceMark> marks = sentence.marks, added;
  std::vector<std::vector<int32_t>> tokens;  // that come into their places
  const StandIns stand_ins(sentence.text);
  for (const TextSpan numeral : FreeNumerals(sentence, /*may_be_cut=*/false)) {
    const auto tokens_of = [&](TextSpan span) {
      const std::string text = sentence.text.substr(span.begin, span.size());
      return TokensOf(tokenizer, FormsOf(text, sentence.languages).front(), *plain.rules);
    };
    const TextSpan wide = WithSign(sentence.text, numeral);
    const bool fits = IsFree(wide, sentence, /*may_be_cut=*/false) && !tokens_of(wide).empty();
    const TextSpan span = fits ? wide : numeral;
    tokens.push_back(tokens_of(span));
    added.push_back({.kind = MarkKind::kOpaque,
                     .text = span,
                     .read = stand_ins.At(marks.size() + added.size()),
                     .stand_in = true});
  }
  marks.insert(marks.end(), added.begin(), added.end());
  std::stable_sort(marks.begin(), marks.end(), [](const SentenceMark& a, const SentenceMark& b) {
    return a.text.begin < b.text.begin;
  });
  SentenceReading reading = Read(sentence, marks);
  if (added.empty()) reading.job.reset();
  if (reading.job == nullptr) return reading;
  std::vector<Phrase> phrases;
  for (size_t i = 0; i < added.size(); ++i) {
    std::vector<int32_t> stand_in = TokensOf(tokenizer, added[i].read, *reading.job->rules);
    if (stand_in.empty() || tokens[i].empty()) {
      reading.job.reset();
      return reading;
    }
    phrases.push_back({{stand_in}});
    reading.places.emplace_back(std::move(stand_in), std::move(tokens[i]));
  }
  AddPhrases(std::move(phrases), &reading);
  return reading;
}

// Makes the sentence what the reading is, and the other way round.
void Swap(PlannedText* text, size_t number, SentenceReading* reading) {
  std::swap(text->sentences[number].source, reading->source);
  if (reading->marks.has_value()) {
    std::swap(text->marked->sentences[number].marks, *reading->marks);
  }
}

// Whether the result of the last attempt, which the sentence is read for, is better than the best.
bool IsBetter(const Attempts& attempts, const SentenceFaults& faults, const JobResult& result) {
  switch (attempts.way) {
    case Attempts::kPlain:
      return attempts.best.hypotheses.front().score < result.hypotheses.front().score;
    case Attempts::kSayNumerals:
    case Attempts::kStandIn: {
      // Brackets are no reason to say much less, if there is much to say.
      constexpr size_t kMuch = 32;  // tokens
      const auto size = [](const JobResult& said) { return said.hypotheses.front().tokens.size(); };
      const bool cut = attempts.faults.brackets && size(attempts.best) >= kMuch &&
                       4 * size(result) < 3 * size(attempts.best);
      return !cut && !faults.damaged && !faults.invents &&
             faults.lost.size() < attempts.faults.lost.size();
    }
    default:
      return true;
  }
}

// Those of the best result that have their numbers, and the others from *result, in its place.
void KeepWhole(const Attempts& attempts, JobResult* result) {
  const std::vector<Hypothesis>& before = attempts.best.hypotheses;
  std::vector<Hypothesis> kept;
  for (size_t h = 0; h < attempts.faults.whole.size(); ++h) {
    if (attempts.faults.whole[h]) kept.push_back(before[h]);
  }
  for (Hypothesis& hypothesis : result->hypotheses) {
    if (kept.size() == before.size()) break;
    const auto same = [&](const Hypothesis& other) { return other.tokens == hypothesis.tokens; };
    if (std::none_of(kept.begin(), kept.end(), same)) kept.push_back(std::move(hypothesis));
  }
  std::stable_sort(kept.begin(), kept.end(),
                   [](const Hypothesis& a, const Hypothesis& b) { return a.score > b.score; });
  result->hypotheses = std::move(kept);
}

// How the sentence is read next; without a job if that is not wanted, or cannot be.
SentenceReading ReadNext(const PlannedSentence& sentence, Attempts* attempts) {
  const SentenceFaults& faults = attempts->faults;
  const bool numbers = attempts->numerals != nullptr && !faults.damaged && !faults.lost.empty();
  switch (attempts->way) {
    case Attempts::kPlain:
      if (attempts->plain == nullptr ||
          !IsDoubtful(attempts->best.hypotheses.front(), attempts->doubtful_loss)) {
        return {};
      }
      return {.job = std::move(attempts->plain), .source = sentence.source};
    case Attempts::kUnread:
      if (!faults.damaged) return {};
      attempts->numerals = nullptr;
      return std::move(attempts->unread);
    case Attempts::kSayNumerals:
      return numbers ? SayNumerals(*attempts->numerals, faults.lost) : SentenceReading();
    case Attempts::kStandIn:
      return numbers && !faults.whole.front() ? StandInForNumerals(*attempts->numerals)
                                              : SentenceReading();
    default:
      return {};
  }
}

}  // namespace

bool MaySayNumerals(const Job& job) {
  const SearchOptions& options = job.options;
  return !options.sampling && !options.return_alternatives && options.beam_groups <= 1 &&
         options.mbr_candidates == 0 && job.prefix.empty() && job.heads.empty() &&
         job.candidates == 0 && !job.score_prefix && job.draft_loss == 0.0f;
}

bool PutNumeralsBack(const SentenceReading& reading, Hypothesis* hypothesis) {
  if (reading.places.empty()) return true;
  std::vector<int32_t>& tokens = hypothesis->tokens;
  for (const auto& [from, to] : reading.places) {
    const auto found = std::search(tokens.begin(), tokens.end(), from.begin(), from.end());
    if (found == tokens.end()) return false;
    const size_t at = static_cast<size_t>(found - tokens.begin());
    Stretch(at, from.size(), to.size(), 1, &hypothesis->token_log_probs);
    Stretch(at, from.size(), to.size(), 1, &hypothesis->token_margins);
    Stretch(at, from.size(), to.size(), reading.source.size(), &hypothesis->attention);
    Stretch(at, from.size(), to.size(), 1, &tokens);
    std::copy(to.begin(), to.end(), tokens.begin() + static_cast<std::ptrdiff_t>(at));
    if (std::search(tokens.begin(), tokens.end(), from.begin(), from.end()) != tokens.end()) {
      return false;  // it is said again
    }
  }
  const std::vector<float>& log_probs = hypothesis->token_log_probs;
  hypothesis->log_prob = std::accumulate(log_probs.begin(), log_probs.end(), 0.0f);
  return true;
}

std::vector<AlignedToken> AlignedTokens(const Tokenizer& tokenizer, const EncodedText& sentence,
                                        size_t begin, const TextMap* map) {
  std::vector<AlignedToken> tokens;
  for (size_t i = 0; i < sentence.spans.size(); ++i) {
    TextSpan span = sentence.spans[i];
    if (map != nullptr && span.size() > 0) span = map->Map(span);
    tokens.push_back(
        {tokenizer.SourcePiece(sentence.ids[i]), {span.begin + begin, span.end + begin}});
  }
  return tokens;
}

JobPtr NextAttempt(const Tokenizer& tokenizer, const AlignmentPlan& alignment, PlannedText* text,
                   size_t sentence, JobResult* result) {
  Attempts& attempts = *text->sentences[sentence].attempts;
  const bool whole =
      std::all_of(result->hypotheses.begin(), result->hypotheses.end(),
                  [&](Hypothesis& said) { return PutNumeralsBack(attempts.reading, &said); });
  if (attempts.way == Attempts::kSayNumerals) KeepWhole(attempts, result);
  if (attempts.way == Attempts::kFirst) {
    result->repaired = attempts.plain != nullptr;
  } else {
    const JobTimes& earlier = attempts.best.times;
    JobTimes& times = result->times;
    times = {times.queue + earlier.queue, times.encode + earlier.encode,
             times.decode + earlier.decode, times.steps + earlier.steps, times.kept + earlier.kept};
    result->reused = result->reused && attempts.best.reused;
    Swap(text, sentence, &attempts.reading);
  }
  const NumeralSentence* const numerals = attempts.numerals.get();
  SentenceFaults faults = FaultsOf(tokenizer, *text, sentence, result->hypotheses, alignment,
                                   numerals == nullptr ? nullptr : &numerals->languages.target);
  if (whole && IsBetter(attempts, faults, *result)) {
    attempts.best = std::move(*result);
    attempts.faults = std::move(faults);
  } else {
    attempts.best.times = result->times;
    attempts.best.reused = result->reused;
    Swap(text, sentence, &attempts.reading);
  }
  while (attempts.way < Attempts::kStandIn) {
    attempts.way = static_cast<Attempts::Way>(attempts.way + 1);
    attempts.reading = ReadNext(text->sentences[sentence], &attempts);
    if (attempts.reading.job != nullptr) return std::move(attempts.reading.job);
  }
  *result = std::move(attempts.best);
  return nullptr;
}

}  // namespace dragoman
