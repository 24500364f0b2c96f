#include "server/compat/rpc.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>
#include <google/protobuf/util/json_util.h>

#include <list>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "server/http/json.h"

namespace dragoman {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::Message;

// What an act answers, and the types of its messages.
struct MessageAct {
  const Message* request;
  const Message* response;
  const CompatApi* api;
  CompatAct* act;
  AnswerTerms terms;
};

class ActExchange final : public UnaryExchange {
 public:
  ActExchange(const MessageAct& act, const ServerParts* parts, const char* method, Caller caller,
              Done done)
      : act_(act),
        call_(
            parts, method, std::move(caller), act.terms,
            [=](const CompatFields& fields, Call* call) { return Fill(act, fields, call); },
            [&api = *act.api, done = std::move(done)](CallEnd end,
                                                      std::unique_ptr<Message>* answer) {
              end.status = InWordsOf(api, end.status);
              done(end, answer == nullptr ? nullptr : answer->get());
            }) {}

  void Start(Parse parse) override {
    call_.Start([&]() -> absl::StatusOr<CompatFields> {
      const std::unique_ptr<Message> request(act_.request->New());
      RETURN_IF_ERROR(parse(request.get()));
      return FieldsOf(*request);
    });
  }
  void Cancel() override { call_.Cancel(); }

 private:
  static absl::StatusOr<std::unique_ptr<Message>> Fill(const MessageAct& act,
                                                       const CompatFields& fields, Call* call) {
    std::unique_ptr<Message> response(act.response->New());
    ASSIGN_OR_RETURN(const HttpResponse answer, act.act(fields, call));
    RETURN_IF_ERROR(FillFrom(answer, response.get()));
    return response;
  }

  const MessageAct act_;
  AnsweredCall<CompatFields, std::unique_ptr<Message>> call_;
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
    const bool enabled = absl::c_linear_search(names, method.api);
    if (enabled) services.insert(rpc.substr(0, rpc.find('/')));
  }
  return services;
}

absl::StatusOr<CompatFields> FieldsOf(const google::protobuf::Message& message) {
  HttpRequest http = {.headers = {{"content-type", kJson}}};
  ASSIGN_OR_RETURN(http.body, ToJson(message));
  constexpr size_t kMost = 100'000;  // which take ten megabytes
  size_t marks = 0;
  ForEachMark(http.body, [&](size_t) { ++marks; });
  if (marks > kMost) return InvalidArgumentError("the message has more than ", kMost, " values");
  return CompatFields::Read(http);
}

Method CompatRpc(const CompatApi& api, const char* name, const char* rpc,
                 Method::Exchange exchange) {
  static auto& full_names = *new std::list<std::string>;
  return {.name = name,
          .exchange = std::move(exchange),
          .rpc = full_names.emplace_back(absl::StrCat(api.service, "/", rpc)).c_str(),
          .api = api.name,
          .key = api.key_header};
}

Method CompatRpc(const CompatApi& api, const char* name, const char* rpc, CompatAct* act,
                 const AnswerTerms& terms) {
  const auto* const method = google::protobuf::DescriptorPool::generated_pool()->FindMethodByName(
      absl::StrCat(api.service, ".", rpc));
  DRAGOMAN_CHECK(method != nullptr);
  const auto prototype = [](const Descriptor* type) {
    return google::protobuf::MessageFactory::generated_factory()->GetPrototype(type);
  };
  const MessageAct all = {prototype(method->input_type()), prototype(method->output_type()), &api,
                          act, terms};
  Method described = CompatRpc(api, name, rpc,
                               [all](const ServerParts* parts, const char* its_name, Caller caller,
                                     UnaryExchange::Done done) {
                                 return std::make_unique<ActExchange>(
                                     all, parts, its_name, std::move(caller), std::move(done));
                               });
  described.of_anybody = terms.admit == &Call::AdmitAnybody;
  return described;
}

absl::Status FillFrom(const HttpResponse& answer, google::protobuf::Message* message) {
  google::protobuf::util::JsonParseOptions options;
  options.ignore_unknown_fields = true;
  const auto status = google::protobuf::util::JsonStringToMessage(answer.body, message, options);
  return status.ok() ? absl::OkStatus() : absl::InternalError("the answer is no message");
}

}  // namespace dragoman
