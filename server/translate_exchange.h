// One Translate, whatever transport it came by: admitted, parsed, translated, answered, booked.
//
//   TranslateExchange exchange(parts, "Translate", caller, done);
//   exchange.Start(parse);     // returns at once
//   exchange.Cancel();         // if the caller goes away
//   ... done(end, response) is called once: in Start, or later on a worker's thread ...
//
// A transport (translate_service.h for gRPC) reads the request's bytes and writes the answer's; all
// that lies between is here.

#ifndef DRAGOMAN_SERVER_TRANSLATE_EXCHANGE_H_
#define DRAGOMAN_SERVER_TRANSLATE_EXCHANGE_H_

#include <functional>
#include <memory>
#include <optional>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dragoman/v1/translation.pb.h"
#include "server/call.h"

namespace dragoman {

class TranslateExchange {
 public:
  // The request, or why it cannot be read; CANCELLED if the caller went away before it came.
  using Parse = absl::FunctionRef<absl::StatusOr<v1::TranslateRequest>()>;
  // The response is empty unless the call ended well.  Must not block.  May destroy the exchange.
  using Done = std::function<void(CallEnd end, v1::TranslateResponse response)>;

  // `parts` must outlive the exchange; `method` is a literal.
  TranslateExchange(const ServerParts* parts, const char* method, Caller caller, Done done);
  // REQUIRES: done was called, or Start never was.
  ~TranslateExchange();

  TranslateExchange(const TranslateExchange&) = delete;
  TranslateExchange& operator=(const TranslateExchange&) = delete;

  // `parse` is called at once, but only for a caller that is admitted.  REQUIRES: called once.
  void Start(Parse parse);

  // The caller has gone or its deadline has passed; done hears of it within a decoding step.
  // REQUIRES: not called before Start has returned.
  void Cancel();

 private:
  absl::Status TryStart(Parse parse);
  void Translated(TranslateResponse translated);
  void End(const absl::Status& status, v1::TranslateResponse response);
  v1::TranslateResponse Answer(const TranslateResponse& translated);

  const ServerParts* const parts_;
  Call call_;
  Done done_;
  v1::OutputOptions output_;
  std::optional<Route> route_;
  CallSize size_;
  int characters_ = 0;
  bool started_ = false;
  std::shared_ptr<RequestState> request_;  // null until the engine has it
};

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_TRANSLATE_EXCHANGE_H_
