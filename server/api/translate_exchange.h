// One Translate over any transport: admitted, parsed, translated, answered, recorded.
//
//   TranslateExchange exchange(parts, "Translate", caller, done);
//   exchange.Start(parse);     // returns at once
//   exchange.Cancel();         // if the caller goes away (exchange.h)
//   ... done(end, response) is called once: in Start, or later on a worker's thread ...
//
// A transport (translate_service.h for gRPC) reads the request's bytes and writes the answer's;
// everything in between is here.

#ifndef DRAGOMAN_SERVER_API_TRANSLATE_EXCHANGE_H_
#define DRAGOMAN_SERVER_API_TRANSLATE_EXCHANGE_H_

#include <functional>
#include <memory>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dragoman/v1/translation.pb.h"
#include "server/api/exchange.h"
#include "server/api/translate_task.h"

namespace dragoman {

class TranslateExchange : public Exchange {
 public:
  // The request, or why it cannot be read; CANCELLED if the caller went away before it arrived.
  using Parse = absl::FunctionRef<absl::StatusOr<v1::TranslateRequest>()>;
  // The response is empty unless the call succeeded.  Must not block.  May destroy the exchange.
  using Done = std::function<void(CallEnd end, v1::TranslateResponse response)>;

  // `parts` must outlive the exchange; `method` is a literal.  REQUIRES on destruction: done has
  // been called, or Start never was.
  TranslateExchange(const ServerParts* parts, const char* method, Caller caller, Done done);

  // Calls `parse` at once, but only if the caller is admitted.  REQUIRES: called once.
  void Start(Parse parse);

 private:
  absl::Status TryStart(Parse parse);
  void Translated(TranslateResponse translated);
  void End(const absl::Status& status, v1::TranslateResponse response);

  Done done_;
  TranslateTask task_;
};

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_API_TRANSLATE_EXCHANGE_H_
