#include "server/compat/rpc.h"

#include <google/protobuf/util/json_util.h>

#include <algorithm>

#include "server/http/json.h"

namespace dragoman {

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

absl::Status FillFrom(const HttpResponse& answer, google::protobuf::Message* message) {
  google::protobuf::util::JsonParseOptions options;
  options.ignore_unknown_fields = true;
  const auto status = google::protobuf::util::JsonStringToMessage(answer.body, message, options);
  return status.ok() ? absl::OkStatus() : absl::InternalError("the answer is no message");
}

}  // namespace dragoman
