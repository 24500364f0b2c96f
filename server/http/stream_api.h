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

#include "server/http/api_context.h"
#include "server/http/router.h"

namespace dragoman {

inline constexpr char kEventStream[] = "text/event-stream";

// How another API writes a stream of translations.
struct StreamFormat {
  // What a message is written as; "": nothing.  Calls follow each other.
  std::function<std::string(const v1::TranslateStreamResponse& message)> event;
  // What is written last; an error may come after some events.
  std::function<std::string(const CallEnd& end)> last;
  // The answer if the first event would be an error.
  std::function<HttpResponse(const CallEnd& end)> error;
};

// As TranslateOverHttp (api_context.h), for a stream of server-sent events.
void StreamOverHttp(const ApiContext& context, const char* api, const HttpRequest& http,
                    std::shared_ptr<HttpAnswer> answer,
                    absl::FunctionRef<absl::StatusOr<v1::TranslateRequest>()> read,
                    StreamFormat format);

// A message of a stream as a server-sent event, which is named after what its oneof `event` has.
std::string EventOf(const google::protobuf::Message& message);
// The end of a stream that failed.
std::string ErrorEventOf(const CallEnd& end);

void AddStreamApi(const ApiContext& context, HttpRouter* router);

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_HTTP_STREAM_API_H_
