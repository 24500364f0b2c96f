// TranslateStream as server-sent events
// (https://html.spec.whatwg.org/multipage/server-sent-events.html):
//
//   POST /v1/translate:stream      the body of /v1/translate
//
//   event: stable_text
//   data: {"contentIndex":0,"stableText":"Guten "}
//
// An event is named after the content of its TranslateStreamResponse.  The last one is `summary`,
// or `error` with a google.rpc.Status.  An error before the first event is an ordinary HTTP error.

#ifndef DRAGOMAN_SERVER_HTTP_STREAM_API_H_
#define DRAGOMAN_SERVER_HTTP_STREAM_API_H_

#include <google/protobuf/message.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "server/api/stream_exchange.h"
#include "server/http/api_context.h"
#include "server/http/router.h"
#include "server/http/streamed_call.h"

namespace dragoman {

inline constexpr char kEventStream[] = "text/event-stream";

// As TranslateOverHttp (api_context.h), for a stream of server-sent events; `format` needs no head.
void StreamOverHttp(const ApiContext& context, const char* api, const HttpRequest& http,
                    std::shared_ptr<HttpAnswer> answer,
                    absl::FunctionRef<absl::StatusOr<v1::TranslateRequest>()> read,
                    StreamFormat<TranslateStreamExchange> format);

// A message of a stream as a server-sent event, which is named after what its oneof `event` has.
std::string EventOf(const google::protobuf::Message& message);
// The end of a stream that failed.
std::string ErrorEventOf(const CallEnd& end);
// The head of a stream of such events.
HttpResponse EventStreamHead(const std::string& request_id);

// All messages of an exchange as such events.
template <typename Exchange>
StreamFormat<Exchange> AsEvents(std::string request_id,
                                std::function<HttpResponse(const CallEnd& end)> error) {
  return {.head = [id = std::move(request_id)](const Exchange&) { return EventStreamHead(id); },
          .event = [](const google::protobuf::Message& message) { return EventOf(message); },
          .last = [](const CallEnd& end) { return end.status.ok() ? "" : ErrorEventOf(end); },
          .error = std::move(error)};
}

void AddStreamApi(const ApiContext& context, HttpRouter* router);

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_HTTP_STREAM_API_H_
