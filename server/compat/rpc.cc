#include "server/compat/rpc.h"

#include <google/protobuf/util/json_util.h>

#include <algorithm>

#include "absl/time/clock.h"
#include "engine/base/work_threads.h"
#include "server/http/json.h"

namespace dragoman {
namespace {

class ActExchange final : public UnaryExchange {
 public:
  ActExchange(const MessageAct& act, const ServerParts* parts, const char* method, Caller caller,
              Done done)
      : act_(act),
        parts_(parts),
        call_(parts, method, std::move(caller)),
        state_(call_.deadline()),
        done_(std::move(done)) {}

  void Start(Parse parse) override {
    const absl::StatusOr<CompatFields> fields = Read(parse);
    if (!fields.ok() || !act_.asks_store) return Answer(fields);
    const absl::Status waits = parts_->store_threads->Run(
        call_.principal(), [this](absl::Time now) { return state_.Wanted(now); },
        [this, fields](const absl::Status& wanted) {
          wanted.ok() ? Answer(fields) : Answer(wanted);
        });
    if (!waits.ok()) Answer(waits);
  }
  void Cancel() override { state_.Cancel(absl::Now()); }

 private:
  absl::StatusOr<CompatFields> Read(Parse parse) {
    RETURN_IF_ERROR((call_.*act_.admit)());
    const std::unique_ptr<Message> request(act_.request->New());
    RETURN_IF_ERROR(parse(request.get()));
    return FieldsOf(*request);
  }

  void Answer(const absl::StatusOr<CompatFields>& fields) {
    const std::unique_ptr<Message> response(act_.response->New());
    const absl::Status status = InWordsOf(*act_.api, Fill(fields, response.get()));
    const Done done = std::move(done_);  // outlives this exchange, which done may destroy
    done(call_.End(status), status.ok() ? response.get() : nullptr);
  }

  absl::Status Fill(const absl::StatusOr<CompatFields>& fields, Message* response) {
    RETURN_IF_ERROR(fields.status());
    ASSIGN_OR_RETURN(const HttpResponse answer, act_.act({.parts = parts_}, *fields, &call_));
    return FillFrom(answer, response);
  }

  const MessageAct act_;
  const ServerParts* const parts_;
  Call call_;
  RequestState state_;
  Done done_;
};

}  // namespace

const std::vector<Method>& CompatMethods() {
  static const auto& methods = *new std::vector<Method>([] {
    std::vector<Method> all = google_translate::RpcMethods();
    for (Method& method : open_inference::RpcMethods()) all.push_back(std::move(method));
    return all;
  }());
  return methods;
}

std::set<std::string> CompatServices(const std::vector<std::string>& names) {
  std::set<std::string> services;
  for (const Method& method : CompatMethods()) {
    const std::string rpc = method.rpc;
    const bool enabled = std::find(names.begin(), names.end(), method.api) != names.end();
    if (enabled) services.insert(rpc.substr(0, rpc.find('/')));
  }
  return services;
}

absl::StatusOr<CompatFields> FieldsOf(const google::protobuf::Message& message) {
  HttpRequest http = {.headers = {{"content-type", kJson}}};
  ASSIGN_OR_RETURN(http.body, ToJson(message));
  return CompatFields::Read(http);
}

Method::Exchange AnswerMessage(const MessageAct& act) {
  return [act](const ServerParts* parts, const char* method, Caller caller,
               UnaryExchange::Done done) {
    return std::make_unique<ActExchange>(act, parts, method, std::move(caller), std::move(done));
  };
}

absl::Status FillFrom(const HttpResponse& answer, google::protobuf::Message* message) {
  google::protobuf::util::JsonParseOptions options;
  options.ignore_unknown_fields = true;
  const auto status = google::protobuf::util::JsonStringToMessage(answer.body, message, options);
  return status.ok() ? absl::OkStatus() : absl::InternalError("the answer is no message");
}

}  // namespace dragoman
