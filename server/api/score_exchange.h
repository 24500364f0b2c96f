// One Score over any transport (like translate_exchange.h): the log-probabilities of given
// translations, in the same batches as all other requests.

#ifndef DRAGOMAN_SERVER_API_SCORE_EXCHANGE_H_
#define DRAGOMAN_SERVER_API_SCORE_EXCHANGE_H_

#include "absl/status/status.h"
#include "dragoman/v1/translation.pb.h"
#include "server/api/exchange.h"

namespace dragoman {

class ScoreExchange final : public EngineExchange<v1::ScoreRequest, v1::ScoreResponse> {
 public:
  using EngineExchange::EngineExchange;

 private:
  absl::Status Run(v1::ScoreRequest proto) override;
  void Scored(TranslateResponse scored);

  v1::ScoreRequest output_;  // what was asked for, without the pairs
};

// One Tokenize over any transport: the tokens of texts.
class TokenizeExchange final : public EngineExchange<v1::TokenizeRequest, v1::TokenizeResponse> {
 public:
  using EngineExchange::EngineExchange;

 private:
  absl::Status Run(v1::TokenizeRequest request) override;
  absl::Status Tokenize(const Tokenizer& tokenizer, const v1::TokenizeRequest& request,
                        v1::TokenizeResponse* response) const;
};

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_API_SCORE_EXCHANGE_H_
