#include "server/api/auto_source.h"

#include <map>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_format.h"
#include "engine/base/status.h"
#include "engine/text/language_tag.h"

namespace dragoman {
namespace {

// A language detected with less confidence is not worth an error: "Hi." is Catalan with 0.38.
constexpr float kSure = 0.5f;

// Only a text of at most so many bytes is asked again, and among at most so many languages.
constexpr size_t kShort = 24;
constexpr size_t kFew = 16;
constexpr size_t kWorkToAskAgain = StillWanted::kWorkBetween / 2;

bool SameLanguage(const std::string& one, const std::string& other) {
  const std::optional<Language> a = ParseLanguage(one), b = ParseLanguage(other);
  return a.has_value() && b.has_value() && a->language == b->language;
}

// Of which of several texts, its index says.
absl::Status NotServed(const std::string& text, const DetectedLanguage& best,
                       const absl::Status& why) {
  return InvalidField("source_language",
                      absl::StrFormat("%s is in \"%s\" (detected, %.2f): %s", text, best.language,
                                      best.confidence, why.message()));
}

// Finds the languages of texts and their groups, and remembers these.
class Grouping {
 public:
  Grouping(const ServedSources& served, bool has_markup)
      : served_(served), has_markup_(has_markup) {}

  // The language of a text that is served.  None if there is no evidence that is worth an error;
  // NotServed, of a text that is `named` so, if it is in another one.
  absl::StatusOr<std::optional<DetectedLanguage>> Detect(const std::string& text,
                                                         const std::string& named) {
    const std::vector<DetectedLanguage> likely = DetectLanguages(text, has_markup_);
    absl::Status why;
    for (const DetectedLanguage& candidate : likely) {
      const absl::StatusOr<size_t> group = GroupOf(candidate.language);
      if (group.ok()) return candidate;
      why.Update(group.status());
    }
    if (likely.empty() || likely.front().confidence < kSure) return std::nullopt;
    if (text.size() > kShort) return NotServed(named, likely.front(), why);
    const std::vector<DetectedLanguage> readable = LikeliestAmong(text, Readable(), has_markup_);
    if (readable.empty()) return NotServed(named, likely.front(), why);
    return readable.size() == 1 ? std::optional(readable.front()) : std::nullopt;
  }

  // The index of the group of `language`.
  absl::StatusOr<size_t> GroupOf(const std::string& language) {
    if (const auto known = by_language_.find(language); known != by_language_.end()) {
      return known->second;
    }
    TextGroup group = {.language = language, .route = {}, .texts = {}};
    if (absl::StatusOr<Route> route = served_.find(language); route.ok()) {
      group.route = *std::move(route);
    } else if (!IsTarget(language)) {
      return route.status();
    }
    by_language_.emplace(language, groups_.size());
    groups_.push_back(std::move(group));
    return groups_.size() - 1;
  }

  std::vector<TextGroup>& groups() { return groups_; }

 private:
  bool IsTarget(const std::string& language) const {
    return !language.empty() && SameLanguage(language, served_.target);
  }

  // The languages that a text of this request may be in; none if the models read very many.
  const std::vector<std::string>& Readable() {
    if (readable_.has_value()) return *readable_;
    readable_.emplace();
    const std::vector<std::string> languages = served_.languages();
    if (languages.size() > kFew) return *readable_;
    for (const std::string& language : languages) {
      if (IsTarget(language) || served_.find(language).ok()) readable_->push_back(language);
    }
    return *readable_;
  }

  const ServedSources& served_;
  const bool has_markup_;
  std::map<std::string, size_t> by_language_;
  std::vector<TextGroup> groups_;
  std::optional<std::vector<std::string>> readable_;
};

}  // namespace

bool IsWrittenAlike(const std::string& one, const std::string& other) {
  if (one.empty() || other.empty()) return false;
  const std::optional<Language> a = ParseLanguage(one), b = ParseLanguage(other);
  const auto script = [](const Language& language) {
    return language.script.empty() ? language.LikelyScript() : language.script;
  };
  if (!a.has_value() || !b.has_value() || a->language != b->language) return false;
  // A language with one script has no likely one.
  return script(*a) == script(*b) || script(*a).empty() || script(*b).empty();
}

size_t WorkOfDetection(std::string_view text) {
  return text.size() + (text.size() <= kShort ? kWorkToAskAgain : 0);
}

bool IsAuto(const std::string& source_language) {
  return absl::EqualsIgnoreCase(source_language, "auto");
}

absl::StatusOr<DetectedSources> DetectSources(const std::vector<std::string>& texts,
                                              const ServedSources& served, bool has_markup,
                                              StillWanted* wanted) {
  DetectedSources sources;
  Grouping grouping(served, has_markup);
  std::vector<size_t> unknown;  // texts whose language is not detected, or hardly
  for (size_t i = 0; i < texts.size(); ++i) {
    RETURN_IF_ERROR(wanted->After(WorkOfDetection(texts[i])));
    const std::string named =
        texts.size() == 1 ? "the text" : absl::StrFormat("the text with index %d", i);
    ASSIGN_OR_RETURN(const std::optional<DetectedLanguage> language,
                     grouping.Detect(texts[i], named));
    sources.texts.push_back(language.value_or(DetectedLanguage()));
    if (!language.has_value()) {
      unknown.push_back(i);
      continue;
    }
    ASSIGN_OR_RETURN(const size_t group, grouping.GroupOf(language->language));
    grouping.groups()[group].texts.push_back(i);
  }
  if (!unknown.empty()) {
    const auto& groups = grouping.groups();
    const auto largest = absl::c_max_element(
        groups, [](auto& a, auto& b) { return a.texts.size() < b.texts.size(); });
    const std::string language = largest == groups.end() ? "" : largest->language;
    ASSIGN_OR_RETURN(const size_t group, grouping.GroupOf(language));
    for (const size_t text : unknown) {
      sources.texts[text].language = language;
      grouping.groups()[group].texts.push_back(text);
    }
    absl::c_sort(grouping.groups()[group].texts);
  }
  sources.groups = std::move(grouping.groups());
  return sources;
}

}  // namespace dragoman
