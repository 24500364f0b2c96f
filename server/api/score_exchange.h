// One Score over any transport (like translate_exchange.h): the log-probabilities of given
// translations, in the same batches as all other requests.

#ifndef DRAGOMAN_SERVER_API_SCORE_EXCHANGE_H_
#define DRAGOMAN_SERVER_API_SCORE_EXCHANGE_H_

#include <utility>

#include "absl/status/status.h"
#include "dragoman/v1/translation.pb.h"
#include "server/api/exchange.h"

namespace dragoman {

class ScoreExchange final : public UnaryExchange<v1::ScoreRequest, v1::ScoreResponse> {
 public:
  ScoreExchange(const ServerParts* parts, Caller caller, Done done)
      : UnaryExchange(parts, "Score", std::move(caller), std::move(done)) {}

 private:
  absl::Status Run(v1::ScoreRequest proto) override;
  void Scored(TranslateResponse scored);

  v1::ScoreRequest output_;  // what was asked for, without the pairs
};

// One Tokenize over any transport: the tokens of texts.
class TokenizeExchange final : public UnaryExchange<v1::TokenizeRequest, v1::TokenizeResponse> {
 public:
  TokenizeExchange(const ServerParts* parts, Caller caller, Done done)
      : UnaryExchange(parts, "Tokenize", std::move(caller), std::move(done)) {}

 private:
  absl::Status Run(v1::TokenizeRequest request) override;
  static absl::Status Tokenize(const Tokenizer& tokenizer, const v1::TokenizeRequest& request,
                               v1::TokenizeResponse* response);
};

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_API_SCORE_EXCHANGE_H_
