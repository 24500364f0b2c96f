// One Translate over any transport: admitted, parsed, translated, answered, recorded.

#ifndef DRAGOMAN_SERVER_API_TRANSLATE_EXCHANGE_H_
#define DRAGOMAN_SERVER_API_TRANSLATE_EXCHANGE_H_

#include <utility>

#include "absl/status/status.h"
#include "dragoman/v1/translation.pb.h"
#include "server/api/exchange.h"
#include "server/api/translate_task.h"

namespace dragoman {

class TranslateExchange final : public EngineExchange<v1::TranslateRequest, v1::TranslateResponse> {
 public:
  TranslateExchange(const ServerParts* parts, const char* method, Caller caller, Done done)
      : EngineExchange(parts, method, std::move(caller), std::move(done)), task_(parts) {}

 private:
  absl::Status Run(v1::TranslateRequest request) override;
  void Translated(TranslateResponse translated);

  TranslateTask task_;
};

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_API_TRANSLATE_EXCHANGE_H_
