// A call whose caller waits at the other end of a connection, and may go away: what connects an
// exchange (server/api/exchange.h) with an HttpAnswer.

#ifndef DRAGOMAN_SERVER_HTTP_HTTP_CALL_H_
#define DRAGOMAN_SERVER_HTTP_HTTP_CALL_H_

#include <functional>
#include <memory>
#include <utility>

#include "engine/base/status.h"
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
  call->exchange.Start(parse);
  call->answer->OnGone([weak = std::weak_ptr(call)] {
    if (const auto gone = weak.lock()) gone->exchange.Cancel();
  });
}

// A call of one message for one.
template <typename Exchange>
struct UnaryHttpCall {
  using Render = std::function<HttpResponse(const CallEnd& end, typename Exchange::Response)>;

  UnaryHttpCall(const ServerParts* parts, Caller caller, std::shared_ptr<HttpAnswer> its_answer,
                Render its_render)
      : answer(std::move(its_answer)),
        render(std::move(its_render)),
        exchange(parts, std::move(caller),
                 [this](const CallEnd& end, typename Exchange::Response response) {
                   answer->Send(render(end, std::move(response)));
                   self = nullptr;
                 }) {}

  const std::shared_ptr<HttpAnswer> answer;
  const Render render;
  Exchange exchange;
  std::shared_ptr<UnaryHttpCall> self;
};

// As TranslateOverHttp, for the method of any exchange of one message for one.
template <typename Exchange>
void AnswerOverHttp(const ApiContext& context, const char* api, const HttpRequest& http,
                    std::shared_ptr<HttpAnswer> answer, typename Exchange::Parse read,
                    typename UnaryHttpCall<Exchange>::Render render) {
  if (const absl::Status loaded = context.loaded(); !loaded.ok()) {
    return answer->Send(render({.status = loaded}, {}));
  }
  StartCall(std::make_shared<UnaryHttpCall<Exchange>>(context.parts, CallerOf(http, api),
                                                      std::move(answer), std::move(render)),
            read);
}

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_HTTP_HTTP_CALL_H_
