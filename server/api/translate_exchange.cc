#include "server/api/translate_exchange.h"

#include <utility>

#include "absl/time/clock.h"
#include "engine/base/status.h"
#include "server/api/convert.h"

namespace dragoman {

TranslateExchange::TranslateExchange(const ServerParts* parts, const char* method, Caller caller,
                                     Done done)
    : Exchange(parts, method, std::move(caller)), done_(std::move(done)), task_(parts) {}

void TranslateExchange::Start(Parse parse) {
  if (const absl::Status status = TryStart(parse); !status.ok()) End(status, {});
}

// After an error nothing has been started.
absl::Status TranslateExchange::TryStart(Parse parse) {
  RETURN_IF_ERROR(Enter());
  ASSIGN_OR_RETURN(v1::TranslateRequest proto, Begin(parse()));
  const absl::Status prepared = task_.Prepare(std::move(proto));
  call().set_translator(task_.translator());
  RETURN_IF_ERROR(prepared);
  task_.Run(request(), [this](TranslateResponse result) { Translated(std::move(result)); });
  return absl::OkStatus();
}

void TranslateExchange::Translated(TranslateResponse translated) {
  translated.status.Update(request()->Wanted(absl::Now()));  // the caller may have gone
  task_.NoteTimes(translated);
  v1::TranslateResponse response;
  if (translated.status.ok()) response = task_.Answer(translated, call().Elapsed());
  End(translated.status, std::move(response));
}

void TranslateExchange::End(const absl::Status& status, v1::TranslateResponse response) {
  const Done done = std::move(done_);  // outlives this exchange, which done may destroy
  done(call().End(status, task_.size()), std::move(response));
}

}  // namespace dragoman
