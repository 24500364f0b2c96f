// Other APIs over gRPC: their messages become a request of ours, and its answer becomes theirs.  In
// between is the exchange of the method that a call amounts to, so that the same rights, limits,
// metrics and traces hold as for the server's own service.
//
//   google           google.cloud.translation.v3.TranslationService
//   open-inference   inference.GRPCInferenceService
//
// Most methods have an act that answers the same call over HTTP, with JSON.  For these APIs define
// their JSON as protobuf's mapping of the messages, the act answers both.

#ifndef DRAGOMAN_SERVER_COMPAT_RPC_H_
#define DRAGOMAN_SERVER_COMPAT_RPC_H_

#include <google/protobuf/message.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/base/status.h"
#include "server/api/methods.h"
#include "server/api/translate_exchange.h"
#include "server/compat/compat.h"

namespace dragoman {

// The methods of all APIs.
const std::vector<Method>& CompatMethods();
// The services of the APIs with these names.
std::set<std::string> CompatServices(const std::vector<std::string>& names);

namespace google_translate {
std::vector<Method> RpcMethods();
}
namespace open_inference {
std::vector<Method> RpcMethods();
}

// ---- What they share ---------------------------------------------------------------------------

// The fields of a message, as its JSON has them.
absl::StatusOr<CompatFields> FieldsOf(const google::protobuf::Message& message);
// Fills the message with an answer in JSON; what the message lacks is left out.
absl::Status FillFrom(const HttpResponse& answer, google::protobuf::Message* message);

// A method of an API's service, which is `rpc` there and amounts to the method `name`.
Method CompatRpc(const CompatApi& api, const char* name, const char* rpc,
                 Method::Exchange exchange);
// One that an act answers.
Method CompatRpc(const CompatApi& api, const char* name, const char* rpc, CompatAct* act,
                 const AnswerTerms& terms = {});

// How an API writes a translation call as messages.
template <typename Request, typename Response, typename Noted>
struct MessageFormat {
  const CompatApi* api;
  absl::StatusOr<v1::TranslateRequest> (*read)(const Request& request, Noted* noted);
  absl::Status (*write)(const Noted& noted, const v1::TranslateResponse& ours, Response* response);
};

// A Translate for a message of another API.
template <typename Request, typename Response, typename Noted>
class MessageExchange final : public UnaryExchange {
 public:
  using Format = MessageFormat<Request, Response, Noted>;

  MessageExchange(const Format& format, const ServerParts* parts, const char* method, Caller caller,
                  Done done)
      : format_(format),
        done_(std::move(done)),
        ours_(parts, method, std::move(caller),
              [this](const CallEnd& end, const Message* response) { End(end, response); }) {}

  void Start(Parse parse) override {
    ours_.Start([&](Message* request) -> absl::Status {
      ASSIGN_OR_RETURN(const Request theirs, Parsed<Request>(parse));
      ASSIGN_OR_RETURN(static_cast<v1::TranslateRequest&>(*request), format_.read(theirs, &noted_));
      return absl::OkStatus();
    });
  }
  void Cancel() override { ours_.Cancel(); }

 private:
  void End(CallEnd end, const Message* response) {
    const Done done = std::move(done_);  // outlives this exchange, which done may destroy
    end.status = InWordsOf(*format_.api, end.status);
    Response theirs;
    if (end.status.ok()) {
      end.status =
          format_.write(noted_, static_cast<const v1::TranslateResponse&>(*response), &theirs);
    }
    done(end, end.status.ok() ? &theirs : nullptr);
  }

  const Format format_;
  Done done_;
  Noted noted_;
  TranslateExchange ours_;
};

template <typename Request, typename Response, typename Noted>
Method::Exchange TranslateMessages(const MessageFormat<Request, Response, Noted>& format) {
  return [format](const ServerParts* parts, const char* method, Caller caller,
                  UnaryExchange::Done done) {
    return std::make_unique<MessageExchange<Request, Response, Noted>>(
        format, parts, method, std::move(caller), std::move(done));
  };
}

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_COMPAT_RPC_H_
