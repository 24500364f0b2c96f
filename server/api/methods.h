// The table of the methods that the server has: for each, which exchange answers it and where HTTP
// serves it.  Whatever has to know all methods reads it: the services of gRPC, the routes of HTTP
// and OpenAPI.  Its names are those of the protos (server/base/methods.h), which also give the
// services and the messages.

#ifndef DRAGOMAN_SERVER_API_METHODS_H_
#define DRAGOMAN_SERVER_API_METHODS_H_

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "server/api/call.h"
#include "server/api/exchange.h"

namespace dragoman {

struct Method {
  const char* name;  // "Translate", or "AdminService/Drain"

  // A new exchange of one message for one; null if the method streams.
  using Exchange = std::function<std::unique_ptr<UnaryExchange>(
      const ServerParts* parts, const char* method, Caller caller, UnaryExchange::Done done)>;
  Exchange exchange;

  // Over HTTP, "PUT" and "/v1/glossaries/{id}"; null: not at all.  A name in braces is that of a
  // field of the request that is a part of the path; `{name=**}` may contain slashes.
  const char* verb = nullptr;
  const char* path = nullptr;
  // The field of the request that is the body; null: all of it.
  const char* body = nullptr;

  // Of another API over gRPC: its full name there, "inference.GRPCInferenceService/ModelInfer".
  // `name` is the method that it amounts to.
  const char* rpc = nullptr;
  const char* api = "grpc";  // in the log
  const char* key = "";      // the metadata that may have the token, besides a bearer token
  bool of_anybody = false;   // is answered without a token, too

  // Others have no body: the numbers of the request are in the query.
  bool has_body() const { return *verb == 'P'; }  // POST, PUT
};

// "google.cloud.translation.v3.TranslationService/TranslateText".
std::string RpcOf(const Method& method);

const std::vector<Method>& Methods();

// REQUIRES: there is one of that name.
const Method& MethodOf(std::string_view name);

// Room for the message of a caller's call while it arrives.  UNAUTHENTICATED or PERMISSION_DENIED
// if the caller may not make the call, RESOURCE_EXHAUSTED if there is none.
absl::StatusOr<Share> RoomForMessage(const ServerParts& parts, const Method& method,
                                     const Caller& caller);

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_API_METHODS_H_
