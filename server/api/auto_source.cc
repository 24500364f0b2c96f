#include "server/api/auto_source.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "engine/base/field_error.h"
#include "engine/base/status.h"
#include "engine/text/language_tag.h"

namespace dragoman {
namespace {

// A language detected with less confidence is not worth an error: "Hi." is Catalan with 0.38.
constexpr float kSure = 0.5f;

// Only a text of at most so many bytes is asked again, and among at most so many languages.
constexpr size_t kShort = 24;
constexpr size_t kFew = 16;

bool SameLanguage(const std::string& one, const std::string& other) {
  const std::optional<Language> a = ParseLanguage(one), b = ParseLanguage(other);
  return a.has_value() && b.has_value() && a->language == b->language;
}

absl::Status NotServed(const DetectedLanguage& best, const absl::Status& why) {
  return InvalidField("source_language",
                      absl::StrFormat("the text is in \"%s\" (detected, %.2f): %s", best.language,
                                      best.confidence, why.message()));
}

// Finds the languages of texts and their groups, and remembers these.
class Grouping {
 public:
  Grouping(const ServedSources& served, bool has_markup)
      : served_(served), has_markup_(has_markup) {}

  // The language of a text that is served.  None if there is no evidence that is worth an error;
  // NotServed if it is in another one.
  absl::StatusOr<std::optional<DetectedLanguage>> Detect(const std::string& text);

  // The index of the group of `language`.
  absl::StatusOr<size_t> GroupOf(const std::string& language);

  std::vector<SourceGroup>& groups() { return groups_; }

 private:
  bool IsTarget(const std::string& language) const {
    return !language.empty() && SameLanguage(language, served_.target);
  }
  const std::vector<std::string>& Readable();

  const ServedSources& served_;
  const bool has_markup_;
  std::map<std::string, size_t> by_language_;
  std::vector<SourceGroup> groups_;
  std::optional<std::vector<std::string>> readable_;
};

absl::StatusOr<size_t> Grouping::GroupOf(const std::string& language) {
  if (const auto known = by_language_.find(language); known != by_language_.end()) {
    return known->second;
  }
  SourceGroup group = {.language = language, .route = {}, .texts = {}};
  if (absl::StatusOr<Route> route = served_.find(language); route.ok()) {
    group.route = *std::move(route);
  } else if (!IsTarget(language)) {
    return route.status();
  }
  by_language_.emplace(language, groups_.size());
  groups_.push_back(std::move(group));
  return groups_.size() - 1;
}

// The languages that a text of this request may be in; none if the models read very many.
const std::vector<std::string>& Grouping::Readable() {
  if (readable_.has_value()) return *readable_;
  readable_.emplace();
  const std::vector<std::string> languages = served_.languages();
  if (languages.size() > kFew) return *readable_;
  for (const std::string& language : languages) {
    if (IsTarget(language) || served_.find(language).ok()) readable_->push_back(language);
  }
  return *readable_;
}

absl::StatusOr<std::optional<DetectedLanguage>> Grouping::Detect(const std::string& text) {
  const std::vector<DetectedLanguage> likely = DetectLanguages(text, has_markup_);
  absl::Status why;
  for (const DetectedLanguage& candidate : likely) {
    const absl::StatusOr<size_t> group = GroupOf(candidate.language);
    if (group.ok()) return candidate;
    why.Update(group.status());
  }
  if (likely.empty() || likely.front().confidence < kSure) return std::nullopt;
  if (text.size() > kShort) return NotServed(likely.front(), why);
  const std::vector<DetectedLanguage> readable = LikeliestAmong(text, Readable(), has_markup_);
  if (readable.empty()) return NotServed(likely.front(), why);
  return readable.size() == 1 ? std::optional(readable.front()) : std::nullopt;
}

// Collects the results of the groups as they arrive.
class Gathering {
 public:
  Gathering(size_t texts, size_t groups, std::function<void(TranslateResponse)> done)
      : left_(groups), done_(std::move(done)) {
    all_.translations.resize(texts);
  }

  void Add(const std::vector<size_t>& texts, TranslateResponse part) {
    {
      absl::MutexLock lock(&mutex_);
      // The first error counts, unless it is that of a part which another one's error has ended.
      if (absl::IsCancelled(all_.status) && !part.status.ok()) all_.status = part.status;
      all_.status.Update(part.status);
      if (part.status.ok()) Take(texts, std::move(part));
      if (--left_ > 0) return;
    }
    done_(std::move(all_));  // no other thread has it any more
  }

 private:
  void Take(const std::vector<size_t>& texts, TranslateResponse part)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    for (size_t i = 0; i < texts.size(); ++i) {
      all_.translations[texts[i]] = std::move(part.translations[i]);
    }
    TranslateTimes& times = all_.times;
    times.tokenize += part.times.tokenize;
    times.queue = std::max(times.queue, part.times.queue);
    times.encode = std::max(times.encode, part.times.encode);
    times.decode = std::max(times.decode, part.times.decode);
    times.detokenize += part.times.detokenize;
    times.steps += part.times.steps;
    times.kept += part.times.kept;
    std::move(part.steps.begin(), part.steps.end(), std::back_inserter(all_.steps));
  }

  absl::Mutex mutex_;
  TranslateResponse all_;  // guarded by mutex_ until the last part has arrived
  size_t left_ ABSL_GUARDED_BY(mutex_);
  const std::function<void(TranslateResponse)> done_;
};

// The request for the texts of one group.
TranslateRequest Part(const TranslateRequest& request, const SourceGroup& group) {
  TranslateRequest part = request;
  part.source_language = group.language;
  const auto choose = [&](std::vector<std::string>* of_texts) {
    if (of_texts->size() != request.texts.size()) return;  // none, or one for all
    std::vector<std::string> chosen;
    for (const size_t text : group.texts) chosen.push_back(std::move((*of_texts)[text]));
    of_texts->swap(chosen);
  };
  choose(&part.target_prefixes);
  choose(&part.previous_texts);
  choose(&part.previous_translations);
  choose(&part.texts);
  return part;
}

// An error of a part, with the number that the text has in the whole request.
absl::Status OfTheWhole(const absl::Status& status, const std::vector<size_t>& texts) {
  const std::optional<ListElement> element = ParseListElement(FieldOf(status));
  if (!element.has_value() || element->index >= texts.size() ||
      (element->list != "contents" && element->list != "target_prefixes")) {
    return status;
  }
  return WithField(status, absl::StrCat(element->list, "[", texts[element->index], "]"));
}

// A text that needs no translation is its own translation.
TranslateResponse Unchanged(std::vector<std::string> texts) {
  TranslateResponse response;
  for (std::string& text : texts) {
    TranslatedHypothesis& hypothesis =
        response.translations.emplace_back().hypotheses.emplace_back();
    hypothesis.text = std::move(text);
  }
  return response;
}

}  // namespace

bool IsAuto(const std::string& source_language) {
  return absl::EqualsIgnoreCase(source_language, "auto");
}

absl::StatusOr<DetectedSources> DetectSources(const std::vector<std::string>& texts,
                                              const ServedSources& served, bool has_markup) {
  DetectedSources sources;
  Grouping grouping(served, has_markup);
  std::vector<size_t> unknown;  // texts whose language is not detected, or hardly
  for (size_t i = 0; i < texts.size(); ++i) {
    ASSIGN_OR_RETURN(const std::optional<DetectedLanguage> language, grouping.Detect(texts[i]));
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
    const auto largest = std::max_element(groups.begin(), groups.end(), [](auto& a, auto& b) {
      return a.texts.size() < b.texts.size();
    });
    const std::string language = largest == groups.end() ? "" : largest->language;
    ASSIGN_OR_RETURN(const size_t group, grouping.GroupOf(language));
    for (const size_t text : unknown) {
      sources.texts[text].language = language;
      grouping.groups()[group].texts.push_back(text);
    }
    std::sort(grouping.groups()[group].texts.begin(), grouping.groups()[group].texts.end());
  }
  sources.groups = std::move(grouping.groups());
  return sources;
}

void TranslateGroups(const std::vector<SourceGroup>& groups, const TranslateRequest& request,
                     const std::shared_ptr<RequestState>& state,
                     std::function<void(TranslateResponse)> done) {
  const auto gathering =
      std::make_shared<Gathering>(request.texts.size(), groups.size(), std::move(done));
  // The last part to arrive may destroy the owner of the groups.
  for (const SourceGroup& group : std::vector<SourceGroup>(groups)) {
    TranslateRequest part = Part(request, group);
    if (!group.route.has_value()) {
      gathering->Add(group.texts, Unchanged(std::move(part.texts)));
      continue;
    }
    group.route->Translate(std::move(part), state,
                           [gathering, state, texts = group.texts](TranslateResponse response) {
                             const bool failed = !response.status.ok();
                             response.status = OfTheWhole(response.status, texts);
                             gathering->Add(texts, std::move(response));
                             if (failed) state->Cancel(absl::Now());  // the others are useless
                           });
  }
}

}  // namespace dragoman
