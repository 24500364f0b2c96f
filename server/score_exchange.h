// One Score, whatever transport it came by (as translate_exchange.h): the log-probabilities of
// given translations, in the batches of all the other requests.

#ifndef DRAGOMAN_SERVER_SCORE_EXCHANGE_H_
#define DRAGOMAN_SERVER_SCORE_EXCHANGE_H_

#include <functional>
#include <memory>

#include "absl/status/status.h"
#include "dragoman/v1/translation.pb.h"
#include "server/call.h"

namespace dragoman {

class ScoreExchange {
 public:
  // The response is empty unless the call ended well.  Must not block.  May destroy the exchange.
  using Done = std::function<void(CallEnd end, v1::ScoreResponse response)>;

  // `parts` must outlive the exchange.
  ScoreExchange(const ServerParts* parts, Caller caller, Done done);
  // REQUIRES: done was called, or Start never was.
  ~ScoreExchange();

  ScoreExchange(const ScoreExchange&) = delete;
  ScoreExchange& operator=(const ScoreExchange&) = delete;

  // Returns at once; done is called once, in Start or later on a worker's thread.
  // REQUIRES: called once.
  void Start(const v1::ScoreRequest& request);

  // The caller has gone or its deadline has passed.  REQUIRES: not called before Start has
  // returned.
  void Cancel();

 private:
  absl::Status TryStart(const v1::ScoreRequest& request);
  void Scored(TranslateResponse scored);
  void End(const absl::Status& status, v1::ScoreResponse response);

  const ServerParts* const parts_;
  Call call_;
  Done done_;
  CallSize size_;
  bool started_ = false;
  std::shared_ptr<RequestState> request_;  // null until the engine has it
};

// The tokens of texts, for whoever may call.
absl::StatusOr<v1::TokenizeResponse> Tokenize(const v1::TokenizeRequest& request, Call* call,
                                              const ServerParts& parts);

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_SCORE_EXCHANGE_H_
