#include "server/languages.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "engine/base/status.h"

namespace dragoman {
namespace {

bool Same(const std::string& a, const std::string& b) { return absl::EqualsIgnoreCase(a, b); }

bool IsGroup(const std::string& language) { return absl::StrContains(language, '+'); }

absl::Status NotServed(const char* field, const std::string& language,
                       const std::vector<std::string>& served) {
  return InvalidField(
      field, "\"" + language + "\" is not served; this model has " + absl::StrJoin(served, ", "));
}

}  // namespace

std::vector<std::string> SourceLanguages(const Tokenizer& tokenizer) {
  return absl::StrSplit(tokenizer.source_language(), '+');
}

std::vector<std::string> TargetLanguages(const Tokenizer& tokenizer) {
  std::vector<std::string> languages;
  const std::string& own = tokenizer.target_language();
  if (!IsGroup(own) || tokenizer.target_languages().empty()) languages.push_back(own);
  for (const std::string& language : tokenizer.target_languages()) {
    if (!Same(language, own)) languages.push_back(language);
  }
  return languages;
}

absl::StatusOr<std::string> ResolveLanguages(const Tokenizer& tokenizer, const std::string& source,
                                             const std::string& target) {
  const std::vector<std::string> sources = SourceLanguages(tokenizer);
  if (!source.empty() && std::none_of(sources.begin(), sources.end(),
                                      [&](const std::string& s) { return Same(source, s); })) {
    return NotServed("source_language", source, sources);
  }
  if (target.empty()) return std::string();
  for (const std::string& served : tokenizer.target_languages()) {
    if (Same(target, served)) return served;
  }
  if (Same(target, tokenizer.target_language())) return std::string();
  return NotServed("target_language", target, TargetLanguages(tokenizer));
}

}  // namespace dragoman
