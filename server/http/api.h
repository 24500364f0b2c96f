// The gRPC API (proto/dragoman/v1/translation.proto) as JSON over HTTP.  The table of methods
// (server/api/methods.h) says where each is served.
//
// Bodies are the messages of these calls in protobuf's JSON mapping (json.h); an error is a
// google.rpc.Status.

#ifndef DRAGOMAN_SERVER_HTTP_API_H_
#define DRAGOMAN_SERVER_HTTP_API_H_

#include "server/api/methods.h"
#include "server/http/api_context.h"
#include "server/http/router.h"

namespace dragoman {

// The route of a method, without its handler.
HttpRoute RouteOf(const Method& method);

// Those of one message for one.
void AddApi(const ApiContext& context, HttpRouter* router);

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_HTTP_API_H_
