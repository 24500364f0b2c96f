#include "server/api/translate_exchange.h"

#include "absl/time/clock.h"
#include "engine/base/status.h"

namespace dragoman {

absl::Status TranslateExchange::Run(v1::TranslateRequest proto) {
  RETURN_IF_ERROR(Prepare(std::move(proto), &task_));
  task_.Run(request(), [this](TranslateResponse result) { Translated(std::move(result)); });
  return absl::OkStatus();
}

void TranslateExchange::Translated(TranslateResponse translated) {
  translated.status.Update(request()->Wanted(absl::Now()));  // the caller may have gone
  task_.NoteTimes(translated);
  v1::TranslateResponse response;
  // What is in the engine when the answers that wait fill their room would come on top.
  if (translated.status.ok()) translated.status = call().CheckAnswers();
  if (translated.status.ok()) {
    StillWanted wanted = WantedBy(request().get());
    response = task_.Answer(translated, call().Elapsed(), &wanted);
    translated.status = wanted.status();
  }
  call().size() = task_.size();
  End(translated.status, std::move(response));
}

}  // namespace dragoman
