// Between gRPC and the rest of the server: what a gRPC call says about its caller, and how its end
// is reported.

#ifndef DRAGOMAN_SERVER_GRPC_GRPC_CALLER_H_
#define DRAGOMAN_SERVER_GRPC_GRPC_CALLER_H_

#include <grpcpp/grpcpp.h>

#include "server/api/call.h"
#include "server/auth/caller.h"

namespace dragoman {

// `key`: metadata that may have the token, besides `authorization`.
Caller CallerOf(const grpc::ServerContextBase& context, const char* key = "");

// The status of a call that ended, with google.rpc details.  The trailing metadata get the request
// id as `x-request-id`, the load of the server as ORCA names it, and `grpc-retry-pushback-ms` if
// the caller should retry.  Initial metadata would keep clients from retrying (gRPC does not retry
// a call whose response has begun).
grpc::Status ToGrpcStatus(const CallEnd& end, grpc::ServerContextBase* context);

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_GRPC_GRPC_CALLER_H_
