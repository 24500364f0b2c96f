#include "server/languages.h"

#include "absl/strings/match.h"
#include "absl/strings/str_join.h"
#include "engine/base/status.h"

namespace dragoman {
namespace {

bool Same(const std::string& a, const std::string& b) { return absl::EqualsIgnoreCase(a, b); }

absl::Status NotServed(const char* field, const std::string& language,
                       const std::vector<std::string>& served) {
  return InvalidField(
      field, "\"" + language + "\" is not served; this model has " + absl::StrJoin(served, ", "));
}

}  // namespace

std::vector<std::string> TargetLanguages(const Tokenizer& tokenizer) {
  std::vector<std::string> languages = {tokenizer.target_language()};
  for (const std::string& language : tokenizer.target_languages()) {
    if (!Same(language, languages.front())) languages.push_back(language);
  }
  return languages;
}

absl::StatusOr<std::string> ResolveLanguages(const Tokenizer& tokenizer, const std::string& source,
                                             const std::string& target) {
  if (!source.empty() && !Same(source, tokenizer.source_language())) {
    return NotServed("source_language", source, {tokenizer.source_language()});
  }
  if (target.empty()) return std::string();
  for (const std::string& served : tokenizer.target_languages()) {
    if (Same(target, served)) return served;
  }
  if (Same(target, tokenizer.target_language())) return std::string();
  return NotServed("target_language", target, TargetLanguages(tokenizer));
}

}  // namespace dragoman
