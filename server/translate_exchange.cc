#include "server/translate_exchange.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
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

TranslateExchange::TranslateExchange(const ServerParts* parts, const char* method, Caller caller,
                                     Done done)
    : parts_(parts), call_(parts, method, std::move(caller)), done_(std::move(done)) {}

TranslateExchange::~TranslateExchange() {
  if (started_) parts_->gate->Leave();
}

void TranslateExchange::Start(Parse parse) {
  started_ = true;
  if (const absl::Status status = TryStart(parse); !status.ok()) {
    End(status, {});
  }
}

void TranslateExchange::Cancel() {
  if (request_ != nullptr) request_->Cancel(absl::Now());
}

// On an error nothing was started.
absl::Status TranslateExchange::TryStart(Parse parse) {
  RETURN_IF_ERROR(parts_->gate->Enter());
  RETURN_IF_ERROR(call_.Admit());
  request_ = std::make_shared<RequestState>(
      RequestTerms{.deadline = call_.deadline(), .principal = call_.principal()});
  absl::StatusOr<v1::TranslateRequest> parsed = parse();
  if (absl::IsCancelled(parsed.status())) Cancel();
  RETURN_IF_ERROR(request_->Wanted(absl::Now()));
  ASSIGN_OR_RETURN(v1::TranslateRequest proto, std::move(parsed));
  size_.texts = proto.contents_size();
  ASSIGN_OR_RETURN(const Priority priority, FromProto(proto.priority()));
  ASSIGN_OR_RETURN(route_, parts_->models->FindRoute(proto.model(), proto.source_language(),
                                                     proto.target_language()));
  call_.set_translator(route_->translators().front());
  ASSIGN_OR_RETURN(TranslateRequest request, FromProto(&proto));
  characters_ = CountCharacters(request.texts);
  output_ = proto.output();
  request_ = std::make_shared<RequestState>(
      RequestTerms{.deadline = call_.deadline(),
                   .principal = call_.principal(),
                   .priority = priority,
                   .quota = parts_->principals->QuotaOf(call_.principal())});
  route_->Translate(std::move(request), request_,
                    [this](TranslateResponse result) { Translated(std::move(result)); });
  return absl::OkStatus();
}

void TranslateExchange::Translated(TranslateResponse translated) {
  translated.status.Update(request_->Wanted(absl::Now()));  // nobody may be there to hear it
  v1::TranslateResponse response;
  if (translated.status.ok()) response = Answer(translated);
  End(translated.status, std::move(response));
}

void TranslateExchange::End(const absl::Status& status, v1::TranslateResponse response) {
  const Done done = std::move(done_);  // outlives this exchange, which may end in it
  done(call_.End(status, size_), std::move(response));
}

v1::TranslateResponse TranslateExchange::Answer(const TranslateResponse& translated) {
  const Model& model = call_.translator()->model();
  v1::TranslateResponse response;
  response.set_model(route_->name());
  response.set_model_version(route_->version());
  response.set_isa(model.isa());
  for (const Translation& translation : translated.translations) {
    ToProto(translation, output_, response.add_translations());
    size_.source_tokens += translation.source_tokens;
    size_.target_tokens += static_cast<int>(translation.hypotheses.front().token_ids.size());
  }
  ToProto(translated, call_.Elapsed(), response.mutable_timing());
  parts_->metrics->OnTranslated(model, characters_, translated.times);
  return response;
}

}  // namespace dragoman
