#include "server/api/translate_task.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/time/clock.h"
#include "engine/base/status.h"
#include "engine/base/utf8.h"
#include "server/api/convert.h"
#include "server/api/glossaries.h"
#include "server/api/memories.h"
#include "server/api/receipts.h"
#include "server/api/reverse_checks.h"

namespace dragoman {
namespace {

// In bytes of text.
size_t SizeOf(const Translation& translation) {
  return translation.hypotheses.size() * translation.hypotheses.front().text.size();
}

int CountCharacters(const std::vector<std::string>& texts) {
  size_t characters = 0;
  for (const std::string& text : texts) characters += CountCodePoints(text);
  return static_cast<int>(characters);
}

}  // namespace

absl::Status TranslateTask::Prepare(v1::TranslateRequest request, const Permit& permit,
                                    absl::Time deadline, StillWanted* wanted) {
  permit_ = permit;
  size_.texts = request.contents_size();
  RETURN_IF_ERROR(permit_.MayUse(request.model()));
  RETURN_IF_ERROR(FindRoutes(request, wanted));
  const std::optional<v1::TranslateRequest> for_receipt =
      request.output().receipt() ? std::optional(request) : std::nullopt;
  ASSIGN_OR_RETURN(request_, FromProto(&request));
  request_.words.shared = glossary_;
  const std::string model = WithoutLabels(route_->name());
  const KeptUse use = {*parts_, {StoreDeadline(deadline), permit.principal()}, model};
  ASSIGN_OR_RETURN(request_.words.stored, GlossariesFor(use, request));
  ASSIGN_OR_RETURN(request_.memories, MemoriesFor(use, request));
  RETURN_IF_ERROR(JudgeOptions());
  RETURN_IF_ERROR(PrepareCheck(request));
  request_digest_ = for_receipt.has_value() ? DigestOfRequest(*for_receipt, request_) : "";
  // The limits are those of the whole request, whatever routes its texts take.
  if (unchanged_) RETURN_IF_ERROR(CheckTexts(request_.texts, parts_->models->limits()));
  characters_ = CountCharacters(request_.texts);
  output_ = request.output();
  return absl::OkStatus();
}

CallWork TranslateTask::WorkOf(const ServerParts& parts, const v1::TranslateRequest& request) {
  if (request.glossary_ids_size() > 0 || request.memory_ids_size() > 0 ||
      !parts.config->default_glossaries().empty() || !parts.config->default_memories().empty()) {
    return CallWork::kStore;
  }
  if (!IsAuto(request.source_language())) return CallWork::kShort;
  size_t work = 0;
  for (const std::string& text : request.contents()) work += WorkOfDetection(text);
  return dragoman::WorkOf(CallWork::kLong, work);
}

absl::Status TranslateTask::FindRoutes(const v1::TranslateRequest& request, StillWanted* wanted) {
  const auto find = [&](const std::string& source) {
    return parts_->models->FindRoute(request.model(), source, request.target_language(),
                                     KeyOf(request), permit_.Models());
  };
  // The registry returns a model that is named, or is the only one, for any languages, and the
  // model then refuses those that it lacks. Here such a model must not be chosen.
  const auto find_served = [&](const std::string& source) -> absl::StatusOr<Route> {
    ASSIGN_OR_RETURN(Route route, find(source));
    const Languages& languages = route.translators().front()->languages();
    if (route.translators().size() == 1 && !source.empty() && !languages.empty()) {
      RETURN_IF_ERROR(languages.Resolve(source, request.target_language()).status());
    }
    return route;
  };
  const std::string &source = request.source_language(), &target = request.target_language();
  unchanged_ = IsWrittenAlike(source, target);
  if (unchanged_ && !absl::EqualsIgnoreCase(source, target)) {  // such as en-GB to en-US
    const absl::StatusOr<Route> served = find_served(source);
    unchanged_ = !served.ok() || served->translators().size() > 1;
  }
  if (unchanged_) return FindAnyRoute(request);
  if (!IsAuto(source) || request.contents().empty()) {
    ASSIGN_OR_RETURN(route_, find(source));
    return absl::OkStatus();
  }
  const ServedSources served = {.target = target, .find = find_served, .languages = [this] {
                                  return parts_->models->Models()->SourceTags(permit_.Models());
                                }};
  const std::vector<std::string> texts(request.contents().begin(), request.contents().end());
  RETURN_IF_ERROR(CheckTexts(texts, parts_->models->limits()));
  ASSIGN_OR_RETURN(detected_,
                   DetectSources(texts, served, request.markup() > v1::MARKUP_NONE, wanted));
  for (const TextGroup& group : detected_->groups) {
    if (!route_.has_value()) route_ = group.route;
  }
  return route_.has_value() ? absl::OkStatus() : FindAnyRoute(request);
}

// Everything is in the target language already, but limits, metrics and the log need a model.
absl::Status TranslateTask::FindAnyRoute(const v1::TranslateRequest& request) {
  ASSIGN_OR_RETURN(
      route_, parts_->models->FindRoute(request.model(), "", "", std::nullopt, permit_.Models()));
  return absl::OkStatus();
}

// All that the request needs.
std::vector<std::shared_ptr<const Translator>> TranslateTask::Translators() const {
  std::vector<std::shared_ptr<const Translator>> all;
  const auto add = [&](const std::optional<Route>& route) {
    if (!route.has_value()) return;
    all.insert(all.end(), route->translators().begin(), route->translators().end());
  };
  add(route_);
  if (!detected_.has_value()) return all;
  for (const TextGroup& group : detected_->groups) add(group.route);
  return all;
}

absl::Status TranslateTask::JudgeOptions() {
  DecodingOptions& options = request_.options;
  for (const std::optional<int>& asked :
       {options.beam_size, options.num_hypotheses, options.mbr_candidates}) {
    RETURN_IF_ERROR(permit_.MayAskForBeam(asked.value_or(1)));
  }
  // Each alternative has a beam of its own.
  const bool alternatives = options.return_alternatives.value_or(false);
  const int beams = alternatives ? std::max(1, options.num_hypotheses.value_or(1)) : 1;
  RETURN_IF_ERROR(permit_.MayAskForBeam(options.beam_size.value_or(1), beams));
  request_.most_rows = permit_.LargestBeam(request_.most_rows);
  if (options.beam_size.has_value() || options.sampling.value_or(false)) return absl::OkStatus();
  // The models' own beams must not be larger, either.
  for (const auto& translator : Translators()) {
    const DecodingOptions& own = translator->generation().options;
    const int beam = own.beam_size.value_or(1);
    if (own.sampling.value_or(false) || permit_.LargestBeam(beam, beams) == beam) continue;
    options.beam_size = permit_.LargestBeam(beam, beams);
  }
  return absl::OkStatus();
}

absl::Status TranslateTask::PrepareCheck(const v1::TranslateRequest& request) {
  constexpr char kField[] = "output.reverse_check";
  check_.reset();
  if (!request.output().reverse_check() || unchanged_) return absl::OkStatus();
  if (!request_.judge && !request_.min_quality.has_value()) {
    return InvalidField(kField, "goes with output.quality or min_quality");
  }
  if (detected_.has_value() || request_.markup != Markup::kNone) {
    return InvalidField(kField, "is for plain texts whose language is named");
  }
  ASSIGN_OR_RETURN(check_,
                   FindReverse(*parts_->models, *route_,
                               {request_.source_language, request_.target_language}, permit_));
  return absl::OkStatus();
}

std::shared_ptr<const Translator> TranslateTask::translator() const {
  return route_.has_value() ? route_->translators().front() : nullptr;
}

void TranslateTask::Run(std::shared_ptr<RequestState> state,
                        std::function<void(TranslateResponse)> done, OnProgress on_progress) {
  TranslateResponse refused;
  refused.status = state->Wanted(absl::Now());
  if (refused.status.ok() && check_.has_value() && on_progress != nullptr) {
    refused.status = InvalidField("output.reverse_check", "is not for a stream");
  }
  if (refused.status.ok()) refused.status = permit_.TakeTexts(size_.texts);
  if (!refused.status.ok()) return done(std::move(refused));
  const auto settle = [this, done = std::move(done)](TranslateResponse response) {
    permit_.SettleTexts(size_.texts, response.status);
    done(std::move(response));
  };
  Itinerary itinerary = {.groups = {{.language = request_.source_language, .route = route_}},
                         .check = std::move(check_)};
  if (unchanged_) itinerary.groups.front().route.reset();
  if (detected_.has_value()) itinerary.groups = detected_->groups;
  Translate(std::move(request_), std::move(itinerary), std::move(state), settle,
            std::move(on_progress));
}

void TranslateTask::ToMessages(TranslateProgress progress,
                               absl::FunctionRef<void(v1::TranslateStreamResponse)> add) {
  v1::TranslateStreamResponse message;
  message.set_content_index(static_cast<int>(progress.text));
  if (!progress.stable_text.empty()) {
    message.set_stable_text(std::move(progress.stable_text));
    add(message);
  }
  if (progress.sentence.has_value()) {
    ToProto(*std::move(progress.sentence), message.mutable_sentence());
    add(message);
  }
  if (progress.translation.has_value()) {
    Count(*progress.translation);
    ToProto(*progress.translation, output_, message.mutable_translation());
    SetDetected(progress.text, message.mutable_translation());
    add(std::move(message));
  }
}

void TranslateTask::NoteTimes(const TranslateResponse& translated) {
  size_.SetTimes(translated.times, translated.status.ok());
}

void TranslateTask::Count(const Translation& translation) {
  size_.source_tokens += translation.source_tokens;
  size_.target_tokens += static_cast<int>(translation.hypotheses.front().token_ids.size());
  const int unmet = static_cast<int>(translation.unmet.size());
  parts_->metrics->OnTerms(std::max(0, translation.terms - unmet), unmet);
  for (const MemoryMatch& match : translation.matches) parts_->metrics->OnMemoryMatch(match.kind);
}

void TranslateTask::SetDetected(size_t text, v1::Translation* translation) const {
  if (!detected_.has_value()) return;
  translation->set_detected_language(detected_->texts[text].language);
  translation->set_detection_confidence(detected_->texts[text].confidence);
}

v1::TranslateResponse TranslateTask::Answer(const TranslateResponse& translated,
                                            absl::Duration elapsed, StillWanted* wanted) {
  const Model& model = translator()->model();
  v1::TranslateResponse response;
  response.set_model(WithoutLabels(route_->name()));
  response.set_model_label(LabelsOf(route_->name()));
  response.set_model_version(route_->version());
  response.set_isa(model.isa());
  for (size_t i = 0; i < translated.translations.size(); ++i) {
    if (!wanted->After(SizeOf(translated.translations[i])).ok()) return response;
    v1::Translation* const translation = response.add_translations();
    ToProto(translated.translations[i], output_, translation);
    SetDetected(i, translation);
    Count(translated.translations[i]);
  }
  ToProto(translated, elapsed, response.mutable_timing());
  if (!request_digest_.empty() && response.translations_size() > 0) {
    AddReceipt(request_digest_, &response);
  }
  parts_->metrics->OnTranslated(model, characters_, translated.times);
  return response;
}

}  // namespace dragoman
