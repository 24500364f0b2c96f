#include "engine/route.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "engine/base/status.h"
#include "engine/base/utf8.h"
#include "engine/still_wanted.h"

namespace dragoman {
namespace {

// By the source of an entry of the second step: that of the entry which it was made from.
using Carried = std::map<std::string, std::string>;

// What the second step needs to know of the first.
struct Way {
  std::vector<std::string> sources;  // the texts if they are needed, else empty
  AlignmentOptions alignment;
  Carried carried;
  TranslateResponse first;
};

// The first place of `part` within these bytes of the text; empty if there is none.
TextSpan FindIn(std::string_view text, std::string_view part, TextSpan within) {
  const size_t found =
      part.empty() ? text.npos : text.substr(0, within.end).find(part, within.begin);
  return found == text.npos ? TextSpan() : TextSpan{found, found + part.size()};
}

// Makes the faults of the second step those of both, with spans of the source and the target.
void ChainFaults(std::string_view source, const Translation& first, TranslatedHypothesis* second) {
  std::vector<LiteralFault> faults = first.hypotheses.front().literal_faults;
  for (LiteralFault& fault : faults) {
    fault.target = FindIn(second->text, fault.found, {0, second->text.size()});
    if (fault.target.size() == 0) fault.found.clear();
  }
  for (LiteralFault& fault : second->literal_faults) {
    for (const SentencePair& sentence : first.sentences) {
      if (fault.source.begin < sentence.target.begin || fault.source.end > sentence.target.end) {
        continue;
      }
      fault.source = FindIn(source, fault.text, sentence.source);
      if (fault.source.size() == 0) fault.source = sentence.source;  // it was written otherwise
      break;
    }
    faults.push_back(std::move(fault));
  }
  std::stable_sort(faults.begin(), faults.end(), [](const LiteralFault& a, const LiteralFault& b) {
    return a.source.begin < b.source.begin;
  });
  second->literal_faults = std::move(faults);
}

// Makes the unmet terms of the second step those of both, with bytes of the source.
void ChainUnmet(const Way& way, size_t text, const Translation& first, Translation* second) {
  std::vector<UnmetTerm> unmet = first.unmet;
  const std::string& source = way.sources[text];
  for (UnmetTerm& term : second->unmet) {
    const auto carried = way.carried.find(term.source);
    if (carried != way.carried.end()) term.source = carried->second;
    term.span = FindIn(source, term.source, {0, source.size()});
    unmet.push_back(std::move(term));
  }
  second->unmet = std::move(unmet);
}

// A translation by two steps is as good as the worse of them.  Doubtful words are those of the
// second, since the words of the first are not seen.
void ChainQuality(const Quality& first, std::optional<Quality>* second) {
  if (!second->has_value()) second->emplace();
  if (first.score >= (*second)->score) return;
  (*second)->score = first.score;
  (*second)->values = first.values;
}

// Combines both steps for text number `text`.
Translation Chain(const Way& way, size_t text, Translation second) {
  const Translation& first = way.first.translations[text];
  for (TranslatedHypothesis& hypothesis : second.hypotheses) {
    const std::optional<Quality>& quality = first.hypotheses.front().quality;
    if (quality.has_value()) ChainQuality(*quality, &hypothesis.quality);
    ChainFaults(way.sources[text], first, &hypothesis);
    if (!way.alignment.wanted) continue;
    hypothesis.alignment =
        Chain(way.sources[text], hypothesis.text, first.hypotheses.front().alignment,
              hypothesis.alignment, way.alignment);
  }
  ChainUnmet(way, text, first, &second);
  second.terms = std::max(first.terms, second.terms);
  second.matches = first.matches;
  second.source_tokens = first.source_tokens;
  second.truncated = second.truncated || first.truncated;
  second.divided = second.divided || first.divided;
  second.untranslated += first.untranslated;
  second.low_quality = second.low_quality || first.low_quality;
  // Sentences can be told apart only if both steps found the same number of them.
  if (first.sentences.size() == second.sentences.size()) {
    for (size_t i = 0; i < first.sentences.size(); ++i) {
      second.sentences[i].source = first.sentences[i].source;
      if (const auto& quality = first.sentences[i].quality; quality.has_value()) {
        ChainQuality(*quality, &second.sentences[i].quality);
      }
      second.sentences[i].is_part = second.sentences[i].is_part || first.sentences[i].is_part;
    }
  } else if (!first.sentences.empty() && !second.sentences.empty()) {
    const SentencePair whole = {
        {first.sentences.front().source.begin, first.sentences.back().source.end},
        {second.sentences.front().target.begin, second.sentences.back().target.end}};
    second.sentences = {whole};
  }
  return second;
}

// Chains a sentence, as far as it is known.
FinishedSentence Chain(const Translation& first, FinishedSentence second) {
  if (first.sentences.size() == second.of) {
    second.source_span = first.sentences[second.index].source;
  } else if (!first.sentences.empty()) {
    second.source_span = {first.sentences.front().source.begin, first.sentences.back().source.end};
  }
  return second;
}

// Reports the second step as if it were the whole translation.
OnProgress Chain(std::shared_ptr<const Way> way, OnProgress on_progress) {
  if (on_progress == nullptr) return nullptr;
  return [way = std::move(way), on_progress](TranslateProgress second) {
    if (second.sentence.has_value()) {
      second.sentence = Chain(way->first.translations[second.text], *std::move(second.sentence));
    }
    if (second.translation.has_value()) {
      second.translation = Chain(*way, second.text, *std::move(second.translation));
    }
    on_progress(std::move(second));
  };
}

// The entries of both steps for one that these texts have. In the pivot's text, a term already has
// its final form, or still its source form if the first model cannot write the final one. Haus ->
// maison | maisons by way of English is
//
//   first   Haus -> maison                 "Das Haus ist alt."     "The maison is old."
//   second  maison -> maison | maisons     "The maison is old."    "La maison est vieille."
//
// The second step has an entry only in the texts whose source has it.
std::pair<GlossaryEntry, GlossaryEntry> CarryOver(const Tokenizer& first, GlossaryEntry entry,
                                                  std::vector<size_t> texts) {
  GlossaryEntry second = entry;
  if (!entry.targets.empty()) entry.targets.resize(1);
  if (!entry.targets.empty() && !CanSay(first, entry.targets[0]) && CanSay(first, entry.source)) {
    entry.targets.clear();
  }
  entry.inflect = false;  // only the last step says it in its final language
  second.inflect = second.inflect && !second.targets.empty();
  if (second.targets.empty() && !second.ignore_case) second.targets = {second.source};
  if (!entry.targets.empty()) second.source = entry.targets[0];
  second.texts = std::move(texts);
  return {std::move(entry), std::move(second)};
}

size_t SizeOf(const GlossaryEntry& entry) {
  return entry.source.size() + (entry.targets.empty() ? 0 : entry.targets[0].size());
}

// The texts of a request that have an entry of a list, by entry.  If the request is no longer
// wanted, this and what follows ends early, and the first step reports it.
std::map<size_t, std::vector<size_t>> TextsWith(const TermList& list,
                                                const std::vector<std::string>& texts,
                                                StillWanted* wanted) {
  std::map<size_t, std::vector<size_t>> found;
  for (size_t t = 0; t < texts.size(); ++t) {
    if (!IsValidUtf8(texts[t])) continue;  // the first step reports the error
    if (!wanted->After(texts[t].size()).ok()) break;
    list.index().Find(texts[t], [&](const TermMatch& match) {
      std::vector<size_t>& with = found[match.term];
      if (with.empty() || with.back() != t) with.push_back(t);
    });
  }
  return found;
}

// Of entries of the second step with one source, only the first counts in a text; the others need
// not be looked at there.
class TakenTexts {
 public:
  void Take(GlossaryEntry* entry) {
    std::set<size_t>& taken = taken_[TermKey(entry->source, entry->ignore_case)];
    std::erase_if(*entry->texts, [&](size_t text) { return !taken.insert(text).second; });
  }

 private:
  std::map<std::string, std::set<size_t>> taken_;
};

// Whether what memories have does not answer a request: it asks for more than one translation, or
// where its words and tags come from, which is known of the models' own alone.
bool AsksTheModel(const TranslateRequest& request) {
  const DecodingOptions& options = request.options;
  return options.num_hypotheses.value_or(1) > 1 || options.sampling.value_or(false) ||
         options.return_alternatives.value_or(false) || !request.target_prefixes.empty() ||
         request.insight.candidates > 0 || request.alignment.wanted ||
         request.markup != Markup::kNone;
}

// The sentences of text number `text` that a memory has answered are in the last language already.
void KeepAnswered(const Translation& first, size_t text, TranslateRequest* second) {
  if (first.matches.empty()) return;
  second->kept.resize(second->texts.size());
  for (const SentencePair& sentence : first.sentences) {
    for (const MemoryMatch& match : first.matches) {
      if (!match.answers() || match.span != sentence.source) continue;
      second->kept[text].push_back({sentence.target, match});
    }
  }
}

// Divides the request's own glossary between the steps; all of its entries are checked by the
// first.
void DivideOwn(const Tokenizer& tokenizer, TranslateRequest* first, TranslateRequest* second,
               Carried* carried, StillWanted* wanted) {
  std::vector<GlossaryEntry>& entries = first->words.glossary;
  for (const GlossaryEntry& entry : entries) {
    const auto is_valid = [](const std::string& text) { return IsValidUtf8(text); };
    if (!is_valid(entry.source) ||
        !std::all_of(entry.targets.begin(), entry.targets.end(), is_valid)) {
      return;  // the first step reports the error
    }
  }
  const auto texts = TextsWith(TermList(entries), first->texts, wanted);
  TakenTexts taken;
  for (size_t i = 0; i < entries.size(); ++i) {
    if (!wanted->After(SizeOf(entries[i])).ok()) return;
    const auto with = texts.find(i);
    auto [to, from] = CarryOver(tokenizer, entries[i],
                                with == texts.end() ? std::vector<size_t>() : with->second);
    taken.Take(&from);
    (*carried)[from.source] = entries[i].source;
    second->words.glossary[i] = std::move(from);
    entries[i] = std::move(to);
  }
}

// Divides the stored glossaries: to each step, only the entries that the texts have.
void DivideStored(const Tokenizer& tokenizer, const LanguagePair& languages,
                  TranslateRequest* first, TranslateRequest* second, Carried* carried,
                  StillWanted* wanted) {
  const TermLists lists = std::move(first->words.stored);
  first->words.stored.clear();
  second->words.stored.clear();
  for (const std::shared_ptr<const TermList>& list : lists) {
    if (!list->IsFor(languages)) continue;
    std::vector<GlossaryEntry> to, from;
    TakenTexts taken;
    for (const auto& [entry, texts] : TextsWith(*list, first->texts, wanted)) {
      if (!wanted->After(SizeOf(list->entries()[entry])).ok()) return;
      auto both = CarryOver(tokenizer, list->entries()[entry], texts);
      taken.Take(&both.second);
      (*carried)[both.second.source] = both.first.source;
      to.push_back(std::move(both.first));
      from.push_back(std::move(both.second));
    }
    first->words.stored.push_back(
        std::make_shared<const TermList>(std::move(to), list->glossary()));
    second->words.stored.push_back(std::make_shared<const TermList>(
        std::move(from), list->glossary(), LanguagePair{"", list->languages().target}));
  }
}

}  // namespace

void TranslateTimes::Add(const TranslateTimes& later) {
  tokenize += later.tokenize;
  queue += later.queue;
  encode += later.encode;
  decode += later.decode;
  detokenize += later.detokenize;
  steps += later.steps;
  kept += later.kept;
}

Route::Route(std::shared_ptr<const Translator> translator) {
  translators_.push_back(std::move(translator));
}

Route::Route(std::shared_ptr<const Translator> first, const std::string& pivot,
             std::shared_ptr<const Translator> second)
    : Route(std::move(first)) {
  translators_.push_back(std::move(second));
  pivot_ = pivot;
}

void Route::Translate(TranslateRequest request, std::shared_ptr<RequestState> state,
                      std::function<void(TranslateResponse)> done, OnProgress on_progress) const {
  if (translators_.size() == 1) {
    return translators_.front()->Translate(std::move(request), std::move(state), std::move(done),
                                           std::move(on_progress));
  }
  if (!request.insight.heads.empty()) {
    TranslateResponse refused;
    refused.status = InvalidField(
        "output.attention_heads",
        absl::StrCat("are those of one model, but this goes through \"", pivot_, "\""));
    return done(std::move(refused));
  }
  // The second model may load while the first one translates.
  translators_[1]->Await(state, [](const absl::Status&) {});
  translators_[0]->Await(
      state, [route = *this, request = std::move(request), state, done = std::move(done),
              on_progress = std::move(on_progress)](const absl::Status& status) mutable {
        if (status.ok()) {
          return route.TranslateInTwo(std::move(request), std::move(state), std::move(done),
                                      std::move(on_progress));
        }
        TranslateResponse failed;
        failed.status = status;
        done(std::move(failed));
      });
}

void Route::TranslateInTwo(TranslateRequest request, std::shared_ptr<RequestState> state,
                           std::function<void(TranslateResponse)> done,
                           OnProgress on_progress) const {
  request.previous_texts.clear();  // the text between them was not kept
  request.previous_translations.clear();
  if (AsksTheModel(request)) request.memories.clear();
  TranslateRequest second = request;  // with the same options
  request.insight = {};
  second.source_language = pivot_;
  second.original_language = request.source_language;
  second.memories.clear();
  request.memory_target = request.target_language;
  request.target_language = pivot_;
  request.options.num_hypotheses = 1;
  // Options that concern the final translation apply to the second step only.
  request.options.return_alternatives.reset();
  request.options.forced_bos_id.reset();
  request.options.forced_eos_id.reset();
  request.target_prefixes.clear();
  request.set_direction = false;
  request.words = {.glossary = std::move(request.words.glossary),
                   .stored = std::move(request.words.stored),
                   .stored_max_loss = request.words.stored_max_loss};
  auto way = std::make_shared<Way>();
  const Tokenizer& tokenizer = translators_[0]->model().tokenizer();
  StillWanted wanted([&state] { return state->Wanted(absl::Now()); });
  DivideOwn(tokenizer, &request, &second, &way->carried, &wanted);
  DivideStored(tokenizer, {request.source_language, second.target_language}, &request, &second,
               &way->carried, &wanted);
  // Chaining alignments, faults and terms needs the texts.
  if (request.alignment.wanted || request.check_literals || !way->carried.empty()) {
    way->sources = request.texts;
  }
  way->sources.resize(request.texts.size());
  way->alignment = request.alignment;
  translators_[0]->Translate(
      std::move(request), state,
      [state, way, second = std::move(second), translators = translators_, done = std::move(done),
       on_progress = std::move(on_progress)](TranslateResponse first) mutable {
        if (!first.status.ok()) return done(std::move(first));
        way->first = std::move(first);
        for (size_t t = 0; t < way->first.translations.size(); ++t) {
          second.texts[t] = way->first.translations[t].hypotheses.front().text;
          KeepAnswered(way->first.translations[t], t, &second);
        }
        const auto finish = [translators, way, done = std::move(done)](TranslateResponse last) {
          for (size_t t = 0; t < last.translations.size(); ++t) {
            last.translations[t] = Chain(*way, t, std::move(last.translations[t]));
          }
          last.steps = {{translators[0]->name(), way->first.times},
                        {translators[1]->name(), last.times}};
          last.times.Add(way->first.times);
          last.reused_sentences += way->first.reused_sentences;
          done(std::move(last));
        };
        translators[1]->Translate(std::move(second), state, finish,
                                  Chain(way, std::move(on_progress)));
      });
}

std::string Route::name() const {
  return absl::StrJoin(translators_, "+", [](std::string* out, const auto& translator) {
    out->append(translator->name());
  });
}

std::string Route::version() const {
  return absl::StrJoin(translators_, "+", [](std::string* out, const auto& translator) {
    out->append(translator->model().version());
  });
}

}  // namespace dragoman
