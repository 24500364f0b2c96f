#include "engine/request/pivot.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "engine/base/utf8.h"

namespace dragoman {
namespace {

// The first place of `part` within these bytes of the text; empty if there is none.
TextSpan FindIn(std::string_view text, std::string_view part, TextSpan within) {
  const size_t found =
      part.empty() ? text.npos : text.substr(0, within.end).find(part, within.begin);
  return found == text.npos ? TextSpan() : TextSpan{found, found + part.size()};
}

// Makes the faults of the second hop those of both, with spans of the source and the target.
void ComposeFaults(std::string_view source, const Translation& first,
                   TranslatedHypothesis* second) {
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

// A translation by two hops is as good as the worse of them.  Doubtful words are those of the
// second, since the words of the first are not seen.
void ComposeQuality(const std::optional<Quality>& first, std::optional<Quality>* second) {
  if (!first.has_value()) return;
  if (!second->has_value()) second->emplace();
  TakeWorse(*first, &**second);
}

// The entries of both hops for one that these texts have. In the pivot's text, a term already has
// its final form, or still its source form if the first model cannot write the final one. Haus ->
// maison | maisons by way of English is
//
//   first   Haus -> maison                 "Das Haus ist alt."     "The maison is old."
//   second  maison -> maison | maisons     "The maison is old."    "La maison est vieille."
//
// The second hop has an entry only in the texts whose source has it.
std::pair<GlossaryEntry, GlossaryEntry> CarryOver(const Tokenizer& first, GlossaryEntry entry,
                                                  std::vector<size_t> texts) {
  GlossaryEntry second = entry;
  if (!entry.targets.empty()) entry.targets.resize(1);
  if (!entry.targets.empty() && !CanSay(first, entry.targets[0]) && CanSay(first, entry.source)) {
    entry.targets.clear();
  }
  entry.inflect = false;  // only the last hop says it in its final language
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
// wanted, this and what follows ends early, and the first hop reports it.
std::map<size_t, std::vector<size_t>> TextsWith(const TermList& list,
                                                const std::vector<std::string>& texts,
                                                StillWanted* wanted) {
  std::map<size_t, std::vector<size_t>> found;
  for (size_t t = 0; t < texts.size(); ++t) {
    if (!IsValidUtf8(texts[t])) continue;  // the first hop reports the error
    if (!wanted->After(texts[t].size()).ok()) break;
    list.index().Find(texts[t], [&](const TermMatch& match) {
      std::vector<size_t>& with = found[match.term];
      if (with.empty() || with.back() != t) with.push_back(t);
    });
  }
  return found;
}

// Of entries of the second hop with one source, only the first counts in a text; the others need
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

}  // namespace

Pivot::Pivot(const Route& route, HopRequest request, StillWanted* wanted)
    : route_(route), sources_(request.texts), alignment_(request.alignment) {
  request.previous_texts.clear();  // the text between them was not kept
  request.previous_translations.clear();
  if (AsksTheModel(request)) request.memories.clear();
  if (const auto shared = std::exchange(request.words.shared, nullptr)) {
    request.words.glossary = shared->entries();
  }
  from_ = request;  // with the same options
  from_.source_language = route.pivot();
  from_.original_language = request.source_language;
  from_.memories.clear();
  to_ = std::move(request);
  to_.memory_target = to_.target_language;
  to_.target_language = route.pivot();
  // What concerns the final translation is for the second hop only.
  to_.insight = {};
  to_.options.num_hypotheses = 1;
  to_.options.return_alternatives.reset();
  to_.options.forced_bos_id.reset();
  to_.options.forced_eos_id.reset();
  to_.target_prefixes.clear();
  to_.set_direction = false;
  to_.words = {.glossary = std::move(to_.words.glossary),
               .stored = std::move(to_.words.stored),
               .stored_max_loss = to_.words.stored_max_loss};
  DivideOwn(wanted);
  DivideStored(wanted);
}

// Divides the request's own glossary between the hops; all of its entries are checked by the first.
void Pivot::DivideOwn(StillWanted* wanted) {
  std::vector<GlossaryEntry>& entries = to_.words.glossary;
  for (const GlossaryEntry& entry : entries) {
    if (!IsValidUtf8(entry.source) ||
        !std::all_of(entry.targets.begin(), entry.targets.end(), IsValidUtf8)) {
      return;  // the first hop reports the error
    }
  }
  const Tokenizer& tokenizer = route_.translators()[0]->model().tokenizer();
  const auto texts = TextsWith(TermList(entries), sources_, wanted);
  TakenTexts taken;
  for (size_t i = 0; i < entries.size(); ++i) {
    if (!wanted->After(SizeOf(entries[i])).ok()) return;
    const auto with = texts.find(i);
    auto [to, from] = CarryOver(tokenizer, entries[i],
                                with == texts.end() ? std::vector<size_t>() : with->second);
    taken.Take(&from);
    carried_[from.source] = entries[i].source;
    from_.words.glossary[i] = std::move(from);
    entries[i] = std::move(to);
  }
}

// Divides the stored glossaries: to each hop, only the entries that the texts have.
void Pivot::DivideStored(StillWanted* wanted) {
  const Tokenizer& tokenizer = route_.translators()[0]->model().tokenizer();
  const TermLists lists = std::move(to_.words.stored);
  to_.words.stored.clear();
  from_.words.stored.clear();
  for (const std::shared_ptr<const TermList>& list : lists) {
    if (!list->IsFor({to_.source_language, from_.target_language})) continue;
    std::vector<GlossaryEntry> to, from;
    TakenTexts taken;
    for (const auto& [entry, texts] : TextsWith(*list, sources_, wanted)) {
      if (!wanted->After(SizeOf(list->entries()[entry])).ok()) return;
      auto both = CarryOver(tokenizer, list->entries()[entry], texts);
      taken.Take(&both.second);
      carried_[both.second.source] = both.first.source;
      to.push_back(std::move(both.first));
      from.push_back(std::move(both.second));
    }
    to_.words.stored.push_back(std::make_shared<const TermList>(std::move(to), list->glossary()));
    from_.words.stored.push_back(std::make_shared<const TermList>(
        std::move(from), list->glossary(), LanguagePair{"", list->languages().target}));
  }
}

HopRequest Pivot::TakeSecond(TranslateResponse first) {
  first_ = std::move(first);
  for (size_t t = 0; t < first_.translations.size(); ++t) {
    from_.texts[t] = first_.translations[t].hypotheses.front().text;
    KeepAnswered(t);
  }
  return std::move(from_);
}

// The sentences of text number `text` that a memory has answered are in the last language already.
void Pivot::KeepAnswered(size_t text) {
  const Translation& first = first_.translations[text];
  if (first.matches.empty()) return;
  from_.kept.resize(from_.texts.size());
  for (const SentencePair& sentence : first.sentences) {
    for (const MemoryMatch& match : first.matches) {
      if (!match.answers() || match.span != sentence.source) continue;
      from_.kept[text].push_back({sentence.target, match});
    }
  }
}

void Pivot::Compose(TranslateResponse* second) const {
  for (size_t t = 0; t < second->translations.size(); ++t) Compose(t, &second->translations[t]);
  second->steps = {{route_.translators()[0]->name(), first_.times},
                   {route_.translators()[1]->name(), second->times}};
  second->times.AddLater(first_.times);
  second->reused_sentences += first_.reused_sentences;
}

void Pivot::Compose(TranslateProgress* second) const {
  const std::vector<SentencePair>& sentences = first_.translations[second->text].sentences;
  if (second->sentence.has_value() && !sentences.empty()) {
    FinishedSentence& sentence = *second->sentence;
    sentence.source_span =
        sentences.size() == sentence.of
            ? sentences[sentence.index].source
            : TextSpan{sentences.front().source.begin, sentences.back().source.end};
  }
  if (second->translation.has_value()) Compose(second->text, &*second->translation);
}

// Makes the unmet terms of the second hop those of both, with bytes of the source.
void Pivot::ComposeUnmet(size_t text, Translation* second) const {
  std::vector<UnmetTerm> unmet = first_.translations[text].unmet;
  const std::string& source = sources_[text];
  for (UnmetTerm& term : second->unmet) {
    const auto carried = carried_.find(term.source);
    if (carried != carried_.end()) term.source = carried->second;
    term.span = FindIn(source, term.source, {0, source.size()});
    unmet.push_back(std::move(term));
  }
  second->unmet = std::move(unmet);
}

// Makes the second hop's translation of text number `text` that of both.
void Pivot::Compose(size_t text, Translation* second) const {
  const Translation& first = first_.translations[text];
  for (TranslatedHypothesis& hypothesis : second->hypotheses) {
    ComposeQuality(first.hypotheses.front().quality, &hypothesis.quality);
    ComposeFaults(sources_[text], first, &hypothesis);
    if (!alignment_.wanted) continue;
    hypothesis.alignment =
        Chain(sources_[text], hypothesis.text, first.hypotheses.front().alignment,
              hypothesis.alignment, alignment_);
  }
  ComposeUnmet(text, second);
  second->terms = std::max(first.terms, second->terms);
  second->matches = first.matches;
  second->source_tokens = first.source_tokens;
  second->truncated = second->truncated || first.truncated;
  second->divided = second->divided || first.divided;
  second->untranslated += first.untranslated;
  second->low_quality = second->low_quality || first.low_quality;
  // Sentences can be told apart only if both hops found the same number of them.
  if (first.sentences.size() == second->sentences.size()) {
    for (size_t i = 0; i < first.sentences.size(); ++i) {
      SentencePair& sentence = second->sentences[i];
      sentence.source = first.sentences[i].source;
      ComposeQuality(first.sentences[i].quality, &sentence.quality);
      sentence.is_part = sentence.is_part || first.sentences[i].is_part;
    }
  } else if (!first.sentences.empty() && !second->sentences.empty()) {
    const SentencePair whole = {
        {first.sentences.front().source.begin, first.sentences.back().source.end},
        {second->sentences.front().target.begin, second->sentences.back().target.end}};
    second->sentences = {whole};
  }
}

}  // namespace dragoman
