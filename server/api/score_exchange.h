// One Score over any transport (like translate_exchange.h): the log-probabilities of given
// translations, in the same batches as all other requests.

#ifndef DRAGOMAN_SERVER_API_SCORE_EXCHANGE_H_
#define DRAGOMAN_SERVER_API_SCORE_EXCHANGE_H_

#include <functional>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dragoman/v1/translation.pb.h"
#include "server/api/exchange.h"

namespace dragoman {

class ScoreExchange : public Exchange {
 public:
  // The response is empty unless the call succeeded.  Must not block.  May destroy the exchange.
  using Done = std::function<void(CallEnd end, v1::ScoreResponse response)>;

  // `parts` must outlive the exchange.  REQUIRES on destruction: done has been called, or Start
  // never was.
  ScoreExchange(const ServerParts* parts, Caller caller, Done done);

  // The request, or why it cannot be read; CANCELLED if the caller went away before it arrived.
  using Parse = absl::FunctionRef<absl::StatusOr<v1::ScoreRequest>()>;

  // Returns at once; done is called once, in Start or later on a worker's thread.  `parse` is
  // called at once, but only for a caller that is admitted.  REQUIRES: called once.
  void Start(Parse parse);

 private:
  absl::Status TryStart(Parse parse);
  void Scored(TranslateResponse scored);
  void End(const absl::Status& status, v1::ScoreResponse response);

  Done done_;
  CallSize size_;
  v1::ScoreRequest wanted_;  // without the pairs
};

// The tokens of texts, for a caller who is admitted; only then is `parse` called.  Sets the size
// for the end of the call.
absl::StatusOr<v1::TokenizeResponse> Tokenize(
    absl::FunctionRef<absl::StatusOr<v1::TokenizeRequest>()> parse, Call* call,
    const ServerParts& parts, CallSize* size);

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_API_SCORE_EXCHANGE_H_
