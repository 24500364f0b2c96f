#include "server/translate_task.h"

#include <string>
#include <utility>
#include <vector>

#include "engine/base/status.h"
#include "engine/base/utf8.h"
#include "server/convert.h"

namespace dragoman {
namespace {

int CountCharacters(const std::vector<std::string>& texts) {
  size_t characters = 0;
  for (const std::string& text : texts) characters += CountCodePoints(text);
  return static_cast<int>(characters);
}

}  // namespace

absl::Status TranslateTask::Prepare(v1::TranslateRequest request) {
  size_.texts = request.contents_size();
  ASSIGN_OR_RETURN(route_, parts_->models->FindRoute(request.model(), request.source_language(),
                                                     request.target_language(), KeyOf(request)));
  ASSIGN_OR_RETURN(request_, FromProto(&request));
  characters_ = CountCharacters(request_.texts);
  output_ = request.output();
  return absl::OkStatus();
}

std::shared_ptr<const Translator> TranslateTask::translator() const {
  return route_.has_value() ? route_->translators().front() : nullptr;
}

void TranslateTask::Run(std::shared_ptr<RequestState> state,
                        std::function<void(TranslateResponse)> done, OnProgress on_progress) {
  route_->Translate(std::move(request_), std::move(state), std::move(done), std::move(on_progress));
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
    add(std::move(message));
  }
}

void TranslateTask::Count(const Translation& translation) {
  size_.source_tokens += translation.source_tokens;
  size_.target_tokens += static_cast<int>(translation.hypotheses.front().token_ids.size());
}

v1::TranslateResponse TranslateTask::Answer(const TranslateResponse& translated,
                                            absl::Duration elapsed) {
  const Model& model = translator()->model();
  v1::TranslateResponse response;
  response.set_model(WithoutLabels(route_->name()));
  response.set_model_label(LabelsOf(route_->name()));
  response.set_model_version(route_->version());
  response.set_isa(model.isa());
  for (const Translation& translation : translated.translations) {
    ToProto(translation, output_, response.add_translations());
    Count(translation);
  }
  ToProto(translated, elapsed, response.mutable_timing());
  parts_->metrics->OnTranslated(model, characters_, translated.times);
  return response;
}

}  // namespace dragoman
