#include "engine/glossary.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/base/status.h"
#include "engine/base/utf8.h"
#include "engine/text/words.h"

namespace dragoman {
namespace {

// The first occurrence of the phrase as whole words at or after `begin`; npos if there is none.
size_t FindPhrase(std::string_view text, std::string_view phrase, size_t begin) {
  while ((begin = text.find(phrase, begin)) != std::string_view::npos) {
    if (IsWholeWord(text, begin, begin + phrase.size())) break;
    ++begin;
  }
  return begin;
}

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
  return absl::OkStatus();
}

}  // namespace

bool HasPhrase(std::string_view text, std::string_view phrase) {
  return FindPhrase(text, phrase, 0) != std::string_view::npos;
}

bool CanSay(const Tokenizer& tokenizer, const std::string& phrase) {
  return CanSay(tokenizer, tokenizer.EncodeTarget(phrase));
}

std::vector<int32_t> PhraseOf(const Tokenizer& tokenizer, const std::string& phrase,
                              const SearchRules& rules) {
  std::vector<int32_t> tokens = tokenizer.EncodeTarget(phrase);
  if (!CanSay(tokenizer, tokens) || Breaks(rules, tokens)) tokens.clear();
  return tokens;
}

absl::StatusOr<Glossary> Glossary::Create(const std::vector<GlossaryEntry>& entries,
                                          const Tokenizer& tokenizer, int max_tokens,
                                          const SearchRules& rules) {
  Glossary glossary;
  for (size_t i = 0; i < entries.size(); ++i) {
    const std::string field = absl::StrCat("options.glossary[", i, "]");
    const std::string& source = entries[i].source;
    const std::string& target = entries[i].target.empty() ? source : entries[i].target;
    RETURN_IF_ERROR(CheckPhrase(field + ".source", source));
    RETURN_IF_ERROR(CheckPhrase(field + ".target", target));
    std::vector<int32_t> phrase = tokenizer.EncodeTarget(target);
    if (!CanSay(tokenizer, phrase)) {
      return InvalidField(field + ".target", "has characters that the model cannot write");
    }
    if (static_cast<int>(phrase.size()) > max_tokens) {
      return InvalidField(field + ".target",
                          absl::StrCat("has ", phrase.size(), " tokens, the most is ", max_tokens));
    }
    if (Breaks(rules, phrase)) {
      return InvalidField(field + ".target",
                          "contains what never_say, a suppression or the model forbids");
    }
    glossary.entries_.push_back({source, std::move(phrase), entries[i].texts});
  }
  std::stable_sort(
      glossary.entries_.begin(), glossary.entries_.end(),
      [](const Entry& a, const Entry& b) { return a.source.size() > b.source.size(); });
  return glossary;
}

std::vector<std::vector<int32_t>> Glossary::PhrasesFor(std::string_view sentence,
                                                       size_t text) const {
  std::vector<std::vector<int32_t>> phrases;
  std::vector<bool> taken(sentence.size(), false);
  for (const Entry& entry : entries_) {
    if (entry.texts.has_value() &&
        std::find(entry.texts->begin(), entry.texts->end(), text) == entry.texts->end()) {
      continue;
    }
    size_t begin = 0;
    while ((begin = FindPhrase(sentence, entry.source, begin)) != std::string_view::npos) {
      const auto first = taken.begin() + static_cast<std::ptrdiff_t>(begin);
      const auto last = first + static_cast<std::ptrdiff_t>(entry.source.size());
      if (std::find(first, last, true) != last) {
        ++begin;
        continue;
      }
      std::fill(first, last, true);
      phrases.push_back(entry.phrase);
      begin += entry.source.size();
    }
  }
  return phrases;
}

std::optional<size_t> FirstRepetition(absl::Span<const int32_t> said,
                                      absl::Span<const std::vector<int32_t>> phrases, size_t size) {
  std::set<std::vector<int32_t>> runs;
  const auto adds_new = [&](absl::Span<const int32_t> tokens) {
    bool all_new = true;
    for (size_t i = 0; i + size <= tokens.size(); ++i) {
      all_new &= runs.emplace(tokens.begin() + i, tokens.begin() + i + size).second;
    }
    return all_new;
  };
  adds_new(said);
  for (size_t p = 0; p < phrases.size(); ++p) {
    if (!adds_new(phrases[p])) return p;
  }
  return std::nullopt;
}

absl::StatusOr<std::shared_ptr<const SearchRules>> AddWordRules(
    const std::shared_ptr<const SearchRules>& models, const WordRules& words,
    const Tokenizer& tokenizer, std::shared_ptr<const PieceIndex> pieces) {
  auto rules = std::make_shared<SearchRules>(*models);
  for (size_t i = 0; i < words.suppress_token_ids.size(); ++i) {
    const int32_t token = words.suppress_token_ids[i];
    if (token < 0 || token >= tokenizer.target_vocabulary_size()) {
      return InvalidField(
          absl::StrCat("options.suppress_token_ids[", i, "]"),
          absl::StrCat("is ", token, ", want 0 to ", tokenizer.target_vocabulary_size() - 1));
    }
    rules->bad_words_ids.push_back({token});
  }
  for (size_t i = 0; i < words.suppress_sequences.size(); ++i) {
    const std::string& sequence = words.suppress_sequences[i];
    RETURN_IF_ERROR(CheckPhrase(absl::StrCat("options.suppress_sequences[", i, "]"), sequence));
    rules->bad_words_ids.push_back(tokenizer.EncodeTarget(sequence));
    if (rules->bad_words_ids.back().empty()) rules->bad_words_ids.pop_back();
  }
  for (size_t i = 0; i < words.never_say.size(); ++i) {
    RETURN_IF_ERROR(CheckPhrase(absl::StrCat("options.never_say[", i, "]"), words.never_say[i]));
    rules->banned_phrases.push_back(InPieces(words.never_say[i]));
  }
  rules->pieces = std::move(pieces);
  return rules;
}

}  // namespace dragoman
