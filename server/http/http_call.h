// A call whose caller waits at the other end of a connection, and may go away: what connects an
// exchange (server/api/exchange.h) with an HttpAnswer.

#ifndef DRAGOMAN_SERVER_HTTP_HTTP_CALL_H_
#define DRAGOMAN_SERVER_HTTP_HTTP_CALL_H_

#include <functional>
#include <memory>
#include <utility>

#include "engine/base/status.h"
#include "server/api/methods.h"
#include "server/http/api_context.h"
#include "server/http/json.h"

namespace dragoman {

// The message in the body of a request.
template <typename Message>
absl::StatusOr<Message> ReadJson(const HttpRequest& http) {
  Message message;
  RETURN_IF_ERROR(FromJson(http.body, &message));
  return message;
}

// Starts the exchange of a call, which is cancelled if the caller goes away.  The call lives until
// it drops `self`.
template <typename HttpCall, typename Parse>
void StartCall(const std::shared_ptr<HttpCall>& call, Parse parse) {
  call->self = call;
  call->exchange->Start(parse);
  call->answer->OnGone([weak = std::weak_ptr(call)] {
    if (const auto gone = weak.lock()) gone->exchange->Cancel();
  });
}

// Writes the end of a call of one message for one in the format of an API.
using RenderEnd = std::function<HttpResponse(const CallEnd& end, UnaryExchange::Message* response)>;

// As TranslateOverHttp, for any method of one message for one.
void AnswerOverHttp(const ApiContext& context, const Method& method, Caller caller,
                    std::shared_ptr<HttpAnswer> answer, UnaryExchange::Parse read,
                    RenderEnd render);

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_HTTP_HTTP_CALL_H_
