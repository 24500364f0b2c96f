#include "engine/text/languages.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "engine/base/status.h"
#include "engine/text/language_tag.h"

namespace dragoman {
namespace {

constexpr int kExact = 100;  // closer than any other
constexpr int kAny = 1;

template <typename T>
void AddOnce(const T& value, std::vector<T>* values) {
  if (std::find(values->begin(), values->end(), value) == values->end()) values->push_back(value);
}

// The closest of the codes, and how close it is; 0 if none matches.  `languages` are those of the
// codes.  With `any`, a code that is not a language, such as "mul", matches all that are.
std::pair<std::string, int> Nearest(const std::string& wanted,
                                    const std::vector<std::string>& codes,
                                    const std::vector<std::optional<Language>>& languages,
                                    bool any) {
  for (const std::string& code : codes) {
    if (absl::EqualsIgnoreCase(wanted, code)) return {code, kExact};
  }
  std::pair<std::string, int> best = {"", 0};
  const std::optional<Language> language = ParseLanguage(wanted);
  if (!language.has_value()) return best;
  for (size_t i = 0; i < codes.size(); ++i) {
    const int nearness = languages[i].has_value() ? Nearness(*language, *languages[i]) : 0;
    if (nearness > best.second) best = {codes[i], nearness};
  }
  if (best.second > 0 || !any) return best;
  const auto group = std::find(languages.begin(), languages.end(), std::nullopt);
  return group == languages.end() ? best : std::pair(codes[group - languages.begin()], kAny);
}

std::vector<std::optional<Language>> Parse(const std::vector<std::string>& codes) {
  std::vector<std::optional<Language>> languages;
  for (const std::string& code : codes) languages.push_back(ParseLanguage(code));
  return languages;
}

std::vector<std::string> TagsOf(const std::vector<std::string>& codes) {
  std::vector<std::string> tags;
  for (const std::string& code : codes) AddOnce(TagOf(code), &tags);
  return tags;
}

absl::Status NotServed(const char* field, const std::string& language,
                       const std::vector<std::string>& codes) {
  const std::string what =
      language.empty() ? "has to be named" : absl::StrCat("\"", language, "\" is not served");
  const std::string served =
      codes.empty() ? "no languages of its own" : absl::StrJoin(TagsOf(codes), ", ");
  return InvalidField(field, absl::StrCat(what, "; this model has ", served));
}

}  // namespace

Languages Languages::All(std::vector<std::string> sources, std::vector<std::string> targets,
                         LanguagePair own, bool target_needed) {
  Languages languages;
  languages.sources_ = std::move(sources);
  languages.targets_ = std::move(targets);
  languages.ParseCodes();
  languages.own_ = std::move(own);
  languages.target_needed_ = target_needed;
  return languages;
}

Languages Languages::Only(std::vector<LanguagePair> pairs, bool source_needed, LanguagePair own) {
  Languages languages;
  for (const LanguagePair& pair : pairs) {
    AddOnce(pair.source, &languages.sources_);
    AddOnce(pair.target, &languages.targets_);
  }
  languages.ParseCodes();
  languages.pairs_ = std::move(pairs);
  languages.own_ = std::move(own);
  languages.source_needed_ = source_needed;
  languages.target_needed_ = true;
  return languages;
}

void Languages::ParseCodes() {
  source_languages_ = Parse(sources_);
  target_languages_ = Parse(targets_);
}

std::pair<std::string, int> Languages::NearestSource(const std::string& wanted) const {
  return Nearest(wanted, sources_, source_languages_, /*any=*/true);
}

std::pair<std::string, int> Languages::NearestTarget(const std::string& wanted) const {
  return Nearest(wanted, targets_, target_languages_, /*any=*/false);
}

bool Languages::Has(const LanguagePair& pair) const {
  return pairs_.empty() || std::find(pairs_.begin(), pairs_.end(), pair) != pairs_.end();
}

absl::StatusOr<LanguagePair> Languages::Resolve(const std::string& source,
                                                const std::string& target) const {
  LanguagePair pair = own_;
  if (!pairs_.empty()) {
    if (source.empty() && target.empty()) return own_;
    pair = {};  // a part of a request's pair says nothing about the other
  }
  if (!source.empty()) {
    const auto [code, nearness] = NearestSource(source);
    if (nearness == 0) return NotServed("source_language", source, sources_);
    pair.source = code;
  }
  if (!target.empty()) {
    const auto [code, nearness] = NearestTarget(target);
    if (nearness == 0) return NotServed("target_language", target, targets_);
    pair.target = code;
  }
  if (pair.target.empty() && target_needed_) return NotServed("target_language", "", targets_);
  if (pair.source.empty()) {
    if (source_needed_) return NotServed("source_language", "", sources_);
    return pair;
  }
  if (!Has(pair)) {
    return InvalidField(
        "target_language",
        absl::StrCat("\"", target, "\" from \"", source, "\" is not served; this model has ",
                     absl::StrJoin(Tags(), ", ", [](std::string* out, const auto& p) {
                       absl::StrAppend(out, p.source, " to ", p.target);
                     })));
  }
  return pair;
}

int Languages::Nearness(const std::string& source, const std::string& target) const {
  const int from = source.empty() ? kAny : NearestSource(source).second;
  const int to = target.empty() ? kAny : NearestTarget(target).second;
  if (from == 0 || to == 0 || !Resolve(source, target).ok()) return 0;
  return from + to;
}

std::vector<LanguagePair> Languages::Tags() const {
  std::vector<LanguagePair> tags;
  if (!pairs_.empty()) {
    for (const LanguagePair& pair : pairs_) {
      AddOnce(LanguagePair{TagOf(pair.source), TagOf(pair.target)}, &tags);
    }
    return tags;
  }
  for (const std::string& source : SourceTags()) {
    for (const std::string& target : TargetTags()) {
      if (source != target) tags.push_back({source, target});
    }
  }
  return tags;
}

std::vector<std::string> Languages::SourceTags() const { return TagsOf(sources_); }
std::vector<std::string> Languages::TargetTags() const { return TagsOf(targets_); }

}  // namespace dragoman
