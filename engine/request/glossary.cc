#include "engine/request/glossary.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/base/status.h"
#include "engine/base/utf8.h"
#include "engine/request/alignment.h"
#include "engine/request/search_request.h"

namespace dragoman {
namespace {

// Whether a hypothesis that contains these tokens breaks the rules.
bool Breaks(const SearchRules& rules, absl::Span<const int32_t> tokens) {
  for (const std::vector<int32_t>& word : rules.bad_words_ids) {
    if (std::search(tokens.begin(), tokens.end(), word.begin(), word.end()) != tokens.end()) {
      return true;
    }
  }
  std::vector<int32_t> banned;
  for (const std::string& phrase : rules.banned_phrases) {
    for (size_t i = 0; i < tokens.size(); ++i) {
      banned.clear();
      rules.pieces->FindLast(phrase, tokens.first(i), &banned);
      if (std::find(banned.begin(), banned.end(), tokens[i]) != banned.end()) return true;
    }
  }
  return false;
}

// The work of putting a phrase into tokens and comparing these with the rules.
size_t WorkOf(const std::string& phrase, const SearchRules& rules) {
  constexpr size_t kPerBanned = 64;  // the pieces of which are looked up
  return phrase.size() * (1 + rules.banned_phrases.size() * kPerBanned) +
         rules.bad_words_ids.size();
}

// Whether all tokens of a target phrase are in the vocabulary.
bool CanSay(const Tokenizer& tokenizer, absl::Span<const int32_t> tokens) {
  return !tokens.empty() &&
         std::find(tokens.begin(), tokens.end(), tokenizer.target_unknown_id()) == tokens.end();
}

absl::Status CheckPhrase(const std::string& field, const std::string& phrase) {
  if (!IsValidUtf8(phrase)) return InvalidField(field, "is not valid UTF-8");
  if (phrase.find_first_not_of(" \t\r\n") == std::string::npos) {
    return InvalidField(field, "is empty, want a phrase");
  }
  if (phrase.size() > kMaxTermBytes) {
    return InvalidField(field, "has ", phrase.size(), " bytes, the most is ", kMaxTermBytes);
  }
  return absl::OkStatus();
}

// More phrases that must not be said would slow down each step of everybody's translations.
constexpr size_t kMaxForbidden = 1000;

// Phrases of a request, of which those that are there again are nothing more.  INVALID_ARGUMENT if
// one is not a phrase, or there are too many.
absl::StatusOr<std::set<std::string>> PhrasesOf(const std::string& field,
                                                const std::vector<std::string>& phrases) {
  std::set<std::string> all;
  for (size_t i = 0; i < phrases.size(); ++i) {
    RETURN_IF_ERROR(CheckPhrase(absl::StrCat(field, "[", i, "]"), phrases[i]));
    all.insert(phrases[i]);
  }
  if (all.size() <= kMaxForbidden) return all;
  return InvalidField(field, "has ", all.size(), " different phrases, the most is ", kMaxForbidden);
}

}  // namespace

bool CanSay(const Tokenizer& tokenizer, const std::string& phrase) {
  return CanSay(tokenizer, tokenizer.EncodeTarget(phrase));
}

std::vector<int32_t> TokensOf(const Tokenizer& tokenizer, const std::string& phrase,
                              const SearchRules& rules) {
  std::vector<int32_t> tokens = tokenizer.EncodeTarget(phrase);
  if (!CanSay(tokenizer, tokens) || Breaks(rules, tokens)) tokens.clear();
  return tokens;
}

TokenRange PlaceOf(TextSpan span, absl::Span<const TextSpan> tokens) {
  TokenRange range;
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (!Overlap(tokens[i], span)) continue;
    if (range.end == 0) range.begin = static_cast<int>(i);
    range.end = static_cast<int>(i) + 1;
  }
  return range;
}

absl::StatusOr<std::shared_ptr<const TermList>> SharedGlossary::TermsFor(
    const std::shared_ptr<const void>& model,
    absl::FunctionRef<absl::StatusOr<std::shared_ptr<const TermList>>()> prepare) {
  absl::MutexLock lock(&mutex_);
  if (terms_ == nullptr || model_.lock() != model) {
    ASSIGN_OR_RETURN(terms_, prepare());
    model_ = model;
    prepared_ = true;
  }
  return terms_;
}

absl::StatusOr<std::shared_ptr<const TermList>> OwnTerms(const std::vector<GlossaryEntry>& entries,
                                                         const Tokenizer& tokenizer, int max_tokens,
                                                         const SearchRules& rules,
                                                         StillWanted* wanted) {
  for (size_t i = 0; i < entries.size(); ++i) {
    RETURN_IF_ERROR(wanted->After(entries[i].source.size()));
    RETURN_IF_ERROR(
        CheckPhrase(absl::StrCat("options.glossary[", i, "].source"), entries[i].source));
  }
  RETURN_IF_ERROR(CheckSources("options.glossary", entries));
  for (size_t i = 0; i < entries.size(); ++i) {
    const std::string field = absl::StrCat("options.glossary[", i, "]");
    const auto& [source, targets, ignore_case, texts, inflect] = entries[i];
    if (targets.size() > kMaxTermTargets) {
      return InvalidField(field + ".targets", "are ", targets.size(), ", the most is ",
                          kMaxTermTargets);
    }
    for (const std::string& target : targets.empty() ? std::vector{source} : targets) {
      RETURN_IF_ERROR(CheckPhrase(field + ".target", target));
      RETURN_IF_ERROR(wanted->After(WorkOf(target, rules)));
      const std::vector<int32_t> tokens = tokenizer.EncodeTarget(target);
      if (!CanSay(tokenizer, tokens)) {
        return InvalidField(field + ".target", "has characters that the model cannot write");
      }
      if (static_cast<int>(tokens.size()) > max_tokens) {
        return InvalidField(field + ".target", "has ", tokens.size(), " tokens, the most is ",
                            max_tokens);
      }
      if (Breaks(rules, tokens)) {
        return InvalidField(field + ".target",
                            "contains what never_say, a suppression or the model forbids");
      }
    }
  }
  return std::make_shared<const TermList>(entries);
}

Phrase PhraseOf(const FoundTerm& term, const Tokenizer& tokenizer, int max_tokens,
                const SearchRules& rules, StillWanted* wanted) {
  Phrase phrase;
  std::set<std::vector<int32_t>> known;
  for (const std::string& form : *term.forms) {
    if (!wanted->After(WorkOf(form, rules)).ok()) break;
    std::vector<int32_t> tokens = TokensOf(tokenizer, form, rules);
    const bool fits = !tokens.empty() && static_cast<int>(tokens.size()) <= max_tokens;
    if (fits && known.insert(tokens).second) phrase.forms.push_back(std::move(tokens));
  }
  return phrase;
}

std::optional<size_t> FirstRepetition(absl::Span<const int32_t> said,
                                      absl::Span<const Phrase> phrases, size_t size) {
  std::set<std::vector<int32_t>> runs;
  // Adds the runs of the tokens if all of them are new.
  const auto adds_new = [&](absl::Span<const int32_t> tokens) {
    std::set<std::vector<int32_t>> more;
    for (size_t i = 0; i + size <= tokens.size(); ++i) {
      std::vector<int32_t> run(tokens.begin() + i, tokens.begin() + i + size);
      if (runs.contains(run) || !more.insert(std::move(run)).second) return false;
    }
    runs.merge(more);
    return true;
  };
  for (size_t i = 0; i + size <= said.size(); ++i) {
    runs.emplace(said.begin() + i, said.begin() + i + size);
  }
  for (size_t p = 0; p < phrases.size(); ++p) {
    const auto& forms = phrases[p].forms;
    if (phrases[p].may_be_missed()) continue;
    if (std::none_of(forms.begin(), forms.end(), adds_new)) return p;
  }
  return std::nullopt;
}

absl::StatusOr<std::shared_ptr<const SearchRules>> AddWordRules(
    const std::shared_ptr<const SearchRules>& models, const WordRules& words,
    const Tokenizer& tokenizer, std::shared_ptr<const PieceIndex> pieces, StillWanted* wanted) {
  auto rules = std::make_shared<SearchRules>(*models);
  std::vector<bool> suppressed(static_cast<size_t>(tokenizer.target_vocabulary_size()), false);
  for (size_t i = 0; i < words.suppress_token_ids.size(); ++i) {
    const int32_t token = words.suppress_token_ids[i];
    if (token < 0 || token >= tokenizer.target_vocabulary_size()) {
      return InvalidField(absl::StrCat("options.suppress_token_ids[", i, "]"), "is ", token,
                          ", want 0 to ", tokenizer.target_vocabulary_size() - 1);
    }
    if (!suppressed[static_cast<size_t>(token)]) rules->bad_words_ids.push_back({token});
    suppressed[static_cast<size_t>(token)] = true;
  }
  ASSIGN_OR_RETURN(const std::set<std::string> sequences,
                   PhrasesOf("options.suppress_sequences", words.suppress_sequences));
  for (const std::string& sequence : sequences) {
    RETURN_IF_ERROR(wanted->After(sequence.size()));
    rules->bad_words_ids.push_back(tokenizer.EncodeTarget(sequence));
    if (rules->bad_words_ids.back().empty()) rules->bad_words_ids.pop_back();
  }
  ASSIGN_OR_RETURN(const std::set<std::string> phrases,
                   PhrasesOf("options.never_say", words.never_say));
  for (const std::string& phrase : phrases) rules->banned_phrases.push_back(InPieces(phrase));
  KeepOnce(rules.get());
  rules->pieces = std::move(pieces);
  return rules;
}

}  // namespace dragoman
