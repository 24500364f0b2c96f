#include "engine/request/running_request.h"

#include <atomic>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "engine/base/field_error.h"
#include "engine/base/status.h"
#include "engine/request/assembly.h"
#include "engine/request/pivot.h"
#include "engine/request/reverse_check.h"

namespace dragoman {
namespace {

// The request for some of the texts.
TranslateRequest PartOf(const TranslateRequest& request, const std::vector<size_t>& texts) {
  TranslateRequest part = request;
  for (std::vector<std::string>* const of_texts :
       {&part.target_prefixes, &part.previous_texts, &part.previous_translations, &part.texts}) {
    if (of_texts->size() != request.texts.size()) continue;  // none, or one for all
    std::vector<std::string> chosen;
    for (const size_t text : texts) chosen.push_back(std::move((*of_texts)[text]));
    of_texts->swap(chosen);
  }
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
TranslateResponse Unchanged(std::vector<std::string> texts, bool judge) {
  TranslateResponse response;
  for (std::string& text : texts) {
    TranslatedHypothesis& same = response.translations.emplace_back().hypotheses.emplace_back();
    same.text = std::move(text);
    if (judge) same.quality = Quality{.score = 1.0f};
  }
  return response;
}

class RunningRequest : public std::enable_shared_from_this<RunningRequest> {
 public:
  RunningRequest(Itinerary itinerary, std::shared_ptr<RequestState> state,
                 std::function<void(TranslateResponse)> done, OnProgress on_progress)
      : itinerary_(std::move(itinerary)),
        state_(std::move(state)),
        done_(std::move(done)),
        on_progress_(std::move(on_progress)),
        pivots_(itinerary_.groups.size()),
        found_(itinerary_.groups.size()),
        groups_left_(itinerary_.groups.size()) {}

  void Start(TranslateRequest request) {
    if (itinerary_.check.has_value()) {
      sources_ = request.texts;
      min_quality_ = request.min_quality;
      refuse_low_quality_ = request.refuse_low_quality;
    }
    if (!is_one_group()) response_.translations.resize(request.texts.size());
    for (size_t g = 0; g < itinerary_.groups.size(); ++g) {
      const TextGroup& group = itinerary_.groups[g];
      HopRequest part = {is_one_group() ? std::move(request) : PartOf(request, group.texts)};
      part.source_language = group.language;
      part.bound_later = itinerary_.check.has_value();
      StartGroup(g, std::move(part));
    }
  }

 private:
  // In the order in which they happen.
  void StartGroup(size_t group, HopRequest request) {
    const std::optional<Route>& route = itinerary_.groups[group].route;
    if (!route.has_value())
      return GroupDone(group, Unchanged(std::move(request.texts), request.judge));
    const absl::Time since = absl::Now();
    if (route->translators().size() == 1) return StartHop(group, 0, std::move(request), since);
    if (!request.insight.heads.empty()) {
      const std::string fault =
          absl::StrCat("are those of one model, but this goes through \"", route->pivot(), "\"");
      return GroupDone(group, {.status = InvalidField("output.attention_heads", fault)});
    }
    // The second model may load while the first one translates.
    route->translators()[1]->Await(state_, [](const absl::Status&) {});
    route->translators()[0]->Await(
        state_, [=, self = shared_from_this(),
                 request = std::move(request)](const absl::Status& status) mutable {
          if (!status.ok()) return self->GroupDone(group, {.status = status});
          self->itinerary_.groups[group].route->translators()[0]->Prepare(
              self->state_, BytesOf(request.texts),
              [=, request = std::move(request)](const absl::Status& prepared) mutable {
                if (!prepared.ok()) return self->GroupDone(group, {.status = prepared});
                self->StartPivot(group, std::move(request), since);
              });
        });
  }

  void StartPivot(size_t group, HopRequest request, absl::Time since) {
    StillWanted wanted = WantedBy(state_.get());
    pivots_[group].emplace(*itinerary_.groups[group].route, std::move(request), &wanted);
    StartHop(group, 0, pivots_[group]->TakeFirst(), since);
  }

  void StartHop(size_t group, size_t hop, HopRequest request, absl::Time since) {
    const auto& translators = itinerary_.groups[group].route->translators();
    const bool is_last = hop + 1 == translators.size();
    OnProgress report;
    if (on_progress_ != nullptr && is_one_group() && is_last) {
      report = [self = shared_from_this(), group](TranslateProgress progress) {
        if (self->pivots_[group].has_value()) self->pivots_[group]->Compose(&progress);
        self->on_progress_(std::move(progress));
      };
    }
    translators[hop]->Translate(
        std::move(request),
        {state_,
         [self = shared_from_this(), group, is_last](TranslateResponse translated) {
           self->HopDone(group, is_last, std::move(translated));
         },
         std::move(report), since});
  }

  void HopDone(size_t group, bool is_last, TranslateResponse translated) {
    std::optional<Pivot>& pivot = pivots_[group];
    if (!is_last && translated.status.ok()) {
      return StartHop(group, 1, pivot->TakeSecond(std::move(translated)), absl::Now());
    }
    if (is_last && pivot.has_value()) {
      pivot->Compose(&translated);
    } else if (is_last && !is_one_group()) {
      translated.steps = {{itinerary_.groups[group].route->name(), translated.times}};
    }
    GroupDone(group, std::move(translated));
  }

  void GroupDone(size_t group, TranslateResponse translated) {
    if (!translated.status.ok() && groups_left_ > 1) state_->Cancel(absl::Now());  // all is useless
    found_[group] = std::move(translated);
    if (groups_left_.fetch_sub(1, std::memory_order_acq_rel) > 1) return;
    for (size_t g = 0; g < found_.size(); ++g)
      Take(itinerary_.groups[g].texts, std::move(found_[g]));
    if (response_.steps.size() == 1) response_.steps.clear();  // whose times are those of all
    if (!response_.status.ok() || !itinerary_.check.has_value()) return Respond();
    check_.emplace(std::move(sources_), &response_.translations);
    CheckNext();
  }

  // Checks the next sentences in reverse, if there are any left.
  void CheckNext() {
    const ReverseRoute& reverse = *itinerary_.check;
    TranslateRequest next = check_->Next(reverse.translator->limits());
    if (next.texts.empty()) return EndCheck(absl::OkStatus());
    next.source_language = reverse.languages.source;
    next.target_language = reverse.languages.target;
    reverse.translator->Translate(std::move(next), state_,
                                  [self = shared_from_this()](TranslateResponse scored) {
                                    if (!scored.status.ok()) return self->EndCheck(scored.status);
                                    self->response_.times.AddLater(scored.times);
                                    self->check_->Take(scored);
                                    self->CheckNext();
                                  });
  }

  void EndCheck(absl::Status status) {
    if (absl::IsInvalidArgument(status)) {  // which is not what the caller has sent
      status =
          FailedPreconditionError("model ", itinerary_.check->translator->name(),
                                  " cannot check a translation in reverse: ", status.message());
    }
    if (status.ok()) check_->JudgeTexts();
    for (size_t t = 0; t < response_.translations.size() && status.ok(); ++t) {
      status = CheckQuality(min_quality_, refuse_low_quality_, t, &response_.translations[t]);
    }
    response_.status = std::move(status);
    Respond();
  }

  void Respond() {
    if (!response_.status.ok()) response_.translations.clear();
    if (on_progress_ != nullptr) {  // whatever has not been reported yet
      for (size_t t = 0; t < response_.translations.size(); ++t) {
        Translation& translation = response_.translations[t];
        std::string text = translation.hypotheses.front().text;
        on_progress_(
            {.text = t, .stable_text = std::move(text), .translation = std::move(translation)});
      }
      response_.translations.clear();
    }
    done_(std::move(response_));
  }

  bool is_one_group() const { return itinerary_.groups.size() == 1; }

  // Takes what a group has found.
  void Take(const std::vector<size_t>& texts, TranslateResponse translated) {
    if (is_one_group()) {
      response_ = std::move(translated);
      return;
    }
    AddError(OfTheWhole(translated.status, texts), &response_.status);
    if (!translated.status.ok()) return;
    for (size_t i = 0; i < texts.size(); ++i) {
      response_.translations[texts[i]] = std::move(translated.translations[i]);
    }
    response_.times.AddBeside(translated.times);
    response_.reused_sentences += translated.reused_sentences;
    std::move(translated.steps.begin(), translated.steps.end(),
              std::back_inserter(response_.steps));
  }

  const Itinerary itinerary_;
  const std::shared_ptr<RequestState> state_;
  const std::function<void(TranslateResponse)> done_;
  const OnProgress on_progress_;
  std::vector<std::optional<Pivot>> pivots_;  // of the groups that take two hops
  // For the check in reverse.
  std::vector<std::string> sources_;
  std::optional<float> min_quality_;
  bool refuse_low_quality_ = false;
  std::optional<ReverseCheck> check_;

  std::vector<TranslateResponse> found_;  // by each group
  std::atomic<size_t> groups_left_;
  TranslateResponse response_;  // once all groups are done
};

}  // namespace

void Translate(TranslateRequest request, Itinerary itinerary, std::shared_ptr<RequestState> state,
               std::function<void(TranslateResponse)> done, OnProgress on_progress) {
  std::make_shared<RunningRequest>(std::move(itinerary), std::move(state), std::move(done),
                                   std::move(on_progress))
      ->Start(std::move(request));
}

}  // namespace dragoman
