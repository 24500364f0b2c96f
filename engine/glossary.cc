#include "engine/glossary.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/base/status.h"
#include "engine/base/utf8.h"

namespace dragoman {
namespace {

// A byte of a letter or digit; every character beyond ASCII counts as one.
bool IsWord(char byte) {
  const auto value = static_cast<unsigned char>(byte);
  return value >= 0x80 || std::isalnum(value) != 0;
}

bool IsWholeWord(std::string_view text, size_t begin, size_t end) {
  const bool begins = begin == 0 || !IsWord(text[begin - 1]) || !IsWord(text[begin]);
  const bool ends = end == text.size() || !IsWord(text[end - 1]) || !IsWord(text[end]);
  return begins && ends;
}

absl::Status CheckPhrase(const std::string& field, const std::string& phrase) {
  if (!IsValidUtf8(phrase)) return InvalidField(field, "is not valid UTF-8");
  if (phrase.find_first_not_of(" \t\r\n") == std::string::npos) {
    return InvalidField(field, "is empty, want a phrase");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Glossary> Glossary::Create(const std::vector<GlossaryEntry>& entries,
                                          const Tokenizer& tokenizer) {
  Glossary glossary;
  for (size_t i = 0; i < entries.size(); ++i) {
    const std::string field = absl::StrCat("options.glossary[", i, "]");
    const std::string& source = entries[i].source;
    const std::string& target = entries[i].target.empty() ? source : entries[i].target;
    RETURN_IF_ERROR(CheckPhrase(field + ".source", source));
    RETURN_IF_ERROR(CheckPhrase(field + ".target", target));
    std::vector<int32_t> phrase = tokenizer.EncodeTarget(target);
    const bool unknown =
        std::find(phrase.begin(), phrase.end(), tokenizer.target_unknown_id()) != phrase.end();
    if (phrase.empty() || unknown) {
      return InvalidField(field + ".target", "has characters that the model cannot write");
    }
    glossary.entries_.push_back({source, std::move(phrase)});
  }
  std::stable_sort(
      glossary.entries_.begin(), glossary.entries_.end(),
      [](const Entry& a, const Entry& b) { return a.source.size() > b.source.size(); });
  return glossary;
}

std::vector<std::vector<int32_t>> Glossary::PhrasesFor(std::string_view sentence) const {
  std::vector<std::vector<int32_t>> phrases;
  std::vector<bool> taken(sentence.size(), false);
  for (const Entry& entry : entries_) {
    size_t begin = sentence.find(entry.source);
    for (; begin != std::string_view::npos; begin = sentence.find(entry.source, begin)) {
      const size_t end = begin + entry.source.size();
      const bool free =
          std::none_of(taken.begin() + static_cast<std::ptrdiff_t>(begin),
                       taken.begin() + static_cast<std::ptrdiff_t>(end), [](bool t) { return t; });
      if (free && IsWholeWord(sentence, begin, end)) {
        std::fill(taken.begin() + static_cast<std::ptrdiff_t>(begin),
                  taken.begin() + static_cast<std::ptrdiff_t>(end), true);
        phrases.push_back(entry.phrase);
        begin = end;
      } else {
        ++begin;
      }
    }
  }
  return phrases;
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
