// One Translate over any transport: admitted, parsed, translated, answered, recorded.

#ifndef DRAGOMAN_SERVER_API_TRANSLATE_EXCHANGE_H_
#define DRAGOMAN_SERVER_API_TRANSLATE_EXCHANGE_H_

#include <utility>

#include "absl/status/status.h"
#include "dragoman/v1/translation.pb.h"
#include "server/api/exchange.h"
#include "server/api/translate_task.h"

namespace dragoman {

class TranslateExchange final : public UnaryExchange<v1::TranslateRequest, v1::TranslateResponse> {
 public:
  TranslateExchange(const ServerParts* parts, Caller caller, Done done)
      : UnaryExchange(parts, "Translate", std::move(caller), std::move(done)), task_(parts) {}

 private:
  absl::Status Run(v1::TranslateRequest request) override;
  void Translated(TranslateResponse translated);

  TranslateTask task_;
};

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_API_TRANSLATE_EXCHANGE_H_
